// SPDX-License-Identifier: Apache-2.0

/**
 * Ends the workload at its time limit, and kills it when a grace period is over. A grace period begins with
 * the first TERM or at the time limit. leftovers.c handles the remaining processes.
 */

#include "init/supervisor.h"

#include <stdio.h>
#include <string.h>

/** Begin a grace period of @grace_ms milliseconds. If one has begun already, keep the one that ends first. */
static void begin_grace(struct supervisor *in, uint64_t grace_ms) {
	uint64_t kill_at = clock_after(clock_now_ms(), grace_ms);
	in->phase = PHASE_ENDING;
	if (kill_at < in->kill_at) {
		in->kill_at = kill_at;
		in->grace_ms = grace_ms;
	}
}

void ending_begin(struct supervisor *in) {
	if (in->phase == PHASE_RUNNING) {
		begin_grace(in, in->plan.grace_ms);
	}
}

void ending_by_limit(struct supervisor *in) {
	in->limit_at = CLOCK_NEVER;
	if (!in->plan.observer->status) {
		in->limited = true;
		in->asked = (struct asked_to_end){.at = clock_now_ms()};
	}
	// TERM, or the signal that replaces it.
	int as = in->plan.signal_as[SIGTERM];
	send_to_workload(in, as ? as : SIGTERM, NULL);
	continue_workload(in);
	begin_grace(in, in->plan.limit_grace_ms);
}

/**
 * Kill the workload at the end of the grace period. If the workload has become another user, the kernel may
 * not let us kill it. As PID 1, we can still end it by exiting.
 */
static void kill_workload(struct supervisor *in) {
	in->kill_at = CLOCK_NEVER;
	int r = send_to_workload(in, SIGKILL, NULL);
	bool out_of_reach = r < 0 && r != -ESRCH;
	if (out_of_reach && in->self != 1) {
		say(in, LOG_WARN, "%s did not end within the grace period of %s, and cannot be killed: %s",
		    in->name, duration_text(in->grace_ms).s, strerror(-r));
		return;
	}
	say(in, LOG_WARN, "%s did not end within the grace period of %s: it is killed", in->name,
	    duration_text(in->grace_ms).s);
	if (out_of_reach) {
		in->ended = true;
		in->look_at = 0; // look at once, because no signal will wake us
		in->status = SIGKILL;
		in->plan.leftovers = LEFTOVERS_LEAVE;
		snprintf(in->stuck, sizeof(in->stuck), "%d (%.64s)", (int)in->child, in->name);
		why_ended(in);
	}
}

void ending_step(struct supervisor *in) {
	uint64_t now = clock_now_ms();
	if (now >= in->limit_at) {
		uint64_t grace_ms = in->plan.limit_grace_ms;
		bool never = grace_ms == CLOCK_NEVER;
		say(in, LOG_WARN, "%s has reached the time limit of %s: it is asked to end%s%s%s", in->name,
		    duration_text(in->plan.time_limit_ms).s, never ? "" : ", and killed ",
		    never ? "" : duration_text(grace_ms).s, never ? "" : " later");
		ending_by_limit(in);
	}
	if (now >= in->kill_at) {
		kill_workload(in);
	}
}
