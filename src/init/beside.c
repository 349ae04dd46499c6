// SPDX-License-Identifier: Apache-2.0

/** The supervisor's loop for plans that also handle something beside the workload. */

#include "init/beside.h"
#include "init/supervisor.h"

#include <fcntl.h>
#include <string.h>

/** Polling interval, in milliseconds, if there is no descriptor to poll for signals. */
#define LOOK_MS 50

unsigned beside_kept_from(const struct beside *beside, unsigned from) {
	int fd = (int)from, last = beside->kept;
	for (int i = 0; i < BESIDE_FDS; i++) {
		last = beside->fds[i].fd > last ? beside->fds[i].fd : last;
	}
	while (fd <= last && fcntl(fd, F_GETFD) != FD_CLOEXEC) {
		fd++;
	}
	return fd <= last ? (unsigned)fd : ~0U;
}

void beside_begin(struct supervisor *in) {
	signal_set all = ALL_SIGNALS;
	in->signal_fd = (int)kernel(SYS_signalfd4, -1, (long)&all, sizeof(all), O_CLOEXEC);
	in->plan.beside->supervisor = in;
	in->plan.beside->started(in->plan.beside);
}

uint32_t beside_oom_kills(const struct beside *beside) {
	return why_oom_kills(beside->supervisor);
}

bool beside_wait_until(struct supervisor *in, uint64_t at, siginfo_t *info) {
	struct beside *beside = in->plan.beside;
	struct pollfd fds[1 + BESIDE_FDS] = {{.fd = in->signal_fd, .events = POLLIN}};
	memcpy(fds + 1, beside->fds, sizeof(beside->fds));
	// While we wait for what is beside, leftovers have to wait.
	at = in->ended && beside->busy ? beside->due_at : clock_earlier(at, beside->due_at);
	uint64_t ms = clock_left(clock_now_ms(), at);
	ms = in->signal_fd < 0 && ms > LOOK_MS ? LOOK_MS : ms;
	struct timespec timeout = clock_timespec(ms);
	kernel(SYS_ppoll, (long)fds, 1 + BESIDE_FDS, (long)&timeout, 0);
	memcpy(beside->fds, fds + 1, sizeof(beside->fds));
	return take_signal(ALL_SIGNALS, info, &(struct timespec){0}) > 0;
}

/** Print what it has to say. */
static void say_words(struct supervisor *in, struct beside *beside) {
	if (beside->words) {
		in->last_words = beside->last_words;
		say(in, beside->last_words ? LOG_ERROR : LOG_WARN, "%s", beside->words);
		in->last_words = false;
		beside->words = NULL;
	}
}

bool beside_wake(struct supervisor *in) {
	struct beside *beside = in->plan.beside;
	if (in->ended && !in->end_reported) {
		in->end_reported = true;
		beside->ended(beside, &in->end);
		say_words(in, beside);
	}
	beside->wake(beside);
	say_words(in, beside);
	for (int signal = 1; beside->signals; signal++) {
		if (beside->signals & signal_bit(signal)) {
			siginfo_t info = {.si_signo = signal, .si_code = SI_USER};
			beside->signals &= ~signal_bit(signal);
			// These signals are for the workload. One that comes after its end does not
			// shorten the wait for leftovers.
			if (!in->ended) {
				handle_signal(in, &info);
			}
		}
	}
	if (beside->limit) {
		beside->limit = false;
		if (!in->ended) {
			ending_by_limit(in);
		}
	}
	return beside->busy;
}
