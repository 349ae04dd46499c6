// SPDX-License-Identifier: Apache-2.0

#include "fill/placeholder.h"

#include "base/nearest.h"

#include <errno.h>

/** The names, and what may follow each: '*' and a factor, ':' and a port. */
static const struct {
	const char *name;
	char takes;
} names[] = {
	[FILL_NNODES] = {"nnodes", '*'},
	[FILL_NODE_RANK] = {"node-rank", '*'},
	[FILL_RANK] = {"rank", '*'},
	[FILL_WORLD_SIZE] = {"world-size", '*'},
	[FILL_LOCAL_RANK] = {"local-rank", '*'},
	[FILL_LOCAL_WORLD_SIZE] = {"local-world-size", '*'},
	[FILL_MASTER_PORT] = {"master-port", '*'},
	[FILL_MASTER_ADDR] = {"master-addr", '\0'},
	[FILL_MASTER] = {"master", '\0'},
	[FILL_NODE_ADDR] = {"node-addr", '\0'},
	[FILL_HOSTS] = {"hosts", ':'},
	[FILL_WORKERS] = {"workers", ':'},
};

#define N_NAMES (sizeof(names) / sizeof(names[0]))

static bool is_digit(char c) {
	return c >= '0' && c <= '9';
}

static bool is_variable(struct str name) {
	for (size_t i = 0; i < name.len; i++) {
		bool letter = (name.p[i] >= 'A' && name.p[i] <= 'Z') || name.p[i] == '_';
		if (!letter && (i == 0 || !is_digit(name.p[i]))) {
			return false;
		}
	}
	return name.len > 0;
}

/** The length of the name at the start of @text, such as "node-rank", rightly spelt or not. */
static size_t name_length(struct str text) {
	size_t n = 0;
	while (n < text.len &&
	       ((text.p[n] >= 'a' && text.p[n] <= 'z') || text.p[n] == '-' || text.p[n] == '_')) {
		n++;
	}
	return n;
}

static bool all_digits(struct str text) {
	size_t n = 0;
	while (n < text.len && is_digit(text.p[n])) {
		n++;
	}
	return n > 0 && n == text.len;
}

int placeholder_refuse(const struct placeholder *p, const char *why, const char *more, struct err *err) {
	return err_set(err, EINVAL, "%s: %s%s; a backslash before the brace makes it text", quote(p->text).s,
		       why, more);
}

/** Refuse @p, whose name is not known, if it is near a known one. Returns 0 or -EINVAL. */
static int refuse_unknown(const struct placeholder *p, struct err *err) {
	struct nearest best = {.word = p->name};
	for (size_t i = 0; i < N_NAMES; i++) {
		nearest_try(&best, names[i].name);
	}
	return best.found ? placeholder_refuse(p, "no placeholder; the nearest is ", best.found, err) : 0;
}

/** Refuse @p, which has @mark after its name, unless it may be meant for another program: {rank:03d}. */
static int refuse_number(const struct placeholder *p, char mark, struct err *err) {
	bool foreign = mark == ':' && str_find(p->name, '-') == p->name.len;
	return foreign ? 0 : placeholder_refuse(p, "expected NUMBER*N, hosts:PORT or workers:PORT", "", err);
}

/** Read what is between the braces of @p->text. Returns as placeholder_find(). */
static int read_name(struct placeholder *p, struct err *err) {
	struct str inner = {p->text.p + 1, p->text.len - 2};
	p->id = FILL_VARIABLE;
	p->name = inner;
	p->number = STR("");
	if (is_variable(inner)) {
		return 1;
	}
	p->name.len = name_length(inner);
	char mark = '\0';
	if (p->name.len < inner.len) {
		mark = inner.p[p->name.len];
		p->number = str_from(inner, p->name.len + 1);
	}
	bool numbered = (mark == '*' || mark == ':') && all_digits(p->number);
	if (p->name.len == 0 || (mark && mark != '*' && mark != ':')) {
		return 0;
	}
	for (size_t i = 0; i < N_NAMES; i++) {
		if (str_is(p->name, names[i].name)) {
			p->id = (enum placeholder_id)i;
			bool fits = !mark || (numbered && mark == names[i].takes);
			return fits ? 1 : refuse_number(p, mark, err);
		}
	}
	return !mark || numbered ? refuse_unknown(p, err) : 0;
}

/** How many braces @text begins with. */
static size_t count_braces(struct str text) {
	size_t n = 0;
	while (n < text.len && text.p[n] == '{') {
		n++;
	}
	return n;
}

/** The length of @text, which begins with one brace, up to the brace that closes it; 0: none does. */
static size_t closed_length(struct str text) {
	size_t n = 1;
	while (n < text.len && text.p[n] != '{' && text.p[n] != '}') {
		n++;
	}
	return n < text.len && text.p[n] == '}' ? n + 1 : 0;
}

int placeholder_find(struct str word, size_t from, size_t *at, bool *escaped, struct placeholder *out,
		     struct err *err) {
	size_t i = from;
	while (i < word.len) {
		struct str rest = str_from(word, i);
		size_t braces = count_braces(rest);
		size_t len = braces == 1 ? closed_length(rest) : 0;
		// Two braces are another program's, and "${" is the shell's.
		if (len && (i == 0 || word.p[i - 1] != '$')) {
			struct err ignored;
			*at = i;
			*escaped = i > from && word.p[i - 1] == '\\';
			out->text = (struct str){rest.p, len};
			int r = read_name(out, *escaped ? &ignored : err);
			if (r != 0) {
				return *escaped ? 1 : r;
			}
		}
		i += braces ? braces : 1;
	}
	*at = word.len;
	return 0;
}

static const char *const roles[] = {
	[ROLE_ALL] = ":all:",
	[ROLE_MASTER] = ":master:",
	[ROLE_WORKERS] = ":workers:",
};

int role_mark_read(const char *word, enum role *out, struct err *err) {
	struct str text = str_of(word);
	struct nearest best = {.word = text};
	if (text.len < 3 || text.p[0] != ':' || text.p[text.len - 1] != ':') {
		return 0;
	}
	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
		if (str_is(text, roles[i])) {
			*out = (enum role)i;
			return 1;
		}
		nearest_try(&best, roles[i]);
	}
	return best.found ? err_set(err, EINVAL, "%s does not mark a role%s", quote(text).s,
				    nearest_hint(&best, "").s)
			  : 0;
}

const char *role_name(enum role role) {
	return role == ROLE_MASTER ? "master" : "workers";
}
