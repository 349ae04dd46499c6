// SPDX-License-Identifier: Apache-2.0
#pragma once

/** This machine's own addresses among those of the hosts. */

#include "cluster/hosts.h"

/**
 * Find the first two of @hosts that are addresses, not names, of this machine. Nothing is sent: the kernel lets a socket
 * be bound to an address of its own only. Returns how many were found, at most 2; their indexes are in @found.
 */
uint32_t own_addresses(const struct hosts *hosts, uint32_t found[2]);
