// SPDX-License-Identifier: Apache-2.0

/**
 * strstr(), strtoul(), strtoull(), mbstowcs(), qsort(), fork() and fstatat() for the static
 * programs, in place of musl's, which take 9 KB. The look-up of names in the C library needs the
 * first ones, for short texts and a few addresses. At the end are three functions inside musl, which
 * take 4 KB.
 */

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

char *strstr(const char *text, const char *part) {
	size_t len = strlen(part);
	while (strncmp(text, part, len) != 0) {
		if (!*text++) {
			return NULL;
		}
	}
	return (char *)(uintptr_t)text;
}

/** The value of the digit @c, or one that no base has. */
static unsigned digit_of(char c) {
	unsigned letter = ((unsigned char)c | 0x20u) - 'a';
	return c >= '0' && c <= '9' ? (unsigned)(c - '0') : letter < 26 ? letter + 10 : UINT_MAX;
}

unsigned long long strtoull(const char *restrict text, char **restrict end, int base) {
	const char *p = text;
	unsigned long long number = 0;
	while (isspace((unsigned char)*p)) {
		p++;
	}
	bool negative = *p == '-', overflows = false;
	p += negative || *p == '+';
	if ((base == 0 || base == 16) && p[0] == '0' && (p[1] | 0x20) == 'x' && digit_of(p[2]) < 16) {
		base = 16;
		p += 2;
	}
	base = base ? base : *p == '0' ? 8 : 10;
	const char *first = p;
	for (unsigned digit; (digit = digit_of(*p)) < (unsigned)base; p++) {
		overflows |= __builtin_mul_overflow(number, (unsigned)base, &number) ||
			     __builtin_add_overflow(number, digit, &number);
	}
	if (end) {
		*end = (char *)(uintptr_t)(p > first ? p : text);
	}
	if (overflows) {
		errno = ERANGE;
		return ULLONG_MAX;
	}
	return negative ? -number : number;
}

unsigned long strtoul(const char *restrict text, char **restrict end, int base) {
	_Static_assert(sizeof(long) == sizeof(long long), "one width");
	return (unsigned long)strtoull(text, end, base);
}

size_t mbstowcs(wchar_t *restrict out, const char *restrict text, size_t n) {
	size_t i = 0;
	// In the C locale, which the programs keep, a byte is a character; musl maps those above
	// 127 so.
	for (; (!out || i < n) && text[i]; i++) {
		if (out) {
			out[i] = text[i] & 0x80 ? 0xdf00 | (unsigned char)text[i] : text[i];
		}
	}
	if (out && i < n) {
		out[i] = 0;
	}
	return i;
}

static void swap(char *a, char *b, size_t size) {
	for (char c; size--; *a++ = *b, *b++ = c) {
		c = *a;
	}
}

/** Shell's sort: short, and fast enough for what is sorted here. */
void qsort(void *base, size_t n, size_t size, int (*compare)(const void *, const void *)) {
	for (size_t gap = n; gap > 1;) {
		gap = gap < 5 ? 1 : gap * 5 / 11;
		for (size_t i = gap; i < n; i++) {
			char *at = (char *)base + i * size, *before = at - gap * size;
			while (at >= (char *)base + gap * size && compare(before, at) > 0) {
				swap(before, at, size);
				at = before;
				before -= gap * size;
			}
		}
	}
}

/** musl's takes locks for threads, which do not exist here. */
pid_t fork(void) {
	return _Fork();
}

/** musl's can do without the newer system call. It has the same struct stat as the kernel. */
int fstatat(int fd, const char *restrict path, struct stat *restrict out, int flags) {
	return (int)syscall(SYS_newfstatat, fd, path, out, flags);
}

// --- inside musl ----------------------------------------------------------------------------------------

/**
 * musl's setuid() and the like run @call by this in all threads. There is only one here. The ids are
 * read back from the kernel after each change (priv/apply.c), so a musl that works in another way
 * would be noticed.
 */
void in_all_threads(void (*call)(void *), void *context) __asm__("__synccall");
void in_all_threads(void (*call)(void *), void *context) {
	call(context);
}

/** The clock as a function of the kernel's page. A system call is enough: a start needs few times. */
void *find_in_vdso(const char *version, const char *name) __asm__("__vdsosym");
void *find_in_vdso(const char *version, const char *name) {
	(void)version;
	(void)name;
	return NULL;
}

struct musl_service {
	uint16_t port;
	unsigned char protocol, type;
};

/** The service of getaddrinfo(). Here it is a number or NULL, and hints have the type of socket. */
int look_up_service(struct musl_service *out, const char *name, int protocol, int type,
		    int flags) __asm__("__lookup_serv");
int look_up_service(struct musl_service *out, const char *name, int protocol, int type, int flags) {
	(void)flags;
	*out = (struct musl_service){.port = (uint16_t)(name ? strtoul(name, NULL, 10) : 0),
				     .protocol = (unsigned char)protocol,
				     .type = (unsigned char)type};
	return 1;
}
