// SPDX-License-Identifier: Apache-2.0

#include "rollcall/frame.h"

#include <errno.h>

/** The first bytes of a greeting. */
static const char magic[8] = "DISTROLL";

/** Write @n bytes of @number at *@at, and go on behind them. */
static void put(unsigned char **at, uint64_t number, int n) {
	for (; n > 0; n--, number >>= 8) {
		*(*at)++ = (unsigned char)number;
	}
}

static void put_bytes(unsigned char **at, const void *bytes, size_t n) {
	*at = mempcpy(*at, bytes, n);
}

static void put_name(unsigned char **at, struct str text) {
	size_t len = text.len < 255 ? text.len : 255;
	put(at, len, 1);
	put_bytes(at, text.p, len);
}

/** Bytes that are read from the left. Too few of them are remembered. */
struct reader {
	const unsigned char *at;
	size_t left;
	bool failed;
};

/** Take @n bytes. Returns where they are; zeros if there are too few. */
static const unsigned char *take(struct reader *r, size_t n) {
	static const unsigned char zeros[255];
	if (r->failed || r->left < n) {
		*r = (struct reader){.failed = true};
		return zeros;
	}
	r->at += n;
	r->left -= n;
	return r->at - n;
}

static uint64_t get(struct reader *r, size_t n) {
	const unsigned char *bytes = take(r, n);
	uint64_t number = 0;
	while (n > 0) {
		number = number << 8 | bytes[--n];
	}
	return number;
}

static struct str get_name(struct reader *r) {
	size_t len = (size_t)get(r, 1);
	return (struct str){(const char *)take(r, len), r->failed ? 0 : len};
}

static struct reader reader_of(struct str payload) {
	return (struct reader){.at = (const unsigned char *)payload.p, .left = payload.len};
}

/** Bytes behind the last field are an error, too. */
static int finish(const struct reader *r) {
	return r->failed || r->left ? -EPROTO : 0;
}

void greeting_encode(const struct greeting *g, unsigned char out[GREETING_BYTES]) {
	put_bytes(&out, magic, sizeof(magic));
	put(&out, g->lowest, 1);
	put(&out, g->highest, 1);
	put(&out, g->flags, 2);
	put(&out, g->seconds, 4);
	put_bytes(&out, g->nonce, sizeof(g->nonce));
	put_bytes(&out, g->tag, sizeof(g->tag));
}

int greeting_decode(const unsigned char bytes[GREETING_BYTES], struct greeting *out) {
	struct reader r = {.at = bytes, .left = GREETING_BYTES};
	if (memcmp(take(&r, sizeof(magic)), magic, sizeof(magic)) != 0) {
		return -EPROTO;
	}
	out->lowest = (uint8_t)get(&r, 1);
	out->highest = (uint8_t)get(&r, 1);
	out->flags = (uint16_t)get(&r, 2);
	out->seconds = (uint32_t)get(&r, 4);
	memcpy(out->nonce, take(&r, NONCE_BYTES), NONCE_BYTES);
	memcpy(out->tag, take(&r, MAC_BYTES), MAC_BYTES);
	return 0;
}

_Static_assert(HELLO_DIGESTS >= N_FACT_GROUPS, "one for each group");

size_t hello_encode(const struct hello *h, unsigned char *out) {
	unsigned char *at = out;
	put_bytes(&at, h->nonce, sizeof(h->nonce));
	put(&at, h->rank, 4);
	put(&at, h->size, 4);
	put(&at, h->incarnation, 8);
	put(&at, h->clock_ms, 8);
	put(&at, h->port, 2);
	put(&at, h->scope, 1);
	put(&at, h->flags, 1);
	put(&at, h->left_ms, 4);
	for (int i = 0; i < HELLO_DIGESTS; i++) {
		put(&at, h->digest[i], 8);
	}
	put_name(&at, h->host);
	put_name(&at, h->node);
	put_name(&at, h->version);
	return (size_t)(at - out);
}

