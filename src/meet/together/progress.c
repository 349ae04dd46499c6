// SPDX-License-Identifier: Apache-2.0

#include "together/progress.h"

#include "base/clock.h"
#include "base/duration.h"

#include <errno.h>
#include <string.h>

/** The number of looks in the time allowed; and the shortest interval between two looks, in ms. */
#define LOOKS	    10
#define LOOK_MIN_MS 1000

int progress_read(struct arena *arena, const char *label, const char *value, struct progress *out,
		  struct err *err) {
	const char *colon = strrchr(value, ':');
	out->label = label;
	out->value = value;
	if (!colon || duration_read(str_of(colon + 1), &out->allowed_ms) < 0 || !out->allowed_ms) {
		return err_set(err, EINVAL,
			       "%s=%s: expected FILE:DURATION, longer than 0, such as /ckpt/log:30m", label,
			       quote_text(value).s);
	}
	return pattern_read(arena, label, (struct str){value, (size_t)(colon - value)}, "/ckpt/log*:30m",
			    &out->files, err);
}

/** The interval between two looks, in ms. */
static uint64_t interval(const struct progress *p) {
	return p->allowed_ms / LOOKS > LOOK_MIN_MS ? p->allowed_ms / LOOKS : LOOK_MIN_MS;
}

/** When the time allowed ends. */
static uint64_t end_of(const struct progress *p) {
	return clock_after(p->written_at, p->allowed_ms * (p->written ? 1 : 2));
}

/** When a look that was not answered counts as one that saw no progress. */
static uint64_t patience(const struct progress *p) {
	const uint64_t end = end_of(p);
	return clock_after(p->asked_at > end ? p->asked_at : end, interval(p));
}

/** Set when to call progress_step() if no answer comes before. */
static void set_next(struct progress *p, uint64_t now) {
	if (p->asked_at == CLOCK_NEVER) {
		const uint64_t next = clock_earlier(p->began_at + p->allowed_ms / LOOKS, end_of(p));
		p->look_at = next > p->began_at + LOOK_MIN_MS ? next : p->began_at + LOOK_MIN_MS;
	} else {
		// After -EBUSY: poll() does not report the end of the earlier child, so try again after an
		// interval.
		p->look_at = clock_earlier(patience(p), p->look.fd >= 0 ? CLOCK_NEVER : now + interval(p));
	}
}

/** Begin a look. If that fails, wait for the earlier child, or warn once. */
static void begin_look(struct progress *p, uint64_t now) {
	const int r = look_begin(&p->look, &p->files);
	if (r == 0 || p->asked_at == CLOCK_NEVER) {
		p->began_at = now;
		p->asked_at = r == 0 || r == -EBUSY ? now : CLOCK_NEVER;
	}
	if (r < 0 && r != -EBUSY && !p->warned) {
		p->warned = true;
		err_set(&p->warning, -r, "%s=%s: the files cannot be looked at: %s; trying again", p->label,
			quote_text(p->value).s, strerror(-r));
	}
}

void progress_begin(struct progress *p) {
	p->look_at = p->asked_at = CLOCK_NEVER;
	if (!p->files.text) {
		return;
	}
	const uint64_t now = clock_now_ms();
	p->looked_at = p->written_at = now;
	p->written = p->changed = p->answered = p->warned = false;
	begin_look(p, now);
	set_next(p, now);
}

/**
 * Handle the first answer after the program's start: it has the files that existed before, so they are no
 * progress.
 */
static void take_first(struct progress *p, const struct look_answer *answer) {
	p->answered = true;
	p->changed = p->seen && answer->n_changed;
	p->seen = true;
	if (answer->error == ENOENT || answer->error == ENOTDIR) {
		err_set(&p->warning, answer->error,
			"%s=%s: there is no folder %s; without it, and a file that is written there, the "
			"command is ended in %s",
			p->label, quote_text(p->value).s, quote_text(p->files.folder).s,
			duration_text(p->allowed_ms * 2).s);
	} else if (answer->error) {
		err_set(&p->warning, answer->error, "%s=%s: the folder %s cannot be looked at: %s", p->label,
			quote_text(p->value).s, quote_text(p->files.folder).s, strerror(answer->error));
	}
}

/** Handle the answer of the look that began at `began_at`. Returns whether the time allowed was over then. */
static bool take_answer(struct progress *p, const struct look_answer *answer, uint64_t now) {
	if (!p->answered) {
		take_first(p, answer);
	} else if (answer->n_changed) {
		// The write was after the last look. If the file's time is plausible, it says when.
		const uint64_t ago =
			answer->newest ? clock_left(answer->newest / 1000000, clock_wall_ms()) : 0;
		p->written_at = ago < now - p->looked_at ? now - ago : p->looked_at;
		p->written = p->changed = true;
	}
	p->looked_at = p->began_at;
	return p->began_at >= end_of(p);
}

bool progress_step(struct progress *p) {
	const uint64_t now = clock_now_ms();
	struct look_answer answer;
	bool is_over = false;
	if (p->look_at == CLOCK_NEVER) {
		return false;
	}
	const int r = p->look.fd >= 0 ? look_read(&p->look, &answer) : -EAGAIN;
	if (r >= 0) {
		// If the child was killed (0), there is no answer, and another look begins.
		p->asked_at = CLOCK_NEVER;
		is_over = r > 0 && take_answer(p, &answer, now);
		set_next(p, now);
	}
	if (!is_over && p->look.fd < 0 && now >= p->look_at) {
		begin_look(p, now);
	}
	is_over |= p->asked_at != CLOCK_NEVER && now >= patience(p);
	if (is_over) {
		progress_end(p);
	} else {
		set_next(p, now);
	}
	return is_over;
}

void progress_end(struct progress *p) {
	look_end(&p->look);
	p->look_at = CLOCK_NEVER;
}

uint64_t progress_age(const struct progress *p) {
	return clock_now_ms() - p->written_at;
}

void progress_put(const struct progress *p, struct buf *out) {
	const uint64_t now = clock_now_ms(), age = progress_age(p);
	buf_putf(out, "no progress for %s (", duration_text(clock_earlier(age, p->allowed_ms)).s);
	buf_put_plain(out, str_of(p->files.text));
	if (p->asked_at != CLOCK_NEVER && now >= clock_after(p->asked_at, interval(p))) {
		buf_putf(out, " does not answer, for %s now;", duration_text(now - p->asked_at).s);
	}
	buf_putf(out, p->written ? " last written %s ago)" : " not written since the start %s ago)",
		 duration_text(age).s);
}
