// SPDX-License-Identifier: Apache-2.0

#include "source/pods.h"

#include "base/num.h"

bool pod_read(struct str name, struct pod_name *out) {
	struct str label = host_label(name);
	size_t at = label.len;
	while (at > 0 && label.p[at - 1] != '-') {
		at--;
	}
	uint32_t index;
	if (at < 2 || num_read_u32(str_from(label, at), &index) < 0) {
		return false;
	}
	*out = (struct pod_name){{name.p, at}, index, str_from(name, label.len)};
	return true;
}

bool pod_is_first(struct str name, struct str end) {
	struct str label = host_label(name);
	return label.len > end.len && str_eq(str_from(label, label.len - end.len), end);
}

uint32_t pod_rank(struct str master, struct str self) {
	struct pod_name pod;
	struct str job = host_label(master);
	self = host_label(self);
	if (!pod_is_first(job, POD_MASTER) || !pod_read(self, &pod)) {
		return UNKNOWN;
	}
	if (str_eq(job, self)) {
		return 0;
	}
	job.len -= strlen("master-0");
	bool worker = str_starts(self, job) && str_eq(str_from(pod.prefix, job.len), STR("worker-"));
	return worker && pod.index < UNKNOWN - 1 ? pod.index + 1 : UNKNOWN;
}

void pods_put(struct buf *out, struct str prefix, uint32_t first, uint32_t n, struct str suffix) {
	for (uint32_t i = 0; i < n; i++) {
		buf_put(out, prefix);
		buf_putu(out, (uint64_t)first + i);
		buf_put(out, suffix);
		buf_putc(out, ',');
	}
}
