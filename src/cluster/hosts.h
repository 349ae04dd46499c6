// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * A list of host names, in order. The names are spans of one text, which they share: a list of 4,096 costs 32 KiB and no
 * copy of a name.
 */

#include "base/arena.h"
#include "base/err.h"

#include <stdint.h>

/** More than any cluster has; a list of more is refused before it takes the memory. */
#define HOSTS_MAX (1u << 20)

/** The longest name, as in DNS. */
#define HOST_NAME_BYTES 253

struct span {
	uint32_t at;
	uint32_t len;
};

struct hosts {
	/** `size` bytes, in which all names lie, and between them only what separates them. */
	const char *text;
	struct span *spans;
	uint32_t n;
	uint32_t size;
	/** Some name has a ':' in it: an IPv6 address. Known once hosts_check() has passed. */
	bool ipv6;
};

static inline struct str hosts_at(const struct hosts *hosts, uint32_t i) {
	return (struct str){hosts->text + hosts->spans[i].at, hosts->spans[i].len};
}

/**
 * Cut @text at each @separator. Empty pieces are left out and counted in *@empty; the brackets of an
 * IPv6 address ("[::1]") are taken off. @text is kept, not copied. What the names look like is hosts_check()'s affair.
 *
 * Returns 0; -E2BIG for more than HOSTS_MAX.
 */
int hosts_split(struct arena *arena, const char *what, const char *text, char separator, struct hosts *out,
		uint32_t *empty, struct err *err);

/** A list of one. @name is kept, not copied. */
void hosts_single(struct arena *arena, struct str name, struct hosts *out);

/** Index of @name in @hosts, or hosts->n. */
uint32_t hosts_find(const struct hosts *hosts, struct str name);

/**
 * Index of the host that is called @name, or hosts->n: the same name, or else the same up to the first dot, without regard
 * to case, where just one is so called.
 */
uint32_t hosts_find_loosely(const struct hosts *hosts, struct str name);

/** Whether @name is a name or an address by its bytes and its length. */
bool host_name_is_fine(struct str name);

/** Say what is wrong with a @name that is not fine. @what names where it stands. Returns -EINVAL. */
int host_name_refuse(struct str name, const char *what, struct err *err);

/**
 * Check what holds for the hosts of every cluster: at least one, each a name or an address (letters, digits and
 * ". - _ : %", but a ':' only in a valid IPv6 address), none twice. @what names the variable that they come from.
 *
 * Returns 0; -EINVAL.
 */
int hosts_check(struct hosts *hosts, struct arena *arena, const char *what, struct err *err);
