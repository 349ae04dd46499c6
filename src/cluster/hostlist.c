// SPDX-License-Identifier: Apache-2.0

#include "cluster/hostlist.h"

#include "base/counter.h"

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
	uint64_t number;
	uint64_t last;
	size_t width;
};

/** What is copied of a short text in any case: one instruction, instead of a call. */
#define WIDE 16

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

/** Read "a" or "a-b" into the cursor. Returns what is wrong with it, or NULL. */
static const char *read_range(struct str range, struct cursor *cursor) {
	size_t dash = str_find(range, '-');
	struct str first = {range.p, dash};
	struct str last = dash < range.len ? str_from(range, dash + 1) : first;
	if (first.len > DIGITS_MAX || last.len > DIGITS_MAX) {
		return "a number of more than 18 digits";
	}
	if (num_read(first, UINT64_MAX, &cursor->number) < 0 ||
	    num_read(last, UINT64_MAX, &cursor->last) < 0) {
		return "a number or a range such as 1-4 is expected between the brackets";
	}
	if (cursor->last < cursor->number) {
		return "the range ends before it begins";
	}
	if (cursor->last - cursor->number >= HOSTLIST_RANGE_MAX) {
		return "the range has more than 65536 numbers";
	}
	cursor->width = first.len;
	return NULL;
}

/** Check the ranges of a bracket and count their numbers. */
static int measure_bracket(const struct reader *in, struct str bracket, uint64_t *count, size_t *longest) {
	struct str rest = bracket, range;
	*count = 0;
	*longest = 0;
	while (str_cut(&rest, ',', &range)) {
		struct cursor cursor;
		const char *wrong = read_range(range, &cursor);
		if (wrong) {
			return refuse(in, range.p, wrong);
		}
		char digits[NUM_DIGITS];
		size_t len = num_write(digits, cursor.last);
		len = len < cursor.width ? cursor.width : len;
		*longest = len > *longest ? len : *longest;
		*count += cursor.last - cursor.number + 1;
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

static void cursor_start(struct cursor *cursor, struct str bracket) {
	struct str range;
	cursor->bracket = cursor->rest = bracket;
	str_cut(&cursor->rest, ',', &range);
	read_range(range, cursor);
}

/** Go to the next number. Returns false behind the last one. */
static bool cursor_next(struct cursor *cursor) {
	struct str range;
	if (cursor->number < cursor->last) {
		cursor->number++;
		return true;
	}
	if (!str_cut(&cursor->rest, ',', &range)) {
		return false;
	}
	read_range(range, cursor);
	return true;
}

static size_t cursor_write(const struct cursor *cursor, char *at) {
	char digits[NUM_DIGITS];
	size_t n = num_write(digits, cursor->number);
	size_t zeros = n < cursor->width ? cursor->width - n : 0;
	memset(at, '0', zeros);
	memcpy(at + zeros, digits, n);
	return zeros + n;
}

/** Note the name from @begin to @end, and close it. */
static inline char *add_name(struct builder *out, char *begin, char *end) {
	if (out->with_spans) {
		out->spans[out->n] = (struct span){(uint32_t)(begin - out->text.p), (uint32_t)(end - begin)};
	}
	out->n++;
	*end = '\n';
	return end + 1;
}

/** A text that is written many times: of a short one there is a copy with room for a WIDE load. */
struct piece {
	char copy[WIDE];
	struct str text;
};

static char *put_text(char *at, struct str text) {
	return text.len ? mempcpy(at, text.p, text.len) : at;
}

static struct piece piece_of(struct str text) {
	struct piece piece = {.text = text};
	if (text.len) {
		memcpy(piece.copy, text.p, text.len < WIDE ? text.len : WIDE);
	}
	return piece;
}

static inline char *put_piece(char *at, const struct piece *piece) {
	if (piece->text.len <= WIDE) {
		memcpy(at, piece->copy, WIDE);
		return at + piece->text.len;
	}
	return put_text(at, piece->text);
}

/** Write the names of one range. There is room for 2 * WIDE bytes more than they take. */
static void write_range(struct builder *all, const struct cursor *range, const struct piece *head,
			const struct piece *tail) {
	// A copy that nobody else sees can stay in registers while text is written.
	struct builder out = *all;
	struct counter number = counter_of(range->number, (uint32_t)range->width);
	char *at = out.text.p + out.text.len;
	for (uint64_t left = range->last - range->number + 1; left; left--) {
		char *begin = at;
		at = put_piece(at, head);
		at = counter_put(&number, at);
		counter_next(&number);
		at = add_name(&out, begin, put_piece(at, tail));
	}
	out.text.len = (size_t)(at - out.text.p);
	*all = out;
}

/** The same where a number is too long for a counter. */
static void write_long_range(struct builder *out, struct cursor range, const struct piece *head,
			     const struct piece *tail) {
	for (;; range.number++) {
		char *begin = out->text.p + out->text.len;
		char *at = put_piece(begin, head);
		at += cursor_write(&range, at);
		at = add_name(out, begin, put_piece(at, tail));
		out->text.len += (size_t)(at - begin);
		if (range.number == range.last) {
			return;
		}
	}
}

/** Write the names that differ in their last bracket only; @head is what stands in front of it. */
static void write_run(struct builder *out, const struct name *name, struct str head) {
	struct piece before = piece_of(head), behind = piece_of(name->literal[name->brackets]);
	struct str rest = name->bracket[name->brackets - 1], text;
	while (str_cut(&rest, ',', &text)) {
		struct cursor range = {0};
		read_range(text, &range);
		if (range.width > COUNTER_DIGITS || range.last >= COUNTER_END) {
			write_long_range(out, range, &before, &behind);
		} else {
			write_range(out, &range, &before, &behind);
		}
	}
}

static void write_name(struct builder *out, const struct name *name) {
	if (name->brackets == 0) {
		char *begin = out->text.p + out->text.len;
		char *end = put_text(begin, name->literal[0]);
		out->text.len += (size_t)(add_name(out, begin, end) - begin);
		return;
	}
	uint32_t outer = name->brackets - 1;
	struct cursor cursor[HOSTLIST_BRACKETS_MAX];
	for (uint32_t i = 0; i < outer; i++) {
		cursor_start(&cursor[i], name->bracket[i]);
	}
	for (;;) {
		char head[HOST_NAME_BYTES];
		size_t len = 0;
		for (uint32_t i = 0; i <= outer; i++) {
			len = (size_t)(put_text(head + len, name->literal[i]) - head);
			len += i < outer ? cursor_write(&cursor[i], head + len) : 0;
		}
		write_run(out, name, (struct str){head, len});

		uint32_t turn = 0;
		while (turn < outer && !cursor_next(&cursor[turn])) {
			cursor_start(&cursor[turn], cursor[turn].bracket);
			turn++;
		}
		if (turn == outer) {
			return;
		}
	}
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
	buf_reserve(&out->text, size + 2 * WIDE);
	if (out->with_spans) {
		out->spans = arena_array(out->arena, n, sizeof(*out->spans));
	}
	return r;
}

/** In two passes: what is large need not grow then, and nothing is written of a list that is wrong. */
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
				      .size = (uint32_t)builder.text.len,
				      .separator = '\n'};
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
	char digits[NUM_DIGITS];
	size_t natural = num_write(digits, next->number);
	size_t width = natural > first->digits.len ? natural : first->digits.len;
	return next->number == last->number + 1 && next->digits.len == width &&
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
