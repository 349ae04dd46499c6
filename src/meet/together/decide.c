// SPDX-License-Identifier: Apache-2.0

#include "together/decide.h"

#include "base/clock.h"
#include "base/duration.h"
#include "base/signals.h"
#include "exec/exec.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

/** After the first failure: how long the coordinator waits for reports of earlier deaths. */
#define SETTLE_MS 300

/** If two processes died within this time of each other, the message names both. */
#define SAME_MS 20

/** How long a member whose program has failed waits for END. */
#define END_MS 5000

/** How long the coordinator waits for the members to close, which shows that END has arrived. */
#define CLOSE_MS 2000

/** How long the coordinator waits for the progress reports of all members. */
#define PROGRESS_ANSWERS_MS 10000

/** A program that failed within this time may not have been able to bind its port. */
#define BIND_MS 60000

/** In a cluster of one, a child that fails sooner is a probe, unless a signal killed it. */
#define PROBE_MS 10000

/** If a program ran for so long, the starts before it do not count as failed in a row. */
#define RAN_LONG_MS 600000

/** One event while it is handled. */
struct decision {
	struct together *t;
	uint64_t now;
	struct together_todo todo;
};

/** Whether this node is the only member: then only the program's own processes are watched. */
static bool is_alone(const struct together *t) {
	return t->call->size == 1;
}

static bool is_coordinator(const struct together *t) {
	return t->call->rank == 0;
}

static void hang_up_all(struct decision *d) {
	d->t->open = 0;
	d->todo.what |= DO_HANG_UP_ALL;
}

// --- the member that was first

/** "n7 (rank 7) failed first: exit status 1" */
static const char *sentence(const struct together *t, const struct ended *first) {
	static const char *const verbs[] = {"failed first:", "is lost:", "was asked to end:", "has made"};
	struct buf text = BUF(t->call->arena);
	if (!is_alone(t)) {
		buf_put(&text, first->host);
		buf_putf(&text, first->host.len ? " (rank %u) %s " : "rank %u %s ", first->rank,
			 verbs[first->why]);
	} else if (first->why == END_NO_PROGRESS) {
		buf_puts(&text, "it has made ");
	}
	buf_put(&text, first->text);
	return buf_text(&text);
}

/** Print which member was first. If our own program has ended already, this is the last message. */
static void print_first(struct decision *d, const struct ended *what) {
	const struct together *t = d->t;
	const struct workload_end *end = t->observer.end;
	struct buf text = BUF(t->call->arena);
	buf_putf(&text, "%s; %.*s", t->first, (int)what->then.len, what->then.p);
	bool exited = end && !end->limited && end->raw && end->raw < 128;
	if (what->rank == 0 && is_coordinator(t) && !t->port && t->open && exited && end->ran_ms < BIND_MS) {
		buf_putf(&text, "; if it could not bind port %u: it needs SO_REUSEADDR, or --together=PORT",
			 t->call->port);
	}
	d->todo.words = buf_text(&text);
	d->todo.what |= DO_PRINT | (end && t->observer.status ? DO_PRINT_LAST : 0);
	// Kubernetes shows it with the pod's state.
	d->todo.what |= what->again > AGAIN_ASKED_TO_END ? DO_PRINT_LOGGED : 0;
}

/**
 * Set the member that was first, unless one is set: send END if we are the coordinator, and end our own
 * program.
 */
static void set_first(struct decision *d, const struct ended *first) {
	struct together *t = d->t;
	const bool ours = first->rank == t->call->rank;
	if (t->decided) {
		return;
	}
	t->decided = true;
	t->first = sentence(t, first);
	t->first_at = d->now;
	t->close_at = t->settle_at = CLOCK_NEVER;
	t->observer.again = first->again == AGAIN_YES && t->max_restarts && !t->asked_to_end && !t->well;
	t->pause_ms = first->pause_ms;
	d->todo.ended = *first;
	d->todo.what |= DO_WATCH_NO_MORE | DO_REPORT;
	if (is_coordinator(t)) {
		d->todo.what |= DO_SEND_END;
	} else {
		hang_up_all(d);
	}
	// A node that was asked to end, or whose program has ended with 0, keeps its own status.
	if (!ours && !t->asked_to_end && !t->well) {
		t->observer.status = EXIT_ANOTHER;
		d->todo.what |= DO_END_PROGRAM;
	} else if (ours && (first->why == END_FAILED || first->why == END_NO_PROGRESS) && !t->observer.end) {
		// Our program has not ended although one of its processes has failed, or it hangs.
		t->observer.status = first->status;
		d->todo.what |= DO_END_PROGRAM;
	}
	print_first(d, first);
}

