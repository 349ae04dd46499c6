// SPDX-License-Identifier: Apache-2.0

/**
 * Starts the workload first, then srun, so that the workload never waits for Slurm. If the step is
 * cancelled, the workload is asked to end; if the step ends for another reason, the workload goes on. When
 * the workload has ended, the step gets its status, and some time to exit with it.
 *
 *     squeue, if unsure whether this is a step -> srun -> the step is up -> the step has the status
 */

#include "srun/surrogate.h"

#include "base/duration.h"
#include "exec/exec.h"
#include "init/kernel.h"

#include <stddef.h>
#include <string.h>
#include <sys/wait.h>

/** How long to wait for the step's end after the workload's end, in milliseconds. */
#define END_MS 10000

/** How long to wait for the end of a killed srun, in milliseconds. */
#define KILLED_MS 2000

/** squeue's output for one step is shorter than this. */
#define ANSWER_MAX ((size_t)64 << 10)

/** How long to wait for a required step, and for squeue's answer before that, in milliseconds. */
#define REQUIRED_MS 60000
#define ASK_MS	    10000

struct surrogate {
	struct observer observer;
	struct arena *arena;
	const struct surrogate_plan *plan;
	/** squeue, while it runs, and its output. */
	struct tool ask;
	struct buf answer;
	struct step step;
	/** The workload's exit status; -1: it has not ended. */
	int status;
	/** When to stop waiting for Slurm, on clock_now_ms()'s clock; CLOCK_NEVER: the workload runs. */
	uint64_t give_up_at;
	/** srun and squeue were killed because they took too long. */
	bool killed;
	/** When the next entry in the budget is due, and when the limit is reached; or CLOCK_NEVER. */
	uint64_t beat_at;
	uint64_t limit_at;
	/** The limit was reached, and the message was printed. */
	bool limited;
};

static void print(const struct surrogate *s, enum log_level level, const char *text) {
	s->plan->print(s->plan->context, level, text);
}

// --- the step

static void print_up(const struct surrogate *s) {
	print(s, LOG_INFO,
	      arena_format(s->arena, "step %s.%s, %s, mirrors the command", s->plan->where->job_id,
			   s->step.id, s->plan->step_name));
}

/** Forward the step's signals to the workload. */
static void forward_signals(struct surrogate *s) {
	s->observer.signals |= s->step.signals;
	s->step.signals = 0;
}

/** After the step's end: print how it ended. If it was cancelled, ask the workload to end. */
static void handle_step_end(struct surrogate *s) {
	struct step *step = &s->step;
	const char *job = s->plan->where->job_id;
	bool running = s->status < 0;
	if (step->end == STEP_NEVER && !s->killed) {
		print(s, LOG_WARN,
		      arena_format(s->arena, "no surrogate step in job %s: %s; the command %s without one",
				   job, step->why.text, running ? "runs" : "ran"));
	} else if (step->end == STEP_CANCELLED && running) {
		print(s, LOG_INFO,
		      arena_format(s->arena, "step %s.%s was cancelled: the command is asked to end", job,
				   step->id));
		s->observer.signals |= signal_bit(SIGTERM);
	} else if (step->end == STEP_GONE && running) {
		print(s, LOG_WARN,
		      arena_format(s->arena, "step %s.%s is gone: %s; the command continues without one", job,
				   step->id, step->why.text));
	} else {
		print(s, LOG_DEBUG, arena_format(s->arena, "step %s.%s: %s", job, step->id, step->why.text));
	}
}

/** When `where` is sure: start the step, if a step is useful here. */
static void begin_step(struct surrogate *s) {
	const struct where *where = s->plan->where;
	if (!where_takes_steps(where)) {
		const char *why = where->why;
		print(s, LOG_DEBUG,
		      where->place == SLURM_STEP
			      ? arena_format(s->arena,
					     "no surrogate step: Slurm already accounts for this step (%s)",
					     why)
			      : arena_format(s->arena, "no surrogate step: this is not a job (%s)", why));
		return;
	}
	if (step_start(&s->step, s->arena, s->plan->step_name, where->job_id, s->plan->tool_envp) < 0) {
		handle_step_end(s);
	} else if (s->status >= 0) {
		step_send_status(&s->step, s->status);
	}
}

// --- where we are

static void read_answer(struct surrogate *s) {
	size_t n;
	while ((n = tool_read(&s->ask.out, buf_reserve(&s->answer, 1024), 1024)) > 0) {
		s->answer.len += n;
		if (s->answer.len > ANSWER_MAX) {
			// Close the pipe, so that squeue's next write fails.
			close(s->ask.out);
			s->ask.out = -1;
		}
	}
}

