// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * The report (--report): a file that gets one line of JSON for each event of a run. docs/report.md
 * is its contract, docs/report.schema.json its schema.
 *
 *     struct report_line line;
 *     struct json *json = report_begin(&report, &line, "signal");
 *     json_number(json, "pid", pid);          // the members of the event's own object
 *     if (report_end(&report, &line, &err) < 0) ...    // a warning, never a failure of the job
 *
 * Each line is appended by one write(), so that lines of several processes do not mix. The file is
 * opened for each line: no descriptor stays open while the workload runs, and no memory either.
 */

#include "access/access.h"
#include "base/err.h"
#include "base/json_write.h"

#include <stdbool.h>
#include <stdint.h>

struct report {
	/** An absolute path; NULL: no report is wanted. */
	const char *path;
	/** The option or variable, for messages: "--report". */
	const char *label;
	/** Whose rights open it. */
	struct access *access;
	/** Who reports. UINT32_MAX and NULL: not known. */
	uint32_t node_rank;
	uint32_t rank;
	const char *job_id;
	/** An error was returned. Later ones are not: one warning is enough. */
	bool failed;
	/** A part of a line was written. The next line must not continue it. */
	bool torn;
	/** Called when there is no memory for a line, as that of the arena of report_open(). */
	void (*full)(size_t size);
	/** Memory for the lines, from report_reserve(); NULL: a line has its own, and asks for more. */
	char *memory;
	size_t size;
};

/** A line under construction. It needs no clean-up if report_end() is called. */
struct report_line {
	struct arena arena;
	struct buf text;
	struct json json;
	_Alignas(16) char memory[1536];
};

/** Report to @file, by the program's rights; relative paths are below the current folder. Opened later. */
void report_open(struct report *report, struct arena *arena, struct access *access,
		 const struct setting *file);

/** Get the memory for all lines on @program's run now: a PID 1 must not fail for lack of it later. */
void report_reserve(struct report *report, struct arena *arena, const char *program);

/** Begin the line of @event, now, with what all lines have, and the object @event, for the caller to fill. */
struct json *report_begin(const struct report *report, struct report_line *line, const char *event);

/** Add the member "time": @ms, since 1970 in UTC, in the form of RFC 3339. */
void report_put_time(struct json *json, uint64_t ms);

/** Report that @program has started as @pid, or is about to; @init: and that distinit stays. */
int report_started(struct report *report, const char *program, uint32_t pid, bool init, struct err *err);

/**
 * Append the line to the file, which is made with mode 0644 if it does not exist. It never waits
 * for a reader of a FIFO.
 * Returns 0; the negative errno of the first failure. Later failures return 0.
 */
int report_end(struct report *report, struct report_line *line, struct err *err);