// --- whether all start again

/** Why our own program may not be started again; AGAIN_OFF: it may. */
static enum again own_final(const struct together *t) {
	const struct workload_end *end = t->observer.end;
	if (t->asked_to_end || (end && end->asked_to_end)) {
		return AGAIN_ASKED_TO_END;
	}
	if (end && end->limited) {
		return AGAIN_LIMIT;
	}
	return end && !end->killed_by && end->raw >= EXIT_OURS && end->raw <= EXIT_NOT_FOUND ? AGAIN_MISTAKE
											     : AGAIN_OFF;
}

/** The rank of a member whose program has ended with 0; UINT32_MAX: there is none. */
static uint32_t find_well(const struct together *t) {
	for (uint32_t i = 0; i < t->n; i++) {
		if (t->lines[i].well) {
			return i;
		}
	}
	return t->well ? t->call->rank : UINT32_MAX;
}

/** The exit status after which nothing starts again (--no-restart); 0: there is none. */
static unsigned final_status(const struct together *t, const struct ended *first) {
	return t->is_final[first->status]		      ? first->status
	       : t->n_failed && t->is_final[t->failed.status] ? t->failed.status
							      : 0;
}

/** Decide whether the programs start again after @first, in @pause_ms. */
static enum again start_again(const struct decision *d, const struct ended *first, uint64_t pause_ms) {
	const struct together *t = d->t;
	if (!t->max_restarts) {
		return AGAIN_OFF;
	}
	if (first->why == END_ASKED_TO_END || t->asked_to_end || t->member_asked) {
		return AGAIN_ASKED_TO_END;
	}
	if (first->again > AGAIN_YES || t->failed.again > AGAIN_YES) {
		return first->again > AGAIN_YES ? first->again : t->failed.again;
	}
	if (final_status(t, first)) {
		return AGAIN_FINAL;
	}
	if (find_well(t) != UINT32_MAX) {
		return AGAIN_ENDED_WELL;
	}
	if (d->now + pause_ms >= t->limit_at) {
		return AGAIN_LIMIT;
	}
	if (t->watched && t->max_idle && t->idle >= t->max_idle) {
		return AGAIN_IDLE;
	}
	return t->start >= t->max_restarts ? AGAIN_USED_UP : AGAIN_YES;
}

/** "h2 (rank 2) has ended well" */
static const char *member_text(const struct together *t, uint32_t rank, const char *what) {
	const struct str host = roll_host(t->call, rank);
	return arena_format(t->call->arena, host.len ? "%.*s (rank %u) %s" : "%.*srank %u %s", (int)host.len,
			    host.p, rank, what);
}

/** "exit status 17" or "SIGSEGV (139)" */
static const char *status_text(const struct together *t, unsigned status) {
	const int signal = (int)status - 128;
	return signal > 0 && signal <= SIGNAL_MAX
		       ? arena_format(t->call->arena, "SIG%s (%u)", signal_name(signal).s, status)
		       : arena_format(t->call->arena, "exit status %u", status);
}

