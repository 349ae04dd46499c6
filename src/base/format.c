// SPDX-License-Identifier: Apache-2.0

#include "base/format.h"

#include "base/num.h"

#include <stdlib.h>

/** The output. `len` is the length of the whole text, even where it does not fit. */
struct sink {
	char *at;
	size_t size;
	size_t len;
};

/** One conversion of the format string. */
struct conversion {
	bool left;
	char fill;
	size_t width;
	/** The maximum bytes of a %s; SIZE_MAX: all. */
	size_t precision;
	/** l or z: 64 bits. */
	bool wide;
	char letter;
};

static void put(struct sink *out, char c, size_t times) {
	for (; times; times--) {
		if (out->len < out->size) {
			out->at[out->len] = c;
		}
		out->len++;
	}
}

static void put_padded(struct sink *out, const struct conversion *c, struct str text) {
	size_t pad = c->width > text.len ? c->width - text.len : 0;
	put(out, c->fill, c->left ? 0 : pad);
	for (size_t i = 0; i < text.len; i++) {
		put(out, text.p[i], 1);
	}
	put(out, ' ', c->left ? pad : 0);
}

static struct str write_hex(char at[16], uint64_t number) {
	size_t n = 16;
	do {
		at[--n] = "0123456789abcdef"[number & 15];
		number >>= 4;
	} while (number);
	return (struct str){at + n, 16 - n};
}

/** Read a number, or a '*', which takes the number from the arguments. */
static const char *read_count(const char *p, size_t *count, va_list *args) {
	if (*p == '*') {
		*count = (size_t)va_arg(*args, int);
		return p + 1;
	}
	for (*count = 0; *p >= '0' && *p <= '9'; p++) {
		*count = *count * 10 + (size_t)(*p - '0');
	}
	return p;
}

/** Read the conversion after a '%'. Returns the position after it. */
static const char *read_conversion(const char *p, struct conversion *c, va_list *args) {
	*c = (struct conversion){.fill = ' ', .precision = SIZE_MAX};
	for (; *p == '-' || *p == '0'; p++) {
		c->left |= *p == '-';
		c->fill = *p == '0' ? '0' : c->fill;
	}
	p = read_count(p, &c->width, args);
	if (*p == '.') {
		p = read_count(p + 1, &c->precision, args);
	}
	for (; *p == 'l' || *p == 'z'; p++) {
		c->wide = true;
	}
	c->letter = *p;
	return p + 1;
}

static void put_number(struct sink *out, const struct conversion *c, va_list *args) {
	char digits[1 + NUM_DIGITS];
	uint64_t number = c->wide ? va_arg(*args, uint64_t) : va_arg(*args, unsigned);
	if (c->letter == 'x') {
		put_padded(out, c, write_hex(digits, number));
		return;
	}
	size_t sign = 0;
	if (c->letter == 'd') {
		int64_t value = c->wide ? (int64_t)number : (int32_t)number;
		sign = value < 0;
		number = sign ? -(uint64_t)value : (uint64_t)value;
		digits[0] = '-';
	}
	put_padded(out, c, (struct str){digits, sign + num_write(digits + sign, number)});
}

static void put_conversion(struct sink *out, const struct conversion *c, va_list *args) {
	char one;
	const char *text;
	switch (c->letter) {
	case 's':
		text = va_arg(*args, const char *);
		put_padded(out, c, (struct str){text, strnlen(text, c->precision)});
		break;
	case 'c':
		one = (char)va_arg(*args, int);
		put_padded(out, c, (struct str){&one, 1});
		break;
	case 'd':
	case 'u':
	case 'x':
		put_number(out, c, args);
		break;
	case '%':
		put(out, '%', 1);
		break;
	default:
		abort();
	}
}

size_t format_text(char *at, size_t size, const char *format, va_list args) {
	struct sink out = {.at = at, .size = size};
	va_list rest;
	va_copy(rest, args);
	while (*format) {
		if (*format != '%') {
			put(&out, *format++, 1);
			continue;
		}
		struct conversion conversion;
		format = read_conversion(format + 1, &conversion, &rest);
		put_conversion(&out, &conversion, &rest);
	}
	va_end(rest);
	if (size) {
		at[out.len < size ? out.len : size - 1] = '\0';
	}
	return out.len;
}
