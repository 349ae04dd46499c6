// SPDX-License-Identifier: Apache-2.0

#include "distrun/options.h"

/** Subcommands that run a workload, with a step that mirrors it. */
#define RUN (CMD_SURROGATE | CSRUN)
/** Those of them that use a container. */
#define CSRUN (CMD_EXEC | CMD_LAUNCH)
/** All subcommands that start containers. */
#define CONTAINED (CSRUN | CMD_ANALYZE)
/** Subcommands that measure. */
#define MEASURE (CMD_ANALYZE | CMD_PROBE)
#define TALK	(RUN | CMD_WHERE | CMD_ANALYZE)
#define ANY	(TALK | CMD_PROGRAM)

static const struct option options[] = {
	{"format", 0, OPT_FORMAT, TAKES_TEXT, CMD_WHERE, false, "FORMAT", "text (default), json"},
	{"threads", 0, OPT_THREADS, TAKES_TEXT, CMD_ANALYZE, false, "LIST",
	 "CPUs per worker to try, joined by ',' (default: 12,16,20; if fewer than two of them fit on a node, "
	 "also all of its CPUs, half and a quarter)"},
	{"workers-per-node", 0, OPT_WORKERS_PER_NODE, TAKES_TEXT, CMD_ANALYZE, false, "LIST",
	 "numbers of workers to try with each of --threads (default: as many as fit)"},
	{"seconds", 0, OPT_SECONDS, TAKES_TEXT, MEASURE, false, "DURATION",
	 "how long to measure each candidate (default: 10s)"},
	{"warmup", 0, OPT_WARMUP, TAKES_TEXT, MEASURE, false, "DURATION",
	 "how long it runs before the measurement (default: 5s)"},
	{"unit", 0, OPT_UNIT, TAKES_TEXT, MEASURE, false, "UNIT",
	 "what a record is: lines (default) or bytes on stdout; or samples: only lines 'samples=N' count"},
	{"available-nodes", 0, SITE_NODES, TAKES_TEXT, CMD_ANALYZE, false, "N",
	 "number of nodes for the estimate (default: the site's; else all of the job's or the partition's)"},
	{"total-nodes", 0, SITE_NODES, TAKES_TEXT, CMD_ANALYZE, false, NULL, NULL},
	{"nodes", 0, SITE_NODES, TAKES_TEXT, CMD_ANALYZE, false, NULL, NULL},
	{"report", 0, OPT_REPORT, TAKES_TEXT, CMD_ANALYZE, false, "FORMAT", "text (default), json"},
	{"total-nodes", 0, SITE_NODES, TAKES_TEXT, CMD_LAUNCH, false, "N",
	 "number of nodes (default: the site's; in a job, all nodes of the job)"},
	{"nodes", 0, SITE_NODES, TAKES_TEXT, CMD_LAUNCH, false, NULL, NULL},
	{"tasks-per-node", 0, SITE_TASKS_PER_NODE, TAKES_TEXT, CMD_LAUNCH, false, "T",
	 "tasks on each node (default: the site's; with --cpus-per-task, as many as fit)"},
	{"tasks-per-worker", 0, SITE_TASKS_PER_NODE, TAKES_TEXT, CMD_LAUNCH, false, NULL, NULL},
	{"cpus-per-task", 0, SITE_CPUS_PER_TASK, TAKES_TEXT, CMD_LAUNCH, false, "C",
	 "CPUs of each task (default: the site's, if it fits; else Slurm decides)"},
	{"single-task-nodes", 0, SITE_SINGLE_TASK_NODES, TAKES_TEXT, CMD_LAUNCH, false, "S",
	 "the first S nodes have one task each (default: 0)"},
	{"cyclic", 0, SITE_CYCLIC, TAKES_FLAG, CMD_LAUNCH, false, NULL,
	 "distribute ranks round-robin over the nodes after the first (default: fill one node after the "
	 "other)"},
	{"for", 0, OPT_FOR, TAKES_TEXT, CMD_LAUNCH, false, "WHAT",
	 "all: the tasks call the roll, and COMMAND starts when all are there and agree, or nowhere"},
	{"fill", 0, OPT_FILL, TAKES_FLAG, CMD_LAUNCH, false, NULL,
	 "distinit fills the words of COMMAND in each task, such as {rank}"},
	{"alloc-node", 0, SITE_ALLOC_NODE, TAKES_TEXT, CMD_EXEC, false, "True|False",
	 "True (default): allocate a node for the command alone; False: run it here"},
	{"mount-dirs", 0, SITE_MOUNT_DIRS, TAKES_LIST, CONTAINED, false, "DIRS",
	 "folders to mount besides the site's, joined by ',': DIR, DIR:TARGET, DIR:TARGET:ro"},
	{"image", 0, SITE_IMAGE, TAKES_TEXT, CONTAINED, false, "IMAGE",
	 "the container's image (default: the site's)"},
	{"runtime", 0, SITE_RUNTIME, TAKES_TEXT, CONTAINED, false, "NAME",
	 "auto (default), singularity, apptainer, charliecloud, podman, pyxis, none"},
	{"runtime-args", 0, SITE_RUNTIME_ARGS, TAKES_TEXT, CONTAINED, false, "WORDS",
	 "more options for the runtime, such as --nv; split at blanks, without a shell"},
	{"srun-args", 0, SITE_SRUN_ARGS, TAKES_TEXT, CONTAINED, false, "WORDS",
	 "more options for srun; split in the same way"},
	{"partition", 0, SITE_PARTITION, TAKES_TEXT, CONTAINED, false, "NAME",
	 "the partition of a new job; ignored inside a job"},
	{"account", 0, SITE_ACCOUNT, TAKES_TEXT, CONTAINED, false, "NAME",
	 "the account of a new job; ignored inside a job"},
	{"gres", 0, SITE_GRES, TAKES_TEXT, CMD_LAUNCH, false, "GRES",
	 "the generic resource of the first node (default: the site's)"},
	{"gres-node", 0, SITE_GRES_NODE, TAKES_TEXT, CMD_EXEC, false, "NODE",
	 "the node with the generic resource, which is not used (default: the site's)"},
	{"exclude-gres", 0, SITE_EXCLUDE_GRES, TAKES_TEXT, CMD_EXEC, false, "True|False",
	 "do not use that node (default: True)"},
	{"distinit", 0, SITE_DISTINIT, TAKES_TEXT, CONTAINED, false, "PATH",
	 "the distinit that runs first in the container (default: the one beside distrun); none: run without "
	 "it"},
	{"site", 0, OPT_SITE, TAKES_TEXT, CONTAINED, false, "FILE",
	 "the site file (default: CSRUN_SITE, /etc/distinit/site.conf, or site.conf beside distrun)"},
	{"dry-run", 0, OPT_DRY_RUN, TAKES_FLAG, CONTAINED, false, NULL,
	 "print the command, quoted for a shell, and the source of each setting"},
	{"logging", 0, OPT_LOGGING, TAKES_TEXT, CONTAINED, false, "True|False",
	 "print the command before it runs, as -v does (default: False)"},
	{"def-nodes", 0, OPT_DEF_NODES, TAKES_FLAG, CMD_EXEC, false, NULL, "print the site's DEF_NODES"},
	{"def-tasks", 0, OPT_DEF_TASKS, TAKES_FLAG, CMD_EXEC, false, NULL, "print DEF_TASKS_PER_NODE"},
	{"def-cpus", 0, OPT_DEF_CPUS, TAKES_FLAG, CMD_EXEC, false, NULL, "print DEF_CPUS_PER_TASK"},
	{"singularity", 0, OPT_SINGULARITY, TAKES_FLAG, CMD_EXEC, false, NULL, "print SINGULARITY_IMAGE"},
	{"def-mount-dirs", 0, OPT_DEF_MOUNT_DIRS, TAKES_FLAG, CMD_EXEC, false, NULL, "print MOUNT_DIRS"},
	{"def-gres", 0, OPT_DEF_GRES, TAKES_FLAG, CMD_EXEC, false, NULL, "print GRES_RESOURCE"},
	{"def-gres-node", 0, OPT_DEF_GRES_NODE, TAKES_FLAG, CMD_EXEC, false, NULL, "print GRES_NODE"},
	{"require", 0, OPT_REQUIRE, TAKES_FLAG, RUN, true, NULL,
	 "start COMMAND only when its step runs; fail if there is no step"},
	{"name", 0, OPT_NAME, TAKES_TEXT, RUN, true, "NAME",
	 "the step's name (default: wsjob- and 22 letters and digits)"},
	{"csx", 0, OPT_CSX, TAKES_TEXT, RUN, true, "N",
	 "number of accelerators in use: the step's name ends in -csxN"},
	{"num-csx", 0, OPT_CSX, TAKES_TEXT, RUN, false, NULL, NULL},
	{"job-time-sec", 0, OPT_JOB_TIME_SEC, TAKES_TEXT, RUN, true, "S",
	 "time limit of COMMAND: S seconds, or a duration such as 1h30m"},
	{"job-time-budget", 0, OPT_JOB_TIME_BUDGET, TAKES_TEXT, RUN, true, "FILE",
	 "share the time limit among all runs with this FILE, which keeps the time used"},
	{"grace", 0, OPT_GRACE, TAKES_TEXT, RUN, true, "DURATION",
	 "time between TERM and KILL when COMMAND has to end (default: 30s)"},
	{"log", 0, OPT_LOG, TAKES_TEXT, TALK, true, "LEVEL", "error, warn (default), info, debug"},
	{"verbose", 'v', OPT_VERBOSE, TAKES_FLAG, TALK, false, NULL, "--log=info; twice: --log=debug"},
	{"root", 0, OPT_ROOT, TAKES_TEXT, TALK, true, "DIR", "look for /proc under DIR instead of /"},
	{"help", 'h', OPT_HELP, TAKES_FLAG, ANY | CMD_PROBE, false, NULL, "print this help"},
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
	.passed_on = OPTION_NONE,
	.underscores = true,
};
