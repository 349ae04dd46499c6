// SPDX-License-Identifier: Apache-2.0
#pragma once

/** distrun's options: the words that take them, and their ids. The table is in options.c. */

#include "common/options.h"

/** The words that take options; flags, so that an option can belong to several. */
enum command {
	CMD_PROGRAM = 1,
	CMD_WHERE = 2,
	CMD_SURROGATE = 4,
};

enum option_id {
	OPT_FORMAT,
	OPT_REQUIRE,
	OPT_NAME,
	OPT_CSX,
	OPT_JOB_TIME_SEC,
	OPT_JOB_TIME_BUDGET,
	OPT_GRACE,
	OPT_LOG,
	OPT_VERBOSE,
	OPT_ROOT,
	OPT_HELP,
	OPT_VERSION,
	N_VALUES,
};

extern const struct option_table distrun_options;
