// SPDX-License-Identifier: Apache-2.0

#include "wire/key.h"

#include "base/arena.h"
#include "wire/wire.h"

#include <bearssl.h>

void sha256(const void *bytes, size_t n, unsigned char out[SHA256_BYTES]) {
	br_sha256_context hash;
	br_sha256_init(&hash);
	br_sha256_update(&hash, bytes, n);
	br_sha256_out(&hash, out);
}

uint64_t digest_64(struct str bytes) {
	unsigned char hash[SHA256_BYTES];
	uint64_t number;
	sha256(bytes.p, bytes.len, hash);
	take_u64(&(struct str){(const char *)hash, sizeof(hash)}, &number);
	return number;
}

const char *digest_text(struct arena *arena, struct str bytes) {
	return arena_format(arena, DIGEST_MARK "%016lx", (unsigned long)__builtin_bswap64(digest_64(bytes)));
}

void key_make(struct str secret, struct key *out) {
	br_hmac_key_init(&out->hmac, &br_sha256_vtable, secret.p, secret.len);
}

void key_hmac(const struct key *key, struct str a, struct str b, unsigned char out[SHA256_BYTES]) {
	br_hmac_context hmac;
	br_hmac_init(&hmac, &key->hmac, 0);
	br_hmac_update(&hmac, a.p, a.len);
	br_hmac_update(&hmac, b.p, b.len);
	br_hmac_out(&hmac, out);
}

void key_of_job(struct str secret, const char *job, struct key *out) {
	// sizeof() counts the NUL, which separates the version from the job.
	static const char version[] = "distinit roll call 4";
	unsigned char bytes[SHA256_BYTES];
	key_make(secret.len ? secret : STR("distinit without a secret"), out);
	key_hmac(out, (struct str){version, sizeof(version)}, str_of(job), bytes);
	key_make((struct str){(const char *)bytes, sizeof(bytes)}, out);
	explicit_bzero(bytes, sizeof(bytes));
}

/** HMAC(@job, @label || @greeting || @nonce). */
static void derive(const struct key *job, struct str label, const unsigned char greeting[GREETING_BYTES],
		   const unsigned char nonce[NONCE_BYTES], unsigned char out[SHA256_BYTES]) {
	char both[GREETING_BYTES + NONCE_BYTES];
	memcpy(both, greeting, GREETING_BYTES);
	memcpy(both + GREETING_BYTES, nonce, NONCE_BYTES);
	key_hmac(job, label, (struct str){both, sizeof(both)}, out);
}

void key_proof(const struct key *job, const unsigned char greeting[GREETING_BYTES],
	       const unsigned char nonce[NONCE_BYTES], unsigned char out[TAG_BYTES]) {
	unsigned char bytes[SHA256_BYTES];
	derive(job, STR("meet"), greeting, nonce, bytes);
	memcpy(out, bytes, TAG_BYTES);
}

void key_of_side(const struct key *job, char side, const unsigned char greeting[GREETING_BYTES],
		 const unsigned char nonce[NONCE_BYTES], unsigned char out[SEAL_BYTES]) {
	derive(job, side == 'm' ? STR("member") : STR("desk"), greeting, nonce, out);
}

/**
 * Encrypt or decrypt @what, and compute its tag. Callers must not encrypt twice with the same key and number.
 */
static void run(const unsigned char key[SEAL_BYTES], uint32_t number, const struct sealed *what,
		unsigned char tag[TAG_BYTES], bool encrypt) {
	unsigned char nonce[12] = {0};
	put_u32(nonce, number);
	br_poly1305_ctmul_run(key, nonce, what->bytes, what->len, what->head, what->head_len, tag,
			      br_chacha20_ct_run, encrypt);
}

void key_seal(const unsigned char key[SEAL_BYTES], uint32_t number, const struct sealed *what,
	      unsigned char tag[TAG_BYTES]) {
	run(key, number, what, tag, true);
}

bool key_open(const unsigned char key[SEAL_BYTES], uint32_t number, const struct sealed *what,
	      const unsigned char tag[TAG_BYTES]) {
	unsigned char right[TAG_BYTES];
	run(key, number, what, right, false);
	return tag_equal(tag, right);
}

unsigned key_variety(struct str secret) {
	bool seen[256] = {false};
	unsigned n = 0;
	for (size_t i = 0; i < secret.len; i++) {
		bool *before = &seen[(unsigned char)secret.p[i]];
		n += !*before;
		*before = true;
	}
	explicit_bzero(seen, sizeof(seen));
	return n;
}

void key_forget(struct str secret) {
	if (secret.len) {
		explicit_bzero((void *)(uintptr_t)secret.p, secret.len);
	}
}

bool tag_equal(const unsigned char a[TAG_BYTES], const unsigned char b[TAG_BYTES]) {
	// volatile: the compiler must not stop at the first difference.
	volatile unsigned char differ = 0;
	for (size_t i = 0; i < TAG_BYTES; i++) {
		differ = (unsigned char)(differ | (a[i] ^ b[i]));
	}
	return differ == 0;
}
