// SPDX-License-Identifier: Apache-2.0

/**
 * Finds out why the workload ended: by itself, by a signal, at its time limit, or for lack of memory. For
 * each cgroup, the kernel counts the processes that it kills for lack of memory. The counter is read before
 * the start and after the end, so it also shows that a child of the workload was killed: the workload
 * itself may then just exit with status 1.
 */

#include "access/view.h"
#include "base/file.h"
#include "base/num.h"
#include "base/signals.h"
#include "init/supervisor.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/** /proc/self/cgroup, with a line for each of some 15 hierarchies, and a cgroup's files are shorter than this. */
#define TEXT_MAX 8192

/** Signals that ask a program to end, or announce that it will have to. */
#define ENDING \
	(signal_bit(SIGHUP) | signal_bit(SIGINT) | signal_bit(SIGQUIT) | signal_bit(SIGTERM) | \
	 signal_bit(SIGXCPU))

/** Of these, the signals with no other meaning: HUP often asks a program to read its configuration again. */
#define ASKS (signal_bit(SIGINT) | signal_bit(SIGQUIT) | signal_bit(SIGTERM))

/** Signals without a standard meaning. Real-time signals begin at 34 for programs. */
#define ITS_OWN (signal_bit(SIGUSR1) | signal_bit(SIGUSR2) | ALL_SIGNALS << 33)

/** A file that cannot be read, and the errno; `path` is NULL: none. */
struct unread {
	const char *path;
	int error;
};

/**
 * Read the file @path into @text, and find the rest of the line after @key. Returns an empty slice if there is none. If
 * the file exists and cannot be read, set @unread.
 */
static struct str read_after(const char *path, const char *key, char text[TEXT_MAX], struct unread *unread) {
	const ssize_t n = file_read_small(path, text, TEXT_MAX);
	if (n < 0 && n != -ENOENT && n != -ENOTDIR) {
		*unread = (struct unread){path, (int)-n};
	}
	const char *at = n < 0 ? NULL : strstr(text, key);
	struct str rest = str_of(at ? at + strlen(key) : ""), line;
	str_cut(&rest, '\n', &line);
	return line;
}

/** Read the counter of processes killed for lack of memory from the cgroup's file @path; or OOM_UNKNOWN. */
static uint32_t read_kills(const char *path, struct unread *unread) {
	char text[TEXT_MAX];
	uint32_t kills = OOM_UNKNOWN;
	// oom_kill is never the first line.
	num_read_u32(read_after(path, "\noom_kill ", text, unread), &kills);
	return kills;
}

void why_begin(struct supervisor *in, struct arena *arena) {
	char text[TEXT_MAX];
	const char *root = in->plan.view ? view_root(in->plan.view) : "";
	const char *file = arena_format(arena, "%s/proc/self/cgroup", root);
	struct unread unread = {NULL, 0};
	// In cgroup v1, memory has a hierarchy of its own.
	struct str path = read_after(file, ":memory:", text, &unread);
	bool v1 = path.len > 0;
	path = v1 ? path : read_after(file, "0::", text, &unread);
	in->kills = OOM_UNKNOWN;
	// In a container, the path may be the host's while the container's own cgroup is mounted as the top.
	for (int tries = 0; in->kills == OOM_UNKNOWN && tries < 2; tries++) {
		in->kills_file =
			arena_format(arena, "%s/sys/fs/cgroup%s%.*s/memory.%s", root, v1 ? "/memory" : "",
				     tries ? 0 : (int)path.len, path.p, v1 ? "oom_control" : "events");
		in->kills = read_kills(in->kills_file, &unread);
	}
	if (in->kills == OOM_UNKNOWN && unread.path) {
		say(in, LOG_INFO,
		    "processes killed for lack of memory will not be reported: %s cannot be read: %s",
		    unread.path,
		    unread.error == EINVAL ? "it is not a regular file" : strerror(unread.error));
	}
	in->started_at = clock_now_ms();
}

void why_asked(struct supervisor *in, const siginfo_t *info) {
	int signal = info->si_signo, as = in->plan.signal_as[signal];
	in->asked_by |= as ? (signal_bit(signal) | signal_bit(as)) & ASKS : 0;
	// Ignore repeats.
	if (as && ((signal_bit(signal) | signal_bit(as)) & (ENDING | ITS_OWN)) &&
	    signal != in->asked.signal) {
		in->asked = (struct asked_to_end){
			.signal = signal,
			.as = as,
			// The kernel sends these for a terminal: Ctrl-C, or its hangup.
			.from = info->si_code == SI_KERNEL ? FROM_TERMINAL : info->si_pid,
			.at = clock_now_ms(),
		};
	}
}

