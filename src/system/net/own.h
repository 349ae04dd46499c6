// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Finds out which addresses belong to this machine. */

#include "net/address.h"

/**
 * Find the first two of the @n @hosts that are addresses (not names) of this machine. No packet is sent: the
 * test is that the kernel binds a socket only to a local address. Returns how many were found, at most 2;
 * @found has their indexes.
 */
uint32_t own_addresses(const struct str *hosts, uint32_t n, uint32_t found[2]);

/** Whether @address belongs to this machine. */
bool own_address(const struct address *address);
