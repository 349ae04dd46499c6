// SPDX-License-Identifier: Apache-2.0

#include "together/together.h"

#include "base/clock.h"
#include "base/duration.h"
#include "base/signals.h"
#include "init/init.h"
#include "net/listen.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

/** How long the coordinator waits after the first failure, for what died before it. */
#define SETTLE_MS 300

/** Two that died within this time of each other are both named. */
#define SAME_MS 20

/** How long a member whose program failed waits for the coordinator's word on who was first. */
#define WORD_MS 5000

/** How long the coordinator waits until the members have closed, so that END has arrived. */
#define CLOSE_MS 2000

/** How long the coordinator waits for what all say of their progress. */
#define STALE_MS 10000

/** Within this time a program may have failed as it could not bind its port. */
#define BIND_MS 60000

/** The first of the three statuses of what cannot be run. */
#define EXIT_MISTAKE 125

/** In a cluster of one, a child that fails sooner is a probe, unless a signal killed it. */
#define PROBE_MS 10000

/** The program that ran for so long has not failed at once. */
#define RAN_LONG_MS 600000

/** The first of a program's processes that failed. */
struct death {
	/** On our clock; CLOCK_NEVER: none did. */
	uint64_t at;
	uint8_t status;
	/** None did: its program made progress then. */
	bool stale;
	char text[DIED_TEXT_MAX + 1];
};

static struct together *of(struct observer *observer) {
	return (struct together *)(void *)((char *)observer - offsetof(struct together, observer));
}

/** There are no others: only the program's own processes are watched. */
static bool is_alone(const struct together *t) {
	return t->call->size == 1;
}

static void hang_up(struct together *t, struct kept_line *kept) {
	if (kept->line.fd >= 0) {
		close(kept->line.fd);
		kept->line.fd = -1;
		t->open--;
	}
}

/**
 * Send a frame to all that are there: to the coordinator, or from it. If one cannot be told, its connection is at its
 * end: read_line() finds that, and what came before, and judges it.
 */
static void send_all(struct together *t, enum frame_type type, const unsigned char *payload, size_t n) {
	for (uint32_t i = 0; i < t->n; i++) {
		if (t->lines[i].line.fd >= 0) {
			line_send(&t->lines[i].line, type, payload, n);
		}
	}
}

static void send_ended(struct together *t, enum frame_type type, const struct ended *ended) {
	unsigned char payload[HELLO_MAX];
	send_all(t, type, payload, ended_encode(ended, payload));
}

static void hang_up_all(struct together *t) {
	for (uint32_t i = 0; i < t->n; i++) {
		hang_up(t, &t->lines[i]);
	}
}

/** "n7 (rank 7) failed first: exit status 1" */
static const char *sentence(const struct together *t, const struct ended *first) {
	static const char *const verbs[] = {"failed first:", "is lost:", "was told to end:", "has made"};
	struct buf text = BUF(t->call->arena);
	if (!is_alone(t)) {
		buf_put(&text, first->host);
		buf_putf(&text, first->host.len ? " (rank %u) %s " : "rank %u %s ", first->rank,
			 verbs[first->why]);
	} else if (first->why == END_STALE) {
		buf_puts(&text, "it has made ");
	}
	buf_put(&text, first->text);
	return buf_text(&text);
}

/** Print who was first. If our own program has failed meanwhile, these are our last words. */
static void say_first(struct together *t, const struct ended *what) {
	bool ours = what->rank == t->call->rank;
	struct buf text = BUF(t->call->arena);
	buf_putf(&text, "%s; %.*s", t->first, (int)what->then.len, what->then.p);
	bool exited = t->observer.end && t->observer.end->raw && t->observer.end->raw < 128;
	if (ours && t->call->rank == 0 && !t->port && t->open && exited &&
	    t->observer.end->ran_ms < BIND_MS) {
		buf_putf(&text, "; if it could not bind port %u: it needs SO_REUSEADDR, or --together=PORT",
			 t->call->port);
	}
	t->observer.words = buf_text(&text);
	t->observer.last_words = t->observer.end && t->observer.status;
}

