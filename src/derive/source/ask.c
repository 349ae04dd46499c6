// SPDX-License-Identifier: Apache-2.0

#include "source/ask.h"

#include "source/batch.h"
#include "source/row.h"

const char *source_detect(const struct input *in, const struct source *source) {
	return source->detect ? source->detect(in) : row_detect(in, source->row);
}

const char *const *source_reads(struct arena *arena, const struct source *source) {
	return source->reads ? source->reads : row_reads(arena, source->row);
}

const char *source_lacks(const struct source *source) {
	if (source->lacks || source->read) {
		return source->lacks;
	}
	unsigned fields = row_parse(source->row).fields;
	if (fields & ROW_BIT(ROW_BATCH)) {
		return BATCH_LACKS;
	}
	return fields & (ROW_BIT(ROW_HOSTS) | ROW_BIT(ROW_HOSTFILE))
		       ? NULL
		       : "the names of the nodes: pass --hosts if you need TF_CONFIG";
}

const char *source_known_by(struct arena *arena, const struct source *source) {
	return source->known_by ? source->known_by : row_known_by(arena, source->row);
}
