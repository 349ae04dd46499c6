// SPDX-License-Identifier: Apache-2.0

#include "fill/fill.h"

#include "base/buf.h"
#include "base/secret.h"
#include "base/words.h"

#include <errno.h>

/** Find the value of @p, or return the value that was found before. */
static int find_value(struct fill *f, const struct placeholder *p, const char **out, struct err *err) {
	for (const struct fill_value *v = f->values; v; v = v->next) {
		if (str_is(p->text, v->placeholder)) {
			*out = v->value;
			return 0;
		}
	}
	struct fill_value *new = arena_alloc(f->arena, sizeof(*new));
	*new = (struct fill_value){.placeholder = arena_text(f->arena, p->text.p, p->text.len)};
	int r = fill_find_value(f, p, &new->value, &new->why, err);
	if (r < 0) {
		return r;
	}
	if (f->masks && (p->id == FILL_VARIABLE || p->id == FILL_SPREAD)) {
		const char *name = arena_text(f->arena, p->name.p, p->name.len);
		new->value = secret_mask(f->arena, name, new->value);
	}
	if (f->last) {
		f->last->next = new;
	} else {
		f->values = new;
	}
	f->last = new;
	*out = new->value;
	return 0;
}

/**
 * Append the value of @p to @out. Returns 0; -EINVAL if it has none; -E2BIG if @out becomes longer than
 * the kernel allows.
 */
static int put_value(struct fill *f, const struct placeholder *p, struct buf *out, struct err *err) {
	const char *value;
	int r = find_value(f, p, &value, err);
	if (r < 0) {
		return r;
	}
	buf_puts(out, value);
	return out->len < ENV_TEXT_MAX ? 0
				       : err_set(err, E2BIG, "%s: the word becomes longer than %zu bytes",
						 quote(p->text).s, ENV_TEXT_MAX - 1);
}

/** Fill @word into *@out. @ours: the word is for this process's role; otherwise it is only checked. */
static int fill_word(struct fill *f, const char *word, bool ours, const char **out, struct err *err) {
	struct buf filled = BUF(f->arena);
	size_t from = 0, at;
	struct placeholder p;
	bool escaped;
	int r;
	while ((r = placeholder_find(word, from, &at, &escaped, &p, err)) > 0) {
		buf_put(&filled, (struct str){word + from, at - from - escaped});
		if (escaped) {
			buf_put(&filled, p.text);
		} else if (ours && (r = put_value(f, &p, &filled, err)) < 0) {
			return r;
		}
		from = at + p.text.len;
	}
	buf_puts(&filled, word + from);
	*out = from ? buf_text(&filled) : word;
	return r;
}

/** Mask the values of @word that @shown, the filled word as it is displayed, does not have. */
static void hide_values(struct fill *f, const char *word, const char *shown) {
	for (struct fill_value *v = f->masks ? f->values : NULL; v; v = v->next) {
		if (strstr(word, v->placeholder) && !strstr(shown, v->value)) {
			v->value = SECRET_MASK;
		}
	}
}

/**
 * Add the filled @word, or the words of a spread. If a value is secret because of its position, after
 * --password, it is masked in f->values, too.
 */
static int add_word(struct fill *f, const char *word, const char *filled, struct words *list,
		    struct err *err) {
	struct placeholder p = {0};
	size_t at, first = list->n;
	bool escaped, hidden = false;
	if (placeholder_find(word, 0, &at, &escaped, &p, err) <= 0 || escaped || p.id != FILL_SPREAD ||
	    (f->masks && strstr(filled, SECRET_MASK))) {
		words_add(list, filled);
		hide_values(f, word, secret_word(f->arena, list->at, list->n - 1));
		return 0;
	}
	if (words_split(list, word, str_of(filled), err) < 0) {
		// The message does not show the value, which may be a secret.
		return placeholder_refuse(&p,
					  "its value has an open quote, or, outside of single quotes, "
					  "one of $`;&|<>()*?, which no shell expands here",
					  "", err);
	}
	for (size_t i = first; i < list->n; i++) {
		hidden = hidden || strcmp(secret_word(f->arena, list->at, i), list->at[i]) != 0;
	}
	for (struct fill_value *v = f->masks && hidden ? f->values : NULL; v; v = v->next) {
		v->value = str_is(p.text, v->placeholder) ? SECRET_MASK : v->value;
	}
	return 0;
}

int fill_words(struct fill *f, char *const words[], char ***out, struct err *err) {
	struct words list = WORDS(f->arena);
	enum role role = ROLE_ALL;
	bool any[ROLE_WORKERS + 1] = {false};
	for (size_t i = 0; words[i]; i++) {
		if (role_mark_read(words[i], &role)) {
			if (f->role == ROLE_ALL && fill_find_role(f, &f->role, err) < 0) {
				return -EINVAL;
			}
			continue;
		}
		bool ours = role == ROLE_ALL || role == f->role;
		const char *word;
		any[role] = true;
		int r = fill_word(f, words[i], ours, &word, err);
		r = r < 0 || !ours ? r : add_word(f, words[i], word, &list, err);
		if (r < 0) {
			return r;
		}
	}
	for (role = ROLE_MASTER; role <= ROLE_WORKERS; role++) {
		if (!any[ROLE_ALL] && !any[role]) {
			return err_set(err, EINVAL,
				       "the command has no word for :%s:, nor for :all:", role_name(role));
		}
	}
	*out = words_vector(&list);
	return list.n ? 0 : err_set(err, EINVAL, "the command has no word: its variables are empty");
}

/** Whether @word has a placeholder with a hyphen, which is hardly an accident. */
static bool has_hyphened(const char *word) {
	struct placeholder p;
	struct err err;
	bool escaped;
	size_t from = 0, at;
	while (placeholder_find(word, from, &at, &escaped, &p, &err) > 0) {
		if (!escaped && p.id != FILL_VARIABLE && str_find(p.name, '-') < p.name.len) {
			return true;
		}
		from = at + p.text.len;
	}
	return false;
}

const char *fill_mistyped(char *const words[], const char **mark) {
	for (size_t i = 0; words[i]; i++) {
		*mark = role_mark_nearest(words[i]);
		if (*mark) {
			return words[i];
		}
	}
	return NULL;
}

const char *fill_forgotten(char *const words[]) {
	for (size_t i = 0; words[i]; i++) {
		enum role role;
		if (role_mark_read(words[i], &role) || has_hyphened(words[i])) {
			return words[i];
		}
	}
	return NULL;
}