/** Append to the text of @end. */
__attribute__((format(printf, 2, 3))) static void put(struct workload_end *end, const char *format, ...) {
	size_t len = strlen(end->text);
	va_list args;
	va_start(args, format);
	vsnprintf(end->text + len, sizeof(end->text) - len, format, args);
	va_end(args);
}

static void put_asked(struct workload_end *end, const struct asked_to_end *asked, uint64_t now) {
	// If the workload died of another signal, it had handled this one, which is not the reason.
	bool handled = asked->signal && (signal_bit(asked->as) & ITS_OWN) && end->killed_by &&
		       end->killed_by != asked->as;
	if (asked->at == CLOCK_NEVER || handled) {
		return;
	}
	if (!asked->signal || asked->signal != end->killed_by) {
		put(end, ", %s after %s%s", duration_text(now > asked->at ? now - asked->at : 1).s,
		    asked->signal ? "SIG" : "its time limit",
		    asked->signal ? signal_name(asked->signal).s : "");
	}
	if (asked->from > 0) {
		put(end, " from pid %d", (int)asked->from);
	} else if (asked->signal) {
		put(end, " from %s", asked->from ? "the terminal" : "outside");
	}
}

/** Append @status, the workload's status from waitpid(). */
static void put_status(struct workload_end *end, int status) {
	if (WIFSIGNALED(status)) {
		end->killed_by = WTERMSIG(status);
		end->core = WCOREDUMP(status);
		put(end, "killed by SIG%s%s", signal_name(end->killed_by).s,
		    end->core ? ", core dumped" : "");
	} else {
		end->exit_status = WEXITSTATUS(status);
		put(end, "exit status %d", end->exit_status);
	}
}

uint32_t why_oom_kills(const struct supervisor *in) {
	struct unread unread = {NULL, 0};
	uint32_t kills = in->kills == OOM_UNKNOWN ? OOM_UNKNOWN : read_kills(in->kills_file, &unread);
	return kills == OOM_UNKNOWN ? OOM_UNKNOWN : kills - in->kills;
}

/** Append how many processes were killed for lack of memory. Returns whether there were any. */
static bool put_kills(struct workload_end *end, const struct supervisor *in) {
	end->oom_kills = why_oom_kills(in);
	if (end->oom_kills == OOM_UNKNOWN || end->oom_kills == 0) {
		return false;
	}
	put(end, OOM_TEXT, end->oom_kills);
	return true;
}

void why_ended(struct supervisor *in) {
	struct workload_end *end = &in->end;
	uint64_t now = clock_now_ms();
	end->status = workload_status(in);
	end->ran_ms = now - in->started_at;
	end->raw = raw_status(in);
	end->early = end->raw == 0 && !in->asked_by;
	put_status(end, in->status);
	const size_t status_only = strlen(end->text);
	end->limited = in->limited;
	// The terminal sends Ctrl-C to the workload in the foreground, not to us.
	end->asked_to_end =
		in->asked_by || (in->asked.signal == SIGHUP && end->killed_by == SIGHUP) ||
		(in->terminal.foreground &&
		 (end->killed_by == SIGINT || end->killed_by == SIGQUIT || end->exit_status == 128 + SIGINT));
	put(end, "%s", end->early && in->plan.early_as >= 0 ? ", though nobody asked it to end" : "");
	put_asked(end, &in->asked, now);
	bool plain = !put_kills(end, in) && end->status == 0 && in->asked.as != SIGTERM;
	// If the observer sets the status, it prints the reason itself.
	plain = plain || in->plan.observer->status;
	const bool warns = in->plan.explains && !plain;
	// Kubernetes shows the exit status anyway. If our sentence has nothing more, leave the termination log
	// empty, so that Kubernetes can show the end of the workload's output (FallbackToLogsOnError), such as
	// a traceback.
	const bool says_more =
		strlen(end->text) > status_only || end->killed_by || end->status != end->exit_status;
	in->last_words = warns && says_more;
	say(in, warns ? LOG_WARN : LOG_INFO, "%s ended after %s: %s", in->name, duration_text(end->ran_ms).s,
	    end->text);
	in->explained = in->last_words;
	in->last_words = false;
	tell_ended(in);
}
