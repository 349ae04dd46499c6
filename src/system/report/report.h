// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * The report (--report): a file to which each event of a run appends one line of JSON. docs/report.md is
 * its contract, docs/report.schema.json its schema.
 *
 *     struct report_line line;
 *     struct json *json = report_begin(&report, &line, "signal");
 *     json_number(json, "pid", pid);          // a member of the event's object
 *     if (report_end(&report, &line, &err) < 0) ...    // a warning, never a failure of the job
 *
 * Each line is appended by one write(), so that lines of several processes do not mix. The file is
 * opened for each line, so that no descriptor stays open while the workload runs.
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
	/** The rights that open the file. */
	struct access *access;
	/** The members of each line that identify this process; UINT32_MAX or NULL: not known. */
	uint32_t node_rank;
	uint32_t rank;
	const char *job_id;
	/** report_end() has returned an error. It returns no second one, because one warning is enough. */
	bool failed;
	/** Only a part of the last line was written, so the next one begins with a line break. */
	bool torn;
	/** Called if there is no memory for a line: the function of report_open()'s arena. */
	void (*full)(size_t size);
	/**
	 * Memory for the lines, from report_reserve(), in bytes; NULL: each line uses its own, and allocates
	 * more.
	 */
	char *memory;
	size_t size;
};

/** A line under construction. report_end() cleans it up. */
struct report_line {
	struct arena arena;
	struct buf text;
	struct json json;
	_Alignas(16) char memory[1536];
};

/**
 * Fill @report for @file, which each line will open with the workload's rights. A relative path is made
 * absolute.
 */
void report_open(struct report *report, struct arena *arena, struct access *access,
		 const struct setting *file);

/**
 * Allocate the memory for all lines about @program's run now, so that a PID 1 does not fail for lack of it
 * later.
 */
void report_reserve(struct report *report, struct arena *arena, const char *program);

/**
 * Begin a line: write the members that all lines have, with the time now, and open the object @event for the
 * caller.
 */
struct json *report_begin(const struct report *report, struct report_line *line, const char *event);

/** Add the member "time" in the form of RFC 3339. @ms: milliseconds since 1970, UTC. */
void report_put_time(struct json *json, uint64_t ms);

/** Report that @program has started as @pid, or is about to start. @init: distinit stays as its parent. */
int report_started(struct report *report, const char *program, uint32_t pid, bool init, struct err *err);

/**
 * Append the line to the file. If the file does not exist, make it with mode 0644. Never waits for the
 * reader of a FIFO.
 * Returns 0; or a negative errno at the first failure. Later failures return 0.
 */
int report_end(struct report *report, struct report_line *line, struct err *err);
