// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * The wire format of the roll call. All numbers are little-endian.
 *
 *     coordinator    greeting    32 bytes: the versions, the time left, a nonce for this connection
 *     member         MEET        32 bytes: a nonce, and the proof that the member has the job's key
 *     coordinator    PROOF       the first frame
 *     member         HELLO       the member describes itself; then both sides send frames
 *
 * A frame is
 *
 *     u16 length of the whole frame | u8 type | u8 version | sealed payload | 16 bytes tag
 *
 * Nothing here allocates memory or makes a system call. Decoded texts are slices of the frame.
 */

#include "facts/facts.h"
#include "wire/key.h"

#define ROLL_VERSION 4

/** The first bytes of a greeting. */
#define GREETING_MAGIC "DISTROLL"

/** The bytes of a frame before its payload. */
#define FRAME_HEAD 4

/** The bytes of a frame without a payload, and of the longest frame. */
#define FRAME_MIN (FRAME_HEAD + TAG_BYTES)
#define FRAME_MAX 16384

/** The longest frame of each type except FACTS, in bytes. Longer frames are rejected. */
#define HELLO_MAX 1024

/** The bytes of MEET: a nonce and a proof. */
#define MEET_BYTES (NONCE_BYTES + TAG_BYTES)

/** The longest text of a NO, in bytes. */
#define NO_TEXT_MAX 900

/** A WAIT names at most so many absentees. */
#define WAIT_NAMES 8

enum frame_type {
	FRAME_HELLO = 1,
	FRAME_FACTS = 2,
	/** Before GO: the member does not wait for GO any more, and exits. */
	FRAME_BYE = 3,
	/**
	 * After the start: the member's program has ended, or the coordinator does not take part any more.
	 */
	FRAME_ENDED = 4,
	/**
	 * A process that the program started has failed, or the program has started new ones; or progress.
	 */
	FRAME_DIED = 5,
	/** The member has read GO, and closes the connection. Not sent if the connections stay. */
	FRAME_HEARD = 6,
	/** How many members are present, and which are absent. */
	FRAME_WAIT = 16,
	/** Asks for the facts of a group; its payload is the group. The answer is FACTS. */
	FRAME_ASK = 17,
	FRAME_GO = 18,
	FRAME_NO = 19,
	/** The coordinator proves that it has the job's key, too. */
	FRAME_PROOF = 20,
	/** Names the member that failed first: all members end their programs. */
	FRAME_END = 21,
};

/** A flag of GO: the connections stay open after the start. */
#define GO_STAY 1

/** Why nothing is started. */
enum no_kind {
	NO_DEADLINE = 1,
	NO_DISAGREEMENT,
	NO_DUPLICATE,
	NO_SIGNAL,
	NO_ERROR,
	/** Before a restart, a member was asked to end. */
	NO_ASKED_TO_END,
	/** A newer process has this rank. */
	NO_REPLACED,
};

/** Why a member does not wait for GO any more. */
enum bye_why {
	BYE_SIGNAL = 1,
	/** The member's time is over. */
	BYE_DEADLINE,
};

/** Why all programs are ended: what happened to the member that was first. */
enum end_why {
	END_FAILED,
	/** The connection to the member broke. */
	END_LOST,
	/** The member got TERM. */
	END_ASKED_TO_END,
	/** The member's program hangs. */
	END_NO_PROGRESS,
};

/** In END: whether the programs start again, or why not. In ENDED: why a restart is not allowed. */
enum again {
	/** END: restarts are off. ENDED: a restart is allowed. */
	AGAIN_OFF,
	AGAIN_YES,
	/** A node was asked to end. */
	AGAIN_ASKED_TO_END,
	/** The time limit is reached. */
	AGAIN_LIMIT,
	/** The exit status says that the command cannot be run. */
	AGAIN_MISTAKE,
	/** All restarts are used. */
	AGAIN_USED_UP,
	/** A program has ended with 0. */
	AGAIN_ENDED_WELL,
	/** --no-restart has the exit status. */
	AGAIN_FINAL,
	/** In several starts in a row, the programs wrote no file of --progress. */
	AGAIN_IDLE,
};

/** The payload of ENDED and END. */
struct ended {
	/** enum end_why. */
	uint8_t why;
	/** The exit status of the program. */
	uint8_t status;
	/** The member. */
	uint32_t rank;
	/** The member's host; empty: not known. */
	struct str host;
	/** How its program ended: "exit status 1". */
	struct str text;
	/** enum again. */
	uint8_t again;
	/** END with AGAIN_YES: the pause before the next start. */
	uint32_t pause_ms;
	/** END: a clause on what follows: "restart 1 of 3 in 2s". */
	struct str then;
};

/** The longest text of DIED, in bytes. */
#define DIED_TEXT_MAX 200

/** What DIED reports while the program runs. */
enum died_what {
	/** A process of the program died. */
	DIED_PROCESS,
	/** Progress: a report (from a member), or a request for one (from the coordinator). */
	DIED_PROGRESS,
	/** The member has looked at the files of --progress, whose pattern is the text; and one was written in this start. */
	DIED_WATCHES,
	DIED_WROTE,
};