/** What follows from @first: "starting again (2 of 5) in 1s". */
static struct str clause(const struct together *t, const struct ended *first) {
	struct buf text = BUF(t->call->arena);
	switch ((enum again)first->again) {
	case AGAIN_OFF:
	case AGAIN_ASKED_TO_END:
		return STR("ending");
	case AGAIN_YES:
		buf_putf(&text, "starting again (%u", t->start + 1);
		if (t->max_restarts != RESTARTS_UNLIMITED) {
			buf_putf(&text, " of %u", t->max_restarts);
		}
		buf_puts(&text, ")");
		if (first->pause_ms) {
			buf_putf(&text, " in %s", duration_text(first->pause_ms).s);
		}
		break;
	case AGAIN_LIMIT:
		return STR("not starting again: the time limit is used up");
	case AGAIN_MISTAKE:
		return STR("not starting again: the exit status says that it cannot be run");
	case AGAIN_USED_UP:
		buf_putf(&text, "not starting again: %u of %u restarts used", t->start, t->max_restarts);
		break;
	case AGAIN_ENDED_WELL:
		buf_putf(&text, "not starting again: %s", member_text(t, find_well(t), "has ended well"));
		break;
	case AGAIN_FINAL:
		buf_putf(&text, "not starting again: %s is final (--no-restart)",
			 status_text(t, final_status(t, first)));
		break;
	case AGAIN_IDLE:
		buf_putf(&text,
			 t->idle == 1 ? "not starting again: %u start wrote nothing to "
				      : "not starting again: %u starts in a row wrote nothing to ",
			 t->idle);
		buf_put_plain(&text, str_of(t->watched));
		break;
	}
	return buf_str(&text);
}

/** Handle the event that ends the job; decide on a restart. */
static void conclude(struct decision *d, const struct ended *what) {
	struct together *t = d->t;
	struct ended first = *what;
	if (t->begun && d->now - t->begun >= RAN_LONG_MS) {
		t->in_a_row = 0;
	}
	t->idle = t->wrote ? 0 : t->idle + (t->watched != NULL);
	uint32_t doubled = t->in_a_row < 8 ? t->in_a_row : 8;
	uint64_t pause_ms = doubled ? clock_earlier((uint64_t)500 << doubled, PAUSE_MAX_MS) : 0;
	first.again = (uint8_t)start_again(d, what, pause_ms);
	first.pause_ms = first.again == AGAIN_YES ? (uint32_t)pause_ms : 0;
	t->in_a_row++;
	first.then = clause(t, &first);
	set_first(d, &first);
}

/** Cancel the restart on this node. @why: reason to send; NULL if the others know it. */
static void cancel_restart(struct together *t, const char *why) {
	t->cancel_reason = why;
	t->observer.again = false;
}

/** Coordinator: member @line, which has not read END yet, does not come again. Cancel the restart. */
static void cancel_without(struct together *t, uint32_t line, const char *what) {
	if (t->observer.again) {
		t->not_again = true;
		cancel_restart(t, member_text(t, line, what));
	}
}

// --- deaths

/**
 * Find the connection of the member with the earliest death; NULL: none. *@next is that of the second one, or
 * NULL.
 */
static struct kept_line *find_deaths(const struct together *t, struct kept_line **next) {
	struct kept_line *first = NULL;
	*next = NULL;
	for (struct kept_line *kept = t->lines; kept < t->lines + t->n; kept++) {
		if (!kept->death || kept->death->at == CLOCK_NEVER) {
			continue;
		}
		if (!first || kept->death->at < first->death->at) {
			*next = first;
			first = kept;
		} else if (!*next || kept->death->at < (*next)->death->at) {
			*next = kept;
		}
	}
	return first;
}

/**
 * Coordinator: the program of @kept has ended with 0, so it has handled the process that failed before. With
 * --together=workers such a process counts all the same.
 */
static void forget_death(struct together *t, struct kept_line *kept) {
	if (kept->death && !kept->death->progress && !t->by_workers) {
		kept->death->at = CLOCK_NEVER;
	}
}

