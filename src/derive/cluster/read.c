// SPDX-License-Identifier: Apache-2.0

/** Readers for sources: numbers, ports, and required variables. */

#include "access/access.h"
#include "access/view.h"
#include "base/buf.h"
#include "base/num.h"
#include "cluster/source.h"

#include <errno.h>

static int refuse_number(const char *name, const char *value, const char *wanted, struct err *err) {
	return err_set(err, EINVAL, "%s=%s is not %s", name, quote_value(name, str_of(value)).s, wanted);
}

int parse_u32(const char *name, const char *value, uint32_t *out, struct err *err) {
	int r = num_read_u32(str_of(value), out);
	if (r < 0) {
		refuse_number(name, value,
			      r == -ERANGE ? "a whole number below 4294967295" : "a whole number", err);
	}
	return r < 0 ? -EINVAL : 0;
}

int parse_port(const char *name, const char *value, uint16_t *out, struct err *err) {
	uint64_t port;
	if (num_read(str_of(value), UINT16_MAX, &port) < 0 || port == 0) {
		return refuse_number(name, value, "a port (1 to 65535)", err);
	}
	*out = (uint16_t)port;
	return 0;
}

int read_u32(const struct input *in, const char *name, uint32_t *out, struct err *err) {
	const char *value = env_value(in->env, name);
	return value ? parse_u32(name, value, out, err) : 0;
}

int read_port(const struct input *in, const char *name, uint16_t *out, struct err *err) {
	const char *value = env_value(in->env, name);
	return value ? parse_port(name, value, out, err) : 0;
}

void read_nproc(const struct input *in, const char *name, struct placement *out) {
	uint32_t number;
	if (num_read_u32(str_of(env_value(in->env, name)), &number) == 0 && number) {
		out->nproc_per_node = number;
	}
}

/** How much of the names in a folder is read. */
#define NAMES_BYTES ((size_t)1 << 20)

static const struct input_file *find_file(const struct input *in, const char *path) {
	const struct input_file *file = in->files;
	while (file && strcmp(file->path, path) != 0) {
		file = file->next;
	}
	return file;
}

int input_read_setting(struct input *in, const struct setting *setting, size_t max, struct str *out,
		       struct err *err) {
	const struct input_file *known = find_file(in, setting->value);
	if (known) {
		*out = known->text;
		return 0;
	}
	const struct setting where = setting_under_root(in->arena, &in->root, setting);
	int r = access_read(in->access, in->arena, setting->from, &where, max, out, err);
	if (r == 0 && in->keeps_files) {
		struct input_file *file = arena_alloc(in->arena, sizeof(*file));
		*file = (struct input_file){setting->value, *out, in->files};
		in->files = file;
	}
	return r;
}

int input_read_file(struct input *in, const char *what, const char *path, size_t max, struct str *out,
		    struct err *err) {
	return input_read_setting(in, &(struct setting){path, what, BY_MANAGER}, max, out, err);
}

const char *input_path(const struct input *in, const struct setting *setting) {
	return setting_under_root(in->arena, &in->root, setting).value;
}

bool input_has_file(const struct input *in, const char *path) {
	const struct setting setting = {path, "", BY_MANAGER};
	const struct setting where = setting_under_root(in->arena, &in->root, &setting);
	return find_file(in, path) || access_exists(in->access, &where);
}

int input_names(struct input *in, const char *path, struct str *out, struct err *err) {
	const size_t len = strlen(path);
	struct buf names = BUF(in->arena);
	struct entries entries;
	struct view *view;
	for (const struct input_file *file = in->files; file; file = file->next) {
		if (strncmp(file->path, path, len) == 0 && file->path[len] == '/') {
			buf_putf(&names, "%s\n", file->path + len + 1);
		}
	}
	*out = buf_str(&names);
	if (names.len) {
		return 0;
	}
	if (view_open(in->access, in->root.value, &view, err) < 0) {
		return -EPERM;
	}
	view_entries(view, path, &entries);
	for (const char *name; (name = entries_next(&entries));) {
		if (names.len + strlen(name) < NAMES_BYTES) {
			buf_putf(&names, "%s\n", name);
		}
	}
	*out = buf_str(&names);
	return view_close(view, 0, err);
}

int place_hosts(const struct input *in, const char *from, const char *list, char separator,
		struct placement *out, struct err *err) {
	out->hosts_from = from;
	return hosts_split(in->arena, from, list, separator, &out->hosts, NULL, err);
}

uint32_t given_nnodes(const struct input *in) {
	uint32_t nnodes;
	return num_read_u32(str_of(in->nnodes.value), &nnodes) == 0 ? nnodes : UNKNOWN;
}

int need_value(const struct input *in, const char *name, const char *beside, const char **out,
	       struct err *err) {
	const char *value = env_value(in->env, name);
	if (!value) {
		return err_set(err, EINVAL, "%s is set, but %s is not" MANAGERS_BOTH, beside, name);
	}
	*out = value;
	return 0;
}

int need_u32(const struct input *in, const char *name, const char *beside, uint32_t *out, struct err *err) {
	const char *value = "";
	int r = need_value(in, name, beside, &value, err);
	return r < 0 ? r : parse_u32(name, value, out, err);
}

int parse_nnodes(const char *name, const char *value, uint32_t *out, struct err *err) {
	uint32_t nnodes;
	int r = parse_u32(name, value, &nnodes, err);
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

int need_nnodes(const struct input *in, const char *name, const char *beside, uint32_t *out,
		struct err *err) {
	const char *value = "";
	int r = need_value(in, name, beside, &value, err);
	return r < 0 ? r : parse_nnodes(name, value, out, err);
}

/** Whether @name is an option, or its variable: the user has set it for distinit. */
static bool is_given(const char *name) {
	return name[0] == '-' || str_starts(str_of(name), STR("DISTINIT_"));
}

int check_below(const char *name, uint32_t number, const char *limit_name, uint32_t limit, struct err *err) {
	if (number != UNKNOWN && limit != UNKNOWN && number >= limit) {
		return err_set(err, EINVAL, "%s=%u is not below %s=%u%s", name, number, limit_name, limit,
			       is_given(name) || is_given(limit_name) ? "" : ONE_IS_STALE);
	}
	return 0;
}

int check_index(const char *name, uint32_t number, const struct placement *place, struct err *err) {
	uint32_t n = place->hosts.n;
	if (number != UNKNOWN && number >= n) {
		return err_set(err, EINVAL, "%s=%u, but %s lists %u (0 to %u)%s", name, number,
			       place->hosts_from, n, n - 1,
			       is_given(name) || is_given(place->hosts_from) ? "" : MANAGERS_COUNT);
	}
	return 0;
}

int check_count(const char *name, uint32_t number, const struct placement *place, struct err *err) {
	if (number != place->hosts.n) {
		return err_set(err, EINVAL, "%s=%u, but %s lists %u" MANAGERS_COUNT, name, number,
			       place->hosts_from, place->hosts.n);
	}
	return 0;
}
