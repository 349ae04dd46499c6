// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * What a roll call sends. All numbers are little-endian.
 *
 *     coordinator    greeting    32 bytes, the same for everybody but for its nonce
 *     member         MEET        32 bytes: a nonce, and the proof that it knows the job's key
 *     coordinator    PROOF       the first frame
 *     member         HELLO       all that is known of it; then frames both ways
 *
 * A frame is
 *
 *     u16 length of the whole frame | u8 type | u8 version | sealed payload | 16 bytes tag
 *
 * Nothing here allocates memory or makes a system call. Decoding keeps texts as slices of the frame.
 */

#include "node/facts.h"
#include "wire/key.h"

#define ROLL_VERSION 4

/** The first bytes of a greeting. */
#define GREETING_MAGIC "DISTROLL"

/** In front of the payload. */
#define FRAME_HEAD 4

/** A frame without a payload, and the longest one. */
#define FRAME_MIN (FRAME_HEAD + TAG_BYTES)
#define FRAME_MAX 16384

/** The longest frame but FACTS: longer ones are rejected. */
#define HELLO_MAX 1024

/** What a member sends first: its nonce and its proof. */
#define MEET_BYTES (NONCE_BYTES + TAG_BYTES)

/** The longest sentence of a NO. */
#define NO_TEXT_MAX 900

/** The most absentees that a WAIT names. */
#define WAIT_NAMES 8

enum frame_type {
	FRAME_HELLO = 1,
	FRAME_FACTS = 2,
	/** Before GO: it ends, and does not wait for GO any more. */
	FRAME_BYE = 3,
	/** After the start: how the program of a member ended, or the coordinator leaves. */
	FRAME_ENDED = 4,
	/** A process that its program started has failed; or others were started since. */
	FRAME_DIED = 5,
	/** It has read GO, and closes the connection. Not sent if the connections stay. */
	FRAME_HEARD = 6,
	FRAME_WAIT = 16,
	FRAME_TELL = 17,
	FRAME_GO = 18,
	FRAME_NO = 19,
	/** The coordinator knows the job's key, too. */
	FRAME_PROOF = 20,
	/** Who was first: all end. */
	FRAME_END = 21,
};

/** In GO: the connections stay. */
#define GO_STAY 1

/** Why nothing is started. */
enum no_kind {
	NO_DEADLINE = 1,
	NO_DISAGREEMENT,
	NO_DUPLICATE,
	NO_SIGNAL,
	NO_ERROR,
	/** All were to start again, and one was told to end. */
	NO_TOLD,
	/** A newer process has this rank. */
	NO_REPLACED,
};

/** Why a member does not wait for GO any more. */
enum bye_why {
	BYE_SIGNAL = 1,
	/** Its time is over. */
	BYE_DEADLINE,
};

/** What made all end. */
enum end_why {
	END_FAILED,
	END_LOST,
	/** It got TERM. */
	END_TOLD,
	/** Its program hangs. */
	END_STALE,
};

/** Whether the programs start again after an END, or why not. In ENDED: why this end is final. */
enum again {
	/** Nobody asked for it; in ENDED: nothing is against it. */
	AGAIN_OFF,
	AGAIN_YES,
	/** A node was told to end. */
	AGAIN_TOLD,
	/** The time limit is used up. */
	AGAIN_LIMIT,
	/** A command that cannot be run. */
	AGAIN_MISTAKE,
	AGAIN_USED_UP,
	AGAIN_ENDED_WELL,
};

/** The payload of ENDED and END. */
struct ended {
	/** enum end_why. */
	uint8_t why;
	/** The exit status. */
	uint8_t status;
	uint32_t rank;
	/** Its host, empty if that is not known; how it ended. */
	struct str host;
	struct str text;
	/** enum again; the pause before that start; and what follows, as a clause. */
	uint8_t again;
	uint32_t pause_ms;
	struct str then;
};

/** The longest text of DIED. */
#define DIED_TEXT_MAX 200

