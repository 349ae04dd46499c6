// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Compares variables for the network with the network devices of this node: with a name that no
 * device has, NCCL silently uses TCP, gloo fails, and an engine takes the wrong card.
 */

#include "node/findings.h"

/**
 * Add a finding for each contradiction. Devices are those of sysfs below @from->root, without a
 * root those that the kernel names; no device is opened.
 */
void fabric_check(const struct facts_from *from, const struct facts *facts, struct findings *out);
