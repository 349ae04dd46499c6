// SPDX-License-Identifier: Apache-2.0

#include "base/secret.h"

#include "base/buf.h"

// --- names ----------------------------------------------------------------------------------------------

/**
 * Whether @name has @word, which is in upper case, at @at. Options are names, too: '-' counts as '_', and
 * lower case as upper case.
 */
static bool is_at(struct str name, size_t at, const char *word) {
	for (; *word; word++, at++) {
		if (at >= name.len || variable_char(name.p[at]) != *word) {
			return false;
		}
	}
	return true;
}

/** Whether @name ends with one of @words, with at least @more bytes before it. The list ends with NULL. */
static bool ends_with(struct str name, const char *const *words, size_t more) {
	for (; *words; words++) {
		size_t len = strlen(*words);
		if (name.len >= len + more && is_at(name, name.len - len, *words)) {
			return true;
		}
	}
	return false;
}

/** Whether @name is one of @words. */
static bool is_one_of(struct str name, const char *const *words) {
	for (; *words; words++) {
		if (name.len == strlen(*words) && is_at(name, 0, *words)) {
			return true;
		}
	}
	return false;
}

/** Whether @name, which has no path in front, says that its value is secret. */
static bool is_secret(struct str name) {
	static const char *const paths[] = {"_FILE", "_PATH", "_DIR", "PGPASSFILE", NULL};
	static const char *const last[] = {"_KEY",  "_PW",  "_PWD", "_PASS", "_PAT",
					   "_AUTH", "_SIG", "_SAS", NULL};
	static const char *const whole[] = {"AUTH", "PGPASS", "SIG", "SSHPASS", NULL};
	static const char *const parts[] = {"SECRET",	     "PASSWORD", "PASSWD",	    "PASSPHRASE",
					    "CREDENTIAL",    "APIKEY",	 "ACCESSKEY",	    "ACCOUNTKEY",
					    "PRIVATEKEY",    "PRIVKEY",	 "COOKIE",	    "JWT",
					    "NETRC",	     "VAULT",	 "SIGNATURE",	    "AUTH_CONFIG",
					    "AUTHORIZATION", "WEBHOOK",	 "KUBECONFIG_DATA", NULL};
	if (ends_with(name, paths, 0)) {
		return false;
	}
	for (size_t i = 0; i < name.len; i++) {
		char first = variable_char(name.p[i]);
		for (const char *const *part = parts; *part; part++) {
			if (**part == first && is_at(name, i, *part)) {
				return true;
			}
		}
		if (is_at(name, i, "TOKEN") && !is_at(name, i, "TOKENIZER")) {
			return true;
		}
	}
	return ends_with(name, last, 1) || is_one_of(name, whole);
}

// --- secrets in a text ----------------------------------------------------------------------------------

