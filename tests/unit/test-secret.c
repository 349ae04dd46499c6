// SPDX-License-Identifier: Apache-2.0

/** Which values are masked, and how. */

#include "base/err.h"
#include "base/secret.h"

#include "check.h"
#include "fixture.h"

static void check_names(struct arena *arena) {
	static const char secret[] =
		"HF_TOKEN|TOKEN|TOKEN_OF_MINE|hf_token|AWS_SECRET_ACCESS_KEY|DB_PASSWORD|PGPASSWORD|DB_"
		"PASSWD|APIKEY|"
		"OPENAI_APIKEY|WANDB_API_KEY|MYSQL_PWD|SMTP_PASS|GITHUB_PAT|SSH_PASSPHRASE|"
		"GOOGLE_APPLICATION_CREDENTIALS|--api-key|--password|TOKENIZER_TOKEN|SESSION_COOKIE|cookie|"
		"JWT|MY_JWT|"
		"SSH_PRIVKEY|PGPASS|DOCKER_AUTH_CONFIG|URL_SIG|sig|HTTP_AUTH|--auth|Authorization|AccountKey|"
		"privateKey|X-Amz-Signature|SSHPASS|DB_PW|--smtp-pw|SLACK_WEBHOOK|webhook-url|NETRC|VAULT|"
		"VAULT_ID|"
		"KUBECONFIG_DATA|x.SSHPASS";
	static const char open[] =
		"PATH|PWD|OLDPWD|KEYBOARD|MONKEYS|MONKEY|TOKE|PASSWOR|KEY_ID|AWS_ACCESS_KEY_ID|"
		"TOKENIZERS_PARALLELISM|DB_PASSWORD_FILE|SSL_KEY_FILE|SECRET_KEY_PATH|SECRETS_DIR|"
		"BYPASS|COMPASS|_KEY||PGPASSFILE|XAUTHORITY|SSH_AUTH_SOCK|PDEATHSIG|AUTHOR|pass|DESIGN|NCCL_"
		"SOCKET_IFNAME|SPAT|PW|KUBECONFIG|VAULT_PATH|DEFAULT";
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
	check_text(secret_text(a, "API_TOKEN=hunter2"), "API_TOKEN=********", "an assignment");
	check_text(secret_text(a, "--set=API_TOKEN=hun=er2=="), "--set=API_TOKEN=********", "an option");
	check_text(secret_text(a, "--password=x"), "--password=********", "an option's value");
	check_text(secret_text(a, "--lr=0.1"), "--lr=0.1", "another option");
	check_text(secret_text(a, "db://u:p@h"), "db://u:********@h", "a word that is a URL");
	check_text(secret_text(a, "token"), "token", "a word alone");
}

/** Wherever @text is cut, what is left of it is the beginning of @shown. */
static void check_cuts(struct arena *a, const char *text, const char *shown) {
	const size_t len = strlen(shown);
	bool right = true;
	for (size_t most = 0; most < len; most++) {
		const char *cut = secret_text_cut(a, text, most);
		right = right && strncmp(cut, shown, most) == 0 && strncmp(cut + most, "... (", 5) == 0;
	}
	checkf(right && strcmp(secret_text_cut(a, text, len), shown) == 0, "cut anywhere: %s", text);
}