/** Now it is known who was first: tell the others, and end our own program. */
static void know(struct together *t, const struct ended *first) {
	const struct roll_call *call = t->call;
	bool ours = first->rank == call->rank;
	if (t->known) {
		return;
	}
	t->known = true;
	t->first = sentence(t, first);
	t->first_at = clock_now_ms();
	t->leave_at = t->settle_at = CLOCK_NEVER;
	progress_end(&t->progress);
	workers_end(&t->workers);
	t->observer.again = first->again == AGAIN_YES && t->max_restarts && !t->told && !t->well;
	t->pause_ms = first->pause_ms;
	if (call->rank == 0) {
		send_ended(t, FRAME_END, first);
	} else {
		hang_up_all(t);
	}
	// Who was told to end as well, or has ended well, does not end because of this.
	if (!ours && !t->told && !t->well) {
		t->observer.status = EXIT_ANOTHER;
		t->observer.limit = true;
	} else if (ours && (first->why == END_FAILED || first->why == END_STALE) && !t->observer.end) {
		// One of its processes has failed, and it has not ended for that. Or it hangs.
		t->observer.status = first->status;
		t->observer.limit = true;
	}
	say_first(t, first);
	t->report(t, first);
}

/** Why the end of our own program is final; AGAIN_OFF: it is not. */
static enum again own_final(const struct together *t) {
	const struct workload_end *end = t->observer.end;
	if (t->told || (end && end->told)) {
		return AGAIN_TOLD;
	}
	if (end && end->limited) {
		return AGAIN_LIMIT;
	}
	return end && !end->killed_by && end->raw >= EXIT_MISTAKE && end->raw <= EXIT_MISTAKE + 2
		       ? AGAIN_MISTAKE
		       : AGAIN_OFF;
}

/** The rank of a member whose program has ended well, or UINT32_MAX. */
static uint32_t find_well(const struct together *t) {
	for (uint32_t i = 0; i < t->n; i++) {
		if (t->lines[i].well) {
			return i;
		}
	}
	return t->well ? t->call->rank : UINT32_MAX;
}

/** Whether all start again after @first, in @pause_ms. */
static enum again decide(const struct together *t, const struct ended *first, uint64_t pause_ms) {
	if (!t->max_restarts) {
		return AGAIN_OFF;
	}
	if (first->why == END_TOLD || t->told) {
		return AGAIN_TOLD;
	}
	if (first->again > AGAIN_YES || t->failed.again > AGAIN_YES) {
		return first->again > AGAIN_YES ? first->again : t->failed.again;
	}
	if (find_well(t) != UINT32_MAX) {
		return AGAIN_ENDED_WELL;
	}
	if (clock_now_ms() + pause_ms >= t->limit_at) {
		return AGAIN_LIMIT;
	}
	return t->start >= t->max_restarts ? AGAIN_USED_UP : AGAIN_YES;
}

/** "h2 (rank 2) has ended well" */
static const char *well_text(const struct together *t) {
	const uint32_t rank = find_well(t);
	const struct str host = roll_host(t->call, rank);
	return arena_format(t->call->arena,
			    host.len ? "%.*s (rank %u) has ended well" : "%.*srank %u has ended well",
			    (int)host.len, host.p, rank);
}

/** What follows from @first: "starting again (2 of 5) in 1s". */
static struct str clause(const struct together *t, const struct ended *first) {
	struct buf text = BUF(t->call->arena);
	switch ((enum again)first->again) {
	case AGAIN_OFF:
	case AGAIN_TOLD:
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
		buf_putf(&text, "not starting again: %s", well_text(t));
		break;
	}
	return buf_str(&text);
}

/** @what ends all: decide whether they start again. */
static void conclude(struct together *t, const struct ended *what) {
	struct ended first = *what;
	if (t->begun && clock_now_ms() - t->begun >= RAN_LONG_MS) {
		t->in_a_row = 0;
	}
	uint32_t doubled = t->in_a_row < 8 ? t->in_a_row : 8;
	uint64_t pause_ms = doubled ? clock_earlier((uint64_t)500 << doubled, PAUSE_MAX_MS) : 0;
	first.again = (uint8_t)decide(t, what, pause_ms);
	first.pause_ms = first.again == AGAIN_YES ? (uint32_t)pause_ms : 0;
	t->in_a_row++;
	first.then = clause(t, &first);
	know(t, &first);
}

