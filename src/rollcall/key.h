// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * The keys of a roll call, and SHA-256. Only key.c uses BearSSL.
 *
 *     K0  = the secret, or a constant
 *     K   = HMAC(K0, "distinit roll call 1\0" || job)
 *     tag = HMAC(K, "tag")
 *     Ks  = HMAC(K, "connection" || greeting || the member's nonce)
 *     MAC = HMAC(Ks, direction || number || frame)
 *
 * HMAC is HMAC-SHA256; tag and MAC are its first 16 bytes.
 */

#include "base/str.h"

#include <stdint.h>

#define SHA256_BYTES 32
#define MAC_BYTES    16
#define NONCE_BYTES  16

/** The length of the greeting (frame.h), which is part of the connection's key. */
#define GREETING_BYTES 48

/** The SHA-256 of the @n bytes at @bytes. */
void sha256(const void *bytes, size_t n, unsigned char out[SHA256_BYTES]);

/** A secret key as HMAC needs it: SHA-256 after the first block, for the text and for the result. */
struct key {
	uint32_t inner[8];
	uint32_t outer[8];
};

/** Prepare the key @secret of any length. */
void key_make(struct str secret, struct key *out);

/** HMAC(@key, @a || @b). */
void key_hmac(const struct key *key, struct str a, struct str b, unsigned char out[SHA256_BYTES]);

/** K for @job, such as "slurm:4711.0". An empty @secret: there is none. */
void key_of_job(struct str secret, const char *job, struct key *out);

/** The tag, by which a member recognises its own job. */
void key_tag(const struct key *job, unsigned char out[MAC_BYTES]);

/** Ks for one connection. */
void key_of_connection(const struct key *job, const unsigned char greeting[GREETING_BYTES],
		       const unsigned char nonce[NONCE_BYTES], struct key *out);

/**
 * The MAC of the @n bytes at @frame, which is number @number in its direction: 'm' from the member,
 * 'd' from the coordinator.
 */
void key_mac(const struct key *connection, char direction, uint32_t number, const void *frame, size_t n,
	     unsigned char out[MAC_BYTES]);

/** How many different bytes @secret has. */
unsigned key_variety(struct str secret);

/** Erase a secret, which belongs to us although the slice is const. */
void key_forget(struct str secret);

/** Whether two MACs or tags are equal, in a time that does not depend on them. */
bool mac_equal(const unsigned char a[MAC_BYTES], const unsigned char b[MAC_BYTES]);
