// SPDX-License-Identifier: Apache-2.0

#include "base/num.h"
#include "base/signals.h"
#include "init/init.h"

#include <errno.h>
#include <signal.h>

void init_plan_preset(struct init_plan *plan) {
	*plan = (struct init_plan){
		.grace_ms = CLOCK_NEVER,
		.time_limit_ms = CLOCK_NEVER,
		.limit_grace_ms = 30 * 1000,
		.leftovers_grace_ms = 2 * 1000,
		.log = LOG_WARN,
		.early_as = -1,
		.told_as = -1,
		.program = "distinit",
	};
	for (int i = 0; i < 256; i++) {
		plan->status_as[i] = (uint8_t)i;
	}
	memcpy(plan->signal_as, plan->status_as, sizeof(plan->signal_as));
}

void init_plan_like_step(struct init_plan *plan, uint64_t grace_ms) {
	plan->grace_ms = grace_ms;
	plan->limit_grace_ms = grace_ms;
	plan->leftovers = LEFTOVERS_END;
	plan->leftovers_grace_ms = grace_ms;
}

static int refuse_signal(const char *label, struct str text, const char *suggestion, struct err *err) {
	return err_set(err, EINVAL, "%s: %s is not a signal%s%s%s; 'kill -l' lists them", label,
		       quote(text).s, suggestion ? "; did you mean '" : "", suggestion ? suggestion : "",
		       suggestion ? "'?" : "");
}

/** Read a pair of signals: "TERM:INT". */
static int read_rewrite(struct init_plan *plan, const char *label, struct str pair, struct err *err) {
	size_t colon = str_find(pair, ':');
	if (colon == pair.len) {
		return err_set(err, EINVAL,
			       "%s: %s: two signals are expected, FROM:TO, such as TERM:INT or TERM:0", label,
			       quote(pair).s);
	}
	struct str from_text = {pair.p, colon}, to_text = str_from(pair, colon + 1);
	const char *suggestion;
	int from = signal_read(from_text, &suggestion);
	if (from < 0) {
		return refuse_signal(label, from_text, suggestion, err);
	}
	if (from == SIGKILL || from == SIGSTOP || from == SIGCHLD) {
		return err_set(err, EINVAL, "%s: %s %s, so it is never forwarded", label, signal_name(from).s,
			       from == SIGCHLD ? "means that a child has ended" : "cannot be caught");
	}
	int to = str_is(to_text, "0") ? 0 : signal_read(to_text, &suggestion);
	if (to < 0) {
		return refuse_signal(label, to_text, suggestion, err);
	}
	plan->signal_as[from] = (uint8_t)to;
	return 0;
}

/** Read a pair of exit statuses: "143:0", "early:70", "told:143". */
static int read_remap(struct init_plan *plan, const char *label, struct str pair, struct err *err) {
	size_t colon = str_find(pair, ':');
	struct str word = {pair.p, colon};
	bool early = str_is(word, "early"), told = str_is(word, "told");
	uint64_t from = 0, to;
	if (colon == pair.len || (!early && !told && num_read(word, 255, &from) < 0) ||
	    num_read(str_from(pair, colon + 1), 255, &to) < 0) {
		return err_set(err, EINVAL,
			       "%s: %s: two exit statuses are expected, FROM:TO, each 0 to 255, such as "
			       "143:0; FROM may also be early or told",
			       label, quote(pair).s);
	}
	if (early) {
		plan->early_as = (int)to;
	} else if (told) {
		plan->told_as = (int)to;
	} else {
		plan->status_as[from] = (uint8_t)to;
	}
	return 0;
}

typedef int read_pair(struct init_plan *plan, const char *label, struct str pair, struct err *err);

static int read_pairs(struct init_plan *plan, const char *label, const char *list, read_pair *read,
		      struct err *err) {
	struct str rest = str_of(list), pair;
	int r = 0;
	while (r == 0 && str_cut(&rest, ',', &pair)) {
		r = read(plan, label, str_trim(pair), err);
	}
	return r;
}

int init_plan_signals(struct init_plan *plan, const char *label, const char *list, struct err *err) {
	return read_pairs(plan, label, list, read_rewrite, err);
}

int init_plan_statuses(struct init_plan *plan, const char *label, const char *list, struct err *err) {
	return read_pairs(plan, label, list, read_remap, err);
}

int init_plan_pdeathsig(struct init_plan *plan, const char *label, const char *name, struct err *err) {
	const char *suggestion;
	int signal = signal_read(str_of(name), &suggestion);
	if (signal < 0) {
		return refuse_signal(label, str_of(name), suggestion, err);
	}
	plan->pdeathsig = signal;
	return 0;
}