struct died {
	/** How long before it was sent, in ms. */
	uint32_t ago_ms;
	/** As an exit status; 0: forget what was sent before, as new ones were started. */
	uint8_t status;
	/**
	 * 1: none has died. From a member, when its program made progress. From the coordinator: tell
	 * that.
	 */
	uint8_t stale;
	/** "process 77 (python3) was killed by SIGKILL" */
	struct str text;
};

/** Its length, and where its versions are, is the same in all versions: so each can name the other's. */
struct greeting {
	uint8_t lowest, highest;
	/** Until the coordinator gives up; UINT32_MAX: never. */
	uint32_t seconds;
	unsigned char nonce[NONCE_BYTES];
};

/** Whether a member can start its program. If one cannot, nobody starts. */
enum able {
	ABLE,
	/** Something is wrong with it: the program is missing, a check failed. */
	ABLE_NOT,
	/** All were to start again, and it was asked to end. */
	ABLE_ASKED_TO_END,
};

/** All that is known of a member: the coordinator decides by this one frame. */
struct hello {
	/** Less than @size. */
	uint32_t rank;
	uint32_t size;
	/** The starts that this process has taken part in. */
	uint32_t starts;
	/** Random, for each process. */
	uint64_t incarnation;
	/** Milliseconds since 1970. */
	uint64_t clock_ms;
	/** Until it gives up. */
	uint32_t left_ms;
	/** Of each group of facts. */
	uint64_t digest[N_FACT_GROUPS];
	/** enum able, and why not: a clause; empty if it is able. */
	uint8_t able;
	struct str why_not;
	/** Its host as the list of hosts has it, or empty; its own name. */
	struct str host;
	struct str node;
};

struct wait_news {
	uint32_t present;
	uint32_t size;
	uint32_t since_ms;
	uint32_t left_ms;
	uint32_t absent;
	/** The first absentees, at most WAIT_NAMES. */
	uint32_t n;
	struct {
		uint32_t rank;
		struct str host;
	} at[WAIT_NAMES];
};

struct go {
	uint16_t port;
	uint8_t flags;
	/** The number of this start: the most starts that a member has taken part in. */
	uint32_t start;
	uint32_t took_ms;
};

struct no {
	enum no_kind kind;
	struct str text;
};

/** Write the greeting. */
void greeting_encode(const struct greeting *greeting, unsigned char out[GREETING_BYTES]);

/** Read it. Returns 0; -EPROTO if these bytes are something else. */
int greeting_decode(const unsigned char bytes[GREETING_BYTES], struct greeting *out);

/**
 * Write a payload of at most HELLO_MAX bytes to @out, and return its length. Texts of more than 255
 * bytes are cut.
 */
size_t proof_encode(uint16_t port, unsigned char *out);
size_t hello_encode(const struct hello *hello, unsigned char *out);
size_t wait_encode(const struct wait_news *news, unsigned char *out);
size_t go_encode(const struct go *go, unsigned char *out);
size_t no_encode(const struct no *no, unsigned char *out);
size_t bye_encode(enum bye_why why, unsigned char *out);
size_t ended_encode(const struct ended *ended, unsigned char *out);
size_t died_encode(const struct died *died, unsigned char *out);

/** Read a payload. Returns 0; -EPROTO if it is malformed: *@out is then undefined. */
int proof_decode(struct str payload, uint16_t *port);
int hello_decode(struct str payload, struct hello *out);
int wait_decode(struct str payload, struct wait_news *out);
int go_decode(struct str payload, struct go *out);
int no_decode(struct str payload, struct no *out);
int bye_decode(struct str payload, enum bye_why *out);
int ended_decode(struct str payload, struct ended *out);
int died_decode(struct str payload, struct died *out);

/**
 * The length of the frame that begins with the @n bytes at @bytes; 0 if it is not known yet;
 * -EPROTO if it is below FRAME_MIN or above @max.
 */
int frame_length(const unsigned char *bytes, size_t n, size_t max);

/**
 * Whether @bytes, the first @n of a connection, are those of a client of PyTorch's store: the kind
 * of a query (a byte that older ones leave out) and a magic number; or, before PyTorch 2, the kind
 * of a query and the key "init/". Returns 1: yes; 0: they may become so; -1: no.
 */
int torch_like(const unsigned char *bytes, size_t n);
