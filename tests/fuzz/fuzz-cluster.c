// SPDX-License-Identifier: Apache-2.0

/**
 * An environment and a file, as a manager provides them, through to every output.
 * The input is split at NULs: the first piece is the file, the others are the entries of the
 * environment, including settings (DISTINIT_*). The file appears wherever a manager looks for one.
 * Whatever the input, the output has to be valid in its format, and the cluster consistent.
 */

#include "access/view.h"
#include "base/json_read.h"
#include "base/json_write.h"
#include "cluster/hostlist.h"
#include "distinit/subcommands.h"
#include "explain/explain.h"
#include "flow/tables.h"
#include "format/format.h"

#include "fuzz.h"

#include <cjson/cJSON.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#define INPUT_MAX 16384
#define WORDS_MAX 256

/** The names of the file: "/f" for variables, and the managers' own paths. */
static const char *const places[] = {"/f", "/etc/hosts", "/etc/mpi/hostfile",
				     "/opt/ml/input/config/resourceconfig.json"};

static char root[] = "/tmp/fuzz-cluster.XXXXXX";

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *at) {
	(void)status;
	(void)type;
	(void)at;
	return remove(path);
}

static void remove_root(void) {
	(void)nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void make_folders(char *path) {
	for (char *at = path + strlen(root) + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		(void)mkdir(path, 0700);
		*at = '/';
	}
}

/** The folder that stands for "/" is created once. It has one file with several names. */
static void write_file_of(struct str text) {
	static int fd = -1;
	if (fd < 0) {
		HOLDS(mkdtemp(root) && atexit(remove_root) == 0);
		char first[256], path[256];
		for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
			(void)snprintf(path, sizeof(path), "%s%s", root, places[i]);
			make_folders(path);
			if (i == 0) {
				memcpy(first, path, sizeof(first));
				fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
				HOLDS(fd >= 0);
			} else {
				HOLDS(link(first, path) == 0);
			}
		}
	}
	HOLDS(ftruncate(fd, 0) == 0 && pwrite(fd, text.p, text.len, 0) == (ssize_t)text.len);
}

/** Settings that would read other files, or look up host names. */
static bool is_left_out(struct str word) {
	static const char *const names[] = {"DISTINIT_ROOT", "DISTINIT_ENV_FILE", "NCCL_SOCKET_IFNAME",
					    "GLOO_SOCKET_IFNAME"};
	word.len = str_find(word, '=');
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (str_is(word, names[i])) {
			return true;
		}
	}
	return false;
}

/** Each line of @text is NAME='VALUE', in which no quote stands. */
static void check_shell(struct str text) {
	while (text.len) {
		size_t name = str_find(text, '=');
		HOLDS(name > 0 && name + 1 < text.len && text.p[name + 1] == '\'');
		text = str_from(text, name + 2);
		size_t value = str_find(text, '\'');
		HOLDS(value + 1 < text.len && text.p[value + 1] == '\n');
		text = str_from(text, value + 2);
	}
}

static struct cJSON *read_json(struct buf *out) {
	struct cJSON *json = NULL;
	struct err err = {""};
	HOLDS(utf8_valid(buf_str(out)) && strlen(buf_text(out)) == out->len);
	HOLDS(json_read("OUTPUT", buf_text(out), &json, &err) == 0);
	return json;
}

/** All variables in @format, except those that it refuses. */
static void check_format(struct session *s, const struct format *format) {
	struct buf out = BUF(&s->arena);
	uint32_t n = 0;
	buf_puts(&out, format->head);
	for (uint32_t i = 0; i < s->env.n; i++) {
		const struct env_entry *entry = &s->env.entries[i];
		struct str name = env_entry_name(entry), value = str_of(env_entry_value(entry));
		if (entry->state == ENV_LIVE && entry->text[entry->name_len] == '=' &&
		    !format->refuses(name, value)) {
			format->put(&out, name, value, n++);
		}
	}
	buf_puts(&out, format->tail);
	if (format == format_find("shell")) {
		check_shell(buf_str(&out));
	} else if (format == format_find("json")) {
		struct cJSON *json = read_json(&out);
		HOLDS(cJSON_GetArraySize(json) == (int)n);
		cJSON_Delete(json);
	} else {
		const char end = format == format_find("null") ? '\0' : '\n';
		uint32_t ends = 0;
		for (size_t i = 0; i < out.len; i++) {
			ends += out.p[i] == end;
		}
		HOLDS(ends == n && (n == 0 || out.p[out.len - 1] == end));
	}
}

static void check_explained(struct session *s) {
	struct buf text = BUF(&s->arena), out = BUF(&s->arena);
	struct process_report process;
	struct err err;
	// The process itself depends little on the input, but is part of both outputs.
	struct view *view = NULL;
	if (view_open(&s->flow.access, s->settings.value[OPT_ROOT], &view, &err) < 0) {
		return;
	}
	int r = process_read(&s->arena, view, &s->env, &process.process, &err);
	if (view_close(view, r, &err) < 0 || explain_read_run(s, &process.run, &err) < 0) {
		return;
	}
	explain_workload(s, &process);
	explain_text(s, &process, &text);
	for (size_t i = 0; i < text.len; i++) {
		HOLDS(text.p[i] == '\n' ||
		      ((unsigned char)text.p[i] >= ' ' && (unsigned char)text.p[i] < 0x7f));
	}
	explain_json(s, &process, &out);
	struct cJSON *json = read_json(&out);
	HOLDS(cJSON_IsObject(cJSON_GetObjectItem(json, "cluster")) == s->flow.has_cluster);
	HOLDS(cJSON_IsArray(cJSON_GetObjectItem(json, "variables")));
	cJSON_Delete(json);
}

