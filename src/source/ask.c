// SPDX-License-Identifier: Apache-2.0

#include "source/ask.h"

#include "base/buf.h"
#include "source/row.h"

const char *source_detect(const struct input *in, const struct source *source) {
	return source->detect ? source->detect(in) : row_detect(in, source->row);
}

int source_place(struct input *in, const struct source *source, const char *recognised_by,
		 struct placement *out, struct err *err) {
	return source->read ? source->read(in, out, err) : row_read(in, source->row, recognised_by, out, err);
}

const char *const *source_reads(struct arena *arena, const struct source *source) {
	if (source->reads) {
		return source->reads;
	}
	const char **names = arena_array(arena, ROW_FIELDS + 1, sizeof(*names));
	size_t n = 0;
	for (enum row_field i = 0; i < ROW_FIELDS; i++) {
		if (source->row->variables[i]) {
			names[n++] = source->row->variables[i];
		}
	}
	names[n] = NULL;
	return names;
}

const char *source_known_by(struct arena *arena, const struct source *source) {
	if (source->known_by) {
		return source->known_by;
	}
	struct buf words = BUF(arena);
	buf_puts(&words, source->row->variables[source->row->known_by]);
	for (enum row_field i = 0; i < ROW_FIELDS; i++) {
		if (source->row->known_with & ROW_BIT(i)) {
			buf_puts(&words, " and ");
			buf_puts(&words, source->row->variables[i]);
		}
	}
	return buf_text(&words);
}
