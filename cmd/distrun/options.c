// SPDX-License-Identifier: Apache-2.0

#include "distrun/options.h"

/** The subcommands that run a workload, with a step that mirrors it. */
#define RUN (CMD_SURROGATE | CSRUN)
/** Those that run it in a container. */
#define CSRUN (CMD_EXEC | CMD_LAUNCH)
/** Those that start containers at all. */
#define CONTAINED (CSRUN | CMD_ANALYZE)
/** Those that measure. */
#define MEASURE (CMD_ANALYZE | CMD_PROBE)
#define TALK	(RUN | CMD_WHERE | CMD_ANALYZE)
#define ANY	(TALK | CMD_PROGRAM)

static const struct option options[] = {
	{"format", 0, OPT_FORMAT, TAKES_TEXT, CMD_WHERE, false, "FORMAT", "text (default), json"},
	{"threads", 0, OPT_THREADS, TAKES_TEXT, CMD_ANALYZE, false, "LIST",
	 "CPUs of a worker to try, joined by ',' (default: 12,16,20; where fewer than two of them fit into a "
	 "node, also all of "
	 "its CPUs, half and a quarter)"},
	{"workers-per-node", 0, OPT_WORKERS_PER_NODE, TAKES_TEXT, CMD_ANALYZE, false, "LIST",
	 "numbers of workers to try with each of these (default: as many as fit)"},
	{"seconds", 0, OPT_SECONDS, TAKES_TEXT, MEASURE, false, "DURATION",
	 "how long each candidate is measured (default: 10s)"},
	{"warmup", 0, OPT_WARMUP, TAKES_TEXT, MEASURE, false, "DURATION",
	 "how long it runs before that (default: 5s)"},
	{"unit", 0, OPT_UNIT, TAKES_TEXT, MEASURE, false, "UNIT",
	 "what is a record: lines (default) or bytes on stdout, or samples: only lines 'samples=N' count"},
	{"available-nodes", 0, OPT_TOTAL_NODES, TAKES_TEXT, CMD_ANALYZE, false, "N",
	 "how many nodes to estimate for (default: the site's; else all of the job's or the partition's)"},
	{"total-nodes", 0, OPT_TOTAL_NODES, TAKES_TEXT, CMD_ANALYZE, false, NULL, NULL},
	{"nodes", 0, OPT_TOTAL_NODES, TAKES_TEXT, CMD_ANALYZE, false, NULL, NULL},
	{"report", 0, OPT_REPORT, TAKES_TEXT, CMD_ANALYZE, false, "FORMAT", "text (default), json"},
	{"total-nodes", 0, OPT_TOTAL_NODES, TAKES_TEXT, CMD_LAUNCH, false, "N",
	 "how many nodes (default: the site's; or, in a job, all of the job's)"},
	{"nodes", 0, OPT_TOTAL_NODES, TAKES_TEXT, CMD_LAUNCH, false, NULL, NULL},
	{"tasks-per-node", 0, OPT_TASKS_PER_NODE, TAKES_TEXT, CMD_LAUNCH, false, "T",
	 "tasks on each (default: the site's; with --cpus-per-task, as many as fit)"},
	{"tasks-per-worker", 0, OPT_TASKS_PER_NODE, TAKES_TEXT, CMD_LAUNCH, false, NULL, NULL},
	{"cpus-per-task", 0, OPT_CPUS_PER_TASK, TAKES_TEXT, CMD_LAUNCH, false, "C",
	 "CPUs of each (default: the site's, where that fits; else Slurm decides)"},
	{"single-task-nodes", 0, OPT_SINGLE_TASK_NODES, TAKES_TEXT, CMD_LAUNCH, false, "S",
	 "of the nodes, the first S have one task each (default: 0)"},
	{"cyclic", 0, OPT_CYCLIC, TAKES_FLAG, CMD_LAUNCH, false, NULL,
	 "ranks go round the nodes behind the first (default: one node is filled after the other)"},
	{"alloc-node", 0, OPT_ALLOC_NODE, TAKES_TEXT, CMD_EXEC, false, "True|False",
	 "have a node allocated, for this alone (default: True); False: run it here"},
	{"mount-dirs", 0, OPT_MOUNT_DIRS, TAKES_LIST, CONTAINED, false, "DIRS",
	 "folders to mount beside the site's, joined by ',': DIR, DIR:TARGET, DIR:TARGET:ro"},
	{"image", 0, OPT_IMAGE, TAKES_TEXT, CONTAINED, false, "IMAGE",
	 "the container's image (default: the site's)"},
	{"runtime", 0, OPT_RUNTIME, TAKES_TEXT, CONTAINED, false, "NAME",
	 "auto (default), singularity, apptainer, charliecloud, podman, pyxis, none"},
	{"runtime-args", 0, OPT_RUNTIME_ARGS, TAKES_TEXT, CONTAINED, false, "WORDS",
	 "more options for the runtime, such as --nv; split at blanks, by no shell"},
	{"srun-args", 0, OPT_SRUN_ARGS, TAKES_TEXT, CONTAINED, false, "WORDS",
	 "more options for srun, split likewise"},
	{"partition", 0, OPT_PARTITION, TAKES_TEXT, CONTAINED, false, "NAME",
	 "where a new job is to run; in a job it is not used"},
	{"account", 0, OPT_ACCOUNT, TAKES_TEXT, CONTAINED, false, "NAME",
	 "whom a new job is accounted to, likewise"},
	{"gres", 0, OPT_GRES, TAKES_TEXT, CMD_LAUNCH, false, "GRES",
	 "the generic resource of the first node (default: the site's)"},
	{"gres-node", 0, OPT_GRES_NODE, TAKES_TEXT, CMD_EXEC, false, "NODE",
	 "the node that has the generic resource, and is left alone (default: the site's)"},
	{"exclude-gres", 0, OPT_EXCLUDE_GRES, TAKES_TEXT, CMD_EXEC, false, "True|False",
	 "leave that node alone (default: True)"},
	{"distinit", 0, OPT_DISTINIT, TAKES_TEXT, CONTAINED, false, "PATH",
	 "the distinit that is the first program in the container (default: the one beside distrun); none: "
	 "without"},
	{"site", 0, OPT_SITE, TAKES_TEXT, CONTAINED, false, "FILE",
	 "the site's settings (default: CSRUN_SITE, /etc/distinit/site.conf, or site.conf beside distrun)"},
	{"dry-run", 0, OPT_DRY_RUN, TAKES_FLAG, CONTAINED, false, NULL,
	 "print the command, quoted, and where each setting came from"},
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
