// SPDX-License-Identifier: Apache-2.0

#include "together/progress.h"

#include "base/clock.h"
#include "base/duration.h"
#include "base/entries.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

/** How often it is looked at the files in the time allowed, and how often at most, in ms. */
#define LOOKS	    10
#define LOOK_MIN_MS 1000

int progress_read(struct arena *arena, const char *label, const char *value, struct progress *out,
		  struct err *err) {
	const char *colon = strrchr(value, ':');
	if (!colon || duration_read(str_of(colon + 1), &out->allowed_ms) < 0 || !out->allowed_ms) {
		return err_set(err, EINVAL,
			       "%s=%s: expected FILE:DURATION, with more than 0 such as /ckpt/log:30m", label,
			       quote_text(value).s);
	}
	return pattern_read(arena, label, (struct str){value, (size_t)(colon - value)}, "/ckpt/log*:30m",
			    &out->files, err);
}

/** The newest time of the files, in ns; 0: there are none. */
static uint64_t find_newest(const struct pattern *files) {
	char path[4096];
	struct stat info;
	uint64_t newest = 0;
	struct entries all = {.fd = -1};
	const bool wild = str_find(files->name, '*') < files->name.len;
	if (wild) {
		entries_open(&all, files->folder);
	}
	for (const char *name = wild ? entries_next(&all) : files->name.p; name;
	     name = wild ? entries_next(&all) : NULL) {
		if (!pattern_matches(files, name)) {
			continue;
		}
		snprintf(path, sizeof(path), "%s/%s", files->folder, name);
		if (stat(path, &info) == 0) {
			uint64_t at =
				(uint64_t)info.st_mtim.tv_sec * 1000000000 + (uint64_t)info.st_mtim.tv_nsec;
			newest = at > newest ? at : newest;
		}
	}
	return newest;
}

/** Choose when to look next: at the end of the time allowed at the latest. */
static void set_next(struct progress *p) {
	const uint64_t every = p->allowed_ms / LOOKS, allowed = p->allowed_ms * (p->written ? 1 : 2);
	const uint64_t next = clock_earlier(p->looked_at + every, clock_after(p->written_at, allowed));
	p->look_at = next > p->looked_at + LOOK_MIN_MS ? next : p->looked_at + LOOK_MIN_MS;
}

void progress_begin(struct progress *p) {
	if (!p->files.text) {
		p->look_at = CLOCK_NEVER;
		return;
	}
	p->looked_at = p->written_at = clock_now_ms();
	p->written = false;
	p->newest = find_newest(&p->files);
	set_next(p);
}

bool progress_look(struct progress *p) {
	const uint64_t now = clock_now_ms(), newest = find_newest(&p->files);
	if (newest != p->newest) {
		// Between two looks, by the time of the file.
		const uint64_t wall = clock_wall_ms(), ago = clock_left(newest / 1000000, wall);
		p->written_at = ago < now - p->looked_at ? now - ago : p->looked_at;
		p->newest = newest;
		p->written = true;
	}
	p->looked_at = now;
	set_next(p);
	bool over = now >= clock_after(p->written_at, p->allowed_ms * (p->written ? 1 : 2));
	p->look_at = over ? CLOCK_NEVER : p->look_at;
	return over;
}

uint64_t progress_age(const struct progress *p) {
	return clock_now_ms() - p->written_at;
}

void progress_put(const struct progress *p, struct buf *out) {
	const uint64_t age = progress_age(p);
	buf_putf(out, "no progress for %s (", duration_text(clock_earlier(age, p->allowed_ms)).s);
	buf_put_plain(out, str_of(p->files.text));
	buf_putf(out, p->written ? " last written %s ago)" : " not written since the start %s ago)",
		 duration_text(age).s);
}
