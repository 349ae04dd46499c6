// SPDX-License-Identifier: Apache-2.0

/**
 * Measures a candidate by a job step with a probe per worker. We send "go" to start all, and end of file to
 * end them.
 */

#include "analyze/analyze.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/words.h"
#include "srun/tool.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

/** How long to wait for the results of all workers after the measurement, in ms. */
#define SLACK_MS 60000

/** How long srun may take to end after TERM, in ms. */
#define END_MS 15000

/** The interval of progress messages, in ms. */
#define REPORT_MS 10000

struct trial {
	struct analysis *a;
	struct analysis_row *row;
	struct tool tool;
	/** The results of the workers, of which `finished` have arrived. */
	struct message *results;
	bool *has_result;
	uint64_t *counts;
	uint32_t ready;
	uint32_t finished;
	/** The worker that failed; UINT32_MAX: none. */
	uint32_t failed;
	/** When "go" was sent, and the deadline for everything, or CLOCK_NEVER. */
	uint64_t go_ms;
	uint64_t deadline_ms;
	uint64_t report_ms;
	bool late;
	/** The line of stdout that is being read. */
	struct buf line;
	struct tool_tail tail;
};

static uint32_t workers_of(const struct trial *trial) {
	return trial->row->candidate.workers;
}

char **analyze_words(const struct analysis *a, const struct analysis_row *row) {
	struct words words = WORDS(&a->s->arena);
	words_add(&words, "srun");
	words_add(&words, "--job-name=distrun-analyze");
	words_add(&words, "--exclusive");
	words_add(&words, "--nodes=1");
	words_addf(&words, "--ntasks=%u", row->candidate.workers);
	words_addf(&words, "--ntasks-per-node=%u", row->candidate.workers);
	words_addf(&words, "--cpus-per-task=%u", row->candidate.threads);
	// Take all memory of the node, because the workers will share it.
	words_add(&words, "--mem=0");
	words_add(&words, "--mpi=none");
	if (a->pinned) {
		words_addf(&words, "--nodelist=%s", a->pinned);
	}
	words_add_all(&words, a->srun_options);
	// The path of this program must be the same on the nodes.
	const char *self = a->csrun.runtime->by_srun ? ANALYZE_INSIDE : self_path(words.arena);
	words_add(&words, self ? self : "distrun");
	words_add(&words, "probe");
	words_addf(&words, "--unit=%s", records_unit_words[a->unit]);
	words_addf(&words, "--warmup=%lums", (unsigned long)a->warmup_ms);
	words_addf(&words, "--seconds=%lums", (unsigned long)a->measure_ms);
	words_add(&words, "--");
	words_add_all(&words, a->contained);
	return words_vector(&words);
}

static void close_stdin(struct trial *trial) {
	if (trial->tool.in >= 0) {
		close(trial->tool.in);
		trial->tool.in = -1;
	}
}

/** End the probes. srun gets TERM, too, because it may not have started them yet. */
static void cancel(struct trial *trial) {
	close_stdin(trial);
	kill(trial->tool.pid, SIGTERM);
	trial->deadline_ms = clock_now_ms() + END_MS;
}

static void send_go(struct trial *trial) {
	const struct analysis *a = trial->a;
	ssize_t n = write(trial->tool.in, "go\n", 3);
	trial->go_ms = clock_now_ms();
	trial->deadline_ms = trial->go_ms + a->warmup_ms + a->measure_ms + SLACK_MS;
	trial->report_ms = trial->go_ms + REPORT_MS;
	analyze_progress(a, trial->row, n == 3 ? "measuring" : "srun is gone");
	if (n != 3) {
		cancel(trial);
	}
}

