// SPDX-License-Identifier: Apache-2.0

#include "srun/nodes.h"

#include "base/num.h"
#include "base/words.h"
#include "srun/tool.h"

#include <errno.h>

/** Read the number at the beginning of @text. Returns false if there is none. */
static bool leading_number(struct str text, uint32_t *out) {
	size_t n = 0;
	while (n < text.len && text.p[n] >= '0' && text.p[n] <= '9') {
		n++;
	}
	return num_read_u32((struct str){text.p, n}, out) == 0;
}

uint32_t nodes_least_cpus(struct str text) {
	uint32_t least = 0, cpus;
	struct str piece;
	while (str_cut(&text, ',', &piece)) {
		if (!leading_number(piece, &cpus)) {
			return 0;
		}
		least = least && least < cpus ? least : cpus;
	}
	return least;
}

/** A line of sinfo's output. */
struct sinfo_line {
	struct str partition;
	bool is_default;
	uint32_t n;
	uint32_t cpus;
};

static bool read_sinfo_line(struct str text, struct sinfo_line *out) {
	struct str n, cpus;
	if (!str_cut(&text, '|', &out->partition) || !str_cut(&text, '|', &n) ||
	    !str_cut(&text, '|', &cpus)) {
		return false;
	}
	struct str *name = &out->partition;
	out->is_default = name->len && name->p[name->len - 1] == '*';
	name->len -= out->is_default;
	// If nodes of different sizes share a line, sinfo prints "8+".
	return leading_number(str_trim(n), &out->n) && leading_number(str_trim(cpus), &out->cpus);
}

bool nodes_read_sinfo(struct str text, const char *partition, struct nodes *out) {
	struct sinfo_line line;
	struct str rest = text, piece;
	bool has_default = false;
	while (str_cut(&rest, '\n', &piece)) {
		has_default |= piece.len && read_sinfo_line(piece, &line) && line.is_default;
	}
	uint32_t n = 0, cpus = 0;
	while (str_cut(&text, '\n', &piece)) {
		if (piece.len == 0) {
			continue;
		}
		if (!read_sinfo_line(piece, &line)) {
			return false;
		}
		bool counts = partition ? str_is(line.partition, partition) : line.is_default || !has_default;
		if (counts) {
			n += line.n;
			cpus = cpus && cpus < line.cpus ? cpus : line.cpus;
		}
	}
	out->n = n;
	out->cpus = cpus;
	return true;
}

/** Run the command @words, and store its output in *@text. */
static int ask(struct arena *arena, const struct env *env, struct words *words, struct str *text,
	       struct err *err) {
	return tool_output(arena, words_vector(words), tool_environment(arena, env), NODES_ASK_MS, text, err);
}

static int refuse_stale(const char *job_id, struct err *err) {
	return err_set(
		err, ESRCH,
		"SLURM_JOB_ID=%s is not a running job; 'unset SLURM_JOB_ID' lets srun create one, or get one "
		"with salloc",
		quote_text(job_id).s);
}

/** Ask squeue for the nodes of our job. */
static int ask_job(struct arena *arena, const struct env *env, const char *job_id, struct nodes *out,
		   struct err *err) {
	uint32_t n;
	if (num_read_u32(str_of(job_id), &n) < 0) {
		return refuse_stale(job_id, err);
	}
	*out = (struct nodes){.n = UINT32_MAX, .of_job = true, .from = "SLURM_JOB_ID"};
	struct words words = WORDS(arena);
	words_add(&words, "squeue");
	words_add(&words, "--noheader");
	words_addf(&words, "--jobs=%s", job_id);
	words_add(&words, "--states=RUNNING,SUSPENDED,CONFIGURING");
	words_add(&words, "--format=%D");
	struct str text;
	struct err cause;
	int r = ask(arena, env, &words, &text, &cause);
	if ((r == 0 && text.len == 0) || (r < 0 && strstr(cause.text, "Invalid job id"))) {
		return refuse_stale(job_id, err);
	}
	// A heterogeneous job has a line for each component.
	struct str line;
	while (r == 0 && str_cut(&text, '\n', &line)) {
		if (leading_number(str_trim(line), &n)) {
			out->n = out->n == UINT32_MAX ? n : out->n + n;
		}
	}
	out->cpus = nodes_least_cpus(str_of(env_value(env, "SLURM_JOB_CPUS_PER_NODE")));
	return 0;
}

int nodes_find(struct arena *arena, const struct env *env, const char *partition, struct nodes *out,
	       struct err *err) {
	const char *job_id = env_value(env, "SLURM_JOB_ID");
	if (job_id) {
		return ask_job(arena, env, job_id, out, err);
	}
	struct nodes nodes = {.n = UINT32_MAX, .from = "sinfo"};
	struct words words = WORDS(arena);
	words_add(&words, "sinfo");
	words_add(&words, "--noheader");
	words_add(&words, "--format=%P|%D|%c");
	struct str text;
	struct err cause;
	if (ask(arena, env, &words, &text, &cause) < 0 || !nodes_read_sinfo(text, partition, &nodes)) {
		nodes.n = UINT32_MAX;
	}
	*out = nodes;
	return 0;
}
