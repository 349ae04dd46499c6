// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * What a node has to have (--expect), as its user states it: "gpus=8,shm>=64GiB,path=/ckpt". It is held against the facts of
 * this node. What it does not have is a finding, and no hint.
 */

#include "facts/findings.h"
#include "net/watch.h"

/** An expected name, and how its value is read: a row of the table in expect.c. */
struct expected;

struct expectation {
	/** As the user wrote it: "shm>=64GiB". */
	const char *text;
	const struct expected *what;
	/** '=', '>' for ">=", '<' for "<=". */
	char relation;
	/** The value, in the unit of the row; UINT64_MAX: unlimited. */
	uint64_t number;
	/** The value as text: a version, a folder. */
	const char *value;
	/** After expect_look(): what is there, and whether that is enough. */
	const char *have;
	bool met;
	/** Why it is not met, for a folder: "does not answer within 10s". NULL: `have` says it. */
	const char *why;
};

struct expectations {
	/** The option or variable that states them: "--expect". */
	const char *from;
	struct expectation *at;
	uint32_t n;
};

/** Names and forms, for a message and for the manual: "gpus=8, rdma>=8, ...". */
extern const char expect_forms[];

/**
 * Read @list: NAME, then =, >= or <=, then a value; several are joined by ','. Returns 0; -EINVAL.
 */
int expect_read(struct arena *arena, const char *from, const char *list, struct expectations *out,
		struct err *err);

/** The clock that may be so far off, in ms: the expectation, or NULL. Only a roll call can compare clocks. */
const struct expectation *expect_clock(const struct expectations *all);

/**
 * Look what is there. Folders are tried by children, all at once, with the program's rights, for at most @wait's time; who does
 * not answer is not waited for.
 *
 * Returns 0; -EINTR if a signal came: then *@signal is that signal; or another negative errno with @err, if nothing can be tried.
 */
int expect_look(struct expectations *all, const struct facts_from *from, const struct facts *facts,
		uint64_t timeout_ms, int *signal, struct err *err);

/** Add a finding for each expectation that is not met. Call this after expect_look(). */
void expect_check(const struct expectations *all, struct findings *out);
