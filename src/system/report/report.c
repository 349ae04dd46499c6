// SPDX-License-Identifier: Apache-2.0

#include "report/report.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/** The version of the format. If a key is removed or gets another meaning, it changes. */
#define VERSION 1

void report_open(struct report *report, struct arena *arena, struct access *access,
		 const struct setting *file) {
	const char *path = file->value;
	char folder[4096];
	*report = (struct report){.path = path,
				  .label = file->from,
				  .access = access,
				  .node_rank = UINT32_MAX,
				  .rank = UINT32_MAX,
				  .full = arena->full};
	// The process may leave its working directory before it writes.
	if (path[0] != '/' && getcwd(folder, sizeof(folder))) {
		report->path = arena_format(arena, "%s/%s", folder, path);
	}
}

void report_put_time(struct json *json, uint64_t ms) {
	time_t seconds = (time_t)(ms / 1000);
	struct tm utc;
	gmtime_r(&seconds, &utc);
	buf_putf(json_value(json, "time"), "\"%d-%02d-%02dT%02d:%02d:%02d.%03uZ\"", utc.tm_year + 1900,
		 utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec, (unsigned)(ms % 1000));
}

void report_reserve(struct report *report, struct arena *arena, const char *program) {
	size_t texts = strlen(program) + (report->job_id ? strlen(report->job_id) : 0);
	// JSON writes up to six bytes for one byte. A buffer that grows doubles, and its old copy stays.
	report->size = 4 * (3072 + 6 * texts);
	report->memory = arena_alloc(arena, report->size);
}

struct json *report_begin(const struct report *report, struct report_line *line, const char *event) {
	struct utsname host = {.nodename = ""};
	uname(&host);
	bool own = !report->memory;
	arena_init(&line->arena, own ? line->memory : report->memory,
		   own ? sizeof(line->memory) : report->size, report->full);
	line->text = BUF(&line->arena);
	line->json = (struct json){.out = &line->text};
	struct json *json = &line->json;
	json_line(json, 0);
	json_open(json, NULL, '{');
	json_number(json, "version", VERSION);
	report_put_time(json, clock_wall_ms());
	json_text(json, "host", host.nodename);
	json_number(json, "pid", (uint64_t)getpid());
	json_text(json, "job_id", report->job_id);
	json_number(json, "node_rank", report->node_rank);
	json_number(json, "rank", report->rank);
	json_text(json, "event", event);
	json_open(json, event, '{');
	return json;
}

/** Write @text, or what has room, without waiting. Returns the number of bytes or a negative errno. */
static ssize_t write_line(int fd, struct str text) {
	// What could not be opened again is our stdout or stderr itself, such as a socket, and may wait for its reader.
	if (!(fcntl(fd, F_GETFL) & O_NONBLOCK)) {
		return write_at_once(fd, text);
	}
	const ssize_t n = write(fd, text.p, text.len);
	return n < 0 ? -errno : n;
}

/**
 * Append @text to the file. Discard the signals that this may cause: SIGPIPE if the reader of a FIFO has
 * gone, SIGXFSZ if the file has reached RLIMIT_FSIZE. (If they are blocked already, they stay pending, and
 * the loop of --init drops them.) They are not set to "ignore", because that would also discard a signal
 * that another process has sent.
 * Returns 0 or a negative errno.
 */
static int append(struct report *report, struct str text, struct err *err) {
	static struct timespec at_once;
	uint64_t before, caused = 1UL << (SIGPIPE - 1) | 1UL << (SIGXFSZ - 1);
	const struct setting file = {report->path, report->label, BY_VARIABLE};
	int fd = access_append(report->access, &file, APPEND_MAKE, err);
	if (fd < 0) {
		return fd;
	}
	syscall(SYS_rt_sigprocmask, SIG_BLOCK, &caused, &before, sizeof(before));
	ssize_t n = write_line(fd, text);
	int r = n < 0 ? (int)n : (size_t)n < text.len ? -ENOSPC : 0;
	report->torn = n > 0 ? r < 0 : report->torn;
	r = close(fd) < 0 && r == 0 ? -errno : r;
	caused &= ~before;
	syscall(SYS_rt_sigtimedwait, &caused, NULL, &at_once, sizeof(caused));
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(before));
	return r < 0 ? err_set(err, -r, "%s: %s cannot be written: %s", report->label,
			       quote_text(report->path).s, strerror(-r))
		     : 0;
}

int report_end(struct report *report, struct report_line *line, struct err *err) {
	json_close(&line->json, '}');
	json_close(&line->json, '}');
	buf_putc(&line->text, '\n');
	// Each line begins with a line break. It is written only if the previous line was cut.
	int r = append(report, str_from(buf_str(&line->text), !report->torn), err);
	arena_done(&line->arena);
	if (r == 0 || report->failed) {
		return 0;
	}
	report->failed = true;
	return r;
}

int report_started(struct report *report, const char *program, uint32_t pid, bool init, struct err *err) {
	struct report_line line;
	struct json *json = report_begin(report, &line, "started");
	json_text(json, "program", secret_text(&line.arena, program));
	json_number(json, "pid", pid);
	json_fact(json, "init", init);
	return report_end(report, &line, err);
}