/** The earliest death of all, and the next one by another node's, or NULL. */
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

/** The coordinator has waited for all that may have died before the first failure: name who was first. */
static void settle(struct together *t) {
	struct kept_line *next, *kept = find_deaths(t, &next);
	struct ended first = t->failed;
	t->settle_at = CLOCK_NEVER;
	if (!kept && !t->n_failed) {
		// Its launcher has started others meanwhile.
		return;
	}
	if (kept) {
		struct buf text = BUF(t->call->arena);
		const bool stale = kept->death->stale;
		buf_putf(&text, "%s%s", stale ? "" : "its ", kept->death->text);
		if (!stale && next && next->death->at < kept->death->at + SAME_MS) {
			buf_putf(&text, ", and that of %.*s (rank %u) within %s: %s", (int)next->host.len,
				 next->host.p, (uint32_t)(next - t->lines),
				 duration_text(next->death->at - kept->death->at).s, next->death->text);
		}
		if (t->n_failed) {
			buf_putf(&text, "; then the program ended on %u %s: %.*s", t->n_failed,
				 t->n_failed == 1 ? "node" : "nodes", (int)t->failed.text.len,
				 t->failed.text.p);
		}
		first = (struct ended){.why = stale ? END_STALE : END_FAILED,
				       .status = kept->death->status,
				       .rank = (uint32_t)(kept - t->lines),
				       .host = kept->host,
				       .text = str_of(buf_text(&text))};
	}
	conclude(t, &first);
}

/** Wait a moment for what died before, and is still on its way. */
static void begin_to_settle(struct together *t) {
	if (!t->known && t->settle_at == CLOCK_NEVER) {
		t->settle_at = clock_after(clock_now_ms(), SETTLE_MS);
	}
}

/** What ends all has come to the coordinator. The program's failure may follow from another's. */
static void judge(struct together *t, const struct ended *what) {
	struct kept_line *next;
	if (t->known) {
		return;
	}
	if (what->why != END_FAILED) {
		// While it settles, who goes or is told to end follows from the failure.
		if (t->settle_at == CLOCK_NEVER) {
			conclude(t, what);
		}
		return;
	}
	if (t->n_failed++ == 0) {
		t->failed = *what;
		t->failed.text.p = arena_text(t->call->arena, what->text.p, what->text.len);
	}
	if (find_deaths(t, &next)) {
		begin_to_settle(t);
	} else if (!is_alone(t) || (t->max_restarts && what->again != AGAIN_TOLD)) {
		conclude(t, what);
	}
}

static void tell_progress(struct together *t);

/**
 * @kept has told when its program made progress. If one hangs, all others wait for it, and their time may be over
 * first. So the first one whose time is over makes the coordinator ask all.
 */
static void note_progress(struct together *t, struct kept_line *kept) {
	unsigned char payload[HELLO_MAX];
	t->n_stale += !kept->death->stale;
	kept->death->stale = true;
	if (t->known) {
		return;
	}
	if (!t->asked) {
		t->asked = true;
		t->settle_at = clock_after(clock_now_ms(), STALE_MS);
		send_all(t, FRAME_DIED, payload,
			 died_encode(&(struct died){.stale = 1, .text = STR("")}, payload));
		if (kept != t->lines) {
			tell_progress(t);
		}
	}
	if (t->n_stale > t->open) {
		t->settle_at = clock_now_ms();
	}
}

/** One of the processes of @kept's program died, or it tells when it made progress. */
static void note_death(struct together *t, struct kept_line *kept, const struct died *died) {
	if (!kept->death) {
		kept->death = arena_alloc(t->call->arena, sizeof(*kept->death));
		*kept->death = (struct death){.at = CLOCK_NEVER};
	}
	if (!died->status && !died->stale) {
		kept->death->at = CLOCK_NEVER;
	} else if (kept->death->at == CLOCK_NEVER || died->stale) {
		kept->death->at = clock_now_ms() - died->ago_ms;
		kept->death->status = died->status;
		snprintf(kept->death->text, sizeof(kept->death->text), "%.*s", (int)died->text.len,
			 died->text.p);
		if (died->stale) {
			note_progress(t, kept);
		} else if (t->by_workers) {
			begin_to_settle(t);
		}
	}
}

