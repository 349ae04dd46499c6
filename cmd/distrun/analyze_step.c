// SPDX-License-Identifier: Apache-2.0

/**
 * One candidate: a step with a probe for each worker, which are told to begin together, and end when our end of their stdin is closed,
 * by us or because we died.
 */

#include "distrun/analyze.h"

#include "base/file.h"
#include "base/words.h"
#include "slurm/tool.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

/** What may be added to the time of a measurement until all workers have told their result. */
#define SLACK_MS 60000

/** How long srun may take when it is told to end. */
#define END_MS 15000

/** How often it is said how far it is. */
#define TELL_MS 10000

/** The end of what was said on stderr. */
#define TAIL 4096

struct step {
	struct analysis *a;
	struct row *row;
	struct tool tool;
	/** Of each worker; `finished` of them are there. */
	struct message *results;
	bool *has_result;
	uint64_t *counts;
	uint32_t ready;
	uint32_t finished;
	/** The worker that failed; UINT32_MAX: none. */
	uint32_t failed;
	/** When "go" was told, and all has to be over; 0: not yet. */
	uint64_t go_ms;
	uint64_t deadline_ms;
	uint64_t tell_ms;
	bool late;
	/** Of stdout, what is no whole line yet. */
	struct buf line;
	char tail[TAIL];
	size_t tail_len;
};

static uint64_t clock_ms(void) {
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static uint32_t workers_of(const struct step *step) {
	return step->row->candidate.workers;
}

/** This program, which has to be at the same place on the nodes. */
static const char *own_path(struct arena *arena) {
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path));
	return n > 0 && (size_t)n < sizeof(path) ? arena_text(arena, path, (size_t)n) : "distrun";
}

char **analyze_words(const struct analysis *a, const struct row *row) {
	struct words words = WORDS(&a->s->arena);
	words_add(&words, "srun");
	words_add(&words, "--job-name=distrun-analyze");
	words_add(&words, "--exclusive");
	words_add(&words, "--nodes=1");
	words_addf(&words, "--ntasks=%u", row->candidate.workers);
	words_addf(&words, "--ntasks-per-node=%u", row->candidate.workers);
	words_addf(&words, "--cpus-per-task=%u", row->candidate.threads);
	// All that the node has, as the workers will share it.
	words_add(&words, "--mem=0");
	words_add(&words, "--mpi=none");
	if (a->pinned) {
		words_addf(&words, "--nodelist=%s", a->pinned);
	}
	words_add_all(&words, a->srun_options);
	words_add(&words, a->csrun.runtime->by_srun ? ANALYZE_INSIDE : own_path(words.arena));
	words_add(&words, "probe");
	words_addf(&words, "--unit=%s", records_unit_words[a->unit]);
	words_addf(&words, "--warmup=%lums", (unsigned long)a->warmup_ms);
	words_addf(&words, "--seconds=%lums", (unsigned long)a->measure_ms);
	words_add(&words, "--");
	words_add_all(&words, a->contained);
	return words_vector(&words);
}

static void close_stdin(struct step *step) {
	if (step->tool.in >= 0) {
		close(step->tool.in);
		step->tool.in = -1;
	}
}

/** Have the probes end. srun is told too where it may have no probes yet. */
static void cancel(struct step *step) {
	close_stdin(step);
	kill(step->tool.pid, SIGTERM);
	step->deadline_ms = clock_ms() + END_MS;
}

static void say_go(struct step *step) {
	const struct analysis *a = step->a;
	ssize_t n = write(step->tool.in, "go\n", 3);
	step->go_ms = clock_ms();
	step->deadline_ms = step->go_ms + a->warmup_ms + a->measure_ms + SLACK_MS;
	step->tell_ms = step->go_ms + TELL_MS;
	analyze_progress(a, step->row, n == 3 ? "measuring" : "srun is gone");
}