static void take_result(struct trial *trial, uint32_t rank, const struct message *m) {
	struct message *result = &trial->results[rank];
	if (trial->has_result[rank]) {
		return;
	}
	trial->has_result[rank] = true;
	*result = *m;
	result->node.p = arena_text(&trial->a->s->arena, m->node.p, m->node.len);
	trial->finished++;
	bool bad = m->field[FIELD_STATUS] || m->field[FIELD_RATE] == 0;
	if (bad && trial->failed == UINT32_MAX) {
		trial->failed = rank;
	}
	if (bad || trial->finished == workers_of(trial)) {
		// The other workers are not needed any more. Their stderr is still read.
		close_stdin(trial);
		trial->deadline_ms = clock_now_ms() + END_MS;
	}
}

static void take_line(struct trial *trial, struct str line) {
	struct message m;
	if (!message_read(line, &m) || !message_is_plausible(&m)) {
		return; // the line is from a task prolog, for example, or forged by the pipeline
	}
	uint64_t rank = m.field[FIELD_RANK];
	if (rank >= workers_of(trial)) {
		return;
	}
	if (m.kind == MESSAGE_READY && ++trial->ready == workers_of(trial)) {
		send_go(trial);
	} else if (m.kind == MESSAGE_TICK) {
		trial->counts[rank] = m.field[FIELD_COUNT];
	} else if (m.kind == MESSAGE_RESULT) {
		take_result(trial, (uint32_t)rank, &m);
	}
}

/** Read what is available on srun's stdout. */
static void read_out(struct trial *trial) {
	struct buf *line = &trial->line;
	line->len += tool_read(&trial->tool.out, buf_reserve(line, 4096), 4096);
	struct str rest = buf_str(line);
	size_t end;
	while ((end = str_find(rest, '\n')) < rest.len) {
		take_line(trial, (struct str){rest.p, end});
		rest = str_from(rest, end + 1);
	}
	memmove(line->p, rest.p, rest.len);
	line->len = rest.len < (64U << 10) ? rest.len : 0;
}

/** Read what is available on srun's stderr, and keep its end. With --verbose, print all of it. */
static void read_err(struct trial *trial) {
	char text[2048];
	struct str got = {text, tool_read(&trial->tool.err, text, sizeof(text))};
	if (trial->a->s->speaker.log >= LOG_INFO) {
		write_all(2, got);
	}
	tool_tail_add(&trial->tail, got);
}

/** Print progress. */
static void report_progress(struct trial *trial, uint64_t now) {
	struct arena *arena = &trial->a->s->arena;
	trial->report_ms = now + REPORT_MS;
	if (trial->go_ms == CLOCK_NEVER) {
		analyze_progress(trial->a, trial->row, "waiting for a node");
		return;
	}
	uint64_t count = 0;
	for (uint32_t i = 0; i < workers_of(trial); i++) {
		count += trial->counts[i];
	}
	analyze_progress(trial->a, trial->row,
			 arena_format(arena, "%lu of %lu s, %lu %s",
				      (unsigned long)((now - trial->go_ms) / 1000),
				      (unsigned long)((trial->a->warmup_ms + trial->a->measure_ms) / 1000),
				      (unsigned long)count, records_unit_words[trial->a->unit]));
}

/** Handle srun's output until srun has ended. Returns 0; or the signal that we got. */
static int listen_to(struct trial *trial) {
	int came = 0;
	trial->report_ms = clock_now_ms() + REPORT_MS;
	while (trial->tool.out >= 0 || trial->tool.err >= 0) {
		struct pollfd fds[] = {{.fd = trial->tool.out, .events = POLLIN},
				       {.fd = trial->tool.err, .events = POLLIN},
				       {.fd = trial->a->signals, .events = POLLIN}};
		poll(fds, 3, 500);
		if (fds[0].revents) {
			read_out(trial);
		}
		if (fds[1].revents) {
			read_err(trial);
		}
		struct signalfd_siginfo info;
		while (read(trial->a->signals, &info, sizeof(info)) == sizeof(info)) {
			came = (int)info.ssi_signo;
			cancel(trial);
		}
		uint64_t now = clock_now_ms();
		if (now >= trial->deadline_ms) {
			if (trial->late) {
				break;
			}
			trial->late = true;
			cancel(trial);
		}
		if (now >= trial->report_ms) {
			report_progress(trial, now);
		}
	}
	tool_end(&trial->tool);
	return came;
}

