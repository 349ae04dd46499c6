// SPDX-License-Identifier: Apache-2.0

/** Writes the lines of the report that are about the workload. */

#include "base/signals.h"
#include "init/supervisor.h"
#include "report/report.h"

/** Add a member: the name of @signal; null for 0. */
static void put_signal(struct json *json, const char *key, int signal) {
	json_text(json, key, signal ? signal_name(signal).s : NULL);
}

/** Warn if the report failed: @r is negative. */
static void warn(const struct supervisor *in, int r, const struct err *err) {
	if (r < 0) {
		say(in, LOG_WARN, "%s", err->text);
	}
}

void tell_started(const struct supervisor *in) {
	struct err err;
	if (in->plan.report) {
		warn(in, report_started(in->plan.report, in->name, (uint32_t)in->child, true, &err), &err);
	}
}

void tell_signal(const struct supervisor *in, const siginfo_t *info, int as) {
	struct report_line line;
	struct err err;
	if (!in->plan.report) {
		return;
	}
	struct json *json = report_begin(in->plan.report, &line, "signal");
	put_signal(json, "signal", info->si_signo);
	put_signal(json, "as", as);
	json_number(json, "pid", info->si_pid > 0 ? (uint64_t)info->si_pid : UINT32_MAX);
	json_fact(json, "kernel", info->si_code == SI_KERNEL);
	warn(in, report_end(in->plan.report, &line, &err), &err);
}

void tell_ended(const struct supervisor *in) {
	const struct workload_end *end = &in->end;
	struct report_line line;
	struct err err;
	if (!in->plan.report) {
		return;
	}
	struct json *json = report_begin(in->plan.report, &line, "ended");
	json_number(json, "status", (uint64_t)end->status);
	json_number(json, "exit_status", end->killed_by ? UINT32_MAX : (uint64_t)end->exit_status);
	put_signal(json, "signal", end->killed_by);
	json_fact(json, "core_dumped", end->core);
	json_fact(json, "time_limit", in->limited);
	json_number(json, "oom_kills", end->oom_kills);
	json_number(json, "ran_ms", end->ran_ms);
	json_text(json, "text", end->text);
	warn(in, report_end(in->plan.report, &line, &err), &err);
}
