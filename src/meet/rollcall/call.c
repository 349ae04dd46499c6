// SPDX-License-Identifier: Apache-2.0

#include "rollcall/rollcall.h"

int roll_call(const struct roll_call *call, struct roll_end *end) {
	*end = (struct roll_end){.port = call->port, .start = call->starts, .reserved = -1};
	return call->rank == 0 ? coordinator_run(call, end) : member_run(call, end);
}