/** Tell the coordinator, which may be us. */
static void tell_death(struct together *t, const struct died *died) {
	unsigned char payload[HELLO_MAX];
	t->told_death = died->status && !died->stale;
	if (t->call->rank == 0) {
		note_death(t, t->lines, died);
	} else {
		send_all(t, FRAME_DIED, payload, died_encode(died, payload));
	}
}

/** Tell when our program made progress. One that is not watched makes it now. */
static void tell_progress(struct together *t) {
	const bool watched = t->progress.files.text && !t->observer.end;
	struct buf text = BUF(t->call->arena);
	if (watched) {
		progress_put(&t->progress, &text);
		workers_put_states(t->progress.look.pid, &text);
	}
	struct died died = {.stale = 1, .status = EXIT_TIME_LIMIT, .text = buf_str(&text)};
	died.ago_ms = watched ? (uint32_t)clock_earlier(progress_age(&t->progress), UINT32_MAX) : 0;
	died.text.len = died.text.len < DIED_TEXT_MAX ? died.text.len : DIED_TEXT_MAX;
	tell_death(t, &died);
}

/** "process 77 (python3) was killed by SIGKILL", and whether memory may be why. */
static struct str death_text(const struct together *t, const struct worker_end *end) {
	struct buf text = BUF(t->call->arena);
	buf_putf(&text, "process %d (", (int)end->pid);
	buf_put_plain(&text, str_of(end->name));
	if (WIFSIGNALED(end->status)) {
		buf_putf(&text, ") was killed by SIG%s", signal_name(WTERMSIG(end->status)).s);
	} else {
		buf_putf(&text, ") ended with exit status %d", WEXITSTATUS(end->status));
	}
	uint32_t kills = observer_oom_kills(&t->observer);
	if (kills && kills != OOM_UNKNOWN) {
		buf_putf(&text, OOM_TEXT, kills);
	}
	struct str whole = buf_str(&text);
	whole.len = whole.len < DIED_TEXT_MAX ? whole.len : DIED_TEXT_MAX;
	return whole;
}

/** Tell how a worker ended, if it failed. Who starts others ends them by TERM: that is no failure. */
static void report_worker(struct together *t, const struct worker_end *end) {
	int status = end->status;
	if (status == 0 || (WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) || t->told_death || t->told ||
	    (is_alone(t) && !WIFSIGNALED(status) && end->lived_ms < PROBE_MS)) {
		return;
	}
	const struct died died = {
		.ago_ms = (uint32_t)(clock_now_ms() - end->at),
		.status = (uint8_t)(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status)),
		.text = death_text(t, end),
	};
	tell_death(t, &died);
}

/** Look after the program's own processes. */
static void watch_workers(struct together *t) {
	struct worker_end end;
	while (t->workers.program && workers_next(&t->workers, &end)) {
		report_worker(t, &end);
	}
	if (workers_scan(&t->workers, clock_now_ms()) && t->told_death) {
		// It has started others: what failed before is mended.
		tell_death(t, &(struct died){.text = STR("")});
	}
}

/** Tell what has become of our own program: the coordinator, or if that is us, all. */
static void tell(struct together *t, enum end_why why, int status, const char *text) {
	const struct roll_call *call = t->call;
	const struct ended own = {
		.why = (uint8_t)why,
		.status = (uint8_t)status,
		.rank = call->rank,
		.host = roll_host(call, call->rank),
		.text = str_of(text),
		.again = (uint8_t)own_final(t),
		.then = STR(""),
	};
	if (call->rank) {
		send_ended(t, FRAME_ENDED, &own);
	} else {
		judge(t, &own);
	}
}

/** The other side of @kept is gone, without a word. */
static void lose(struct together *t, struct kept_line *kept, uint32_t rank, const char *why) {
	const struct ended lost = {.why = END_LOST, .rank = rank, .host = kept->host, .text = str_of(why)};
	hang_up(t, kept);
	if (!kept->leaves) {
		judge(t, &lost);
	}
}

