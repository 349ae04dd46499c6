// SPDX-License-Identifier: Apache-2.0

#include "wire/key.h"

#include "check.h"
#include "fixture.h"

/** @n bytes as hexadecimal text. */
static const char *hex(const void *bytes, size_t n) {
	static char text[300];
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
	check(digest_64(STR("")) == 0x141cfc9842c4b0e3);
	struct arena arena = fixture_arena();
	check_text(digest_text(&arena, STR("")), "sha256:e3b0c44298fc1c14", "for people");
	arena_done(&arena);
	static char million[1000000];
	memset(million, 'a', sizeof(million));
	sha256(million, sizeof(million), out);
	check_text(hex(out, sizeof(out)), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
		   "a million a");
}

/** RFC 8439 has a vector whose nonce is no count, so this is by the other implementation (roll.py). */
static void check_sealed(void) {
	unsigned char key[SEAL_BYTES], text[100], tag[TAG_BYTES];
	for (unsigned char i = 0; i < sizeof(text); i++) {
		text[i] = i;
		key[i % SEAL_BYTES] = (unsigned char)(i % SEAL_BYTES);
	}
	const struct sealed what = {(const unsigned char *)"head", 4, text, sizeof(text)};
	key_seal(key, 7, &what, tag);
	check_text(hex(text, sizeof(text)),
		   "9c798e82fa2942b393f4d94b1a9252db1ad99991c2209c0063e2d164f747e3419965da5c04cfea1a"
		   "70241c4f1b23359fb67803042b7e778c5d38e094edf499fad75297f64cfb914453f2880582c8ed63"
		   "17f08d15fc9deb58b3cec573e2fb54aaf0386d5e",
		   "what is sealed");
	check_text(hex(tag, sizeof(tag)), "8929ebc9d8a9168a83f2b95cbfed6fb3", "its tag");
	check(key_open(key, 7, &what, tag) && text[0] == 0 && text[99] == 99);
	key_seal(key, 7, &what, tag);
	check(!key_open(key, 8, &what, tag));
}

/** The sides, and who has another secret, have other keys. */
static void check_sides(void) {
	static const unsigned char greeting[GREETING_BYTES], nonce[NONCE_BYTES];
	struct key job, other;
	unsigned char a[SEAL_BYTES], b[SEAL_BYTES], c[SEAL_BYTES];
	key_of_job(STR("correct horse"), "slurm:4711.0", &job);
	key_of_job(STR(""), "slurm:4711.0", &other);
	key_of_side(&job, 'm', greeting, nonce, a);
	key_of_side(&job, 'd', greeting, nonce, b);
	key_of_side(&other, 'm', greeting, nonce, c);
	check(memcmp(a, b, sizeof(a)) != 0 && memcmp(a, c, sizeof(a)) != 0);
	key_proof(&job, greeting, nonce, a);
	key_proof(&other, greeting, nonce, b);
	check(!tag_equal(a, b));
}

static void check_equal(void) {
	unsigned char a[TAG_BYTES] = {0}, b[TAG_BYTES] = {0};
	check(tag_equal(a, b));
	for (size_t i = 0; i < TAG_BYTES; i++) {
		b[i] = 0x80;
		checkf(!tag_equal(a, b), "byte %zu counts", i);
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
	check_sealed();
	check_sides();
	check_equal();
	return check_done();
}