/** Texts of anything, and how they are shown. */
static void check_texts(struct arena *a) {
	static const struct {
		const char *text, *shown;
	} rows[] = {
		// What is told wrongly in an ordinary way stays as it is.
		{"5x", "5x"},
		{"n1:29500,n2", "n1:29500,n2"},
		{"/run/secrets/env", "/run/secrets/env"},
		{"/run/secrets:/opt/token", "/run/secrets:/opt/token"},
		{"srun: error: Invalid job credential", "srun: error: Invalid job credential"},
		{"the token is wrong", "the token is wrong"},
		{"HF_TOKEN", "HF_TOKEN"},
		{"set HF_TOKEN", "set HF_TOKEN"},
		{"HF_TOKEN=", "HF_TOKEN="},
		{"sk-learn", "sk-learn"},
		{"hf_transformers_cache_of_mine", "hf_transformers_cache_of_mine"},
		{"maskhf_0123456789abcdefgh", "maskhf_0123456789abcdefgh"},
		{"https://secrets.example/x", "https://secrets.example/x"},
		// A name, and what follows.
		{"set DB_PASSWORD hunter2", "set DB_PASSWORD ********"},
		{"set db_password hunter2", "set db_password ********"},
		{"DB_PASSWORD hunter2", "DB_PASSWORD ********"},
		{"DB_PASSWORD\thunter2", "DB_PASSWORD\t********"},
		{"A=1 API_TOKEN = hunter2", "A=1 API_TOKEN = ********"},
		{"append API_TOKEN[ ]=hunter2", "append API_TOKEN[ ]=********"},
		{"token:hunter2", "token:********"},
		{"{\"a\":1,\"token\": \"hunter2\"}", "{\"a\":1,\"token\": \"********"},
		{"--password hunter2", "--password ********"},
		{"Authorization: Bearer hunter2", "Authorization: ********"},
		{"x bearer hunter2", "x bearer ********"},
		{"export TOKEN=hunter2; train", "export TOKEN=********"},
		{"http://h/p?token=hunter2", "http://h/p?token=********"},
		{"/x/token=hunter2", "/x/token=********"},
		{"a.api-key=hunter2", "a.api-key=********"},
		{"DefaultEndpoints=https;AccountKey=hunter2", "DefaultEndpoints=https;AccountKey=********"},
		// Tokens of known forms.
		{"x,hf_0123456789abcdefghij,y", "x,********,y"},
		{"ghp_0123456789abcdefghij", "********"},
		{"AKIAIOSFODNN7EXAMPLE", "********"},
		{"x=eyJhbGciOiJIUzI1NiJ9.eyJzdWIi.abc-d_e", "x=********"},
		{"-----BEGIN PRIVATE KEY-----\nabc\n", "********"},
		{"http://u:hunter2@h,ghp_0123456789abcdefghij", "http://u:********@h,********"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *shown = secret_text(a, rows[i].text);
		check_text(shown, rows[i].shown, "%s", rows[i].text);
		check_text(secret_text(a, shown), rows[i].shown, "again: %s", rows[i].text);
		check_cuts(a, rows[i].text, shown);
		char quoted[sizeof(struct quoted)];
		snprintf(quoted, sizeof(quoted), "'%s'", rows[i].shown);
		if (!strchr(rows[i].shown, '\t')) {
			check_text(quote(str_of(rows[i].text)).s, quoted, "quote: %s", rows[i].text);
		}
	}
}

/** Wherever the secret begins, quote() shows none of it, and stays within its bounds. */
static void check_quote_cut(void) {
	char text[300];
	for (size_t n = 0; n < 200; n++) {
		memset(text, '.', n);
		snprintf(text + n, sizeof(text) - n, " A_TOKEN=%s", "hunter2");
		struct quoted got = quote(str_of(text));
		size_t len = strnlen(got.s, sizeof(got.s));
		checkf(len < sizeof(got.s) && got.s[len - 1] == '\'' && !strstr(got.s, "h") &&
			       (strstr(got.s, "=********'") || strstr(got.s, "...'")),
		       "quote with %zu bytes in front: %s", n, got.s);
	}
	check_text(quote_value("A_TOKEN", STR("hunter2")).s, "'********'", "the value of a secret name");
	check_text(quote_value("A_TOKEN", STR("")).s, "''", "an empty one");
	check_text(quote_value("A", STR("hunter2")).s, "'hunter2'", "that of another");
}

/** A command of @before and @word: how @word is shown. */
static void check_word(struct arena *a, char *before, char *word, const char *want) {
	char *const words[] = {before, word, NULL};
	check_text(secret_word(a, words, 1), want, "%s %s", before, word);
}

/** Words of a command. */
static void check_words(struct arena *a) {
	static const char rows[] =
		"python|-u|-u;-u|train.py|train.py;x|--lr=0.1|--lr=0.1;x|--token|--token;x|token|token;"
		"token|a|a;x=TOKEN|a|a;TOKEN=1|a|a;--token-file|a|a;--password|-|********;--token=|a|a;"
		"x|--auth=hunter2|--auth=********;x|token:hunter2|token:********;"
		"--token|hunter2|********;--db.password|hunter2|********;--db-pw|hunter2|********;"
		"--webhook|hunter2|********;API_TOKEN|hunter2|********;Bearer|hunter2|********;"
		"-p|hunter2|********;-p|=hunter2|********;-p|-phunter2|********;mysql|-phunter2|-p********;"
		"mysql|-p@hunter2|-p********;mysql|-p|-p;sh|sshpass -p hunter2 ssh h|sshpass -p ********;"
		"sh|mysql -phunter2|mysql -p********;sh|mysql '-p hunter2'|mysql '-p ********;"
		"mpiexec|-ppn|-ppn;-ppn|8|8;-perhost|8|8;-path|/x|/x;x|n-p1|n-p1;x|--port|--port;"
		"-H|Authorization: Bearer hunter2|Authorization: ********;"
		"x|{\"token\": \"hunter2\"}|{\"token\": \"********;x|db://u:hunter2@h|db://u:********@h";
	for (char **row = fixture_split(a, rows, ';'); *row; row++) {
		char **cells = fixture_split(a, *row, '|');
		check_word(a, cells[0], cells[1], cells[2]);
	}
	char first[] = "/nosuch/hf_0123456789abcdefgh", *const words[] = {first, NULL};
	check_text(secret_word(a, words, 0), "/nosuch/********", "the first word");
}

int main(void) {
	struct arena arena = fixture_arena();
	check_names(&arena);
	check_values(&arena);
	check_texts(&arena);
	check_quote_cut();
	check_words(&arena);
	arena_done(&arena);
	return check_done();
}