/** How many others do not answer the kernel either. */
static uint32_t count_silent(const struct together *t) {
	uint32_t n = 0;
	for (uint32_t i = 0; i < t->n; i++) {
		n += t->lines[i].line.fd >= 0 && stream_is_silent(t->lines[i].line.fd);
	}
	return n;
}

/** The other side of @kept does not answer. If nobody else does, it may be we that are cut off. */
static void lose_silent(struct together *t, struct kept_line *kept, uint32_t rank, int error) {
	const struct roll_call *call = t->call;
	struct str own = roll_host(call, call->rank);
	struct buf why = BUF(call->arena);
	bool last = t->open == 1;
	buf_puts(&why, strerror(error));
	hang_up(t, kept);
	uint32_t more = count_silent(t);
	if (more) {
		buf_putf(&why, ", and %u more do not answer", more);
	}
	if (more || last) {
		own = own.len ? own : str_of(call->node);
		buf_putf(&why, ", or the network of this node, %.*s, has failed", (int)own.len, own.p);
	}
	lose(t, kept, rank, buf_text(&why));
}

/** All were to start again, and do not because of @why, which the others do not know; NULL: they do. */
static void quit(struct together *t, const char *why) {
	t->told = true;
	t->quits = why;
	t->observer.again = false;
}

/** Whether a coordinator may say @end to us: a pause has a limit, and so has the number of starts. */
static bool is_sound(const struct together *t, const struct ended *end) {
	return end->rank < t->call->size && end->pause_ms <= PAUSE_MAX_MS &&
	       (end->again != AGAIN_YES || !t->max_restarts || t->start < t->max_restarts);
}

/** Take what came from @kept. Returns 0; -EPROTO. */
static int take(struct together *t, struct kept_line *kept, uint32_t rank, const struct frame *frame) {
	struct ended ended;
	struct died died;
	bool leader = t->call->rank == 0;
	if (frame->type == FRAME_DIED && died_decode(frame->payload, &died) == 0) {
		if (leader) {
			note_death(t, kept, &died);
		} else {
			tell_progress(t);
		}
		return 0;
	}
	if ((frame->type != FRAME_ENDED && (leader || frame->type != FRAME_END)) ||
	    ended_decode(frame->payload, &ended) < 0 || (!leader && !is_sound(t, &ended))) {
		return -EPROTO;
	}
	if (leader) {
		ended.rank = rank;
		ended.host = kept->host;
	}
	if (leader && ended.why == END_FAILED && !ended.status) {
		kept->leaves = true;
		t->n_left++;
		kept->well = ended.again != AGAIN_TOLD;
		if (kept->well && t->observer.again) {
			// It had not heard yet that all start again.
			quit(t, well_text(t));
		}
	} else if (frame->type == FRAME_ENDED && !leader && t->max_restarts && ended.again == AGAIN_TOLD) {
		// Its replacement calls the roll.
		lose(t, kept, 0, "it was told to end");
	} else if (frame->type == FRAME_ENDED && !leader) {
		hang_up(t, kept);
	} else if (leader) {
		judge(t, &ended);
	} else {
		know(t, &ended);
	}
	return 0;
}

/** Read frames that have come from line @i; more wake us again. @over: nothing will follow them. */
static void read_line(struct together *t, uint32_t i, bool over) {
	struct kept_line *kept = &t->lines[i];
	unsigned char bytes[HELLO_MAX];
	struct frame frame;
	int r = 0;
	for (int n = 0; r == 0 && kept->line.fd >= 0; n++) {
		if (n == LINE_TURN) {
			line_watch(kept->line.fd, t->observer.fds[0].fd, EPOLL_CTL_MOD,
				   (epoll_data_t){.u64 = i});
			return;
		}
		r = line_take(&kept->line, bytes, sizeof(bytes), over, &frame);
		r = r < 0 ? r : take(t, kept, i, &frame);
	}
	if (r == -ETIMEDOUT || r == -EHOSTUNREACH || r == -ENETUNREACH) {
		lose_silent(t, kept, i, -r);
	} else if (r < 0 && r != -EAGAIN) {
		bool broken = r != -ENODATA && r != -EPROTO;
		lose(t, kept, i, broken ? strerror(-r) : "its connection has ended");
	}
}

