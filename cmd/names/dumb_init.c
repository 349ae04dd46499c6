// SPDX-License-Identifier: Apache-2.0

/**
 * dumb-init 1.2.5. Without -c, the workload leads a session of its own, gets our terminal, and its process
 * group gets the signals; when the workload has ended, the group also gets TERM.
 */

#include "names/names.h"

#include "base/num.h"
#include "init/supervisor.h"

#include <sys/ioctl.h>

/** The largest signal that dumb-init knows. */
#define SIGNALS 31

#define REWRITE_HELP \
	"Usage: -r option takes <signum>:<signum>, where <signum> is between 1 and 31.\n" \
	"This option can be specified multiple times.\n" \
	"Use --help for full usage.\n"

/** Skip what scanf(3) skips before a number: blanks, then a plus. */
static struct str skip_blanks(struct str text) {
	size_t n = strspn(text.p, " \t\n\v\f\r");
	n += n < text.len && text.p[n] == '+';
	return n < text.len ? (struct str){text.p + n, text.len - n} : text;
}

/** dumb-init -r. */
static int rewrite(struct alias_run *g, const char *argument) {
	struct str to = str_of(argument), from;
	uint64_t signal, as;
	str_cut(&to, ':', &from);
	if (!to.p || num_read(skip_blanks(from), SIGNALS, &signal) < 0 || signal == 0 ||
	    num_read(skip_blanks(to), SIGNALS, &as) < 0) {
		return alias_print(g, 2, REWRITE_HELP, "", 1);
	}
	g->plan.signal_as[signal] = (uint8_t)as;
	return GO_ON;
}