/** Coordinator: the wait for reports of earlier deaths is over. Decide which member was first. */
static void settle(struct decision *d) {
	struct together *t = d->t;
	struct kept_line *next, *kept = find_deaths(t, &next);
	struct ended first = t->failed;
	t->settle_at = CLOCK_NEVER;
	if (!kept && !t->n_failed) {
		// The launcher has started new workers meanwhile. Then what came beside that is no consequence.
		if (t->beside.why) {
			conclude(d, &t->beside);
		}
		return;
	}
	if (kept) {
		struct buf text = BUF(t->call->arena);
		const bool hangs = kept->death->progress;
		buf_putf(&text, "%s%s", hangs ? "" : "its ", kept->death->text);
		if (!hangs && next && !next->death->progress && next->death->at < kept->death->at + SAME_MS) {
			buf_putf(&text, ", and that of %.*s (rank %u) within %s: %s", (int)next->host.len,
				 next->host.p, (uint32_t)(next - t->lines),
				 duration_text(next->death->at - kept->death->at).s, next->death->text);
		}
		if (t->n_failed) {
			buf_putf(&text, "; then the program ended on %u %s: %.*s", t->n_failed,
				 t->n_failed == 1 ? "node" : "nodes", (int)t->failed.text.len,
				 t->failed.text.p);
		}
		first = (struct ended){.why = hangs ? END_NO_PROGRESS : END_FAILED,
				       .status = kept->death->status,
				       .rank = (uint32_t)(kept - t->lines),
				       .host = kept->host,
				       .text = str_of(buf_text(&text))};
	}
	conclude(d, &first);
}

/** Wait briefly for reports of earlier deaths that are still in transit. */
static void begin_to_settle(struct decision *d) {
	if (!d->t->decided && d->t->settle_at == CLOCK_NEVER) {
		d->t->settle_at = clock_after(d->now, SETTLE_MS);
	}
}

/** Coordinator: handle a failure report. Another node may have caused it. */
static void judge(struct decision *d, const struct ended *what) {
	struct together *t = d->t;
	struct kept_line *next;
	if (t->decided) {
		return;
	}
	if (what->why != END_FAILED) {
		if (t->settle_at == CLOCK_NEVER) {
			conclude(d, what);
		} else if (!t->beside.why) {
			// While settling, this is a consequence of the failure.
			t->beside = *what;
			t->beside.text.p = arena_text(t->call->arena, what->text.p, what->text.len);
		}
		// A member that was asked to end does not come again.
		t->member_asked |= what->why == END_ASKED_TO_END;
		return;
	}
	if (t->n_failed++ == 0) {
		t->failed = *what;
		t->failed.text.p = arena_text(t->call->arena, what->text.p, what->text.len);
	}
	if (t->settle_at != CLOCK_NEVER || find_deaths(t, &next)) {
		begin_to_settle(d);
	} else if (!is_alone(t) || (t->max_restarts && what->again != AGAIN_ASKED_TO_END)) {
		conclude(d, what);
	}
}

/** Coordinator: if all members that are still connected have told their progress, wait for no more. */
static void settle_if_answered(struct decision *d) {
	struct together *t = d->t;
	if (t->asked && !t->decided && t->n_answered > t->open) {
		t->settle_at = d->now;
	}
}

/**
 * Coordinator: handle the progress report of @kept, which is already stored. If one program hangs, the others
 * wait for it, and their time may be over first. So the first report makes the coordinator ask all members.
 */
static void note_progress(struct decision *d, struct kept_line *kept) {
	struct together *t = d->t;
	t->n_answered += !kept->death->answered;
	kept->death->answered = true;
	if (t->decided) {
		return;
	}
	if (!t->asked) {
		t->asked = true;
		t->settle_at = clock_after(d->now, PROGRESS_ANSWERS_MS);
		d->todo.died = (struct died){.what = DIED_PROGRESS, .text = STR("")};
		d->todo.what |= DO_SEND_DIED | (kept != t->lines ? DO_DESCRIBE_PROGRESS : 0);
	}
	settle_if_answered(d);
}

/** Coordinator: store the report @died of @kept. */
static void note_death(struct decision *d, struct kept_line *kept, const struct died *died) {
	struct together *t = d->t;
	const bool progress = died->what == DIED_PROGRESS;
	if (died->what >= DIED_WATCHES) {
		t->wrote |= died->what == DIED_WROTE;
		t->watched =
			t->watched ? t->watched : arena_text(t->call->arena, died->text.p, died->text.len);
		return;
	}
	if (!kept->death) {
		kept->death = arena_alloc(t->call->arena, sizeof(*kept->death));
		*kept->death = (struct death){.at = CLOCK_NEVER};
	}
	if (!died->status && !progress) {
		kept->death->at = CLOCK_NEVER;
	} else if (progress && !died->text.len) {
		// The member's program is not watched, or has ended: an earlier report still counts.
		note_progress(d, kept);
	} else if (kept->death->at == CLOCK_NEVER || progress) {
		kept->death->progress = progress;
		kept->death->at = d->now - died->ago_ms;
		kept->death->status = died->status;
		snprintf(kept->death->text, sizeof(kept->death->text), "%.*s", (int)died->text.len,
			 died->text.p);
		if (progress) {
			note_progress(d, kept);
		} else if (t->by_workers) {
			begin_to_settle(d);
		}
	}
}