static bool is_alnum(char c) {
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/** Whether @c may be in a name, a path or a host. */
static bool is_in_run(char c) {
	return is_alnum(c) || c == '_' || c == '-' || c == '.' || c == '/';
}

/** Whether @c is a blank or a control character. */
static bool is_gap(char c) {
	return (unsigned char)c <= ' ' || c == 0x7f;
}

static bool is_gap_or_quote(char c) {
	return is_gap(c) || c == '\'' || c == '"' || c == '\\';
}

/** The run of name characters that ends before the blanks in front of @at. */
static struct str run_before(struct str text, size_t at) {
	while (at > 0 && is_gap(text.p[at - 1])) {
		at--;
	}
	size_t start = at;
	while (start > 0 && is_in_run(text.p[start - 1])) {
		start--;
	}
	return (struct str){text.p + start, at - start};
}

/** The name at the end of @run, which may be a path or "x.y.NAME". */
static struct str name_of(struct str run) {
	size_t at = run.len;
	while (at > 0 && run.p[at - 1] != '/' && run.p[at - 1] != '.') {
		at--;
	}
	return str_from(run, at);
}

bool secret_name(struct str name) {
	// As in a text, the last word before the '=' decides.
	return is_secret(name) || is_secret(name_of(run_before(name, name.len)));
}

/** Whether @word is a verb, of ours or of a shell, that is followed by a name and a value. */
static bool is_verb(struct str word) {
	static const char *const verbs[] = {"SET",    "ADD", "PREPEND", "APPEND", "FIRST",   "UNSET",
					    "EXPORT", "ENV", "SETENV",	"PASS",	  "DECLARE", NULL};
	return is_one_of(word, verbs);
}

/** Whether a blank may separate the name @run, which begins at @at, from its value. */
static bool takes_next_word(struct str text, size_t at, struct str run) {
	if (run.p[0] == '-' || is_verb(run_before(text, at))) {
		return true;
	}
	for (size_t i = 0; i < run.len; i++) {
		if (run.p[i] >= 'a' && run.p[i] <= 'z') {
			return false;
		}
	}
	return true;
}

/**
 * Skip characters that may stand between a name and its separator: a quote's end, and "[,]" of a
 * directive.
 */
static size_t skip_name_end(struct str text, size_t at) {
	if (at < text.len && text.p[at] == '[') {
		size_t close = at + str_find(str_from(text, at), ']');
		at = close < text.len ? close + 1 : at;
	}
	while (at < text.len && is_gap_or_quote(text.p[at])) {
		at++;
	}
	return at;
}

/**
 * Whether @run begins with -p of sshpass or mysql, before a password. The -p... options of mpiexec do not
 * count.
 */
static bool is_option_p(struct str text, size_t at, struct str run) {
	static const char *const others[] = {"_PPN",	      "_PERHOST", "_PERNODE",
					     "_PREPEND_RANK", "_PATH",	  "_PORT",
					     "_PREFIX",	      "_PROFILE", NULL};
	return str_starts(run, STR("-p")) && (at == 0 || is_gap_or_quote(text.p[at - 1])) &&
	       !is_one_of(run, others);
}

/** Whether the run from @at to @end is the name of a secret, and the secret follows it. */
static bool find_after_name(struct str text, size_t at, size_t end, struct secret_span *out) {
	static const char *const schemes[] = {"BEARER", NULL};
	struct str run = {text.p + at, end - at}, name = name_of(run);
	bool path = name.len < run.len && run.p[0] != '-', scheme = is_one_of(run, schemes);
	size_t next = skip_name_end(text, end);
	bool option = is_option_p(text, at, run);
	if (!option && (end == text.len || !(scheme || is_secret(name)))) {
		return false;
	}
	if (option) {
		next = run.len > 2 ? at + 2 : next;
	} else if (next < text.len && (text.p[next] == '=' || (text.p[next] == ':' && !path))) {
		next++;
		if (text.len - next >= 2 && text.p[next] == '/' && text.p[next + 1] == '/') {
			return false;
		}
	} else if (path || next == end || !is_gap_or_quote(text.p[end]) ||
		   !(scheme || takes_next_word(text, at, run))) {
		return false;
	}
	while (next < text.len && is_gap_or_quote(text.p[next])) {
		next++;
	}
	*out = (struct secret_span){next, text.len};
	return next < text.len;
}

/** Whether the URL whose authority begins at @at has a password. */
static bool find_password(struct str text, size_t at, struct secret_span *out) {
	size_t host = at, colon = at;
	for (size_t i = at; i < text.len && !strchr("/?# \t\n,'\"", text.p[i]); i++) {
		host = text.p[i] == '@' ? i : host;
	}
	while (colon < host && text.p[colon] != ':') {
		colon++;
	}
	*out = (struct secret_span){colon + 1, host};
	return colon + 1 < host;
}

/** The form of a well-known kind of token. */
struct shape {
	const char *start;
	/** The least number of characters after `start`. */
	size_t least;
	/** Characters that may follow, besides letters and digits. */
	const char *also;
};

static const struct shape shapes[] = {
	{"hf_", 16, ""},	{"ghp_", 16, ""},	 {"gho_", 16, ""},	   {"ghu_", 16, ""},
	{"ghs_", 16, ""},	{"ghr_", 16, ""},	 {"github_pat_", 16, "_"}, {"glpat-", 16, "-_"},
	{"xoxb-", 10, "-"},	{"xoxp-", 10, "-"},	 {"xoxa-", 10, "-"},	   {"xoxs-", 10, "-"},
	{"sk-proj-", 16, "-_"}, {"sk-ant-", 16, "-_"},	 {"sk-", 20, ""},	   {"AKIA", 12, ""},
	{"ASIA", 12, ""},	{"AIza", 20, "-_"},	 {"npm_", 20, ""},	   {"pypi-", 20, "-_"},
	{"nvapi-", 16, "-_"},	{"dckr_pat_", 16, "-_"}, {"eyJ", 16, "-_.="},	   {"-----BEGIN ", 1, ""},
};

static bool find_shape(struct str text, size_t at, struct secret_span *out) {
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		const struct shape *shape = &shapes[i];
		struct str rest = str_from(text, at);
		if (shape->start[0] != text.p[at] || !str_starts(rest, str_of(shape->start))) {
			continue;
		}
		size_t start = strlen(shape->start), end = start;
		while (end < rest.len &&
		       (is_alnum(rest.p[end]) || (rest.p[end] && strchr(shape->also, rest.p[end])))) {
			end++;
		}
		if (end >= start + shape->least) {
			// A PEM text has many lines.
			*out = (struct secret_span){at, rest.p[0] == '-' ? text.len : at + end};
			return true;
		}
	}
	return false;
}

