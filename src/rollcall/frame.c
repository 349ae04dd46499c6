// SPDX-License-Identifier: Apache-2.0

#include "rollcall/frame.h"

#include <errno.h>
#include <stddef.h>

/** The first bytes of a greeting. */
static const char magic[8] = "DISTROLL";

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are sent as they are in memory");

/** The fields in front of the texts are sent as they are in memory. There are no gaps. */
#define HELLO_FIXED offsetof(struct hello, host)
#define WAIT_FIXED  offsetof(struct wait_news, n)
#define ENDED_FIXED offsetof(struct ended, host)

_Static_assert(sizeof(struct greeting) == GREETING_BYTES - sizeof(magic), "no gaps");
_Static_assert(HELLO_FIXED == 48 + 8 * HELLO_DIGESTS && WAIT_FIXED == 20 && ENDED_FIXED == 8, "no gaps");
_Static_assert(sizeof(struct go) == 20, "no gaps");
_Static_assert(HELLO_DIGESTS >= N_FACT_GROUPS, "one for each group");

/** Write @text behind its length. Returns the end. */
static unsigned char *put_name(unsigned char *at, struct str text) {
	*at = (unsigned char)(text.len < 255 ? text.len : 255);
	return mempcpy(at + 1, text.p, *at);
}

/** Take the first @n bytes of *@rest. Returns whether there were so many. */
static bool take(struct str *rest, void *out, size_t n) {
	if (rest->len < n) {
		return false;
	}
	memcpy(out, rest->p, n);
	*rest = str_from(*rest, n);
	return true;
}

static bool take_name(struct str *rest, struct str *out) {
	unsigned char len;
	if (!take(rest, &len, 1) || rest->len < len) {
		return false;
	}
	*out = (struct str){rest->p, len};
	*rest = str_from(*rest, len);
	return true;
}

void greeting_encode(const struct greeting *g, unsigned char out[GREETING_BYTES]) {
	memcpy(mempcpy(out, magic, sizeof(magic)), g, sizeof(*g));
}

int greeting_decode(const unsigned char bytes[GREETING_BYTES], struct greeting *out) {
	memcpy(out, bytes + sizeof(magic), sizeof(*out));
	return memcmp(bytes, magic, sizeof(magic)) != 0 ? -EPROTO : 0;
}

size_t hello_encode(const struct hello *h, unsigned char *out) {
	unsigned char *at = put_name(mempcpy(out, h, HELLO_FIXED), h->host);
	return (size_t)(put_name(put_name(at, h->node), h->version) - out);
}

int hello_decode(struct str payload, struct hello *out) {
	bool all = take(&payload, out, HELLO_FIXED) && take_name(&payload, &out->host) &&
		   take_name(&payload, &out->node) && take_name(&payload, &out->version);
	return all && !payload.len ? 0 : -EPROTO;
}

size_t wait_encode(const struct wait_news *news, unsigned char *out) {
	unsigned char *at = mempcpy(out, news, WAIT_FIXED);
	*at++ = (unsigned char)news->n;
	for (uint32_t i = 0; i < news->n; i++) {
		// All names together have to fit.
		struct str host = news->at[i].host;
		at = mempcpy(at, &news->at[i].rank, sizeof(news->at[i].rank));
		at = put_name(at, (struct str){host.p, host.len < 100 ? host.len : 0});
	}
	return (size_t)(at - out);
}

int wait_decode(struct str payload, struct wait_news *out) {
	unsigned char n;
	bool all = take(&payload, out, WAIT_FIXED) && take(&payload, &n, 1) && n <= WAIT_NAMES;
	out->n = all ? n : 0;
	for (uint32_t i = 0; i < out->n && all; i++) {
		all = take(&payload, &out->at[i].rank, sizeof(out->at[i].rank)) &&
		      take_name(&payload, &out->at[i].host);
	}
	return all && !payload.len ? 0 : -EPROTO;
}

size_t go_encode(const struct go *go, unsigned char *out) {
	memcpy(out, go, sizeof(*go));
	return sizeof(*go);
}

int go_decode(struct str payload, struct go *out) {
	return take(&payload, out, sizeof(*out)) && !payload.len && out->port ? 0 : -EPROTO;
}

size_t no_encode(const struct no *no, unsigned char *out) {
	uint16_t len = (uint16_t)(no->text.len < NO_TEXT_MAX ? no->text.len : NO_TEXT_MAX);
	*out = (unsigned char)no->kind;
	memcpy(mempcpy(out + 1, &len, sizeof(len)), no->text.p, len);
	return 1 + sizeof(len) + len;
}

int no_decode(struct str payload, struct no *out) {
	unsigned char kind;
	uint16_t len;
	if (!take(&payload, &kind, 1) || !take(&payload, &len, sizeof(len)) || len != payload.len ||
	    len > NO_TEXT_MAX || kind < NO_DEADLINE || kind > NO_ERROR) {
		return -EPROTO;
	}
	*out = (struct no){(enum no_kind)kind, payload};
	return 0;
}

size_t ended_encode(const struct ended *ended, unsigned char *out) {
	return (size_t)(put_name(put_name(mempcpy(out, ended, ENDED_FIXED), ended->host), ended->text) - out);
}

int ended_decode(struct str payload, struct ended *out) {
	bool all = take(&payload, out, ENDED_FIXED) && take_name(&payload, &out->host) &&
		   take_name(&payload, &out->text);
	return all && !payload.len && out->why <= END_TOLD ? 0 : -EPROTO;
}

int frame_length(const unsigned char *bytes, size_t n, size_t max) {
	if (n < 2) {
		return 0;
	}
	int length = bytes[0] | bytes[1] << 8;
	return length < FRAME_MIN || (size_t)length > max ? -EPROTO : length;
}

/** How much of the @n bytes at @bytes is like @pattern: 1 all of it, 0 as far as they go, -1 not. */
static int like(const unsigned char *bytes, size_t n, const unsigned char *pattern, size_t len) {
	size_t common = n < len ? n : len;
	return memcmp(bytes, pattern, common) != 0 ? -1 : n >= len;
}

int torch_like(const unsigned char *bytes, size_t n) {
	static const unsigned char query[] = {0xce, 0xf7, 0x85, 0x3c};
	static const unsigned char count[] = {5, 0, 0, 0, 0, 0, 0, 0, 'i', 'n', 'i', 't', '/'};
	int best = like(bytes, n, query, sizeof(query));
	if (n > 1) {
		int at_1 = like(bytes + 1, n - 1, query, sizeof(query));
		int old = like(bytes + 1, n - 1, count, sizeof(count));
		best = at_1 > best ? at_1 : best;
		best = old > best ? old : best;
	}
	return n == 1 && best < 0 ? 0 : best;
}
