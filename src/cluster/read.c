// SPDX-License-Identifier: Apache-2.0

/** What sources read from variables, beyond a plain number. */

#include "base/num.h"
#include "cluster/source.h"

#include <errno.h>

uint32_t told_nnodes(const struct input *in) {
	uint32_t nnodes;
	return num_read_u32(str_of(in->nnodes.value), &nnodes) == 0 ? nnodes : UNKNOWN;
}

int need_value(const struct input *in, const char *name, const char *beside, const char **out,
	       struct err *err) {
	const char *value = env_value(in->env, name);
	if (!value) {
		return err_set(err, EINVAL, "%s is set, but %s is not", beside, name);
	}
	*out = value;
	return 0;
}

int need_u32(const struct input *in, const char *name, const char *beside, uint32_t *out, struct err *err) {
	const char *value = "";
	int r = need_value(in, name, beside, &value, err);
	return r < 0 ? r : parse_u32(name, value, out, err);
}

int need_nnodes(const struct input *in, const char *name, const char *beside, uint32_t *out,
		struct err *err) {
	uint32_t nnodes;
	int r = need_u32(in, name, beside, &nnodes, err);
	if (r < 0) {
		return r;
	}
	if (nnodes == 0 || nnodes > HOSTS_MAX) {
		return err_set(err, EINVAL, "%s=%u: a number of nodes from 1 to %u is expected", name, nnodes,
			       HOSTS_MAX);
	}
	*out = nnodes;
	return 0;
}

int check_count(const char *name, uint32_t told, const struct placement *place, struct err *err) {
	if (told != place->hosts.n) {
		return err_set(err, EINVAL, "%s=%u, but %s lists %u", name, told, place->hosts_from,
			       place->hosts.n);
	}
	return 0;
}