/** Find the first secret in @text at or after @from. One at or after @before may be missed. */
static bool find_before(struct str text, size_t from, size_t before, struct secret_span *out) {
	size_t run = from;
	for (size_t i = from; i < text.len && i < before; i++) {
		bool begins = i == 0 || !is_alnum(text.p[i - 1]);
		if (begins && find_shape(text, i, out)) {
			return true;
		}
		if (!is_in_run(text.p[i])) {
			run = i + 1;
			if (str_starts(str_from(text, i), STR("://")) && find_password(text, i + 3, out)) {
				return true;
			}
		} else if ((i + 1 == text.len || !is_in_run(text.p[i + 1])) &&
			   find_after_name(text, run, i + 1, out)) {
			return true;
		}
	}
	return false;
}

bool secret_find(struct str text, size_t from, struct secret_span *out) {
	return find_before(text, from, text.len, out);
}

// --- showing --------------------------------------------------------------------------------------------

const char *secret_text_cut(struct arena *arena, const char *text, size_t most) {
	struct str all = str_of(text);
	struct buf out = BUF(arena);
	struct secret_span secret;
	size_t from = 0, left = most;
	while (left && find_before(all, from, left < all.len - from ? from + left : all.len, &secret) &&
	       secret.at - from < left) {
		buf_put(&out, (struct str){text + from, secret.at - from});
		buf_puts(&out, SECRET_MASK);
		from = secret.end;
		left = out.len < most ? most - out.len : 0;
	}
	if (from == 0) {
		return text ? arena_cut(arena, text, most) : NULL;
	}
	buf_put(&out, str_from(all, from));
	return arena_cut(arena, buf_text(&out), most);
}

const char *secret_text(struct arena *arena, const char *text) {
	return secret_text_cut(arena, text, SIZE_MAX);
}

const char *secret_mask_cut(struct arena *arena, const char *name, const char *value, size_t most) {
	return *value && secret_name(str_of(name)) ? SECRET_MASK : secret_text_cut(arena, value, most);
}

const char *secret_mask(struct arena *arena, const char *name, const char *value) {
	return secret_mask_cut(arena, name, value, SIZE_MAX);
}

const char *secret_word(struct arena *arena, char *const words[], size_t i) {
	struct str before = str_of(i ? words[i - 1] : NULL);
	struct secret_span secret;
	if (before.len && run_before(before, before.len).len == before.len) {
		const char *both_words = arena_format(arena, "%s %s", before.p, words[i]);
		struct str both = {both_words, strlen(both_words)};
		if (find_after_name(both, 0, before.len, &secret) && secret.at > before.len) {
			return SECRET_MASK;
		}
	}
	return secret_text(arena, words[i]);
}
