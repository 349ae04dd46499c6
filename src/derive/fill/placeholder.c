// SPDX-License-Identifier: Apache-2.0

#include "fill/placeholder.h"

#include "base/nearest.h"

#include <errno.h>
#include <string.h>

/** The names, and the mark that may follow each: '*' before a factor, ':' before a port. */
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
	[FILL_MASTER_IP] = {"master-ip", '\0'},
	[FILL_MASTER] = {"master", '\0'},
	[FILL_NODE_ADDR] = {"node-addr", '\0'},
	[FILL_HOSTS] = {"hosts", ':'},
	[FILL_WORKERS] = {"workers", ':'},
};

#define N_NAMES (sizeof(names) / sizeof(names[0]))

#define CAPITALS "ABCDEFGHIJKLMNOPQRSTUVWXYZ_"
#define LETTERS	 "abcdefghijklmnopqrstuvwxyz"
#define DIGITS	 "0123456789"

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

/**
 * Refuse @p, which has @mark after its name. Returns 0 if it may be meant for another program:
 * {rank:03d}.
 */
static int refuse_number(const struct placeholder *p, char mark, struct err *err) {
	bool foreign = mark == ':' && str_find(p->name, '-') == p->name.len;
	return foreign ? 0
		       : placeholder_refuse(p, "expected NUMBER*N, NUMBER*NAME, hosts:PORT or workers:PORT",
					    "", err);
}

/**
 * Read the text between the braces of p->text, which ends with its only '}'. Returns as
 * placeholder_find().
 */
static int read_name(struct placeholder *p, struct err *err) {
	const char *inner = p->text.p + 1;
	p->id = FILL_VARIABLE;
	p->name = (struct str){inner, p->text.len - 2};
	p->number = (struct str){0};
	size_t variable = strspn(inner, CAPITALS) ? strspn(inner, CAPITALS DIGITS) : 0;
	bool spread = variable && strncmp(inner + variable, "...}", 4) == 0;
	if (spread || (variable && variable == p->name.len)) {
		p->id = spread ? FILL_SPREAD : FILL_VARIABLE;
		p->name.len = variable;
		return 1;
	}
	p->name.len = strspn(inner, LETTERS "-_");
	const char *mark = inner + p->name.len;
	bool plain = *mark == '}';
	if (p->name.len == 0 || !strchr("}*:", *mark)) {
		return 0;
	}
	bool named = *mark == '*' && strspn(mark + 1, CAPITALS);
	p->number = (struct str){mark + 1, plain ? 0 : strspn(mark + 1, named ? CAPITALS DIGITS : DIGITS)};
	bool whole = plain || (p->number.len && mark[1 + p->number.len] == '}');
	for (size_t i = 0; i < N_NAMES; i++) {
		if (str_is(p->name, names[i].name)) {
			p->id = (enum placeholder_id)i;
			return whole && (plain || *mark == names[i].takes) ? 1 : refuse_number(p, *mark, err);
		}
	}
	return whole ? refuse_unknown(p, err) : 0;
}

int placeholder_find(const char *word, size_t from, size_t *at, bool *escaped, struct placeholder *out,
		     struct err *err) {
	for (const char *p = strchr(word + from, '{'); p; p = strchr(p, '{')) {
		size_t braces = strspn(p, "{"), len = strcspn(p + 1, "{}") + 2;
		// Two braces belong to another program, and "${" to the shell.
		if (braces == 1 && p[len - 1] == '}' && (p == word || p[-1] != '$')) {
			struct err ignored;
			*at = (size_t)(p - word);
			*escaped = *at > from && p[-1] == '\\';
			out->text = (struct str){p, len};
			int r = read_name(out, *escaped ? &ignored : err);
			if (r > 0 && out->id == FILL_SPREAD && !*escaped && (p != word || p[len])) {
				return placeholder_refuse(out, "it has to be a word of its own", "", err);
			}
			if (r != 0) {
				return *escaped ? 1 : r;
			}
		}
		p += braces;
	}
	return 0;
}

static const char *const roles[] = {
	[ROLE_ALL] = ":all:",
	[ROLE_MASTER] = ":master:",
	[ROLE_WORKERS] = ":workers:",
};

bool role_mark_read(const char *word, enum role *out) {
	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
		if (strcmp(word, roles[i]) == 0) {
			*out = (enum role)i;
			return true;
		}
	}
	return false;
}

const char *role_name(enum role role) {
	return role == ROLE_ALL ? "all" : role == ROLE_MASTER ? "master" : "workers";
}

const char *role_mark_nearest(const char *word) {
	size_t len = word[0] == ':' ? strcspn(word + 1, ":") : 0;
	struct nearest best = {.word = {word + 1, len}};
	enum role role;
	bool form = len && strcmp(word + 1 + len, ":") == 0 && !role_mark_read(word, &role);
	for (role = ROLE_ALL; form && role <= ROLE_WORKERS; role++) {
		nearest_try(&best, role_name(role));
	}
	return best.found;
}