/** Report what has come of our own program to the coordinator, or withdraw the report of a death. */
static void take_own_death(struct decision *d, const struct died *died) {
	struct together *t = d->t;
	if (died->what == DIED_PROCESS && !died->status && !t->sent_death) {
		return;
	}
	if (died->what <= DIED_PROGRESS) {
		t->sent_death = died->status && died->what == DIED_PROCESS;
	}
	t->sent_watches |= died->what == DIED_WATCHES;
	t->sent_wrote |= died->what == DIED_WROTE;
	if (is_coordinator(t)) {
		note_death(d, t->lines, died);
	} else {
		d->todo.died = *died;
		d->todo.what |= DO_SEND_DIED;
	}
}

/**
 * Whether the end of a process is a failure. Killed by TERM is none, because launchers end their workers so.
 */
static bool is_failure(const struct together *t, const struct together_event *event) {
	const int status = event->status;
	return status && !(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) && !t->sent_death &&
	       !t->asked_to_end && !(is_alone(t) && !WIFSIGNALED(status) && event->lived_ms < PROBE_MS);
}

// --- our own program

/** Report the end of our own program to the coordinator; if we are the coordinator, handle it. */
static void report_own(struct decision *d, enum end_why why, int status, const char *text) {
	const struct roll_call *call = d->t->call;
	const struct ended own = {
		.why = (uint8_t)why,
		.status = (uint8_t)status,
		.rank = call->rank,
		.host = roll_host(call, call->rank),
		.text = str_of(text),
		.again = (uint8_t)own_final(d->t),
		.then = STR(""),
	};
	if (is_coordinator(d->t)) {
		judge(d, &own);
	} else {
		d->todo.ended = own;
		d->todo.what |= DO_SEND_ENDED;
	}
}

static void take_own_end(struct decision *d) {
	struct together *t = d->t;
	const struct workload_end *end = t->observer.end;
	struct buf text = BUF(t->call->arena);
	// If the program was asked to end, its end by TERM is no failure.
	bool by_term = t->asked_to_end && (end->killed_by == SIGTERM || end->exit_status == 128 + SIGTERM);
	bool fails = t->always && end->early;
	t->well = end->raw == 0 && !fails;
	if (t->well && is_coordinator(t)) {
		forget_death(t, t->lines);
	}
	int status = by_term ? 0 : fails ? 1 : end->raw;
	d->todo.what |= DO_WATCH_NO_MORE;
	if (t->observer.again || t->cancel_reason) {
		return;
	}
	if (t->observer.status) {
		buf_putf(&text, "ended because %s, %s ago", t->first, duration_text(d->now - t->first_at).s);
		d->todo.words = buf_text(&text);
		d->todo.what |= DO_PRINT | DO_PRINT_LAST;
	} else if (!t->decided && (!is_coordinator(t) || status)) {
		report_own(d, END_FAILED, status, end->text);
		if (!status) {
			hang_up_all(d);
		}
	}
}

/** TERM has come. Returns whether to drop it: the program already got one, because all programs are ended. */
static bool drop_term(struct together *t) {
	if (!t->asked_to_end && !t->decided) {
		return false;
	}
	if (!t->observer.end && !t->asked_to_end) {
		// The program was ended because of another node, and now this node is asked to end: it exits
		// with its own status.
		t->asked_to_end = true;
		t->observer.status = 0;
	}
	return true;
}

