// SPDX-License-Identifier: Apache-2.0

/**
 * Observed with Slurm 22.05, 24.11 and 26.05 (the negative ids are from 26.05):
 *
 *     what                                SLURM_STEP_ID   the nearest slurmstepd
 *     batch script of job J               -, or -5        slurmstepd: [J.batch]
 *     step of it                          0               slurmstepd: [J.0]
 *     salloc's shell                      -               none
 *     salloc's shell as a step            4294967290, -6  slurmstepd: [J.interactive]
 *     sbatch inside a step                0, leaked       slurmstepd: [J.batch]
 *     salloc inside a step of job K       0, leaked       slurmstepd: [K.0]
 */

#include "srun/where.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/num.h"
#include "base/proc.h"
#include "srun/tool.h"

#include <errno.h>
#include <unistd.h>

/** The largest id of an ordinary step: the special ids are larger. */
#define STEP_ID_MAX 4294967279U

/** The largest number of ancestors that are examined. */
#define ANCESTORS_MAX 512

/** The step that the title of the nearest slurmstepd, or our cgroup, names. */
struct found_step {
	struct str job;
	struct str step;
};

const char *slurm_place_name(enum slurm_place place) {
	static const char *const names[] = {"none", "batch", "salloc", "interactive", "step"};
	return names[place];
}

static bool is_number(struct str text) {
	uint64_t number;
	return num_read(text, UINT32_MAX, &number) == 0;
}

/** Read the beginning of the file @path, of /proc, into the @size bytes @at; empty on failure. */
static struct str read_start(const char *path, char *at, size_t size) {
	const ssize_t n = file_read_small(path, at, size);
	return (struct str){at, n == -EFBIG ? size - 1 : n > 0 ? (size_t)n : 0};
}

/** Read "slurmstepd: [12.batch]", or "[12.0+1]" of a heterogeneous step. */
static bool read_title(struct str title, struct found_step *out) {
	if (!str_starts(title, STR("slurmstepd: ["))) {
		return false;
	}
	title = str_from(title, 13);
	title.len = str_find(title, ']');
	size_t dot = str_find(title, '.');
	if (dot == title.len) {
		return false;
	}
	out->job = (struct str){title.p, dot};
	out->step = str_from(title, dot + 1);
	out->step.len = str_find(out->step, '+');
	return is_number(out->job) && out->step.len > 0;
}

/**
 * Find the nearest slurmstepd among our ancestors. *@out: its step, in the arena. Returns its pid; 0: there is
 * none.
 */
static uint64_t find_stepd(struct arena *arena, const char *root, struct found_step *out) {
	char text[512];
	const char *of = "self";
	for (int i = 0; i < ANCESTORS_MAX; i++) {
		const char *path = file_under_root(arena, root, arena_format(arena, "/proc/%s/stat", of));
		struct proc_stat stat;
		if (!proc_stat_parse(read_start(path, text, sizeof(text)), &stat) || stat.parent == 0) {
			return 0;
		}
		const uint64_t pid = (uint64_t)stat.parent;
		of = arena_format(arena, "%lu", (unsigned long)pid);
		path = file_under_root(arena, root, arena_format(arena, "/proc/%s/cmdline", of));
		struct found_step found;
		if (read_title(read_start(path, text, sizeof(text)), &found)) {
			out->job = str_of(arena_text(arena, found.job.p, found.job.len));
			out->step = str_of(arena_text(arena, found.step.p, found.step.len));
			return pid;
		}
	}
	return 0;
}

/** Find job and step in our cgroup: ".../job_12/step_0/...". */
static bool find_cgroup(struct arena *arena, const char *root, struct found_step *out) {
	char text[4096];
	struct str rest = read_start(file_under_root(arena, root, "/proc/self/cgroup"), text, sizeof(text));
	struct str part;
	bool job_before = false;
	// Look for a folder job_N followed by step_N, in any line.
	while (rest.p && str_cut(&rest, '/', &part)) {
		part.len = str_find(part, '\n');
		if (job_before && str_starts(part, STR("step_"))) {
			part = str_from(part, 5);
			out->job = str_of(arena_text(arena, out->job.p, out->job.len));
			out->step = str_of(arena_text(arena, part.p, part.len));
			return out->step.len > 0;
		}
		job_before = str_starts(part, STR("job_")) && is_number(str_from(part, 4));
		out->job = job_before ? str_from(part, 4) : out->job;
	}
	return false;
}

/** Whether @job is a component of our heterogeneous job. */
static bool is_component(struct arena *arena, const struct env *env, struct str job) {
	uint32_t size;
	const char *text = env_value(env, "SLURM_HET_SIZE");
	if (!text || num_read_u32(str_of(text), &size) < 0) {
		return false;
	}
	for (uint32_t i = 0; i < size && i < 128; i++) {
		const char *id = env_get(env, arena_format(arena, "SLURM_JOB_ID_HET_GROUP_%u", i));
		if (id && str_is(job, id)) {
			return true;
		}
	}
	return false;
}

