// SPDX-License-Identifier: Apache-2.0

#include "base/signals.h"

#include "check.h"
#include "init/init.h"

#include <errno.h>
#include <signal.h>

static void check_read(const char *text, int want) {
	const char *suggestion;
	int got = signal_read(str_of(text), &suggestion);
	checkf(got == want, "signal_read '%s': %d", text, got);
}

static void check_suggestion(const char *text, const char *want) {
	const char *got;
	check(signal_read(str_of(text), &got) == -EINVAL);
	check_text(got, want, "suggestion for '%s'", text);
}

/** signal_read() reads every name that signal_name() returns. */
static void check_round_trip(void) {
	for (int i = 1; i <= SIGNAL_MAX; i++) {
		struct signal_name name = signal_name(i);
		checkf(signal_read(str_of(name.s), NULL) == i, "signal %d is '%s'", i, name.s);
	}
}

static void check_signals(const char *list, int signal, int want) {
	struct init_plan plan;
	struct err err;
	init_plan_preset(&plan);
	check(init_plan_signals(&plan, "--signal", list, &err) == 0);
	checkf(plan.signal_as[signal] == want, "--signal=%s: %d becomes %d", list, signal,
	       plan.signal_as[signal]);
}

static void check_refused(int (*read)(struct init_plan *, const char *, const char *, struct err *),
			  const char *text, const char *want) {
	struct init_plan plan;
	struct err err;
	init_plan_preset(&plan);
	checkf(read(&plan, "--x", text, &err) == -EINVAL, "'%s' is refused", text);
	check_part(err.text, want, "the sentence on '%s'", text);
}

int main(void) {
	check_read("TERM", SIGTERM);
	check_read("SIGTERM", SIGTERM);
	check_read("sigterm", SIGTERM);
	check_read("Usr1", SIGUSR1);
	check_read("15", 15);
	check_read("64", 64);
	check_read("32", 32);
	check_read("RTMIN", 34);
	check_read("RTMIN+1", 35);
	check_read("SIGRTMIN+30", 64);
	check_read("RTMAX", 64);
	check_read("RTMAX-30", 34);
	check_read("RTMIN+31", -EINVAL);
	check_read("RTMIN-1", -EINVAL);
	check_read("RTMAX+1", -EINVAL);
	check_read("RTMIN+", -EINVAL);
	check_read("RTMINX", -EINVAL);
	check_read("0", -EINVAL);
	check_read("65", -EINVAL);
	check_read("-1", -EINVAL);
	check_read("", -EINVAL);
	check_read("SIG", -EINVAL);
	check_read(" TERM", -EINVAL);
	check_read("TERMTERMTERMTERMTERM", -EINVAL);
	check_suggestion("TREM", "TERM");
	check_suggestion("sigusr3", "USR1");
	check_suggestion("nothing", NULL);
	check_round_trip();
	check_text(signal_name(1).s, "HUP", "signal 1");
	check_text(signal_name(15).s, "TERM", "signal 15");
	check_text(signal_name(31).s, "SYS", "signal 31");
	check_text(signal_name(32).s, "32", "signal 32");

	check_signals("TERM:INT", SIGTERM, SIGINT);
	check_signals("TERM:INT", SIGINT, SIGINT);
	check_signals("TERM:INT", SIGUSR1, SIGUSR1);
	check_signals("TERM:0", SIGTERM, 0);
	check_signals("TERM:INT,HUP:USR1", SIGHUP, SIGUSR1);
	check_signals("TERM:INT, HUP:USR1", SIGHUP, SIGUSR1);
	check_signals("TERM:INT,15:2,TERM:QUIT", SIGTERM, SIGQUIT);
	check_signals("USR1:KILL", SIGUSR1, SIGKILL);
	check_signals("RTMIN+1:RTMAX", 35, 64);

	check_refused(init_plan_signals, "TERM", "FROM:TO");
	check_refused(init_plan_signals, "", "FROM:TO");
	check_refused(init_plan_signals, "TERM:INT,", "FROM:TO");
	check_refused(init_plan_signals, "TREM:INT", "did you mean 'TERM'?");
	check_refused(init_plan_signals, "TERM:", "'' is not a signal");
	check_refused(init_plan_signals, "TERM:65", "'65' is not a signal");
	check_refused(init_plan_signals, "0:TERM", "'0' is not a signal");
	check_refused(init_plan_signals, "KILL:TERM", "cannot be caught");
	check_refused(init_plan_signals, "STOP:TERM", "cannot be caught");
	check_refused(init_plan_signals, "CHLD:TERM", "never forwarded");
	check_refused(init_plan_statuses, "143", "FROM:TO");
	check_refused(init_plan_statuses, "143:256", "0 to 255");
	check_refused(init_plan_statuses, "-1:0", "0 to 255");
	check_refused(init_plan_statuses, "143:0,x:1", "'x:1'");
	check_refused(init_plan_statuses, "early", "FROM:TO");
	check_refused(init_plan_statuses, "early:256", "early or told");
	check_refused(init_plan_pdeathsig, "TRM", "did you mean 'TERM'?");

	struct init_plan plan;
	struct err err;
	init_plan_preset(&plan);
	check(plan.grace_ms == CLOCK_NEVER && plan.limit_grace_ms == 30000 &&
	      plan.leftovers_grace_ms == 2000 && plan.leftovers == LEFTOVERS_AUTO &&
	      plan.signal_as[64] == 64 && plan.status_as[255] == 255);
	check(init_plan_statuses(&plan, "--map-exit", "143:0,0:3", &err) == 0);
	check(plan.early_as == -1 && plan.told_as == -1);
	check(init_plan_statuses(&plan, "--map-exit", "early:70,told:0", &err) == 0);
	check(plan.early_as == 70 && plan.told_as == 0);
	check(plan.status_as[143] == 0 && plan.status_as[0] == 3 && plan.status_as[1] == 1);
	check(init_plan_pdeathsig(&plan, "--pdeathsig", "TERM", &err) == 0 && plan.pdeathsig == SIGTERM);
	init_plan_like_step(&plan, 7);
	check(plan.grace_ms == 7 && plan.limit_grace_ms == 7 && plan.leftovers_grace_ms == 7 &&
	      plan.leftovers == LEFTOVERS_END);
	return check_done();
}
