// SPDX-License-Identifier: Apache-2.0

#include "rollcall/frame.h"

#include "wire/wire.h"

#include <errno.h>

static const char magic[8] = GREETING_MAGIC;

/** Write the length of @text, at most 255, and so many of its bytes. Returns the end. */
static unsigned char *put_name(unsigned char *at, struct str text) {
	uint8_t len = (uint8_t)(text.len < 255 ? text.len : 255);
	return put_bytes(put_u8(at, len), text.p, len);
}

static bool take_name(struct str *rest, struct str *out) {
	uint8_t len;
	return take_u8(rest, &len) && take_bytes(rest, len, out);
}

/** The result of a decoder: 0 if all fields were there (@whole) and no bytes follow them; else -EPROTO. */
static int decoded(bool whole, struct str rest) {
	return whole && !rest.len ? 0 : -EPROTO;
}

void greeting_encode(const struct greeting *g, unsigned char out[GREETING_BYTES]) {
	unsigned char *at = put_bytes(out, magic, sizeof(magic));
	at = put_u8(at, g->lowest);
	at = put_u8(at, g->highest);
	at = put_u16(at, 0);
	at = put_u32(at, g->seconds);
	put_bytes(at, g->nonce, NONCE_BYTES);
}

int greeting_decode(const unsigned char bytes[GREETING_BYTES], struct greeting *out) {
	struct str rest = {(const char *)bytes, GREETING_BYTES}, begin, nonce;
	uint16_t unused;
	bool whole = take_bytes(&rest, sizeof(magic), &begin) && take_u8(&rest, &out->lowest) &&
		     take_u8(&rest, &out->highest) && take_u16(&rest, &unused) &&
		     take_u32(&rest, &out->seconds) && take_bytes(&rest, NONCE_BYTES, &nonce);
	if (!whole || memcmp(begin.p, magic, sizeof(magic)) != 0) {
		return -EPROTO;
	}
	memcpy(out->nonce, nonce.p, NONCE_BYTES);
	return 0;
}

size_t proof_encode(uint16_t port, unsigned char *out) {
	return (size_t)(put_u16(out, port) - out);
}

int proof_decode(struct str payload, uint16_t *port) {
	return decoded(take_u16(&payload, port), payload);
}

size_t hello_encode(const struct hello *h, unsigned char *out) {
	unsigned char *at = put_u32(out, h->rank);
	at = put_u32(at, h->size);
	at = put_u32(at, h->starts);
	at = put_u64(at, h->incarnation);
	at = put_u64(at, h->clock_ms);
	at = put_u32(at, h->left_ms);
	for (unsigned i = 0; i < N_FACT_GROUPS; i++) {
		at = put_u64(at, h->digest[i]);
	}
	at = put_name(put_u8(at, h->able), h->why_not);
	at = put_name(at, h->host);
	return (size_t)(put_name(at, h->node) - out);
}

int hello_decode(struct str payload, struct hello *out) {
	bool whole = take_u32(&payload, &out->rank) && take_u32(&payload, &out->size) &&
		     take_u32(&payload, &out->starts) && take_u64(&payload, &out->incarnation) &&
		     take_u64(&payload, &out->clock_ms) && take_u32(&payload, &out->left_ms);
	for (unsigned i = 0; i < N_FACT_GROUPS; i++) {
		whole = whole && take_u64(&payload, &out->digest[i]);
	}
	whole = whole && take_u8(&payload, &out->able) && take_name(&payload, &out->why_not) &&
		take_name(&payload, &out->host) && take_name(&payload, &out->node);
	return decoded(whole && out->rank < out->size && out->able <= ABLE_ASKED_TO_END, payload);
}

size_t wait_encode(const struct wait_news *news, unsigned char *out) {
	unsigned char *at = put_u32(out, news->present);
	at = put_u32(at, news->size);
	at = put_u32(at, news->since_ms);
	at = put_u32(at, news->left_ms);
	at = put_u32(at, news->absent);
	at = put_u8(at, (uint8_t)news->n);
	for (uint32_t i = 0; i < news->n; i++) {
		// So that WAIT_NAMES names fit into HELLO_MAX bytes, a long name is left out.
		struct str host = news->at[i].host;
		at = put_u32(at, news->at[i].rank);
		at = put_name(at, (struct str){host.p, host.len < 100 ? host.len : 0});
	}
	return (size_t)(at - out);
}

int wait_decode(struct str payload, struct wait_news *out) {
	uint8_t n;
	bool whole = take_u32(&payload, &out->present) && take_u32(&payload, &out->size) &&
		     take_u32(&payload, &out->since_ms) && take_u32(&payload, &out->left_ms) &&
		     take_u32(&payload, &out->absent) && take_u8(&payload, &n) && n <= WAIT_NAMES;
	out->n = whole ? n : 0;
	for (uint32_t i = 0; i < out->n && whole; i++) {
		whole = take_u32(&payload, &out->at[i].rank) && take_name(&payload, &out->at[i].host);
	}
	return decoded(whole, payload);
}

