// SPDX-License-Identifier: Apache-2.0

/**
 * What comes over a connection of a roll call: the first byte says as what the rest is read. What can
 * be read is written again, and gives the same bytes.
 */

#include "rollcall/frame.h"

#include "fuzz.h"

#include <errno.h>

/** The bytes that @n of @out are must be those of @in. */
static void same(const unsigned char *out, size_t n, struct str in) {
	HOLDS(n == in.len && memcmp(out, in.p, n) == 0);
}

static void check_hello(struct str in, unsigned char *out) {
	struct hello hello;
	if (hello_decode(in, &hello) == 0) {
		same(out, hello_encode(&hello, out), in);
	}
}

static void check_wait(struct str in, unsigned char *out) {
	struct wait_news news;
	if (wait_decode(in, &news) != 0) {
		return;
	}
	HOLDS(news.n <= WAIT_NAMES);
	bool fits = true;
	for (uint32_t i = 0; i < news.n; i++) {
		fits = fits && news.at[i].host.len < 100;
	}
	size_t n = wait_encode(&news, out);
	HOLDS(n <= HELLO_MAX - FRAME_MIN);
	if (fits) {
		same(out, n, in);
	}
}

static void check_go(struct str in, unsigned char *out) {
	struct go go;
	if (go_decode(in, &go) == 0) {
		HOLDS(go.port != 0);
		same(out, go_encode(&go, out), in);
	}
}

static void check_no(struct str in, unsigned char *out) {
	struct no no;
	if (no_decode(in, &no) == 0) {
		HOLDS(no.text.len <= NO_TEXT_MAX);
		same(out, no_encode(&no, out), in);
	}
}

static void check_ended(struct str in, unsigned char *out) {
	struct ended ended;
	if (ended_decode(in, &ended) == 0) {
		HOLDS(ended.why <= END_NO_PROGRESS && ended.again <= AGAIN_IDLE);
		same(out, ended_encode(&ended, out), in);
	}
}

static void check_died(struct str in, unsigned char *out) {
	struct died died;
	if (died_decode(in, &died) == 0) {
		HOLDS(died.text.len <= DIED_TEXT_MAX);
		same(out, died_encode(&died, out), in);
	}
}

static void check_greeting(struct str in, unsigned char *out) {
	struct greeting greeting;
	if (in.len >= GREETING_BYTES && greeting_decode((const unsigned char *)in.p, &greeting) == 0) {
		greeting_encode(&greeting, out);
		// Behind the versions are two bytes that nobody reads.
		memcpy(out + 10, in.p + 10, 2);
		same(out, GREETING_BYTES, (struct str){in.p, GREETING_BYTES});
	}
}

/** What was not a client of PyTorch after some bytes does not become one with more. */
static void check_torch(struct str in) {
	const unsigned char *bytes = (const unsigned char *)in.p;
	int before = 0;
	for (size_t n = 1; n <= in.len && n < 40; n++) {
		int now = torch_like(bytes, n);
		HOLDS(before == 0 || now == before);
		before = now;
	}
}

/** Frames follow each other; a length never leads beyond what there is. */
static void check_frames(struct str in) {
	while (in.len) {
		int length = frame_length((const unsigned char *)in.p, in.len, FRAME_MAX);
		HOLDS(length == 0 ? in.len < 2
				  : length == -EPROTO || (length >= FRAME_MIN && length <= FRAME_MAX));
		if (length <= 0 || (size_t)length > in.len) {
			return;
		}
		in = str_from(in, (size_t)length);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	unsigned char out[FRAME_MAX];
	if (size == 0 || size > FRAME_MAX) {
		return 0;
	}
	struct str in = {(const char *)data + 1, size - 1};
	check_torch(in);
	check_frames(in);
	switch (data[0]) {
	case 'h':
		check_hello(in, out);
		break;
	case 'w':
		check_wait(in, out);
		break;
	case 'g':
		check_go(in, out);
		break;
	case 'n':
		check_no(in, out);
		break;
	case 'e':
		check_ended(in, out);
		break;
	case 'x':
		check_died(in, out);
		break;
	default:
		check_greeting(in, out);
		break;
	}
	return 0;
}
