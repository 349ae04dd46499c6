// SPDX-License-Identifier: Apache-2.0

#include "rollcall/key.h"

#include <bearssl.h>

_Static_assert(sizeof(struct sha256) >= sizeof(br_sha256_context), "the context fits");

static br_sha256_context *context_of(struct sha256 *hash) {
	return (br_sha256_context *)hash->state;
}

void sha256_begin(struct sha256 *hash) {
	br_sha256_init(context_of(hash));
}

void sha256_add(struct sha256 *hash, const void *bytes, size_t n) {
	br_sha256_update(context_of(hash), bytes, n);
}

void sha256_end(const struct sha256 *hash, unsigned char out[SHA256_BYTES]) {
	br_sha256_out((const br_sha256_context *)hash->state, out);
}

void sha256(const void *bytes, size_t n, unsigned char out[SHA256_BYTES]) {
	struct sha256 hash;
	sha256_begin(&hash);
	sha256_add(&hash, bytes, n);
	sha256_end(&hash, out);
}

/** Add the 64 bytes of @key, each with @mask. */
static void add_masked(struct sha256 *hash, const unsigned char key[64], unsigned char mask) {
	for (int i = 0; i < 64; i++) {
		const unsigned char byte = key[i] ^ mask;
		sha256_add(hash, &byte, 1);
	}
}

/** Write the first @n bytes of HMAC(@key, @a || @b) to @out (RFC 2104). */
static void hmac(struct str key, struct str a, struct str b, void *out, size_t n) {
	unsigned char block[64] = {0}, digest[SHA256_BYTES];
	struct sha256 hash;
	if (key.len > sizeof(block)) {
		sha256(key.p, key.len, block);
	} else {
		memcpy(block, key.p, key.len);
	}
	sha256_begin(&hash);
	add_masked(&hash, block, 0x36);
	sha256_add(&hash, a.p, a.len);
	sha256_add(&hash, b.p, b.len);
	sha256_end(&hash, digest);
	sha256_begin(&hash);
	add_masked(&hash, block, 0x5c);
	sha256_add(&hash, digest, sizeof(digest));
	sha256_end(&hash, digest);
	memcpy(out, digest, n);
	explicit_bzero(block, sizeof(block));
	explicit_bzero(digest, sizeof(digest));
	explicit_bzero(&hash, sizeof(hash));
}

static struct str bytes_of(const struct key *key) {
	return (struct str){(const char *)key->bytes, sizeof(key->bytes)};
}

void key_of_job(struct str secret, const char *job, struct key *out) {
	// sizeof() counts the NUL, which separates the version from the job.
	static const char version[] = "distinit roll call 1";
	hmac(secret.len ? secret : STR("distinit without a secret"), (struct str){version, sizeof(version)},
	     str_of(job), out->bytes, sizeof(out->bytes));
}

void key_tag(const struct key *job, unsigned char out[MAC_BYTES]) {
	hmac(bytes_of(job), STR("tag"), STR(""), out, MAC_BYTES);
}

void key_of_connection(const struct key *job, const unsigned char greeting[GREETING_BYTES],
		       const unsigned char nonce[NONCE_BYTES], struct key *out) {
	char both[GREETING_BYTES + NONCE_BYTES];
	memcpy(both, greeting, GREETING_BYTES);
	memcpy(both + GREETING_BYTES, nonce, NONCE_BYTES);
	hmac(bytes_of(job), STR("connection"), (struct str){both, sizeof(both)}, out->bytes,
	     sizeof(out->bytes));
}

void key_mac(const struct key *connection, char direction, uint32_t number, const void *frame, size_t n,
	     unsigned char out[MAC_BYTES]) {
	const char head[] = {direction, (char)number, (char)(number >> 8), (char)(number >> 16),
			     (char)(number >> 24)};
	hmac(bytes_of(connection), (struct str){head, sizeof(head)}, (struct str){frame, n}, out, MAC_BYTES);
}

void key_forget(struct str secret) {
	if (secret.len) {
		explicit_bzero((void *)(uintptr_t)secret.p, secret.len);
	}
}

bool mac_equal(const unsigned char a[MAC_BYTES], const unsigned char b[MAC_BYTES]) {
	// volatile: the compiler must not stop at the first difference.
	volatile unsigned char differ = 0;
	for (size_t i = 0; i < MAC_BYTES; i++) {
		differ = (unsigned char)(differ | (a[i] ^ b[i]));
	}
	return differ == 0;
}
