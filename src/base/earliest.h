// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdint.h>

/** The earlier of two times. 0 stands for "never". */
static inline uint64_t earliest(uint64_t a, uint64_t b) {
	return a && (!b || a < b) ? a : b;
}