size_t go_encode(const struct go *go, unsigned char *out) {
	unsigned char *at = put_u16(out, go->port);
	at = put_u8(at, go->flags);
	at = put_u32(at, go->start);
	return (size_t)(put_u32(at, go->took_ms) - out);
}

int go_decode(struct str payload, struct go *out) {
	bool whole = take_u16(&payload, &out->port) && take_u8(&payload, &out->flags) &&
		     take_u32(&payload, &out->start) && take_u32(&payload, &out->took_ms);
	return decoded(whole && out->port, payload);
}

size_t no_encode(const struct no *no, unsigned char *out) {
	uint16_t len = (uint16_t)(no->text.len < NO_TEXT_MAX ? no->text.len : NO_TEXT_MAX);
	unsigned char *at = put_u16(put_u8(out, (uint8_t)no->kind), len);
	return (size_t)(put_bytes(at, no->text.p, len) - out);
}

int no_decode(struct str payload, struct no *out) {
	uint8_t kind;
	uint16_t len;
	if (!take_u8(&payload, &kind) || !take_u16(&payload, &len) || len != payload.len ||
	    len > NO_TEXT_MAX || kind < NO_DEADLINE || kind > NO_REPLACED) {
		return -EPROTO;
	}
	*out = (struct no){(enum no_kind)kind, payload};
	return 0;
}

size_t bye_encode(enum bye_why why, unsigned char *out) {
	return (size_t)(put_u8(out, (uint8_t)why) - out);
}

int bye_decode(struct str payload, enum bye_why *out) {
	uint8_t why = 0;
	bool whole = take_u8(&payload, &why) && why >= BYE_SIGNAL && why <= BYE_DEADLINE;
	*out = (enum bye_why)why;
	return decoded(whole, payload);
}

size_t ended_encode(const struct ended *ended, unsigned char *out) {
	unsigned char *at = put_u8(out, ended->why);
	at = put_u8(at, ended->status);
	at = put_u32(at, ended->rank);
	at = put_name(at, ended->host);
	at = put_name(at, ended->text);
	at = put_u32(put_u8(at, ended->again), ended->pause_ms);
	return (size_t)(put_name(at, ended->then) - out);
}

int ended_decode(struct str payload, struct ended *out) {
	bool whole = take_u8(&payload, &out->why) && take_u8(&payload, &out->status) &&
		     take_u32(&payload, &out->rank) && take_name(&payload, &out->host) &&
		     take_name(&payload, &out->text) && take_u8(&payload, &out->again) &&
		     take_u32(&payload, &out->pause_ms) && take_name(&payload, &out->then);
	return decoded(whole && out->why <= END_NO_PROGRESS && out->again <= AGAIN_IDLE, payload);
}

size_t died_encode(const struct died *died, unsigned char *out) {
	unsigned char *at = put_u8(put_u8(put_u32(out, died->ago_ms), died->status), died->what);
	return (size_t)(put_name(at, died->text) - out);
}

int died_decode(struct str payload, struct died *out) {
	bool whole = take_u32(&payload, &out->ago_ms) && take_u8(&payload, &out->status) &&
		     take_u8(&payload, &out->what) && take_name(&payload, &out->text);
	return decoded(whole && out->what <= DIED_WROTE && out->text.len <= DIED_TEXT_MAX, payload);
}

int frame_length(const unsigned char *bytes, size_t n, size_t max) {
	if (n < 2) {
		return 0;
	}
	int length = bytes[0] | bytes[1] << 8;
	return length < FRAME_MIN || (size_t)length > max ? -EPROTO : length;
}

/**
 * Compare the @n bytes at @bytes with @pattern. Returns 1: all of it matches; 0: the bytes are too few; -1:
 * no match.
 */
static int match_prefix(const unsigned char *bytes, size_t n, const unsigned char *pattern, size_t len) {
	size_t common = n < len ? n : len;
	return memcmp(bytes, pattern, common) != 0 ? -1 : n >= len;
}

int torch_like(const unsigned char *bytes, size_t n) {
	static const unsigned char query[] = {0xce, 0xf7, 0x85, 0x3c};
	static const unsigned char count[] = {5, 0, 0, 0, 0, 0, 0, 0, 'i', 'n', 'i', 't', '/'};
	int best = match_prefix(bytes, n, query, sizeof(query));
	if (n > 1) {
		int at_1 = match_prefix(bytes + 1, n - 1, query, sizeof(query));
		int old = match_prefix(bytes + 1, n - 1, count, sizeof(count));
		best = at_1 > best ? at_1 : best;
		best = old > best ? old : best;
	}
	return n == 1 && best < 0 ? 0 : best;
}