/** If there is a last line on stderr, append ": " and that line. */
static void put_last_words(struct buf *out, const struct trial *trial) {
	struct str last = tool_last_line((struct str){trial->tail.text, trial->tail.len});
	if (last.len) {
		buf_putf(out, ": %s", quote(last).s);
	}
}

/** Explain why the pipeline of @worker failed. */
static char *explain_worker(struct trial *trial, uint32_t worker) {
	static const char *const no_records[] = {
		("no lines on stdout; print a line for each record, or a last line 'samples=N', or use "
		 "--unit=bytes"),
		"no bytes on stdout; print the records, or a last line 'samples=N'",
		"no line 'samples=N' on stdout; --unit=samples counts only such lines"};
	const uint64_t *w = trial->results[worker].field;
	unsigned status = (unsigned)w[FIELD_STATUS];
	struct buf out = BUF(&trial->a->s->arena);
	trial->row->status = status;
	if (!status) {
		buf_puts(&out, w[FIELD_ENDED] ? "ended with status 0, and " : "");
		buf_puts(&out, no_records[trial->a->unit]);
		return buf_text(&out);
	}
	if (status > 128) {
		buf_putf(&out, "ended by signal %u", status - 128);
	} else {
		buf_putf(&out, "exit status %u%s", status, status == 127 ? " (not found)" : "");
	}
	if (workers_of(trial) > 1) {
		buf_putf(&out, " of worker %u", worker);
	}
	put_last_words(&out, trial);
	return buf_text(&out);
}

/** Fill in the result of the row. */
static void conclude(struct trial *trial) {
	struct analysis_row *row = trial->row;
	struct arena *arena = &trial->a->s->arena;
	if (trial->failed == UINT32_MAX && trial->finished == workers_of(trial)) {
		analysis_row_measure(row, trial->results, trial->a->nodes);
		struct buf text = BUF(arena);
		analyze_put_rate(&text, row->unit, row->per_node);
		buf_putf(&text, "%s a node", analyze_rate_unit(row->unit));
		analyze_progress(trial->a, row, buf_text(&text));
		return;
	}
	row->outcome = ROW_FAILED;
	if (trial->failed != UINT32_MAX) {
		row->why = explain_worker(trial, trial->failed);
	} else {
		struct buf text = BUF(arena);
		buf_puts(&text, trial->late ? "no answer in time" : "srun failed");
		put_last_words(&text, trial);
		row->why = buf_text(&text);
	}
	analyze_progress(trial->a, row, arena_format(arena, "failed: %s", row->why));
}

int analyze_step(struct analysis *a, struct analysis_row *row, struct err *err) {
	struct arena *arena = &a->s->arena;
	uint32_t n = row->candidate.workers;
	struct trial trial = {.a = a, .row = row, .failed = UINT32_MAX, .line = BUF(arena)};
	trial.go_ms = trial.deadline_ms = CLOCK_NEVER;
	trial.results = arena_array(arena, n, sizeof(*trial.results));
	trial.has_result = arena_array(arena, n, sizeof(*trial.has_result));
	trial.counts = arena_array(arena, n, sizeof(*trial.counts));
	memset(trial.has_result, 0, n * sizeof(*trial.has_result));
	memset(trial.counts, 0, n * sizeof(*trial.counts));
	int r = tool_start(&trial.tool, analyze_words(a, row), tool_environment(arena, &a->s->env), err);
	if (r < 0) {
		return r;
	}
	int came = listen_to(&trial);
	if (came) {
		return came;
	}
	conclude(&trial);
	return 0;
}