static bool stops(int signal) {
	return signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

/** Give all signals to the workload unblocked and with their default actions, regardless of what we inherited. */
static void reset_signals(struct alias_run *g) {
	for (int i = 1; i <= SIGNALS; i++) {
		sigaction(i, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
	}
	g->plan.inherited_mask = 0;
	g->plan.child_action.sa_handler = SIG_DFL;
}

/**
 * Give up our terminal for the workload. If we lead a session, we get HUP and CONT then, which must not be
 * forwarded.
 */
static void leave_terminal(struct alias_run *g) {
	if (ioctl(0, TIOCNOTTY) == 0 && getsid(0) == getpid()) {
		g->hand_off = signal_bit(SIGHUP) | signal_bit(SIGCONT);
	}
}

static void prepare(struct alias_run *g) {
	reset_signals(g);
	if (g->flags & ALIAS_SINGLE) {
		return;
	}
	g->plan.kill_group = true;
	for (int i = 1; i <= SIGNALS; i++) {
		if (stops(i) && g->plan.signal_as[i] == i) {
			g->plan.signal_as[i] = SIGSTOP;
		}
	}
	leave_terminal(g);
}

/** In the child: begin a session, and take the terminal. */
static void begin_session(const struct alias_run *g) {
	setsid();
	ioctl(0, TIOCSCTTY, 0);
	alias_log(g, LOG_DEBUG, "setsid complete.");
}

/**
 * Whether @signal comes from giving up the terminal, so that it must not be forwarded. Returns true once for
 * each.
 */
static bool is_hand_off(struct alias_run *g, int signal) {
	alias_log(g, LOG_DEBUG, "Received signal %d.", signal);
	bool ours = g->hand_off & signal_bit(signal);
	if (ours) {
		g->hand_off &= ~signal_bit(signal);
		alias_log(g, LOG_DEBUG, "Ignoring tty hand-off signal %d.", signal);
	}
	return ours;
}

static void log_forwarded(const struct alias_run *g, int signal, int as) {
	if (as != signal) {
		alias_log(g, LOG_DEBUG, "Translating signal %d to %d.", signal, as);
	}
	if (as) {
		alias_log(g, LOG_DEBUG, "Forwarded signal %d to children.", as);
	} else {
		alias_log(g, LOG_DEBUG, "Not forwarding signal %d to children (ignored).", as);
	}
}

/** Stop with the workload, as a shell's job does. */
static void stop_too(const struct alias_run *g, int signal) {
	if (stops(signal)) {
		alias_log(g, LOG_DEBUG, "Suspending self due to TTY signal.");
		send_signal(getpid(), SIGSTOP);
	}
}

/** After the workload's end: send TERM to the rest of its process group. */
static void end_group(const struct alias_run *g, int status) {
	int as = g->plan.signal_as[SIGTERM];
	if (as && !(g->flags & ALIAS_SINGLE)) {
		send_signal(-g->child, as);
	}
	log_forwarded(g, SIGTERM, as);
	alias_log(g, LOG_DEBUG, "Child exited with status %d. Goodbye.", status);
}

static void handle_reaped(const struct alias_run *g, int pid, int status) {
	int code = WEXITSTATUS(status);
	if (WIFEXITED(status)) {
		alias_log(g, LOG_DEBUG, "A child with PID %d exited with exit status %d.", pid, code);
	} else {
		code = 128 + WTERMSIG(status);
		alias_log(g, LOG_DEBUG, "A child with PID %d was terminated by signal %d.", pid, code - 128);
	}
	if (pid == g->child) {
		end_group(g, code);
	}
}

static bool event(struct alias_run *g, enum init_event event, int a, int b) {
	switch (event) {
	case EVENT_CHILD:
		if (!(g->flags & ALIAS_SINGLE)) {
			begin_session(g);
		}
		return !(g->flags & ALIAS_SINGLE);
	case EVENT_STARTED:
		alias_log(g, LOG_DEBUG, "Child spawned with PID %d.", a);
		return false;
	case EVENT_SIGNAL:
		return is_hand_off(g, a);
	case EVENT_FORWARDED:
		log_forwarded(g, a, b);
		stop_too(g, a);
		return false;
	case EVENT_REAPED:
		handle_reaped(g, a, b);
		return false;
	default:
		return false;
	}
}

// These texts are those of dumb-init, because tests, its own among them, compare them.
#define HELP \
	"dumb-init v1.2.5\n" \
	"Usage: @ [option] command [[arg] ...]\n" \
	"\n" \
	"dumb-init is a simple process supervisor that forwards signals to children.\n" \
	"It is designed to run as PID1 in minimal container environments.\n" \
	"\n" \
	"Optional arguments:\n" \
	"   -c, --single-child   Run in single-child mode.\n" \
	"                        In this mode, signals are only proxied to the\n" \
	"                        direct child and not any of its descendants.\n" \
	"   -r, --rewrite s:r    Rewrite received signal s to new signal r before proxying.\n" \
	"                        To ignore (not proxy) a signal, rewrite it to 0.\n" \
	"                        This option can be specified multiple times.\n" \
	"   -v, --verbose        Print debugging information to stderr.\n" \
	"   -h, --help           Print this help message and exit.\n" \
	"   -V, --version        Print the current version and exit.\n" \
	"\n" \
	"Full help is available online at https://github.com/Yelp/dumb-init\n"

static const struct alias_option options[] = {
	{.letter = 'v', .name = "verbose", .variable = "DUMB_INIT_DEBUG=1", .raises = LOG_DEBUG},
	{.letter = 'c', .name = "single-child", .variable = "DUMB_INIT_SETSID=0", .flag = ALIAS_SINGLE},
	{.letter = 'r', .has_argument = true, .name = "rewrite", .apply = rewrite},
	{.letter = 'h', .name = "help", .text = HELP, .fd = 2},
	{.letter = 'V', .name = "version", .text = "dumb-init v1.2.5\n", .fd = 2},
	{0},
};

const struct alias alias_dumb_init = {
	.names = "dumb-init ",
	.options = options,
	.abbreviates = true,
	.usage = "Usage: @ [option] program [args]\n"
		 "Try @ --help for full usage.\n",
	.usage_fd = 2,
	.head = "[dumb-init] ",
	.stdout_from = LOG_NONE,
	.exec_before = "",
	.exec_after = ": ",
	.exec_status = 2,
	.run = alias_run_init,
	.prepare = prepare,
	.event = event,
};
