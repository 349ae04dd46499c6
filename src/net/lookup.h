// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Resolves a host name to addresses, with a deadline. */

#include "base/str.h"
#include "net/watch.h"

#include <netinet/in.h>

/** More than any host has; further addresses are ignored. */
#define ADDRESSES_MAX 16

struct address {
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	};
	socklen_t len;
};

struct addresses {
	uint32_t n;
	struct address at[ADDRESSES_MAX];
};

/** The longest text of an address, with a NUL. */
#define ADDRESS_TEXT INET6_ADDRSTRLEN

/** Write @address, without its port, into @text. */
void address_text(const struct address *address, char text[ADDRESS_TEXT]);

/** The bytes of @address, without its port. */
struct str address_bytes(const struct address *address);

/** Set the port of @address, in host byte order. */
void address_set_port(struct address *address, uint16_t port);

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

/** The most names that one child looks up. */
#define LOOKUPS_MAX 8

/** What became of one name. */
struct lookup_answer {
	/** The result of getaddrinfo(), and errno if that is EAI_SYSTEM. */
	int code;
	int error;
	struct addresses addresses;
};

/** A child that looks names up, one after the other, while the caller does something else. */
struct lookups {
	/** Its answers; -1: there is no child. */
	int fd;
	pid_t pid;
	/** SIGCHLD is ignored otherwise. */
	bool ignored;
};

/** Start looking up the @n @names, for @port. Returns 0; a negative errno. */
int lookups_begin(struct lookups *lookups, const char *const names[], uint32_t n, uint16_t port);

/**
 * Read the next answer. @lookups->fd is ready for reading if there is one. Returns 1; 0 if the child
 * has ended; -EBADMSG if it sent an invalid answer, as it handles data from a name server.
 */
int lookups_read(const struct lookups *lookups, struct lookup_answer *answer);

/** Terminate the child, if there is one. */
void lookups_end(struct lookups *lookups);

enum lookup_fault {
	LOOKUP_FOUND,
	/** The name does not resolve. */
	LOOKUP_NO_NAME,
	LOOKUP_NO_ADDRESS,
	LOOKUP_NO_SERVER,
	LOOKUP_FAILED,
};

/** Why a name has no address. */
enum lookup_fault lookup_fault(const struct lookup_answer *answer);

/** The same as a clause; NULL: it has one. */
const char *lookup_why_not(const struct lookup_answer *answer);
