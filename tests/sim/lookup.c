// SPDX-License-Identifier: Apache-2.0

/**
 * Names of hosts: what src/system/net/lookup.c does, but the child that looks names up is a pipe. lookup() is here as well, as the linker
 * changes no call within a file.
 */

#include "inside.h"

#include "base/clock.h"
#include "net/lookup.h"

#include <netdb.h>
#include <poll.h>

struct answer_comes {
	struct file *pipe;
	struct lookup_answer answer;
	bool last;
};

static void answer_comes(void *a, uint64_t b) {
	struct answer_comes *comes = a;
	(void)b;
	file_put(comes->pipe, &comes->answer, sizeof(comes->answer));
	comes->pipe->ended |= comes->last;
	if (comes->pipe->fd >= 0) {
		file_notify(comes->pipe);
	}
}

int __wrap_lookups_begin(struct lookups *lookups, const char *const names[], uint32_t n, uint16_t port) {
	const int code = enter(CALL_LOOK_UP);
	struct file *pipe = file_new(FILE_PIPE);
	*lookups = (struct lookups){.fd = code ? -1 : file_open(pipe)};
	if (lookups->fd < 0) {
		return code ? -code : -EMFILE;
	}
	uint64_t at = time_now;
	for (uint32_t i = 0; i < n; i++) {
		struct answer_comes *comes = memset(job_memory(sizeof(*comes)), 0, sizeof(*comes));
		const int host = watchers.host_of(names[i]);
		at += 20 + choose(C_lookup_takes, (unsigned)current->id, current->calls << 4 | i,
				  weather.lookup + 1);
		comes->pipe = pipe;
		comes->last = i == n - 1;
		if (host < 0 || at < weather.names_from) {
			comes->answer.code = EAI_NONAME;
		} else {
			struct address *to = &comes->answer.addresses.at[0];
			comes->answer.addresses.n = 1;
			to->len = address_write(&to->v4, false, host, port);
		}
		at_time_with(at, answer_comes, comes, 0);
	}
	return 0;
}

int __wrap_lookup(struct watch *watch, const char *host, uint16_t port, struct addresses *out) {
	struct lookups lookups;
	struct lookup_answer answer = {0};
	int r = __wrap_lookups_begin(&lookups, &host, 1, port);
	if (r < 0) {
		return err_set(&watch->failure, EAGAIN, "cannot start the look-up process: %s", strerror(-r));
	}
	r = watch_poll(watch, lookups.fd, POLLIN, CLOCK_NEVER);
	if (r == 0) {
		r = watch_cut_short(watch, "no name server answers");
	} else if (r > 0) {
		r = lookups_read(&lookups, &answer) > 0
			    ? 0
			    : err_set(&watch->failure, EAGAIN, "the look-up process was killed");
	}
	lookups_end(&lookups);
	if (r < 0) {
		return r;
	}
	const enum lookup_fault fault = lookup_fault(&answer);
	if (fault) {
		err_set(&watch->failure, fault == LOOKUP_NO_NAME ? ENOENT : EAGAIN, "%s",
			lookup_why_not(&answer));
		return -EAGAIN;
	}
	*out = answer.addresses;
	return 0;
}
