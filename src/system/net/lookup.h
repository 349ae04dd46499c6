// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Resolves a host name to addresses, with a deadline. */

#include "net/address.h"
#include "net/watch.h"

/** More addresses than any host has. Further ones are ignored. */
#define ADDRESSES_MAX 16

struct addresses {
	uint32_t n;
	struct address at[ADDRESSES_MAX];
};

/**
 * Look @host up, and store its addresses, with @port, in *@out.
 *
 * If a name server does not answer, the C library's resolver blocks for seconds, ignores our
 * deadline, and cannot be stopped. So it runs in a child, which is killed at the deadline or on a
 * signal. An address needs neither a child nor the resolver.
 *
 * Returns 0; -EAGAIN if the name does not resolve (yet) or the deadline passed, with
 * @watch->failure set, whose code is ENOENT for a name that does not resolve; -EINTR if a signal came.
 */
int lookup(struct watch *watch, const char *host, uint16_t port, struct addresses *out);

/**
 * Look @host up outside of a wait, without a deadline. An address needs no system call.
 *
 * Returns 0; -EAGAIN if the name does not resolve, with the reason in @err, whose code is ENOENT if the name
 * does not exist; -EINTR if a signal came: then *@signal is that signal, which the kernel does not deliver
 * again.
 */
int lookup_now(const char *host, uint16_t port, struct addresses *out, int *signal, struct err *err);

/** One child looks up at most so many names. */
#define LOOKUPS_MAX 8

/** The result for one name. */
struct lookup_answer {
	/** The result of getaddrinfo(). */
	int code;
	/** errno, if @code is EAI_SYSTEM. */
	int error;
	struct addresses addresses;
};

/** A child that looks names up, one after the other, while the caller does something else. */
struct lookups {
	/** A pipe with the child's answers; -1: there is no child. */
	int fd;
	pid_t pid;
	/** SIGCHLD was ignored before, and is ignored again after lookups_end(). */
	bool ignored;
};

/** Start looking up the @n @names, for @port. Returns 0; a negative errno. */
int lookups_begin(struct lookups *lookups, const char *const names[], uint32_t n, uint16_t port);

/**
 * Read the next answer. @lookups->fd is readable if there is one. Returns 1; 0 if the child has ended;
 * -EBADMSG if the answer is invalid, because a name server has taken the child over.
 */
int lookups_read(const struct lookups *lookups, struct lookup_answer *answer);

/** Kill the child, if there is one. */
void lookups_end(struct lookups *lookups);

enum lookup_fault {
	LOOKUP_FOUND,
	/** The name does not resolve. */
	LOOKUP_NO_NAME,
	LOOKUP_NO_ADDRESS,
	LOOKUP_NO_SERVER,
	LOOKUP_FAILED,
};

/** Why @answer has no address; LOOKUP_FOUND: it has one. */
enum lookup_fault lookup_fault(const struct lookup_answer *answer);

/** Why @answer has no address: a clause; NULL: it has one. */
const char *lookup_why_not(const struct lookup_answer *answer);
