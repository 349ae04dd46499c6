// SPDX-License-Identifier: Apache-2.0

#include "rollcall/line.h"

#include "net/listen.h"

#include <errno.h>

/** In front of the payload: u16 length, u8 type, u8 version. */
#define FRAME_HEAD (FRAME_MIN - MAC_BYTES)

void line_begin(struct line *line, int fd, char own, const struct key *job,
		const unsigned char greeting[GREETING_BYTES], const unsigned char nonce[NONCE_BYTES]) {
	*line = (struct line){.fd = fd, .own = own, .version = ROLL_VERSION};
	key_of_connection(job, greeting, nonce, &line->key);
}

int line_send(struct line *line, enum frame_type type, const void *payload, size_t n) {
	unsigned char frame[FRAME_MAX];
	size_t length = FRAME_MIN + n;
	frame[0] = (unsigned char)length;
	frame[1] = (unsigned char)(length >> 8);
	frame[2] = (unsigned char)type;
	frame[3] = line->version;
	memcpy(frame + FRAME_HEAD, payload, n);
	key_mac(&line->key, line->own, line->sent++, frame, FRAME_HEAD + n, frame + FRAME_HEAD + n);
	return stream_send(line->fd, frame, length);
}

int line_receive(struct line *line, const unsigned char *bytes, size_t n, struct frame *out) {
	unsigned char mac[MAC_BYTES];
	char other = line->own == 'm' ? 'd' : 'm';
	key_mac(&line->key, other, line->received, bytes, n - MAC_BYTES, mac);
	if (!mac_equal(mac, bytes + n - MAC_BYTES) || bytes[3] != line->version) {
		return -EBADMSG;
	}
	line->received++;
	*out = (struct frame){bytes[2], {(const char *)bytes + FRAME_HEAD, n - FRAME_MIN}};
	return 0;
}
