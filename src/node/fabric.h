// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * What variables say of the network, against the network devices of this node: a name that no
 * device has makes NCCL fall back to TCP without a word, gloo fail, and an engine take the wrong
 * card.
 */

#include "node/findings.h"

/**
 * Add what does not fit. Devices are those of sysfs below @from->root, without a root those that
 * the kernel names; no device is opened.
 */
void fabric_check(const struct facts_from *from, const struct facts *facts, struct findings *out);
