// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Finds this machine's addresses among the hosts. */

#include "cluster/hosts.h"
#include "net/lookup.h"

/**
 * Find the first two of @hosts that are addresses (not names) of this machine. Nothing is sent: the
 * kernel binds a socket only to a local address. Returns how many were found, at most 2; their
 * indexes are in @found.
 */
uint32_t own_addresses(const struct hosts *hosts, uint32_t found[2]);

/** Whether @address is one of this machine. */
bool own_address(const struct address *address);
