// SPDX-License-Identifier: Apache-2.0

/** The report: its times, and lines for which there is no room. */

#include "report/report.h"

#include "base/file.h"
#include "check.h"
#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static struct arena arena;

static void check_time(uint64_t seconds, const char *want) {
	struct buf out = BUF(&arena);
	report_put_time(&(struct json){.out = &out}, seconds * 1000 + 7);
	check_text(buf_text(&out), want, "the time %llu", (unsigned long long)seconds);
}

/** Report one event. Returns what report_end() does. */
static int event(struct report *report, struct err *err) {
	struct report_line line;
	struct json *json = report_begin(report, &line, "started");
	json_number(json, "pid", 7);
	return report_end(report, &line, err);
}

/** The same, while no file may be larger than @size. */
static int event_within(struct report *report, size_t size, struct err *err) {
	struct rlimit all, few;
	getrlimit(RLIMIT_FSIZE, &all);
	few = (struct rlimit){.rlim_cur = size, .rlim_max = all.rlim_max};
	setrlimit(RLIMIT_FSIZE, &few);
	int r = event(report, err);
	setrlimit(RLIMIT_FSIZE, &all);
	return r;
}

static struct str read_back(const char *path) {
	struct str text = {"", 0};
	struct err err;
	file_read(&arena, "report", path, 100000, &text, &err);
	return text;
}

/** The file may not grow: the line is cut, and the next one begins on a line of its own. */
static void check_cut(const char *path) {
	struct report report;
	struct err err;
	report_open(&report, &arena, &fixture_access, &(struct setting){path, "--report", BY_COMMAND_LINE});
	check(event(&report, &err) == 0);
	size_t whole = read_back(path).len;
	check(event_within(&report, whole + 9, &err) == -ENOSPC && read_back(path).len == whole + 9);
	check_part(err.text, "--report: '", "the warning");
	// Now the kernel also sends SIGXFSZ, and only the first failure is told.
	check(event_within(&report, whole + 9, &err) == 0 && read_back(path).len == whole + 9);
	check(event(&report, &err) == 0);
	struct str text = read_back(path);
	check(text.len == 2 * whole + 10);
	check(text.p[whole + 9] == '\n' && memcmp(text.p, text.p + whole + 10, 12) == 0);
}

/** The reader of a FIFO goes away. It is no reason to die, or to wait. */
static void check_fifo(const char *path) {
	struct report report;
	struct err err;
	mkfifo(path, 0600);
	int reader = open(path, O_RDONLY | O_NONBLOCK);
	report_open(&report, &arena, &fixture_access, &(struct setting){path, "--report", BY_COMMAND_LINE});
	check(event(&report, &err) == 0);
	char part[65536] = "";
	int writer = open(path, O_WRONLY | O_NONBLOCK);
	while (write(writer, part, sizeof(part)) > 0) {
	}
	check(event(&report, &err) == -EAGAIN);
	close(writer);
	close(reader);
	report.failed = false;
	check(event(&report, &err) == -ENXIO);
}

int main(void) {
	char folder[] = "/tmp/test-report-XXXXXX", path[100];
	arena = fixture_arena();
	check_time(0, "\"time\": \"1970-01-01T00:00:00.007Z\"");
	check_time(951827696, "\"time\": \"2000-02-29T12:34:56.007Z\"");
	check_time(1735689599, "\"time\": \"2024-12-31T23:59:59.007Z\"");
	check_time(1735689600, "\"time\": \"2025-01-01T00:00:00.007Z\"");
	check_time(4107542400, "\"time\": \"2100-03-01T00:00:00.007Z\"");
	check(mkdtemp(folder) != NULL);
	snprintf(path, sizeof(path), "%s/report", folder);
	check_cut(path);
	unlink(path);
	check_fifo(path);
	unlink(path);
	rmdir(folder);
	arena_done(&arena);
	return check_done();
}