static void take_result(struct step *step, uint32_t rank, const struct message *m) {
	struct message *result = &step->results[rank];
	if (step->has_result[rank]) {
		return;
	}
	step->has_result[rank] = true;
	*result = *m;
	result->node.p = arena_text(&step->a->s->arena, m->node.p, m->node.len);
	step->finished++;
	bool bad = m->field[FIELD_STATUS] || m->field[FIELD_RATE] == 0;
	if (bad && step->failed == UINT32_MAX) {
		step->failed = rank;
	}
	if (bad || step->finished == workers_of(step)) {
		// The others have nothing to add. What they said on stderr is on its way.
		close_stdin(step);
		step->deadline_ms = clock_ms() + END_MS;
	}
}

static void take_line(struct step *step, struct str line) {
	struct message m;
	if (!message_read(line, &m) || !message_is_plausible(&m)) {
		return; // a task prolog's, say, or forged
	}
	uint64_t rank = m.field[FIELD_RANK];
	if (rank >= workers_of(step)) {
		return;
	}
	if (m.kind == MESSAGE_READY && ++step->ready == workers_of(step)) {
		say_go(step);
	} else if (m.kind == MESSAGE_TICK) {
		step->counts[rank] = m.field[FIELD_COUNT];
	} else if (m.kind == MESSAGE_RESULT) {
		take_result(step, (uint32_t)rank, &m);
	}
}

/** Read what has come on stdout. Returns false at its end. */
static bool read_out(struct step *step) {
	struct buf *line = &step->line;
	ssize_t n = read(step->tool.out, buf_reserve(line, 4096), 4096);
	if (n <= 0) {
		return n < 0 && (errno == EAGAIN || errno == EINTR);
	}
	line->len += (size_t)n;
	struct str rest = buf_str(line);
	size_t end;
	while ((end = str_find(rest, '\n')) < rest.len) {
		take_line(step, (struct str){rest.p, end});
		rest = str_from(rest, end + 1);
	}
	memmove(line->p, rest.p, rest.len);
	line->len = rest.len < (64U << 10) ? rest.len : 0;
	return true;
}

/** Read what has come on stderr: its end is kept; all of it is passed on with --verbose. Returns false at its end. */
static bool read_err(struct step *step) {
	char text[TAIL / 2];
	ssize_t n = read(step->tool.err, text, sizeof(text));
	if (n <= 0) {
		return n < 0 && (errno == EAGAIN || errno == EINTR);
	}
	if (step->a->s->speaker.log >= LOG_INFO) {
		write_all(2, (struct str){text, (size_t)n});
	}
	size_t keep = TAIL - (size_t)n;
	if (step->tail_len > keep) {
		memmove(step->tail, step->tail + step->tail_len - keep, keep);
		step->tail_len = keep;
	}
	memcpy(step->tail + step->tail_len, text, (size_t)n);
	step->tail_len += (size_t)n;
	return true;
}

static void close_at_end(int *fd, bool more) {
	if (!more) {
		close(*fd);
		*fd = -1;
	}
}

/** Say how it goes, where it takes long. */
static void tell(struct step *step, uint64_t now) {
	struct arena *arena = &step->a->s->arena;
	step->tell_ms = now + TELL_MS;
	if (!step->go_ms) {
		analyze_progress(step->a, step->row, "waiting for a node");
		return;
	}
	uint64_t count = 0;
	for (uint32_t i = 0; i < workers_of(step); i++) {
		count += step->counts[i];
	}
	analyze_progress(step->a, step->row,
			 arena_format(arena, "%lu of %lu s, %lu %s",
				      (unsigned long)((now - step->go_ms) / 1000),
				      (unsigned long)((step->a->warmup_ms + step->a->measure_ms) / 1000),
				      (unsigned long)count, records_unit_words[step->a->unit]));
}