struct died {
	/** How long before the frame was sent the process died or the program made progress, in ms. */
	uint32_t ago_ms;
	/** The exit status. 0: withdraw the earlier report; the launcher started new workers. */
	uint8_t status;
	/** enum died_what. */
	uint8_t what;
	/** "process 77 (python3) was killed by SIGKILL" */
	struct str text;
};

/**
 * The greeting has the same length, and its versions the same offsets, in all versions of distinit. So each
 * side can name the other's version in a message.
 */
struct greeting {
	uint8_t lowest, highest;
	/** The time until the coordinator's deadline, in seconds; UINT32_MAX: there is none. */
	uint32_t seconds;
	unsigned char nonce[NONCE_BYTES];
};

/** Whether a member can start its program. If one member cannot, no member starts. */
enum able {
	ABLE,
	/** The program is missing, or a check failed. */
	ABLE_NOT,
	/** Before a restart, the member was asked to end. */
	ABLE_ASKED_TO_END,
};

/** A member describes itself. The coordinator needs no other frame to decide. */
struct hello {
	/** Less than @size. */
	uint32_t rank;
	uint32_t size;
	/** The number of starts that this process has taken part in. */
	uint32_t starts;
	/** A random number that identifies the process. */
	uint64_t incarnation;
	/** The member's clock: milliseconds since 1970. */
	uint64_t clock_ms;
	/** The time until the member's deadline. */
	uint32_t left_ms;
	/** The digests of the member's facts, by group. */
	uint64_t digest[N_FACT_GROUPS];
	/** enum able. */
	uint8_t able;
	/** Why the member is not able: a clause; empty if it is able. */
	struct str why_not;
	/** The member's host as in the list of hosts; empty: not known. */
	struct str host;
	/** The machine's own name. */
	struct str node;
};

struct wait_news {
	/** How many members are present, and how many there are. */
	uint32_t present;
	uint32_t size;
	/** The time since the coordinator began, and until its deadline; UINT32_MAX: at least so long. */
	uint32_t since_ms;
	uint32_t left_ms;
	/** How many members are absent. */
	uint32_t absent;
	/** The first @n absentees, at most WAIT_NAMES. */
	uint32_t n;
	struct {
		uint32_t rank;
		/** Empty: not known. */
		struct str host;
	} at[WAIT_NAMES];
};

struct go {
	/** The master's port. */
	uint16_t port;
	/** GO_STAY, or 0. */
	uint8_t flags;
	/** The number of this start, from 0: the most starts that a member has taken part in. */
	uint32_t start;
	/** How long the roll call took. */
	uint32_t took_ms;
};

struct no {
	enum no_kind kind;
	/** A sentence for people. */
	struct str text;
};

/** Write @greeting to @out. */
void greeting_encode(const struct greeting *greeting, unsigned char out[GREETING_BYTES]);

/** Read a greeting. Returns 0; -EPROTO if @bytes are not a greeting. */
int greeting_decode(const unsigned char bytes[GREETING_BYTES], struct greeting *out);

/**
 * Write a payload of at most HELLO_MAX bytes to @out, and return its length. A text of more than 255 bytes is
 * cut to 255.
 */
size_t proof_encode(uint16_t port, unsigned char *out);
size_t hello_encode(const struct hello *hello, unsigned char *out);
size_t wait_encode(const struct wait_news *news, unsigned char *out);
size_t go_encode(const struct go *go, unsigned char *out);
size_t no_encode(const struct no *no, unsigned char *out);
size_t bye_encode(enum bye_why why, unsigned char *out);
size_t ended_encode(const struct ended *ended, unsigned char *out);
size_t died_encode(const struct died *died, unsigned char *out);

/** Read a payload. Returns 0; -EPROTO if the payload is malformed: then *@out is undefined. */
int proof_decode(struct str payload, uint16_t *port);
int hello_decode(struct str payload, struct hello *out);
int wait_decode(struct str payload, struct wait_news *out);
int go_decode(struct str payload, struct go *out);
int no_decode(struct str payload, struct no *out);
int bye_decode(struct str payload, enum bye_why *out);
int ended_decode(struct str payload, struct ended *out);
int died_decode(struct str payload, struct died *out);

/**
 * The length of the frame that begins with the @n bytes at @bytes; 0 if @n is too small to show it; -EPROTO
 * if the length is below FRAME_MIN or above @max.
 */
int frame_length(const unsigned char *bytes, size_t n, size_t max);

/**
 * Whether a connection that begins with the @n bytes at @bytes is from a client of PyTorch's store. Such a
 * client sends the kind of a query (one byte, missing in older versions) and a magic number; before PyTorch
 * 2, the kind of a query and the key "init/". Returns 1: yes; 0: more bytes are needed to tell; -1: no.
 */
int torch_like(const unsigned char *bytes, size_t n);