/** How long we stay for the others. */
static uint64_t patience(const struct together *t) {
	return t->known ? CLOSE_MS : t->well ? t->linger_ms : WORD_MS;
}

/** Set what the loop waits for. */
static void set_waits(struct together *t) {
	struct observer *observer = &t->observer;
	observer->busy = t->observer.end && (t->open || t->settle_at != CLOCK_NEVER);
	if (observer->busy && t->leave_at == CLOCK_NEVER) {
		t->leave_at = clock_after(clock_now_ms(), patience(t));
	}
	observer->fds[1].fd = t->progress.look.fd;
	observer->due_at = clock_earlier(clock_earlier(t->leave_at, t->settle_at),
					 clock_earlier(t->workers.scan_at, t->progress.look_at));
}

/** Our own program has ended. */
static void handle_end(struct together *t) {
	struct observer *observer = &t->observer;
	const struct workload_end *end = observer->end;
	struct buf text = BUF(t->call->arena);
	watch_workers(t);
	workers_end(&t->workers);
	progress_end(&t->progress);
	// TERM that we or the manager sent is no failure.
	bool by_term = t->told && (end->killed_by == SIGTERM || end->exit_status == 128 + SIGTERM);
	bool fails = t->always && end->early;
	t->well = end->raw == 0 && !fails;
	int status = by_term ? 0 : fails ? 1 : end->raw;
	if (observer->again || t->quits) {
		return;
	}
	if (observer->status) {
		buf_putf(&text, "ended because %s, %s ago", t->first,
			 duration_text(clock_now_ms() - t->first_at).s);
		observer->words = buf_text(&text);
		observer->last_words = true;
	} else if (!t->known && (t->call->rank || status)) {
		tell(t, END_FAILED, status, end->text);
		if (!status) {
			hang_up_all(t);
		}
	}
}

/** Handle what has come, and what is due. */
static void wake(struct together *t) {
	struct epoll_event events[64];
	int n = epoll_wait(t->observer.fds[0].fd, events, 64, 0);
	for (int i = 0; i < n; i++) {
		uint64_t which = events[i].data.u64;
		if (which & WORKERS_BIT) {
			workers_ready(&t->workers, (uint32_t)which, clock_now_ms());
		} else {
			read_line(t, (uint32_t)which, events[i].events & ~(unsigned)EPOLLIN);
		}
	}
	if (!t->observer.end) {
		watch_workers(t);
	}
	if (progress_step(&t->progress)) {
		tell_progress(t);
	}
	if (t->progress.warning.text[0] && !t->observer.words) {
		t->observer.words = arena_format(t->call->arena, "%s", t->progress.warning.text);
		t->observer.last_words = false;
		t->progress.warning.text[0] = '\0';
	}
	uint64_t now = clock_now_ms();
	// Who leaves tells the others first what it knows.
	if (t->settle_at != CLOCK_NEVER && now >= clock_earlier(t->settle_at, t->leave_at)) {
		settle(t);
	}
	if (now >= t->leave_at) {
		t->leave_at = CLOCK_NEVER;
		if (t->known || t->call->rank) {
			hang_up_all(t);
		} else {
			// The others go on without us, and close. Nothing of that matters any more.
			send_ended(t, FRAME_ENDED,
				   &(struct ended){.host = STR(""),
						   .text = STR(""),
						   .again = (uint8_t)own_final(t),
						   .then = STR("")});
			t->known = true;
		}
	}
}

/** TERM has come. Returns whether it is dropped: the program got one, and is on its way. */
static bool drop_term(struct together *t) {
	if (!t->told && !t->known) {
		return false;
	}
	if (!t->observer.end && !t->told) {
		// The program was told to end because of another, and now we are told to: its status is its own.
		t->told = true;
		t->observer.status = 0;
	}
	return true;
}

