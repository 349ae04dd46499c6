// SPDX-License-Identifier: Apache-2.0

#include "cluster/hostlist.h"

#include "base/num.h"

#include <errno.h>

/** Most digits in a number: what fits into 64 bits with room to count on. */
#define DIGITS_MAX 18

/** The text, where it comes from, and how far it has been read. */
struct reader {
	const char *what;
	struct str text;
	size_t at;
	/** It has been read once, and nothing is wrong with it. */
	bool checked;
	struct err *err;
};

/** One name: literal, bracket, literal, bracket, ..., literal. */
struct name {
	struct str literal[HOSTLIST_BRACKETS_MAX + 1];
	/** What stands between the brackets. */
	struct str bracket[HOSTLIST_BRACKETS_MAX];
	uint32_t brackets;
	/** How many names it stands for, and the longest of them in bytes. */
	uint64_t count;
	size_t longest;
};

/** Walks through the numbers of a bracket. */
struct cursor {
	struct str bracket;
	/** The ranges behind the present one. */
	struct str rest;
	struct digits digits;
	/** How many more numbers this range has. */
	uint64_t left;
};

/** A range such as 08-12. */
struct range {
	uint64_t first;
	uint64_t last;
	/** At least so many digits. */
	size_t width;
};

/** The names under construction, each with a newline behind it. */
struct builder {
	struct arena *arena;
	struct buf text;
	/** Where each name lies, if `with_spans`. */
	bool with_spans;
	struct span *spans;
	uint32_t n;
};

static int refuse(const struct reader *in, const char *at, const char *why) {
	return err_set(in->err, EINVAL, "%s=%s, column %zu: %s", in->what, quote(in->text).s,
		       (size_t)(at - in->text.p) + 1, why);
}

/** Read "a" or "a-b". Returns what is wrong with it, or NULL. */
static const char *read_range(struct str text, struct range *range) {
	size_t dash = str_find(text, '-');
	struct str first = {text.p, dash};
	struct str last = dash < text.len ? str_from(text, dash + 1) : first;
	if (first.len > DIGITS_MAX || last.len > DIGITS_MAX) {
		return "a number of more than 18 digits";
	}
	if (num_read(first, UINT64_MAX, &range->first) < 0 || num_read(last, UINT64_MAX, &range->last) < 0) {
		return "a number or a range such as 1-4 is expected between the brackets";
	}
	if (range->last < range->first) {
		return "the range ends before it begins";
	}
	if (range->last - range->first >= HOSTLIST_RANGE_MAX) {
		return "the range has more than 65536 numbers";
	}
	range->width = first.len;
	return NULL;
}

/** Check the ranges of a bracket and count their numbers. */
static int measure_bracket(const struct reader *in, struct str bracket, uint64_t *count, size_t *longest) {
	struct str rest = bracket, text;
	*count = 0;
	*longest = 0;
	while (str_cut(&rest, ',', &text)) {
		struct range range;
		const char *wrong = read_range(text, &range);
		if (wrong) {
			return refuse(in, text.p, wrong);
		}
		size_t len = digits_of(range.last, range.width).len;
		*longest = len > *longest ? len : *longest;
		*count += range.last - range.first + 1;
	}
	return 0;
}