static void take_signal(struct decision *d, int signal, bool ignored) {
	struct together *t = d->t;
	const bool ends = signal == SIGTERM || signal == SIGINT;
	bool drops = false;
	if (t->observer.again && ends && !ignored) {
		// The signal is not forwarded, because the program has already been asked to end, or has
		// ended.
		cancel_restart(t, t->relays ? arena_format(t->call->arena, "SIG%s", signal_name(signal).s)
					    : NULL);
		t->observer.status = 128 + signal;
		t->asked_to_end = true;
		// After the program's end it is not dropped either: --init then gives leftovers no further
		// grace.
		drops = !t->observer.end;
	} else if (signal == SIGTERM && !is_alone(t) && drop_term(t)) {
		drops = true;
	} else if (t->observer.end && ends) {
		// If our program has failed, and it is not decided yet what follows: we do not come again.
		t->asked_to_end |= !t->well && !t->decided;
		if (t->asked_to_end && !t->decided && t->relays && !is_coordinator(t)) {
			report_own(d, END_ASKED_TO_END, 0,
				   arena_format(t->call->arena, "SIG%s", signal_name(signal).s));
		}
		t->close_at = 0;
	}
	d->todo.what |= drops ? DO_DROP_SIGNAL : 0;
}

static void take_term(struct decision *d) {
	struct together *t = d->t;
	if (!t->decided) {
		t->asked_to_end = true;
		if (t->relays && !is_alone(t)) {
			report_own(d, END_ASKED_TO_END, 0, "SIGTERM");
		}
	}
}

// --- the others

/**
 * Connection @line has ended, because of @why. Unless the member's program has ended with 0, that is a
 * failure.
 */
static void drop_line(struct decision *d, uint32_t line, const char *why) {
	struct together *t = d->t;
	struct kept_line *kept = &t->lines[line];
	t->open--;
	t->n_answered -= kept->death && kept->death->answered;
	settle_if_answered(d);
	d->todo.line = line;
	d->todo.what |= DO_HANG_UP;
	if (!kept->succeeded) {
		judge(d, &(struct ended){
				 .why = END_LOST, .rank = line, .host = kept->host, .text = str_of(why)});
	}
}

/**
 * The other side of @line does not answer. If no other side answers either, this node's network may have
 * failed.
 */
static void drop_silent_line(struct decision *d, const struct together_event *event) {
	const struct roll_call *call = d->t->call;
	struct str own = roll_host(call, call->rank);
	struct buf why = BUF(call->arena);
	buf_puts(&why, strerror(event->error));
	if (event->n_silent) {
		buf_putf(&why, ", and %u more do not answer", event->n_silent);
	}
	if (event->n_silent || d->t->open == 1) {
		own = own.len ? own : str_of(call->node);
		buf_putf(&why, ", or the network of this node, %.*s, has failed", (int)own.len, own.p);
	}
	drop_line(d, event->line, buf_text(&why));
}

/** Coordinator: the program of member @line has ended, or the member was asked to end. */
static void take_members_end(struct decision *d, uint32_t line, const struct ended *theirs) {
	struct together *t = d->t;
	struct kept_line *kept = &t->lines[line];
	struct ended ended = *theirs;
	ended.rank = line;
	ended.host = kept->host;
	if (ended.why == END_ASKED_TO_END && t->decided) {
		t->n_gone++;
		cancel_without(t, line, "was asked to end");
	}
	if (ended.why != END_FAILED || ended.status) {
		judge(d, &ended);
		return;
	}
	kept->succeeded = true;
	t->n_gone++;
	kept->well = ended.again != AGAIN_ASKED_TO_END;
	if (kept->well) {
		forget_death(t, kept);
		cancel_without(t, line, "has ended well");
	}
}

/** Member: the coordinator does not wait any more. */
static void take_coordinator_gone(struct decision *d, uint32_t line, const struct ended *ended) {
	if (d->t->max_restarts && ended->again == AGAIN_ASKED_TO_END) {
		// Its replacement will hold a roll call, so this node's program has to end and start again.
		drop_line(d, line, "it was asked to end");
	} else {
		d->t->open--;
		d->todo.line = line;
		d->todo.what |= DO_HANG_UP;
	}
}

