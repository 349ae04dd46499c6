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
	return source->reads ? source->reads : row_reads(arena, source->row);
}

/** "A or B" for "A|B". */
static void put_or(struct buf *out, const char *names) {
	struct str rest = str_of(names), name;
	for (bool more = false; str_cut(&rest, '|', &name); more = true) {
		buf_puts(out, more ? " or " : "");
		buf_put(out, name);
	}
}

const char *source_known_by(struct arena *arena, const struct source *source) {
	if (source->known_by) {
		return source->known_by;
	}
	struct buf words = BUF(arena);
	put_or(&words, source->row->variables[source->row->known_by]);
	for (enum row_field i = 0; i < ROW_FIELDS; i++) {
		if (source->row->known_with & ROW_BIT(i)) {
			buf_puts(&words, " and ");
			put_or(&words, source->row->variables[i]);
		}
	}
	return buf_text(&words);
}
