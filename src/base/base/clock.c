// SPDX-License-Identifier: Apache-2.0

#include "base/clock.h"

static uint64_t read_ms(clockid_t id) {
	struct timespec now = {0};
	clock_gettime(id, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

uint64_t clock_now_ms(void) {
	return read_ms(CLOCK_MONOTONIC);
}

uint64_t clock_wall_ms(void) {
	return read_ms(CLOCK_REALTIME);
}
