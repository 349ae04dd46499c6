// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * The keys of a roll call, and SHA-256. Only key.c uses BearSSL.
 *
 *     K0    = the secret, or a constant
 *     K     = HMAC(K0, "distinit roll call 4\0" || job)
 *     proof = HMAC(K, "meet" || greeting || M)          M is the member's nonce
 *     Km    = HMAC(K, "member" || greeting || M)        seals what the member sends
 *     Kd    = HMAC(K, "desk" || greeting || M)          seals what the coordinator sends
 *
 * HMAC is HMAC-SHA256; a proof is its first 16 bytes. Frames are sealed by ChaCha20-Poly1305 (RFC
 * 8439).
 */

#include "base/str.h"

#include <bearssl.h>
#include <stdint.h>

struct arena;

#define SHA256_BYTES 32
#define NONCE_BYTES  16

/** The length of a proof, and of the tag of a sealed frame. */
#define TAG_BYTES 16

/** The length of a ChaCha20 key. */
#define SEAL_BYTES 32

/** The length of the greeting (frame.h), which goes into the connection's keys. */
#define GREETING_BYTES 32

/** The SHA-256 of the @n bytes at @bytes. */
void sha256(const void *bytes, size_t n, unsigned char out[SHA256_BYTES]);

/** The first 8 bytes of the SHA-256 of @bytes, as a little-endian number. */
uint64_t digest_64(struct str bytes);

/** The same 8 bytes for people: DIGEST_MARK and 16 hex digits, in the order of the bytes. */
#define DIGEST_MARK "sha256:"
const char *digest_text(struct arena *arena, struct str bytes);

/** A secret key, prepared for HMAC. */
struct key {
	br_hmac_key_context hmac;
};

/** Prepare the key @secret, which may have any length. */
void key_make(struct str secret, struct key *out);

/** HMAC(@key, @a || @b). */
void key_hmac(const struct key *key, struct str a, struct str b, unsigned char out[SHA256_BYTES]);

/** Derive K for @job, such as "slurm:4711.0". @secret may be empty: then K0 is the constant. */
void key_of_job(struct str secret, const char *job, struct key *out);

/** Compute the proof of a member for the coordinator that sent @greeting. */
void key_proof(const struct key *job, const unsigned char greeting[GREETING_BYTES],
	       const unsigned char nonce[NONCE_BYTES], unsigned char out[TAG_BYTES]);

/**
 * Derive the key that seals the frames of one side of a connection. @side: 'm' for the member, 'd' for the
 * coordinator.
 */
void key_of_side(const struct key *job, char side, const unsigned char greeting[GREETING_BYTES],
		 const unsigned char nonce[NONCE_BYTES], unsigned char out[SEAL_BYTES]);

/** A frame to seal or open: `head` stays readable, `bytes` are encrypted or decrypted in place. */
struct sealed {
	const unsigned char *head;
	size_t head_len;
	unsigned char *bytes;
	size_t len;
};

/** Seal frame number @number, and write its @tag. */
void key_seal(const unsigned char key[SEAL_BYTES], uint32_t number, const struct sealed *what,
	      unsigned char tag[TAG_BYTES]);

/** Open frame number @number. Returns whether @tag is right; if not, `bytes` are noise. */
bool key_open(const unsigned char key[SEAL_BYTES], uint32_t number, const struct sealed *what,
	      const unsigned char tag[TAG_BYTES]);

/** The number of different bytes in @secret. */
unsigned key_variety(struct str secret);

/** Erase @secret, which must be our own memory although the slice is const. */
void key_forget(struct str secret);

/** Whether two proofs or tags are equal. The time that this takes does not depend on their bytes. */
bool tag_equal(const unsigned char a[TAG_BYTES], const unsigned char b[TAG_BYTES]);