/** Whether a coordinator may send @end: the pause and the number of starts have limits. */
static bool is_sound(const struct together *t, const struct ended *end) {
	return end->rank < t->call->size && end->pause_ms <= PAUSE_MAX_MS &&
	       (end->again != AGAIN_YES || !t->max_restarts || t->start < t->max_restarts);
}

/** Handle ENDED or END. */
static void take_ended(struct decision *d, const struct together_event *event) {
	const bool is_end = event->what == TOGETHER_FRAME_END;
	if (is_coordinator(d->t) ? is_end : !is_sound(d->t, &event->ended)) {
		drop_line(d, event->line, "its connection has ended");
	} else if (is_coordinator(d->t)) {
		take_members_end(d, event->line, &event->ended);
	} else if (is_end) {
		set_first(d, &event->ended);
	} else {
		take_coordinator_gone(d, event->line, &event->ended);
	}
}

// --- what is due

/** How long to wait for the other members. */
static uint64_t patience(const struct together *t) {
	return t->decided ? CLOSE_MS : t->well ? t->linger_ms : END_MS;
}

/** Stop waiting for the other members. */
static void stop_waiting(struct decision *d) {
	struct together *t = d->t;
	t->close_at = CLOCK_NEVER;
	if (t->decided || !is_coordinator(t)) {
		hang_up_all(d);
	} else {
		// The members go on without us, and close. Ignore what they still send.
		d->todo.ended = (struct ended){
			.host = STR(""), .text = STR(""), .again = (uint8_t)own_final(t), .then = STR("")};
		d->todo.what |= DO_SEND_ENDED;
		t->decided = true;
	}
}

static void take_due(struct decision *d) {
	struct together *t = d->t;
	if (t->settle_at != CLOCK_NEVER && d->now >= clock_earlier(t->settle_at, t->close_at)) {
		// Before leaving, send the result.
		settle(d);
	}
	if (d->now >= t->close_at) {
		stop_waiting(d);
	}
}

struct together_todo together_decide(struct together *t, const struct together_event *event, uint64_t now) {
	struct decision d = {.t = t, .now = now};
	switch (event->what) {
	case TOGETHER_STARTED:
		t->begun = now;
		d.todo.what |= !is_alone(t) || t->by_workers ? DO_WATCH : 0;
		break;
	case TOGETHER_PROGRAM_ENDED:
		take_own_end(&d);
		break;
	case TOGETHER_FRAME_ENDED:
	case TOGETHER_FRAME_END:
		take_ended(&d, event);
		break;
	case TOGETHER_FRAME_DIED:
		if (is_coordinator(t)) {
			note_death(&d, &t->lines[event->line], &event->died);
		} else {
			d.todo.what |= DO_DESCRIBE_PROGRESS;
		}
		break;
	case TOGETHER_GONE:
		drop_line(&d, event->line,
			  event->error ? strerror(event->error) : "its connection has ended");
		break;
	case TOGETHER_SILENT:
		drop_silent_line(&d, event);
		break;
	case TOGETHER_DEAF:
		drop_line(&d, event->line, "it did not hear the start");
		// END is sent, and the wait is over, as soon as the program has started.
		t->close_at = 0;
		return d.todo;
	case TOGETHER_SIGNAL:
		take_signal(&d, event->signal, event->ignored);
		break;
	case TOGETHER_ASKED_TO_END:
		take_term(&d);
		break;
	case TOGETHER_WORKER_ENDED:
		d.todo.what |= is_failure(t, event) ? DO_DESCRIBE_DEATH : 0;
		break;
	case TOGETHER_OWN_DIED:
		take_own_death(&d, &event->died);
		break;
	case TOGETHER_OVERDUE:
		d.todo.what |= DO_DESCRIBE_PROGRESS;
		break;
	case TOGETHER_DUE:
		take_due(&d);
		break;
	}
	t->observer.busy = t->observer.end && (t->open || t->settle_at != CLOCK_NEVER);
	if (t->observer.busy && t->close_at == CLOCK_NEVER) {
		t->close_at = clock_after(now, patience(t));
	}
	return d.todo;
}
