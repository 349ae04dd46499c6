// SPDX-License-Identifier: Apache-2.0

/**
 * What other programs answer: the first byte says who. 'i': sinfo, 'q': squeue, 'r': srun on stderr, 'p': the probes of a
 * measurement, 'o': a pipeline's output, 's': the site's file, 'k': the kernel's files of a process.
 */

#include "base/proc.h"
#include "measure/analysis.h"
#include "measure/usage.h"
#include "process/process.h"
#include "srun/nodes.h"
#include "srun/relay.h"
#include "srun/site.h"
#include "srun/tool.h"
#include "srun/where.h"

#include "fuzz.h"

#define INPUT_MAX   8192
#define WORKERS_MAX 8

static void check_sinfo(struct str text) {
	struct nodes nodes = {0};
	if (nodes_read_sinfo(text, "b", &nodes)) {
		HOLDS(nodes_read_sinfo(text, NULL, &nodes));
	}
	(void)nodes_least_cpus(text);
}

static void check_squeue(struct arena *arena, struct str text) {
	struct where where = {
		.place = SLURM_STEP, .job_id = "12", .step_id = "0", .by = "", .why = "", .unsure = true};
	where_answer(arena, &where, &text, NULL);
	HOLDS(!where.unsure && (where.place == SLURM_STEP) == (where.step_id != NULL));
}

static void check_srun(struct str text) {
	struct str line, last = tool_last_line(text);
	HOLDS(str_find(last, '\n') == last.len && last.len <= text.len);
	while (str_cut(&text, '\n', &line)) {
		int status = relay_report(line);
		HOLDS(status >= -1 && status <= 255);
	}
}

/** A message that is read is written again, and read as the same. */
static void check_again(struct arena *arena, const struct message *m) {
	struct buf text = BUF(arena);
	struct message again;
	message_put(&text, m);
	HOLDS(message_read((struct str){text.p, text.len - 1}, &again) && again.kind == m->kind);
	HOLDS(str_eq(again.node, m->node) && memcmp(again.field, m->field, sizeof(m->field)) == 0);
}

static void check_probes(struct arena *arena, struct str text) {
	struct message workers[WORKERS_MAX] = {0};
	struct analysis_row row = {.candidate = {.threads = 3}};
	struct str line;
	while (row.candidate.workers < WORKERS_MAX && str_cut(&text, '\n', &line)) {
		struct message *m = &workers[row.candidate.workers];
		if (message_read(line, m)) {
			check_again(arena, m);
			row.candidate.workers += message_is_plausible(m);
		}
	}
	analysis_row_measure(&row, workers, 1000000);
	HOLDS(row.outcome == (row.candidate.workers ? ROW_MEASURED : ROW_LEFT_OUT));
	HOLDS(limit_name(row.limit) && records_unit_words[row.unit]);
	HOLDS(row.estimate >= row.per_node && row.per_node >= row.per_worker);
	HOLDS(analysis_rows_compare(&row, 1) &&
	      (analysis_rows_best(&row, 1) == &row) == (row.outcome == ROW_MEASURED));
}

/** In two pieces, it counts the same. */
static void check_output(struct str text) {
	for (unsigned unit = RECORDS_LINES; unit <= RECORDS_SAMPLES; unit++) {
		struct records whole = {.unit = (enum records_unit)unit}, parts = whole;
		size_t half = text.len / 2;
		records_add(&whole, text, 5);
		records_add(&parts, (struct str){text.p, half}, 5);
		records_add(&parts, str_from(text, half), 5);
		records_end(&whole, 6);
		records_end(&parts, 6);
		HOLDS(whole.now.count == parts.now.count && whole.now.samples == parts.now.samples);
		HOLDS(whole.now.has_samples == parts.now.has_samples);
		struct run_window window = {.start_ms = 1, .end_ms = 6, .end = whole.now};
		(void)records_rate(whole.unit, &window);
	}
}

static void check_site(struct arena *arena, struct str text) {
	struct site site;
	struct err err = {""};
	int r = site_parse(arena, "/s", text, &site, &err);
	HOLDS((r == 0) == (err.text[0] == '\0') && (r == 0 || strncmp(err.text, "/s:", 3) == 0));
	for (int id = 0; r == 0 && id < SITE_N; id++) {
		HOLDS(!site.value[id] == !site.line[id] && (!site.value[id] || site_names[id].file));
	}
}

static void check_kernel(struct str text) {
	struct proc_stat stat;
	struct process process = {0};
	uint64_t number;
	process_read_status(text, &process);
	HOLDS(process.seccomp >= 0 && process.seccomp <= 2);
	if (proc_stat_parse(text, &stat)) {
		HOLDS(stat.pid >= 0);
	}
	(void)usage_read_field(text, "Pss:", &number);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	if (size == 0 || size > INPUT_MAX) {
		return 0;
	}
	struct arena arena = fuzz_arena();
	struct str text = {(const char *)data + 1, size - 1};
	switch (data[0]) {
	case 'i':
		check_sinfo(text);
		break;
	case 'q':
		check_squeue(&arena, text);
		break;
	case 'r':
		check_srun(text);
		break;
	case 'p':
		check_probes(&arena, text);
		break;
	case 'o':
		check_output(text);
		break;
	case 's':
		check_site(&arena, text);
		break;
	default:
		check_kernel(text);
	}
	arena_done(&arena);
	return 0;
}