static bool ends_name(char c) {
	return c == ',' || c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/** Read "[...]" at in->at into @name. */
static int read_bracket(struct reader *in, struct name *name) {
	const char *open = in->text.p + in->at;
	struct str inner = str_from(in->text, in->at + 1);
	inner.len = str_find(inner, ']');
	if (inner.p + inner.len == in->text.p + in->text.len) {
		return refuse(in, open, "the bracket is not closed");
	}
	if (name->brackets == HOSTLIST_BRACKETS_MAX) {
		return refuse(in, open, "more than 8 brackets in one name");
	}
	uint64_t count = 0;
	size_t longest = 0;
	int r = in->checked ? 0 : measure_bracket(in, inner, &count, &longest);
	if (r < 0) {
		return r;
	}
	name->count *= count;
	if (name->count > HOSTS_MAX) {
		return err_set(in->err, E2BIG, "%s=%s stands for more than %u hosts", in->what,
			       quote(in->text).s, HOSTS_MAX);
	}
	name->longest += longest;
	name->bracket[name->brackets++] = inner;
	in->at += inner.len + 2;
	return 0;
}

/** Read one name, up to what ends it. */
static int read_name(struct reader *in, struct name *name) {
	*name = (struct name){.count = 1};
	const char *begin = in->text.p + in->at;
	size_t from = in->at;
	for (;;) {
		char c = in->at < in->text.len ? in->text.p[in->at] : ',';
		if (c == ']') {
			return refuse(in, in->text.p + in->at, "a ']' without its '['");
		}
		if (c != '[' && !ends_name(c)) {
			in->at++;
			continue;
		}
		name->literal[name->brackets] = (struct str){in->text.p + from, in->at - from};
		name->longest += in->at - from;
		if (c != '[') {
			break;
		}
		int r = read_bracket(in, name);
		if (r < 0) {
			return r;
		}
		from = in->at;
	}
	if (name->longest > HOST_NAME_BYTES) {
		return refuse(in, begin, "a host name of more than 253 bytes");
	}
	return 0;
}

/** Go to the first number of the next range. Returns false behind the last one. */
static bool cursor_next_range(struct cursor *cursor) {
	struct str text;
	struct range range = {0};
	if (!str_cut(&cursor->rest, ',', &text)) {
		return false;
	}
	read_range(text, &range);
	cursor->digits = digits_of(range.first, range.width);
	cursor->left = range.last - range.first;
	return true;
}

static void cursor_start(struct cursor *cursor, struct str bracket) {
	cursor->bracket = cursor->rest = bracket;
	cursor_next_range(cursor);
}

/** Go to the next number. Returns false behind the last one. */
static bool cursor_next(struct cursor *cursor) {
	if (cursor->left == 0) {
		return cursor_next_range(cursor);
	}
	cursor->left--;
	digits_next(&cursor->digits);
	return true;
}

/** Go to the next name, in Slurm's order: the last bracket changes first, then the first one on. */
static bool cursors_next(struct cursor *cursors, uint32_t n) {
	for (uint32_t turn = 0; turn < n; turn++) {
		struct cursor *cursor = &cursors[turn ? turn - 1 : n - 1];
		if (cursor_next(cursor)) {
			return true;
		}
		cursor_start(cursor, cursor->bracket);
	}
	return false;
}

static char *put_text(char *at, const char *text, size_t len) {
	// NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): measure() has made room for all names
	return len ? mempcpy(at, text, len) : at;
}

/** Write the name that the cursors stand at, and a newline. There is room for it. */
static void add_name(struct builder *out, const struct name *name, const struct cursor *cursors) {
	char *begin = out->text.p + out->text.len;
	char *at = begin;
	for (uint32_t i = 0; i < name->brackets; i++) {
		at = put_text(at, name->literal[i].p, name->literal[i].len);
		at = put_text(at, cursors[i].digits.text, cursors[i].digits.len);
	}
	at = put_text(at, name->literal[name->brackets].p, name->literal[name->brackets].len);
	if (out->with_spans) {
		out->spans[out->n] = (struct span){(uint32_t)out->text.len, (uint32_t)(at - begin)};
	}
	out->n++;
	*at++ = '\n';
	out->text.len += (size_t)(at - begin);
}

static void write_name(struct builder *out, const struct name *name) {
	struct cursor cursors[HOSTLIST_BRACKETS_MAX];
	for (uint32_t i = 0; i < name->brackets; i++) {
		cursor_start(&cursors[i], name->bracket[i]);
	}
	do {
		add_name(out, name, cursors);
	} while (cursors_next(cursors, name->brackets));
}

/** Read the next name of the list. Returns 1; 0 at the end; -EINVAL, -E2BIG. */
static int next_name(struct reader *in, struct name *name) {
	while (in->at < in->text.len && ends_name(in->text.p[in->at])) {
		in->at++;
	}
	if (in->at == in->text.len) {
		return 0;
	}
	int r = read_name(in, name);
	return r < 0 ? r : 1;
}

/** Read the list to its end, and make room for what it stands for. */
static int measure(struct reader *in, struct builder *out) {
	uint64_t n = 0, size = 0;
	struct name name;
	int r;
	while ((r = next_name(in, &name)) > 0) {
		n += name.count;
		size += name.count * (name.longest + 1);
		if (n > HOSTS_MAX) {
			return err_set(in->err, E2BIG, "%s=%s stands for more than %u hosts", in->what,
				       quote(in->text).s, HOSTS_MAX);
		}
	}
	buf_reserve(&out->text, size);
	if (out->with_spans) {
		out->spans = arena_array(out->arena, n, sizeof(*out->spans));
	}
	return r;
}

/** Two passes: the text is allocated once, and a list with an error writes nothing. */
static int expand(const char *what, struct str text, struct builder *out, struct err *err) {
	struct reader in = {.what = what, .text = text, .err = err};
	struct name name;
	int r = measure(&in, out);
	if (r < 0) {
		return r;
	}
	in.at = 0;
	in.checked = true;
	while (next_name(&in, &name) > 0) {
		write_name(out, &name);
	}
	return 0;
}

int hostlist_expand(struct arena *arena, const char *what, struct str text, struct hosts *out,
		    struct err *err) {
	struct builder builder = {.arena = arena, .text = BUF(arena), .with_spans = true};
	int r = expand(what, text, &builder, err);
	if (r == 0) {
		*out = (struct hosts){.text = builder.text.p,
				      .spans = builder.spans,
				      .n = builder.n,
				      .size = (uint32_t)builder.text.len};
	}
	return r;
}

int hostlist_lines(struct arena *arena, const char *what, struct str text, struct str *out, uint32_t *n,
		   struct err *err) {
	struct builder builder = {.arena = arena, .text = BUF(arena)};
	int r = expand(what, text, &builder, err);
	if (r == 0) {
		*out = buf_str(&builder.text);
		*n = builder.n;
	}
	return r;
}

/** A name split before the number that it ends with. */
struct numbered {
	struct str prefix;
	struct str digits;
	uint64_t number;
};

static struct numbered split_number(struct str name) {
	size_t at = name.len;
	while (at > 0 && name.len - at < DIGITS_MAX && name.p[at - 1] >= '0' && name.p[at - 1] <= '9') {
		at--;
	}
	struct numbered out = {.prefix = {name.p, at}, .digits = str_from(name, at)};
	num_read(out.digits, UINT64_MAX, &out.number);
	return out;
}

/** Whether @next is what a range that began with @first, and stands at @last, would go on with. */
static bool continues(const struct numbered *first, const struct numbered *last,
		      const struct numbered *next) {
	return next->number == last->number + 1 &&
	       next->digits.len == digits_of(next->number, first->digits.len).len &&
	       next->number - first->number < HOSTLIST_RANGE_MAX;
}

/** Write the names from @i on that share a prefix. Returns the index behind them. */
static uint32_t compress_group(const struct hosts *hosts, uint32_t i, struct buf *out) {
	struct numbered first = split_number(hosts_at(hosts, i));
	buf_put(out, first.prefix);
	if (first.digits.len == 0) {
		return i + 1;
	}
	size_t open = out->len;
	buf_putc(out, '[');
	for (;;) {
		struct numbered last = first, next = {0};
		bool same = false;
		while (++i < hosts->n) {
			next = split_number(hosts_at(hosts, i));
			same = next.digits.len && str_eq(next.prefix, first.prefix);
			if (!same || !continues(&first, &last, &next)) {
				break;
			}
			last = next;
		}
		buf_put(out, first.digits);
		if (last.number > first.number) {
			buf_putc(out, '-');
			buf_put(out, last.digits);
		} else if ((i == hosts->n || !same) && out->p[open] == '[' &&
			   out->len == open + 1 + first.digits.len) {
			// A single number needs no brackets.
			memmove(out->p + open, out->p + open + 1, first.digits.len);
			out->len--;
			return i;
		}
		if (i == hosts->n || !same) {
			buf_putc(out, ']');
			return i;
		}
		buf_putc(out, ',');
		first = next;
	}
}

void hostlist_compress(const struct hosts *hosts, struct buf *out) {
	for (uint32_t i = 0; i < hosts->n;) {
		if (i) {
			buf_putc(out, ',');
		}
		i = compress_group(hosts, i, out);
	}
}