int hello_decode(struct str payload, struct hello *out) {
	struct reader r = reader_of(payload);
	memcpy(out->nonce, take(&r, NONCE_BYTES), NONCE_BYTES);
	out->rank = (uint32_t)get(&r, 4);
	out->size = (uint32_t)get(&r, 4);
	out->incarnation = get(&r, 8);
	out->clock_ms = get(&r, 8);
	out->port = (uint16_t)get(&r, 2);
	out->scope = (uint8_t)get(&r, 1);
	out->flags = (uint8_t)get(&r, 1);
	out->left_ms = (uint32_t)get(&r, 4);
	for (int i = 0; i < HELLO_DIGESTS; i++) {
		out->digest[i] = get(&r, 8);
	}
	out->host = get_name(&r);
	out->node = get_name(&r);
	out->version = get_name(&r);
	return finish(&r);
}

size_t wait_encode(const struct wait_news *news, unsigned char *out) {
	unsigned char *at = out;
	put(&at, news->present, 4);
	put(&at, news->size, 4);
	put(&at, news->since_ms, 4);
	put(&at, news->left_ms, 4);
	put(&at, news->absent, 4);
	put(&at, news->n, 1);
	for (uint32_t i = 0; i < news->n; i++) {
		// All names together have to fit.
		struct str host = news->at[i].host;
		put(&at, news->at[i].rank, 4);
		put_name(&at, (struct str){host.p, host.len < 100 ? host.len : 0});
	}
	return (size_t)(at - out);
}

int wait_decode(struct str payload, struct wait_news *out) {
	struct reader r = reader_of(payload);
	out->present = (uint32_t)get(&r, 4);
	out->size = (uint32_t)get(&r, 4);
	out->since_ms = (uint32_t)get(&r, 4);
	out->left_ms = (uint32_t)get(&r, 4);
	out->absent = (uint32_t)get(&r, 4);
	out->n = (uint32_t)get(&r, 1);
	if (out->n > WAIT_NAMES) {
		return -EPROTO;
	}
	for (uint32_t i = 0; i < out->n; i++) {
		out->at[i].rank = (uint32_t)get(&r, 4);
		out->at[i].host = get_name(&r);
	}
	return finish(&r);
}

size_t go_encode(const struct go *go, unsigned char *out) {
	unsigned char *at = out;
	put(&at, go->port, 2);
	put(&at, go->flags, 2);
	put(&at, go->round, 4);
	put(&at, go->took_ms, 4);
	put(&at, go->clock_ms, 8);
	return (size_t)(at - out);
}

int go_decode(struct str payload, struct go *out) {
	struct reader r = reader_of(payload);
	out->port = (uint16_t)get(&r, 2);
	out->flags = (uint16_t)get(&r, 2);
	out->round = (uint32_t)get(&r, 4);
	out->took_ms = (uint32_t)get(&r, 4);
	out->clock_ms = get(&r, 8);
	return out->port ? finish(&r) : -EPROTO;
}

size_t no_encode(const struct no *no, unsigned char *out) {
	unsigned char *at = out;
	size_t len = no->text.len < NO_TEXT_MAX ? no->text.len : NO_TEXT_MAX;
	put(&at, no->kind, 1);
	put(&at, len, 2);
	put_bytes(&at, no->text.p, len);
	return (size_t)(at - out);
}

int no_decode(struct str payload, struct no *out) {
	struct reader r = reader_of(payload);
	out->kind = (enum no_kind)get(&r, 1);
	size_t len = (size_t)get(&r, 2);
	// take() has zeros for 255 bytes only.
	if (r.failed || len != r.left || len > NO_TEXT_MAX || out->kind < NO_DEADLINE ||
	    out->kind > NO_ERROR) {
		return -EPROTO;
	}
	out->text = (struct str){(const char *)r.at, len};
	return 0;
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
