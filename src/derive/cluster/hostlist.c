// SPDX-License-Identifier: Apache-2.0

#include "cluster/hostlist.h"

#include "base/num.h"

#include <errno.h>

/** The most digits in a number: so that it fits into 64 bits, also after additions. */
#define DIGITS_MAX 18

/** The text, where it comes from, and how far it has been read. */
struct reader {
	const char *what;
	struct str text;
	size_t at;
	struct err *err;
};

/** One name: literal, bracket, literal, bracket, ..., literal. */
struct name {
	struct str literal[HOSTLIST_BRACKETS_MAX + 1];
	/** The text between the brackets. */
	struct str bracket[HOSTLIST_BRACKETS_MAX];
	uint32_t brackets;
	/** The number of names that it stands for, and the longest of them in bytes. */
	uint64_t count;
	size_t longest;
};

/** A range such as 08-12. */
struct range {
	uint64_t first;
	uint64_t last;
	/** The least number of digits. */
	size_t width;
};

/** The names as they are made. */
struct builder {
	struct arena *arena;
	struct str *names;
	uint32_t n;
	uint32_t cap;
	/** For each bracket of the present name: its number, and the digits that it is written with. */
	uint64_t number[HOSTLIST_BRACKETS_MAX];
	size_t width[HOSTLIST_BRACKETS_MAX];
};

static int refuse(const struct reader *in, const char *at, const char *why) {
	return err_set(in->err, EINVAL, "%s=%s, column %zu: %s", in->what, quote_value(in->what, in->text).s,
		       (size_t)(at - in->text.p) + 1, why);
}

static int refuse_size(const struct reader *in) {
	return err_set(in->err, E2BIG, "%s=%s stands for more than %u hosts", in->what,
		       quote_value(in->what, in->text).s, HOSTS_MAX);
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

/** The digits that @number takes if it is written with at least @width. */
static size_t digits_in(uint64_t number, size_t width) {
	size_t n = 1;
	for (; number >= 10; number /= 10) {
		n++;
	}
	return n < width ? width : n;
}

/** Check the ranges of a bracket, and count their numbers. */
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
		size_t len = digits_in(range.last, range.width);
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
	uint64_t count;
	size_t longest;
	int r = measure_bracket(in, inner, &count, &longest);
	if (r < 0) {
		return r;
	}
	name->count *= count;
	if (name->count > HOSTS_MAX) {
		return refuse_size(in);
	}
	name->longest += longest;
	name->bracket[name->brackets++] = inner;
	in->at += inner.len + 2;
	return 0;
}

/** Read one name, up to its separator. */
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

/** Make room for @more names. */
static void make_room(struct builder *out, uint64_t more) {
	if (out->n + more <= out->cap) {
		return;
	}
	uint32_t cap = (uint32_t)(out->n + more) * 2;
	struct str *names = arena_array(out->arena, cap, sizeof(*names));
	if (out->n) {
		memcpy(names, out->names, out->n * sizeof(*names));
	}
	out->names = names;
	out->cap = cap;
}

static void put_number(struct buf *out, uint64_t number, size_t width) {
	for (size_t n = digits_in(number, 0); n < width; n++) {
		buf_putc(out, '0');
	}
	buf_putu(out, number);
}

/** Add the name that has out->number in its brackets. */
static void add_name(struct builder *out, const struct name *name) {
	struct buf text = BUF(out->arena);
	for (uint32_t i = 0; i < name->brackets; i++) {
		buf_put(&text, name->literal[i]);
		put_number(&text, out->number[i], out->width[i]);
	}
	buf_put(&text, name->literal[name->brackets]);
	// NOLINTNEXTLINE(clang-analyzer-core.NullDereference): make_room() has made room for all
	out->names[out->n++] = buf_str(&text);
}

/**
 * Add the names for all numbers of @left brackets; the numbers of the other brackets are set. In Slurm's
 * order the last bracket changes fastest, then the first, the second, and so on.
 */
static void add_names(struct builder *out, const struct name *name, uint32_t left) {
	if (left == 0) {
		add_name(out, name);
		return;
	}
	uint32_t bracket = left == 1 ? name->brackets - 1 : left - 2;
	struct str rest = name->bracket[bracket], text;
	while (str_cut(&rest, ',', &text)) {
		struct range range = {0};
		read_range(text, &range);
		for (uint64_t i = range.first; i <= range.last; i++) {
			out->number[bracket] = i;
			out->width[bracket] = range.width;
			add_names(out, name, left - 1);
		}
	}
}

int hostlist_expand(struct arena *arena, const char *what, struct str text, struct hosts *out,
		    struct err *err) {
	struct reader in = {.what = what, .text = text, .err = err};
	struct builder builder = {.arena = arena};
	for (; in.at < text.len; in.at++) {
		if (ends_name(text.p[in.at])) {
			continue;
		}
		struct name name;
		int r = read_name(&in, &name);
		if (r < 0) {
			return r;
		}
		if (builder.n + name.count > HOSTS_MAX) {
			return refuse_size(&in);
		}
		make_room(&builder, name.count);
		add_names(&builder, &name, name.brackets);
	}
	*out = (struct hosts){.names = builder.names, .n = builder.n};
	return 0;
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

/** Whether @next continues the range that began with @first and ends, so far, with @last. */
static bool continues(const struct numbered *first, const struct numbered *last,
		      const struct numbered *next) {
	return next->number == last->number + 1 &&
	       next->digits.len == digits_in(next->number, first->digits.len) &&
	       next->number - first->number < HOSTLIST_RANGE_MAX;
}

/** Write the names from @i on that share a prefix. Returns the index after them. */
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
