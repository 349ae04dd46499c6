// SPDX-License-Identifier: Apache-2.0

/**
 * The text of --read: what is understood can be written again, and is then understood alike.
 */

#include "source/read.h"

#include "base/buf.h"
#include "fuzz.h"

#define INPUT_MAX 4096

static void write_row(const struct source_row *row, struct buf *out) {
	for (unsigned i = 0; i < ROW_FIELDS; i++) {
		if (row->variables[i]) {
			buf_puts(out, row_field_names[i]);
			if (i == ROW_HOSTS && row->separator) {
				buf_putf(out, "[%c]", row->separator);
			}
			buf_putf(out, "%s=%s ", row->optional & ROW_BIT(i) ? "?" : "", row->variables[i]);
		}
	}
	buf_putf(out, "%s%s", row->slots ? "slots " : "", row->batch ? "batch" : "");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	if (size > INPUT_MAX) {
		return 0;
	}
	struct arena arena = fuzz_arena();
	struct source_row row, again;
	struct err err = {""};
	struct buf first = BUF(&arena), second = BUF(&arena);
	int r = read_parse(&arena, "READ", arena_text(&arena, (const char *)data, size), &row, &err);
	HOLDS((r == 0) == (err.text[0] == '\0'));
	if (r == 0) {
		write_row(&row, &first);
		HOLDS(read_parse(&arena, "AGAIN", buf_text(&first), &again, &err) == 0);
		write_row(&again, &second);
		HOLDS(strcmp(buf_text(&first), buf_text(&second)) == 0);
	}
	arena_done(&arena);
	return 0;
}
