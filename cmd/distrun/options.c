// SPDX-License-Identifier: Apache-2.0

#include "distrun/options.h"

/** The subcommands that run a workload, with a step that mirrors it. */
#define RUN  CMD_SURROGATE
#define TALK (RUN | CMD_WHERE)
#define ANY  (TALK | CMD_PROGRAM)

static const struct option options[] = {
	{"format", 0, OPT_FORMAT, TAKES_TEXT, CMD_WHERE, false, "FORMAT", "text (default), json"},
	{"require", 0, OPT_REQUIRE, TAKES_FLAG, RUN, true, NULL,
	 "start COMMAND only once its step runs; without one, refuse"},
	{"name", 0, OPT_NAME, TAKES_TEXT, RUN, true, "NAME",
	 "the step's name (default: wsjob- and 22 letters and digits)"},
	{"csx", 0, OPT_CSX, TAKES_TEXT, RUN, true, "N",
	 "N accelerators are taken: the step's name ends in -csxN"},
	{"num-csx", 0, OPT_CSX, TAKES_TEXT, RUN, false, NULL, NULL},
	{"job-time-sec", 0, OPT_JOB_TIME_SEC, TAKES_TEXT, RUN, true, "S",
	 "end COMMAND when it has run for S seconds, or a duration such as 1h30m"},
	{"job-time-budget", 0, OPT_JOB_TIME_BUDGET, TAKES_TEXT, RUN, true, "FILE",
	 "share that limit among all runs that name FILE; what was used is kept there"},
	{"grace", 0, OPT_GRACE, TAKES_TEXT, RUN, true, "DURATION",
	 "how long COMMAND may take when it was told to end (default: 30s)"},
	{"log", 0, OPT_LOG, TAKES_TEXT, TALK, true, "LEVEL", "error, warn (default), info, debug"},
	{"verbose", 'v', OPT_VERBOSE, TAKES_FLAG, TALK, false, NULL, "--log=info; twice: --log=debug"},
	{"root", 0, OPT_ROOT, TAKES_TEXT, TALK, true, "DIR", "look for /proc under DIR instead of /"},
	{"help", 'h', OPT_HELP, TAKES_FLAG, ANY, false, NULL, "print this help"},
	{"version", 'V', OPT_VERSION, TAKES_FLAG, ANY, false, NULL, "print the version"},
	{0},
};

const struct option_table distrun_options = {
	.options = options,
	.program = "distrun",
	.prefix = "DISTRUN_",
	.n_values = N_VALUES,
	.verbose = OPT_VERBOSE,
	.keep = OPTION_NONE,
	.underscores = true,
};
