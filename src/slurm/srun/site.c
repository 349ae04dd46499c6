// SPDX-License-Identifier: Apache-2.0

#include "srun/site.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/nearest.h"

#include <errno.h>
#include <unistd.h>

#define PREFIX "CSRUN_"
/** This variable is not a setting: it names the file with the settings. */
#define SITE_VARIABLE "CSRUN_SITE"

const struct site_name site_names[SITE_N] = {
	[SITE_IMAGE] = {"SINGULARITY_IMAGE", "CSRUN_IMAGE", "image"},
	[SITE_MOUNT_DIRS] = {"MOUNT_DIRS", "CSRUN_MOUNT_DIRS", "mount-dirs"},
	[SITE_NODES] = {"DEF_NODES", "CSRUN_NODES", "total-nodes"},
	[SITE_TASKS_PER_NODE] = {"DEF_TASKS_PER_NODE", "CSRUN_TASKS_PER_NODE", "tasks-per-node"},
	[SITE_CPUS_PER_TASK] = {"DEF_CPUS_PER_TASK", "CSRUN_CPUS_PER_TASK", "cpus-per-task"},
	[SITE_GRES] = {"GRES_RESOURCE", "CSRUN_GRES", "gres"},
	[SITE_GRES_NODE] = {"GRES_NODE", "CSRUN_GRES_NODE", "gres-node"},
	[SITE_RUNTIME] = {"CONTAINER_RUNTIME", "CSRUN_RUNTIME", "runtime"},
	[SITE_RUNTIME_ARGS] = {"RUNTIME_ARGS", "CSRUN_RUNTIME_ARGS", "runtime-args"},
	[SITE_PARTITION] = {"PARTITION", "CSRUN_PARTITION", "partition"},
	[SITE_ACCOUNT] = {"ACCOUNT", "CSRUN_ACCOUNT", "account"},
	[SITE_SRUN_ARGS] = {"SRUN_ARGS", "CSRUN_SRUN_ARGS", "srun-args"},
	[SITE_DISTINIT] = {"DISTINIT", "CSRUN_DISTINIT", "distinit"},
	[SITE_SINGLE_TASK_NODES] = {NULL, "CSRUN_SINGLE_TASK_NODES", "single-task-nodes"},
	[SITE_CYCLIC] = {NULL, "CSRUN_CYCLIC", "cyclic"},
	[SITE_ALLOC_NODE] = {NULL, "CSRUN_ALLOC_NODE", "alloc-node"},
	[SITE_EXCLUDE_GRES] = {NULL, "CSRUN_EXCLUDE_GRES", "exclude-gres"},
};

