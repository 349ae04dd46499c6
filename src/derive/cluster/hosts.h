// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * A list of host names, in order. Names are slices, not copies: their texts must live as long as the
 * list.
 */

#include "base/arena.h"
#include "base/err.h"

#include <stdint.h>

/** More than any cluster has; a longer list is refused before it uses memory. */
#define HOSTS_MAX (1u << 20)

/** The longest name, as in DNS. */
#define HOST_NAME_BYTES 253

struct hosts {
	struct str *names;
	uint32_t n;
};

static inline struct str hosts_at(const struct hosts *hosts, uint32_t i) {
	return hosts->names[i];
}

/**
 * Split @text at each @separator. Empty pieces are skipped and counted in *@empty, unless that is NULL.
 * The brackets of an IPv6 address ("[::1]") are removed. The names are slices of @text. hosts_check()
 * checks them.
 *
 * Returns 0; -E2BIG for more than HOSTS_MAX.
 */
int hosts_split(struct arena *arena, const char *what, const char *text, char separator, struct hosts *out,
		uint32_t *empty, struct err *err);

/** Make a list with one name, which is not copied. */
void hosts_single(struct arena *arena, struct str name, struct hosts *out);

/** Index of @name in @hosts, or hosts->n. */
uint32_t hosts_find(const struct hosts *hosts, struct str name);

/**
 * Index of the host @name, or hosts->n. If no host has this name, compare the parts before the first dot,
 * ignoring case: exactly one host must match.
 */
uint32_t hosts_find_loosely(const struct hosts *hosts, struct str name);

/** Whether @name has no short name: it is empty, or an address, such as "10.0.0.1" or "::1". */
bool host_has_no_label(struct str name);

/** The first label of @name: everything before the first dot. */
struct str host_label(struct str name);

/** Whether @a and @b have the same first label, ignoring case. */
bool host_same_label(struct str a, struct str b);

/**
 * Whether each node reaches itself by @host, a name or a bare address in any spelling: localhost and its
 * variants, the loopback, 0.0.0.0 and ::. Nothing is looked up.
 */
bool host_is_itself(struct str host);

/** Whether the bytes and the length of @name are those of a name or an address. */
bool host_name_is_fine(struct str name);

/** @name as DNS compares it: in lower case. A copy in the arena only if it has capitals. */
struct str host_name_fold(struct arena *arena, struct str name);

/** Set @err to what is wrong with @name, which is not valid. @what names its source. Returns -EINVAL. */
int host_name_refuse(struct str name, const char *what, struct err *err);

/**
 * Check the hosts of any cluster: at least one, no duplicates, and each a name or an address
 * (letters, digits and ". - _ : %", but ':' only in a valid IPv6 address). @what names the variable
 * that they come from.
 *
 * Returns 0; -EINVAL.
 */
int hosts_check(const struct hosts *hosts, struct arena *arena, const char *what, struct err *err);

/** Read @value (of @from) as one name or address into *@out, without brackets. Returns 0; -EINVAL. */
int host_read(struct arena *arena, const char *from, const char *value, const char **out, struct err *err);
