// SPDX-License-Identifier: Apache-2.0

#include "rollcall/key.h"

#include "check.h"

/** @n bytes as hexadecimal text. */
static const char *hex(const void *bytes, size_t n) {
	static char text[200];
	for (size_t i = 0; i < n; i++) {
		snprintf(text + 2 * i, 3, "%02x", ((const unsigned char *)bytes)[i]);
	}
	return text;
}

static void check_sha256(void) {
	// FIPS 180-2, appendix B.
	unsigned char out[SHA256_BYTES];
	sha256("abc", 3, out);
	check_text(hex(out, sizeof(out)), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
		   "abc");
	sha256("", 0, out);
	check_text(hex(out, sizeof(out)), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		   "empty");
	static char million[1000000];
	memset(million, 'a', sizeof(million));
	sha256(million, sizeof(million), out);
	check_text(hex(out, sizeof(out)), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
		   "a million a");
}

static void check_keys(void) {
	struct key job, other, connection;
	unsigned char bytes[SHA256_BYTES];
	unsigned char tag[MAC_BYTES], nonce[NONCE_BYTES],
		greeting[GREETING_BYTES] = "DISTROLL\1\1\1\0\x58\2\0";
	key_make(STR("correct horse"), &other);
	key_hmac(&other, (struct str){"distinit roll call 1", 21}, STR("slurm:4711.0"), bytes);
	check_text(hex(bytes, sizeof(bytes)),
		   "247f0a51b1eee1a57c3b4041c6458db515befefe73a4a56a1145c21ff4a0f26b", "the job's key");
	key_of_job(STR("correct horse"), "slurm:4711.0", &job);
	key_of_job(STR(""), "slurm:4711.0", &other);
	key_tag(&other, tag);
	check_text(hex(tag, sizeof(tag)), "50a3e2c16e5c43783d76e3efb0f1024f", "a tag without a secret");
	key_tag(&job, tag);
	check_text(hex(tag, sizeof(tag)), "bb39bdb1a74ba75611b43ab5168e0259", "a tag with one");
	for (unsigned char i = 0; i < NONCE_BYTES; i++) {
		greeting[16 + i] = i;
		nonce[i] = (unsigned char)(0x10 + i);
	}
	memcpy(greeting + 32, tag, sizeof(tag));
	char both[GREETING_BYTES + NONCE_BYTES];
	memcpy(mempcpy(both, greeting, sizeof(greeting)), nonce, sizeof(nonce));
	key_hmac(&job, STR("connection"), (struct str){both, sizeof(both)}, bytes);
	check_text(hex(bytes, sizeof(bytes)),
		   "2bdae722c8e3c8b7b8cb6f3346b8cdf4d67f2353211eda16c63341fbe96b698d",
		   "the connection's key");
	key_of_connection(&job, greeting, nonce, &connection);
	static const unsigned char go[] = {0x28, 0x00, 0x12, 0x01, 0x3c, 0x73, 0x00, 0x00,
					   0x00, 0x00, 0x00, 0x00, 0xd2, 0x04, 0x00, 0x00,
					   0x52, 0x44, 0x32, 0x01, 0xa2, 0x01, 0x00, 0x00};
	key_mac(&connection, 'd', 0, go, sizeof(go), tag);
	check_text(hex(tag, sizeof(tag)), "887a113617a553f2924b5b9299212163", "the MAC of a GO");
	key_mac(&connection, 'm', 0, go, sizeof(go), nonce);
	check(!mac_equal(tag, nonce));
	key_mac(&connection, 'd', 1, go, sizeof(go), nonce);
	check(!mac_equal(tag, nonce));
}

static void check_equal(void) {
	unsigned char a[MAC_BYTES] = {0}, b[MAC_BYTES] = {0};
	check(mac_equal(a, b));
	for (size_t i = 0; i < MAC_BYTES; i++) {
		b[i] = 0x80;
		checkf(!mac_equal(a, b), "byte %zu counts", i);
		b[i] = 0;
	}
}

static void check_variety(void) {
	check(key_variety(STR("")) == 0);
	check(key_variety(STR("aaaaaaaaaaaaaaaa")) == 1);
	check(key_variety(STR("abcdefgabcdefgabcdefg")) == 7);
	check(key_variety((struct str){"\0\xff\0\xff", 4}) == 2);
}

int main(void) {
	check_variety();
	check_sha256();
	check_keys();
	check_equal();
	return check_done();
}