static bool is_name_byte(char c) {
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/** A line of the file, for messages. */
struct site_line {
	struct arena *arena;
	const char *path;
	uint32_t number;
	struct err *err;
};

static int refuse_name(const struct site_line *line, struct str name) {
	struct nearest best = {.word = name};
	struct buf known = BUF(line->arena);
	for (int id = 0; id < SITE_N; id++) {
		if (site_names[id].file) {
			nearest_try(&best, site_names[id].file);
			buf_putf(&known, "%s%s", id ? " " : "", site_names[id].file);
		}
	}
	return err_set(line->err, EINVAL, "%s:%u: unknown name %s%s%s%s", line->path, line->number,
		       quote(name).s, nearest_hint(&best, "").s,
		       best.found ? "" : "; expected one of: ", best.found ? "" : buf_text(&known));
}

static int find_name(struct str name) {
	for (int id = 0; id < SITE_N; id++) {
		if (site_names[id].file && str_is(name, site_names[id].file)) {
			return id;
		}
	}
	return -1;
}

/** Refuse '$' and '`' in a value: a shell would expand them, and we would take them literally. */
static int check_literal(const struct site_line *line, int id, struct str value) {
	for (size_t i = 0; i < value.len; i++) {
		if (value.p[i] == '$' || value.p[i] == '`') {
			return err_set(line->err, EINVAL,
				       "%s:%u: %s=%s: '%c' is not expanded here; write the value itself",
				       line->path, line->number, site_names[id].file, quote(value).s,
				       value.p[i]);
		}
	}
	return 0;
}

/** Whether @rest is empty or a comment. */
static bool is_rest_empty(struct str rest) {
	rest = str_trim(rest);
	return rest.len == 0 || rest.p[0] == '#';
}

/** Cut @text at its comment, a '#' at the beginning or after a blank. */
static struct str before_comment(struct str text) {
	for (size_t i = 0; i < text.len; i++) {
		bool begins = i == 0 || text.p[i - 1] == ' ' || text.p[i - 1] == '\t';
		if (text.p[i] == '#' && begins) {
			return str_trim((struct str){text.p, i});
		}
	}
	return str_trim(text);
}

/** Read a value from the text after the '=': remove quotes and a comment. Returns 0 or -EINVAL. */
static int read_value(const struct site_line *line, int id, struct str text, const char **out) {
	struct str value = before_comment(text);
	text = str_trim(text);
	char mark = text.len ? text.p[0] : '\0';
	bool words = id == SITE_SRUN_ARGS || id == SITE_RUNTIME_ARGS;
	if (mark == '"' || mark == '\'') {
		struct str inner = str_from(text, 1);
		size_t end = str_find(inner, mark);
		if (end == inner.len) {
			return err_set(line->err, EINVAL, "%s:%u: %s: the closing %c is missing", line->path,
				       line->number, site_names[id].file, mark);
		}
		if (is_rest_empty(str_from(inner, end + 1))) {
			value = (struct str){inner.p, end};
		} else if (!words) {
			return err_set(line->err, EINVAL, "%s:%u: %s: %s follows the closing %c", line->path,
				       line->number, site_names[id].file,
				       quote(str_trim(str_from(inner, end + 1))).s, mark);
		}
	}
	*out = arena_text(line->arena, value.p, value.len);
	return mark == '\'' || words ? 0 : check_literal(line, id, value);
}

/** Read a line. In a shell @script, only the first assignment of each known name counts. Returns 0 or -EINVAL. */
static int read_line(const struct site_line *line, struct str text, bool script, struct site *out) {
	// In a script, an indented line belongs to a function or a condition, so do not trim it.
	struct str trimmed = script ? text : str_trim(text);
	if (trimmed.len == 0 || trimmed.p[0] == '#') {
		return 0;
	}
	if (str_starts(trimmed, STR("export "))) {
		trimmed = str_trim(str_from(trimmed, 7));
	}
	struct str name = {trimmed.p, 0};
	while (name.len < trimmed.len && is_name_byte(trimmed.p[name.len])) {
		name.len++;
	}
	bool assigns = name.len > 0 && name.len < trimmed.len && trimmed.p[name.len] == '=';
	int id = assigns ? find_name(name) : -1;
	if (script && (id < 0 || out->value[id])) {
		return 0;
	}
	if (!assigns) {
		return err_set(line->err, EINVAL, "%s:%u: %s is not NAME=VALUE", line->path, line->number,
			       quote(trimmed).s);
	}
	if (id < 0) {
		return refuse_name(line, name);
	}
	if (out->value[id]) {
		return err_set(line->err, EINVAL, "%s:%u: %s is already set in line %u", line->path,
			       line->number, site_names[id].file, out->line[id]);
	}
	out->line[id] = line->number;
	return read_value(line, id, str_from(trimmed, name.len + 1), &out->value[id]);
}

int site_parse(struct arena *arena, const char *path, struct str text, struct site *out, struct err *err) {
	struct site_line line = {.arena = arena, .path = path, .err = err};
	struct site site = {.path = path};
	struct str piece;
	bool script = str_starts(text, STR("#!"));
	if (str_find(text, '\0') < text.len) {
		return err_set(err, EINVAL, "%s: a NUL byte; a text file is expected", path);
	}
	while (str_cut(&text, '\n', &piece)) {
		line.number++;
		int r = read_line(&line, piece, script, &site);
		if (r < 0) {
			return r;
		}
	}
	*out = site;
	return 0;
}

int site_read(struct arena *arena, const struct site_paths *paths, struct site *out, struct err *err) {
	const char *path = paths->given;
	struct str text;
	if (!path && access(paths->system, F_OK) == 0) {
		path = paths->system;
	}
	if (!path && paths->beside && access(paths->beside, F_OK) == 0) {
		path = paths->beside;
	}
	if (!path) {
		*out = (struct site){0};
		return 0;
	}
	const char *what = paths->given_from ? arena_format(arena, "the site file of %s", paths->given_from)
					     : "the site file";
	int r = file_read(arena, what, path, SITE_BYTES, &text, err);
	return r < 0 ? r : site_parse(arena, path, text, out, err);
}

void site_check_variables(const struct env *env, struct notes *notes) {
	for (uint32_t i = 0; i < env->n; i++) {
		struct str name = env_entry_name(&env->entries[i]);
		if (!str_starts(name, STR(PREFIX)) || str_is(name, SITE_VARIABLE)) {
			continue;
		}
		struct nearest best = {.word = str_from(name, sizeof(PREFIX) - 1)};
		nearest_try(&best, &SITE_VARIABLE[sizeof(PREFIX) - 1]);
		bool known = false;
		for (int id = 0; id < SITE_N && !known; id++) {
			known = str_is(name, site_names[id].variable);
			nearest_try(&best, site_names[id].variable + sizeof(PREFIX) - 1);
		}
		if (!known) {
			notes_add(notes, "%s is not a setting of distrun%s", quote(name).s,
				  nearest_hint(&best, PREFIX).s);
		}
	}
}