/** Listen until srun has ended. Returns 0; or the signal that came. */
static int listen_to(struct step *step) {
	int came = 0;
	step->tell_ms = clock_ms() + TELL_MS;
	while (step->tool.out >= 0 || step->tool.err >= 0) {
		struct pollfd fds[] = {{.fd = step->tool.out, .events = POLLIN},
				       {.fd = step->tool.err, .events = POLLIN},
				       {.fd = step->a->signals, .events = POLLIN}};
		poll(fds, 3, 500);
		if (fds[0].revents) {
			close_at_end(&step->tool.out, read_out(step));
		}
		if (fds[1].revents) {
			close_at_end(&step->tool.err, read_err(step));
		}
		struct signalfd_siginfo info;
		while (read(step->a->signals, &info, sizeof(info)) == sizeof(info)) {
			came = (int)info.ssi_signo;
			cancel(step);
		}
		uint64_t now = clock_ms();
		if (step->deadline_ms && now >= step->deadline_ms) {
			if (step->late) {
				break;
			}
			step->late = true;
			cancel(step);
		}
		if (now >= step->tell_ms) {
			tell(step, now);
		}
	}
	tool_end(&step->tool);
	return came;
}

/** Append ": " and the last that was said on stderr, if anything was. */
static void put_last_words(struct buf *out, const struct step *step) {
	struct str last = tool_last_line((struct str){step->tail, step->tail_len});
	if (last.len) {
		buf_putf(out, ": %s", quote(last).s);
	}
}

/** Why the pipeline of @worker failed. */
static char *explain_worker(struct step *step, uint32_t worker) {
	static const char *const counted[] = {
		"no lines on stdout; lines are counted, or --unit=bytes, or a last line 'samples=N'",
		"no bytes on stdout; bytes are counted, or a last line 'samples=N'",
		"no line 'samples=N' on stdout; with --unit=samples only such lines are counted"};
	const uint64_t *w = step->results[worker].field;
	unsigned status = (unsigned)w[FIELD_STATUS];
	struct buf out = BUF(&step->a->s->arena);
	step->row->status = status;
	if (!status) {
		buf_puts(&out, w[FIELD_ENDED] ? "ended with status 0, and " : "");
		buf_puts(&out, counted[step->a->unit]);
		return buf_text(&out);
	}
	if (status > 128) {
		buf_putf(&out, "ended by signal %u", status - 128);
	} else {
		buf_putf(&out, "exit status %u%s", status, status == 127 ? " (not found)" : "");
	}
	if (workers_of(step) > 1) {
		buf_putf(&out, " of worker %u", worker);
	}
	put_last_words(&out, step);
	return buf_text(&out);
}

/** What has come of it. */
static void conclude(struct step *step) {
	struct row *row = step->row;
	struct arena *arena = &step->a->s->arena;
	if (step->failed == UINT32_MAX && step->finished == workers_of(step)) {
		row_measure(row, step->results, step->a->nodes);
		struct buf text = BUF(arena);
		analyze_put_rate(&text, row->unit, row->per_node);
		buf_putf(&text, "%s a node", analyze_rate_unit(row->unit));
		analyze_progress(step->a, row, buf_text(&text));
		return;
	}
	row->outcome = ROW_FAILED;
	if (step->failed != UINT32_MAX) {
		row->why = explain_worker(step, step->failed);
	} else {
		struct buf text = BUF(arena);
		buf_puts(&text, step->late ? "no answer in time" : "srun failed");
		put_last_words(&text, step);
		row->why = buf_text(&text);
	}
	analyze_progress(step->a, row, arena_format(arena, "failed: %s", row->why));
}

int analyze_step(struct analysis *a, struct row *row, struct err *err) {
	struct arena *arena = &a->s->arena;
	uint32_t n = row->candidate.workers;
	struct step step = {.a = a, .row = row, .failed = UINT32_MAX, .line = BUF(arena)};
	step.results = arena_array(arena, n, sizeof(*step.results));
	step.has_result = arena_array(arena, n, sizeof(*step.has_result));
	step.counts = arena_array(arena, n, sizeof(*step.counts));
	memset(step.has_result, 0, n * sizeof(*step.has_result));
	memset(step.counts, 0, n * sizeof(*step.counts));
	int r = tool_start(&step.tool, analyze_words(a, row), tool_environment(arena, &a->s->env), err);
	if (r < 0) {
		return r;
	}
	int came = listen_to(&step);
	if (came) {
		return came;
	}
	conclude(&step);
	return 0;
}