static void check_numbers(const struct cluster *c) {
	const struct task *task = &c->task;
	const uint32_t n = c->place.hosts.n;
	HOLDS(n == 0 || c->nnodes == n);
	HOLDS(c->place.node_rank == UNKNOWN || c->nnodes == UNKNOWN || c->place.node_rank < c->nnodes);
	HOLDS(n == 0 || c->place.master < n);
	HOLDS(!c->launcher || task->rank < task->world_size);
	HOLDS(task->local_rank == UNKNOWN || task->local_size == UNKNOWN ||
	      task->local_rank < task->local_size);
	HOLDS(c->master_port != 0);
	// The user may say that a launcher's only process on the node is the node's.
	HOLDS(c->scope == SCOPE_TASK || !c->launcher ||
	      (c->scope == SCOPE_NODE &&
	       (task->local_size == UNKNOWN ? task->local_rank + 1 <= 1 : task->local_size == 1)));
}

static void check_hosts(struct arena *arena, const struct hosts *hosts) {
	struct buf list = BUF(arena);
	struct hosts again;
	struct err err = {""};
	if (hosts->n == 0) {
		return;
	}
	hostlist_compress(hosts, &list);
	HOLDS(hostlist_expand(arena, "AGAIN", buf_str(&list), &again, &err) == 0 && again.n == hosts->n);
	for (uint32_t i = 0; i < hosts->n; i++) {
		HOLDS(str_eq(hosts_at(hosts, i), hosts_at(&again, i)));
	}
}

/** In a TF_CONFIG of ours, the task is one of those listed, unless it is the evaluator. */
static void check_tf_config(struct session *s) {
	const struct env *env = &s->env;
	for (uint32_t i = 0; i < env->n; i++) {
		const struct env_entry *entry = &env->entries[i];
		if (entry->state != ENV_LIVE || !entry->by || strcmp(entry->by->by, "tensorflow") != 0) {
			continue;
		}
		struct cJSON *json = NULL;
		struct err err;
		HOLDS(json_read("TF_CONFIG", env_entry_value(entry), &json, &err) == 0);
		const cJSON *task = cJSON_GetObjectItem(json, "task");
		const char *type = cJSON_GetStringValue(cJSON_GetObjectItem(task, "type"));
		int index = cJSON_GetObjectItem(task, "index")->valueint;
		const cJSON *peers = cJSON_GetObjectItem(cJSON_GetObjectItem(json, "cluster"), type);
		HOLDS(strcmp(type, "evaluator") == 0 ? !peers : index < cJSON_GetArraySize(peers));
		cJSON_Delete(json);
	}
}

static void check_session(struct session *s) {
	struct err err = {""};
	char *none[] = {NULL};
	int r = session_options(s, CMD_ENV, none, &err);
	r = r < 0 ? r : session_derive(s, &err);
	// With --lenient the message stays, although it is not an error.
	HOLDS(r == 0 || err.text[0] != '\0');
	if (r < 0) {
		return;
	}
	if (s->flow.has_cluster) {
		check_numbers(&s->flow.cluster);
		check_hosts(&s->arena, &s->flow.cluster.place.hosts);
		check_tf_config(s);
	}
	for (const struct format *format = formats; format->name; format++) {
		check_format(s, format);
	}
	check_explained(s);
	struct str file = s->flow.derivation.hostfile.text;
	HOLDS(!file.p || file.len == 0 || file.p[file.len - 1] == '\n');
	for (char **entry = env_vector(&s->env); *entry; entry++) {
		HOLDS(strlen(*entry) < ENV_TEXT_MAX);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	if (size > INPUT_MAX) {
		return 0;
	}
	struct arena arena = fuzz_arena();
	struct str rest = {(const char *)data, size}, file = {0}, word;
	char *words[WORDS_MAX + 4] = {0};
	unsigned n = 0;
	str_cut(&rest, '\0', &file);
	write_file_of(file);
	words[n++] = arena_format(&arena, "DISTINIT_ROOT=%s", root);
	words[n++] = arena_text(&arena, "NCCL_SOCKET_IFNAME=none", sizeof("NCCL_SOCKET_IFNAME=none") - 1);
	words[n++] = arena_text(&arena, "GLOO_SOCKET_IFNAME=none", sizeof("GLOO_SOCKET_IFNAME=none") - 1);
	while (n < WORDS_MAX && str_cut(&rest, '\0', &word)) {
		if (!is_left_out(word)) {
			words[n++] = arena_text(&arena, word.p, word.len);
		}
	}

	char **before = environ;
	environ = words;
	static struct session s;
	session_init(&s, NULL, 0);
	s.arena.full = fuzz_full;
	check_session(&s);
	environ = before;
	arena_done(&s.arena);
	arena_done(&arena);
	return 0;
}