static void begin_ask(struct surrogate *s) {
	struct err err;
	struct where *where = s->plan->where;
	s->answer = BUF(s->arena);
	if (tool_start(&s->ask, where_question(s->arena, where), s->plan->tool_envp, &err) < 0) {
		where_answer(s->arena, where, NULL, err.text);
		begin_step(s);
	}
}

static void take_answer(struct surrogate *s, int status) {
	read_answer(s);
	s->ask.pid = 0;
	tool_end(&s->ask);
	struct str printed = buf_str(&s->answer);
	where_answer(s->arena, s->plan->where, status == 0 ? &printed : NULL, "squeue failed");
	if (!s->killed) {
		begin_step(s);
	}
}

// --- the limit

static void set_limit(struct surrogate *s) {
	const struct budget *b = s->plan->budget;
	uint64_t now = clock_now_ms();
	uint64_t left = b->used_ms < b->limit_ms ? b->limit_ms - b->used_ms : 0;
	s->limit_at = s->limited ? CLOCK_NEVER : now + left;
	s->beat_at = b->path ? now + BUDGET_BEAT_MS : CLOCK_NEVER;
}

static void print_limit(struct surrogate *s) {
	const struct budget *b = s->plan->budget;
	const char *share =
		b->path ? arena_format(s->arena, ", %s of it by this run; the budget is %s",
				       duration_text(b->used_ms - b->used_before_ms).s, quote_text(b->path).s)
			: "";
	print(s, LOG_ERROR,
	      arena_format(s->arena,
			   "the time limit of %s is reached (%s used%s): the command is asked to end, and "
			   "killed %s later",
			   duration_text(b->limit_ms).s, duration_text(b->used_ms).s, share,
			   duration_text(s->plan->init.limit_grace_ms).s));
}

static void check_limit(struct surrogate *s) {
	if (clock_now_ms() < clock_earlier(s->limit_at, s->beat_at) || s->status >= 0) {
		return;
	}
	budget_beat(s->plan->budget);
	if (!s->limited && budget_is_used_up(s->plan->budget)) {
		s->limited = true;
		s->observer.limit = true;
		print_limit(s);
	}
	// The budget gets entries until the workload has ended.
	set_limit(s);
}

// --- for the loop

static struct surrogate *surrogate_of(struct observer *observer) {
	return (struct surrogate *)(void *)((char *)observer - offsetof(struct surrogate, observer));
}

/** Set the descriptors and the deadline that the loop waits for. */
static void set_waits(struct surrogate *s) {
	struct observer *o = &s->observer;
	if (s->ask.pid) {
		o->fds[0] = (struct pollfd){.fd = s->ask.out, .events = POLLIN};
		o->fds[1].fd = -1;
	} else {
		step_fds(&s->step, o->fds);
	}
	o->kept = s->step.srun.in;
	bool ended = s->status >= 0;
	o->due_at = ended ? s->give_up_at : clock_earlier(s->beat_at, s->limit_at);
	o->busy = ended && s->give_up_at != CLOCK_NEVER && (s->ask.pid || s->step.srun.pid);
}

static void started(struct surrogate *s) {
	if (s->plan->budget) {
		set_limit(s);
	}
	if (s->plan->where->unsure) {
		begin_ask(s);
	} else if (s->step.state == STEP_NONE) {
		begin_step(s);
	}
}

static void reaped(struct surrogate *s, pid_t pid, int status) {
	if (pid == s->ask.pid) {
		take_answer(s, status);
	} else if (pid == s->step.srun.pid) {
		step_reaped(&s->step, status);
		// step_reaped() has read the rest of srun's output, which may have signals.
		forward_signals(s);
		handle_step_end(s);
	}
}

static void ended(struct surrogate *s) {
	struct err err;
	s->status = s->observer.end->status;
	s->give_up_at = clock_now_ms() + END_MS;
	step_send_status(&s->step, s->status);
	if (s->plan->budget && budget_leave(s->plan->budget, &err) < 0) {
		print(s, LOG_WARN, err.text);
	}
}

/** After the first timeout, kill srun and squeue. After the second one, stop waiting for their end. */
static void give_up(struct surrogate *s) {
	if (s->killed) {
		s->give_up_at = CLOCK_NEVER;
		return;
	}
	s->killed = true;
	s->give_up_at = clock_now_ms() + KILLED_MS;
	struct str line = tool_last_line((struct str){s->step.errors.text, s->step.errors.len});
	print(s, LOG_WARN,
	      arena_format(s->arena,
			   "Slurm has not ended the surrogate step of job %s within %s: "
			   "distrun stops waiting for it%s%s",
			   s->plan->where->job_id, duration_text(END_MS).s,
			   line.len ? "; srun printed: " : "", line.len ? quote(line).s : ""));
	step_kill(&s->step);
	if (s->ask.pid) {
		send_signal(s->ask.pid, SIGKILL);
	}
}