static enum slurm_place place_of(struct str step) {
	return str_is(step, "batch")	     ? SLURM_BATCH
	       : str_is(step, "interactive") ? SLURM_INTERACTIVE
	       : is_number(step)	     ? SLURM_STEP
					     : SLURM_SALLOC;
}

/** Decide by @found, the step that the kernel shows. @job_id: from the variables; NULL: none. */
static void decide(struct arena *arena, const struct env *env, const char *job_id,
		   const struct found_step *found, struct where *out) {
	bool same = !job_id || str_is(found->job, job_id) || is_component(arena, env, found->job);
	if (!same) {
		out->place = SLURM_SALLOC;
		out->why = arena_format(arena, "%s, of job %s, in which salloc made job %s", out->why,
					found->job.p, job_id);
		return;
	}
	out->place = place_of(found->step);
	out->job_id = job_id ? job_id : found->job.p;
	out->step_id = out->place == SLURM_STEP ? found->step.p : NULL;
}

/** Decide by the variables. @job_id: SLURM_JOB_ID. */
static void decide_by_variables(struct arena *arena, const struct env *env, const char *job_id,
				struct where *out) {
	const char *step = env_value(env, "SLURM_STEP_ID"), *kind = env_value(env, "ENVIRONMENT");
	uint64_t number;
	out->by = "variables";
	if (step && (strcmp(step, "4294967290") == 0 || strcmp(step, "-6") == 0)) {
		out->place = SLURM_INTERACTIVE;
		out->why = arena_format(arena, "SLURM_STEP_ID=%s means salloc's shell", step);
	} else if (step && strcmp(step, "-5") == 0) {
		out->place = SLURM_BATCH;
		out->why = "SLURM_STEP_ID=-5 means a batch script";
	} else if (step && num_read(str_of(step), STEP_ID_MAX, &number) == 0) {
		out->place = SLURM_STEP;
		out->step_id = step;
		out->unsure = true;
		out->why = arena_format(arena, "SLURM_STEP_ID=%s", step);
	} else {
		bool batch = kind && strcmp(kind, "BATCH") == 0;
		out->place = batch ? SLURM_BATCH : SLURM_SALLOC;
		out->why = arena_format(arena,
					"SLURM_JOB_ID=%s is set, SLURM_STEP_ID is not, and ENVIRONMENT is %s",
					job_id, batch ? "BATCH" : "not BATCH");
	}
}

void where_read(struct arena *arena, const struct env *env, const char *root, struct where *out) {
	const char *job_id = env_value(env, "SLURM_JOB_ID");
	job_id = job_id ? job_id : env_value(env, "SLURM_JOBID");
	struct found_step found = {0};
	*out = (struct where){.job_id = job_id};

	uint64_t stepd = find_stepd(arena, root, &found);
	if (stepd) {
		out->by = "process";
		out->why = arena_format(arena, "process %lu, above this one, is 'slurmstepd: [%s.%s]'",
					(unsigned long)stepd, found.job.p, found.step.p);
		decide(arena, env, job_id, &found, out);
	} else if (find_cgroup(arena, root, &found)) {
		out->by = "cgroup";
		out->why = arena_format(arena, "its cgroup has job_%s/step_%s", found.job.p, found.step.p);
		decide(arena, env, job_id, &found, out);
	} else if (job_id) {
		decide_by_variables(arena, env, job_id, out);
	} else {
		out->by = "variables";
		out->why = "SLURM_JOB_ID is not set, and no slurmstepd is above this process";
	}
}

char **where_question(struct arena *arena, const struct where *where) {
	char **argv = arena_array(arena, 5, sizeof(*argv));
	argv[0] = arena_format(arena, "squeue");
	argv[1] = arena_format(arena, "--noheader");
	// Also ask for the names, because a surrogate step, which mirrors another command, is not our step.
	argv[2] = arena_format(arena, "--format=%%i %%j");
	argv[3] = arena_format(arena, "--steps=%s.%s", where->job_id, where->step_id);
	argv[4] = NULL;
	return argv;
}

void where_answer(struct arena *arena, struct where *where, const struct str *printed, const char *why) {
	where->unsure = false;
	if (!printed) {
		where->why = arena_format(arena, "%s; squeue could not be asked for this step: %s",
					  where->why, why);
		return;
	}
	struct str rest = *printed, line;
	const char *step = arena_format(arena, "%s.%s ", where->job_id, where->step_id);
	bool found = false;
	while (str_cut(&rest, '\n', &line)) {
		line = str_trim(line);
		found |= str_starts(line, str_of(step)) &&
			 !str_starts(str_from(line, strlen(step)), STR("wsjob-"));
	}
	where->by = "squeue";
	where->why =
		arena_format(arena, "%s, and squeue lists %s step", where->why, found ? "that" : "no such");
	if (!found) {
		where->place = SLURM_SALLOC;
		where->step_id = NULL;
	}
}

void where_ask(struct arena *arena, char *const envp[], uint64_t timeout_ms, struct where *where) {
	struct str printed;
	struct err err;
	if (!where->unsure) {
		return;
	}
	int r = tool_output(arena, where_question(arena, where), envp, timeout_ms, &printed, &err);
	where_answer(arena, where, r < 0 ? NULL : &printed, err.text);
}
