// SPDX-License-Identifier: Apache-2.0
#pragma once

/** distrun's options: the subcommands that have them, and their ids. The table is in options.c. */

#include "common/settings.h"
#include "srun/site.h"

/** The subcommands, as flags: an option can belong to several. */
enum command {
	CMD_PROGRAM = 1,
	CMD_WHERE = 2,
	CMD_SURROGATE = 4,
	CMD_EXEC = 8,
	CMD_LAUNCH = 16,
	CMD_ANALYZE = 32,
	/** The probe of analyze, which runs on the node. */
	CMD_PROBE = 64,
};

/** The ids below SITE_N are the settings. */
enum option_id {
	OPT_FORMAT = SITE_N,
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
	OPT_SITE,
	OPT_LOGGING,
	OPT_FOR,
	OPT_FILL,
	OPT_DRY_RUN,
	OPT_DEF_NODES,
	OPT_DEF_TASKS,
	OPT_DEF_CPUS,
	OPT_SINGULARITY,
	OPT_DEF_MOUNT_DIRS,
	OPT_DEF_GRES,
	OPT_DEF_GRES_NODE,
	OPT_THREADS,
	OPT_WORKERS_PER_NODE,
	OPT_UNIT,
	OPT_SECONDS,
	OPT_WARMUP,
	OPT_REPORT,
	N_VALUES,
};

extern const struct option_table distrun_options;