static void wake(struct surrogate *s) {
	if (s->ask.pid) {
		read_answer(s);
	}
	if (s->step.srun.pid) {
		bool was_up = s->step.state == STEP_UP;
		step_read(&s->step);
		if (!was_up && s->step.state == STEP_UP) {
			print_up(s);
		}
		forward_signals(s);
	}
	check_limit(s);
	if (clock_now_ms() >= s->give_up_at) {
		give_up(s);
	}
}

static bool on_event(struct observer *observer, enum init_event event, int a, int b) {
	struct surrogate *s = surrogate_of(observer);
	if (event == EVENT_STARTED) {
		started(s);
	} else if (event == EVENT_REAPED) {
		reaped(s, a, b);
	} else if (event == EVENT_ENDED) {
		ended(s);
	} else if (event == EVENT_WAKE) {
		wake(s);
	}
	set_waits(s);
	return false;
}

// --- a step that is required

/** Wait until the step is up. Returns true; or false: then the state is STEP_OVER. */
static bool await_step(struct step *step) {
	uint64_t until = clock_now_ms() + REQUIRED_MS;
	while (step->state == STEP_STARTING) {
		struct pollfd fds[2];
		int status;
		step_fds(step, fds);
		uint64_t now = clock_now_ms();
		if (now >= until) {
			tool_end(&step->srun);
			step->state = STEP_OVER;
			err_set(&step->why, ETIMEDOUT, "srun has not started a step within %s",
				duration_text(REQUIRED_MS).s);
			return false;
		}
		// srun's output, and its exit, which closes the pipes, wake us at once.
		poll(fds, 2, 100);
		step_read(step);
		if (step->state == STEP_STARTING && waitpid(step->srun.pid, &status, WNOHANG) > 0) {
			step_reaped(step, status);
		}
	}
	return step->state == STEP_UP;
}

/** Start the step before the workload. Returns 0 or -ENOENT. */
static int require_step(struct surrogate *s, struct err *err) {
	struct where *where = s->plan->where;
	where_ask(s->arena, s->plan->tool_envp, ASK_MS, where);
	if (where->place == SLURM_STEP) {
		// Slurm accounts for this step already, so --require is fulfilled.
		return 0;
	}
	if (!where_takes_steps(where)) {
		return err_set(err, ENOENT,
			       "a surrogate step is required (--require), but this is not a job of Slurm: %s",
			       where->why);
	}
	if (step_start(&s->step, s->arena, s->plan->step_name, where->job_id, s->plan->tool_envp) < 0 ||
	    !await_step(&s->step)) {
		return err_set(err, ENOENT,
			       "a surrogate step is required (--require), but job %s gets none: %s",
			       where->job_id, s->step.why.text);
	}
	print_up(s);
	return 0;
}

/** Before the workload starts: check the budget, and @join it. Returns 0; else the status to exit with. */
static int begin_budget(const struct surrogate_plan *plan, bool join, struct err *err) {
	struct budget *b = plan->budget;
	if (!b) {
		return 0;
	}
	if (join && !budget_is_used_up(b) && budget_join(b, err) < 0) {
		return EXIT_OURS;
	}
	if (budget_is_used_up(b)) {
		err_set(err, ETIME,
			"the time limit of %s is used up (%s used by earlier runs; the budget is %s): "
			"nothing is started; a longer --job-time-sec allows more",
			duration_text(b->limit_ms).s, duration_text(b->used_ms).s, quote_text(b->path).s);
		return EXIT_TIME_LIMIT;
	}
	return 0;
}

int surrogate_run(struct arena *arena, const struct surrogate_plan *plan, struct err *err) {
	struct surrogate s = {
		.observer = OBSERVER_NONE,
		.arena = arena,
		.plan = plan,
		.ask = TOOL_NONE,
		.step = {.srun = TOOL_NONE},
		.status = -1,
		.give_up_at = CLOCK_NEVER,
		.beat_at = CLOCK_NEVER,
		.limit_at = CLOCK_NEVER,
	};
	int status = begin_budget(plan, false, err);
	if (status) {
		return status;
	}
	if (plan->require && require_step(&s, err) < 0) {
		return EXIT_OURS;
	}
	status = begin_budget(plan, true, err);
	if (status == 0) {
		s.observer.event = on_event;
		s.observer.connected = true; // the pipes to srun
		set_waits(&s);
		struct init_plan init = plan->init;
		init.observer = &s.observer;
		status = init_run(arena, &init, err);
	}
	if (err->text[0]) {
		// The workload was not started. Send the status to the step, and do not wait for the step's end.
		struct err ignored;
		step_send_status(&s.step, status);
		if (plan->budget && plan->budget->joined) {
			budget_leave(plan->budget, &ignored);
		}
	}
	return status;
}
