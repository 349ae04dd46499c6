// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Slurm's host lists: "n[1-2],m5,o[3-4,6,7-9]", as scontrol show hostnames reads them.
 *
 * Names are separated by commas, blanks or newlines; empty names are skipped. Brackets contain
 * numbers and ranges. All numbers of a range are as wide as its first number. A dash outside
 * brackets is part of the name. Order and duplicates are kept. If a name has several brackets, the
 * last one varies fastest, then the first, the second, and so on: Slurm does the same. Grammar:
 * src/common/hostlist.c of Slurm; order and limits checked against 22.05.
 */

#include "base/buf.h"
#include "cluster/hosts.h"

/** Most numbers in one range (Slurm's MAX_RANGE). */
#define HOSTLIST_RANGE_MAX 65536

/** Most brackets in one name; Slurm itself writes one. */
#define HOSTLIST_BRACKETS_MAX 8

/**
 * Expand @text. @what names its source, for messages.
 *
 * Returns 0; -EINVAL if @text is not a host list, with the column; -E2BIG for more than HOSTS_MAX
 * names.
 */
int hostlist_expand(struct arena *arena, const char *what, struct str text, struct hosts *out,
		    struct err *err);

/** Write @hosts as one host list that expands to the same names in the same order. */
void hostlist_compress(const struct hosts *hosts, struct buf *out);