/** Returns whether the event is dropped. */
static bool handle(struct together *t, enum init_event event, int a, int b) {
	switch (event) {
	case EVENT_CHILD:
		prlimit(0, RLIMIT_NOFILE, &t->files, NULL);
		break;
	case EVENT_STARTED:
		t->begun = clock_now_ms();
		progress_begin(&t->progress);
		if (!is_alone(t) || t->by_workers) {
			workers_begin(&t->workers, t->observer.fds[0].fd, a);
		}
		break;
	case EVENT_SIGNAL:
		if (t->observer.again && (a == SIGTERM || a == SIGINT) && !was_ignored(a)) {
			// The program was told to end already, or has ended.
			quit(t, t->relays ? arena_format(t->call->arena, "SIG%s", signal_name(a).s) : NULL);
			t->observer.status = 128 + a;
			// What it left behind has no more time.
			return !t->observer.end;
		}
		if (a == SIGTERM && !is_alone(t) && drop_term(t)) {
			return true;
		}
		if (t->observer.end && (a == SIGTERM || a == SIGINT)) {
			t->leave_at = 0;
		}
		break;
	case EVENT_FORWARDED:
		if (a == SIGTERM && b && !t->known) {
			t->told = true;
			if (t->relays && !is_alone(t)) {
				tell(t, END_TOLD, 0, "SIGTERM");
			}
		}
		break;
	case EVENT_ENDED:
		handle_end(t);
		break;
	case EVENT_WAKE:
		wake(t);
		break;
	case EVENT_REAPED:
		break;
	}
	return false;
}

static bool on_event(struct observer *observer, enum init_event event, int a, int b) {
	struct together *t = of(observer);
	if (handle(t, event, a, b)) {
		return true;
	}
	set_waits(t);
	return observe(t->next, event, a, b);
}

/** The connections may be more than the soft limit allows, and we open files, too. */
static void raise_limit(struct together *t) {
	prlimit(0, RLIMIT_NOFILE, NULL, &t->files);
	const struct rlimit most = {t->files.rlim_max, t->files.rlim_max};
	prlimit(0, RLIMIT_NOFILE, &most, NULL);
}

/** Watch line @i. Returns 0; or -1 with errno. */
static int watch_line(struct together *t, uint32_t i) {
	struct observer *observer = &t->observer;
	int fd = t->lines[i].line.fd;
	if (fd < 0) {
		t->open--;
		lose(t, &t->lines[i], i, "it did not hear the start");
		observer->due_at = t->leave_at = 0;
		return 0;
	}
	stream_keep(fd);
	observer->connected = true;
	observer->kept = fd > observer->kept ? fd : observer->kept;
	return line_watch(fd, observer->fds[0].fd, EPOLL_CTL_ADD, (epoll_data_t){.u64 = i});
}

int together_begin(struct together *t, const struct roll_call *call, const struct roll_end *end,
		   struct err *err) {
	const uint32_t first = call->rank == 0;
	memset((char *)t + offsetof(struct together, call), 0, sizeof(*t) - offsetof(struct together, call));
	t->call = call;
	t->lines = end->lines;
	t->n = first ? call->size : 1;
	t->open = t->n - first;
	t->observer = (struct observer)OBSERVER_NONE;
	t->observer.event = on_event;
	t->observer.fds[0].events = t->observer.fds[1].events = POLLIN;
	t->progress.look.fd = -1;
	t->settle_at = t->leave_at = t->workers.scan_at = t->progress.look_at = CLOCK_NEVER;
	raise_limit(t);
	int r = epoll_create1(EPOLL_CLOEXEC);
	t->observer.fds[0].fd = r;
	// The coordinator has none to itself.
	for (uint32_t i = first; r >= 0 && i < t->n; i++) {
		r = watch_line(t, i);
	}
	return r >= 0 ? 0 : err_set(err, errno, "roll call: cannot watch connections: %s", strerror(errno));
}

void together_end(struct together *t) {
	if (t->lines) {
		hang_up_all(t);
		workers_end(&t->workers);
		close(t->observer.fds[0].fd);
		prlimit(0, RLIMIT_NOFILE, &t->files, NULL);
		t->lines = NULL;
	}
}

void together_json(const struct ended *first, struct json *json) {
	static const char *const words[] = {"failed", "lost", "told", "stale"};
	json_text(json, "why", words[first->why]);
	json_number(json, "rank", first->rank);
	roll_put_host(json, first->host);
	json_number(json, "status",
		    first->why == END_FAILED || first->why == END_STALE ? first->status : UINT32_MAX);
	json_text(json, "text", arena_text(json->out->arena, first->text.p, first->text.len));
}
