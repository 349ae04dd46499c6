// SPDX-License-Identifier: Apache-2.0

/** Which values are masked, and how. */

#include "env/secret.h"

#include "check.h"
#include "fixture.h"

static void check_names(struct arena *arena) {
	static const char secret[] =
		"HF_TOKEN|TOKEN|TOKEN_OF_MINE|hf_token|AWS_SECRET_ACCESS_KEY|DB_PASSWORD|PGPASSWORD|DB_"
		"PASSWD|APIKEY|"
		"OPENAI_APIKEY|WANDB_API_KEY|MYSQL_PWD|SMTP_PASS|GITHUB_PAT|SSH_PASSPHRASE|"
		"GOOGLE_APPLICATION_CREDENTIALS|--api-key|--password|TOKENIZER_TOKEN";
	static const char open[] =
		"PATH|PWD|OLDPWD|KEYBOARD|MONKEYS|MONKEY|TOKE|PASSWOR|KEY_ID|AWS_ACCESS_KEY_ID|"
		"TOKENIZERS_PARALLELISM|DB_PASSWORD_FILE|SSL_KEY_FILE|SECRET_KEY_PATH|SECRETS_DIR|"
		"BYPASS|COMPASS|_KEY||NCCL_SOCKET_IFNAME|SPAT";
	for (char **name = fixture_split(arena, secret, '|'); *name; name++) {
		checkf(secret_name(str_of(*name)), "%s is secret", *name);
	}
	for (char **name = fixture_split(arena, open, '|'); *name; name++) {
		checkf(!secret_name(str_of(*name)), "'%s' is not secret", *name);
	}
}

static void check_values(struct arena *a) {
	check_text(secret_mask(a, "A_TOKEN", "hunter2"), "********", "a secret");
	check_text(secret_mask(a, "A_TOKEN", ""), "", "an empty secret is none");
	check_text(secret_mask(a, "A", "hunter2"), "hunter2", "no secret");
	check_text(secret_mask(a, "A", "http://u:hunter2@h:80/p?q"), "http://u:********@h:80/p?q", "a URL");
	check_text(secret_mask(a, "A", "x,a://:p@h,b://v:q@r@i/"), "x,a://:********@h,b://v:********@i/",
		   "two URLs, no user, an '@' in the password");
	check_text(secret_mask(a, "A", "http://h:80/a:b@c"), "http://h:80/a:b@c", "a port is no password");
	check_text(secret_mask(a, "A", "ssh://git@h:22"), "ssh://git@h:22", "a user without a password");
	check_text(secret_mask(a, "A", "http://u:@h"), "http://u:@h", "an empty password");
	check_text(secret_mask(a, "A", "://"), "://", "no URL");
	check_text(secret_mask_word(a, "API_TOKEN=hunter2"), "API_TOKEN=********", "an assignment");
	check_text(secret_mask_word(a, "--set=API_TOKEN=hun=er2=="), "--set=API_TOKEN=********", "an option");
	check_text(secret_mask_word(a, "--password=x"), "--password=********", "an option's value");
	check_text(secret_mask_word(a, "--lr=0.1"), "--lr=0.1", "another option");
	check_text(secret_mask_word(a, "db://u:p@h"), "db://u:********@h", "a word that is a URL");
	check_text(secret_mask_word(a, "token"), "token", "a word alone");
}

int main(void) {
	struct arena arena = fixture_arena();
	check_names(&arena);
	check_values(&arena);
	arena_done(&arena);
	return check_done();
}
