// SPDX-License-Identifier: Apache-2.0

/** Slurm's tools as children: what they print, how they fail, and that nothing of them stays open. */

#include "srun/tool.h"

#include "check.h"
#include "fixture.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

static struct arena arena;
static char **environment;

static unsigned open_descriptors(void) {
	unsigned n = 0;
	DIR *folder = opendir("/proc/self/fd");
	while (folder && readdir(folder)) {
		n++;
	}
	if (folder) {
		closedir(folder);
	}
	return n;
}

/** Run @script. Its output is @want, or the message has @want if @r is not 0. */
static void check_output(const char *script, uint64_t timeout_ms, int want_r, const char *want) {
	char **argv = fixture_split(&arena, arena_format(&arena, "sh@-c@%s", script), '@');
	struct str text = {0};
	struct err err = {"no error"};
	unsigned before = open_descriptors();
	int r = tool_output(&arena, argv, environment, timeout_ms, &text, &err);
	checkf(r == want_r, "'%s': %d, and not %d", script, r, want_r);
	if (r == 0) {
		check_text(text.p, want, "output of '%s'", script);
	} else {
		check_text(err.text, want, "error of '%s'", script);
	}
	checkf(open_descriptors() == before, "'%s': all pipes are closed", script);
}

static void test_output(void) {
	check_output("echo a; echo b", 60000, 0, "a\nb\n");
	check_output("true", 60000, 0, "");
	// It gets end of file, and not our stdin.
	check_output("cat; echo end", 60000, 0, "end\n");
	check_output("exit 3", 60000, -EIO, "sh failed: it printed no error");
	check_output(
		"echo >&2 'squeue: error: first'; echo >&2 'squeue: error: no such job'; echo >&2; exit 1",
		60000, -EIO, "sh failed: 'no such job'");
	check_output("sleep 100", 50, -ETIMEDOUT, "sh did not answer within 0.05s");
	// Its streams have ended, and it has not.
	check_output("exec >&- 2>&-; exec sleep 100", 50, -ETIMEDOUT, "sh did not answer within 0.05s");
	check_output("exec >&- 2>&-; exec sleep 0.05", 60000, 0, "");
	check_output("head -c 1048576 /dev/zero | tr '\\0' x >/dev/null; echo much", 60000, 0, "much\n");
	check_output("head -c 1048577 /dev/zero", 60000, -EFBIG, "sh printed more than a megabyte");
	check_output("head -c 1048577 /dev/zero >&2", 60000, -EFBIG, "sh printed more than a megabyte");
}

static void test_limit(void) {
	char **argv = fixture_split(&arena, "head -c 1048576 /dev/zero", ' ');
	struct str text = {0};
	struct err err = {"no error"};
	check(tool_output(&arena, argv, environment, 60000, &text, &err) == 0);
	check(text.len == 1048576);
}

static void test_absent(void) {
	char **argv = fixture_split(&arena, "no-such-tool", ' ');
	struct tool tool;
	struct err err = {"no error"};
	unsigned before = open_descriptors();
	check(tool_start(&tool, argv, environment, &err) == -ENOENT);
	check_text(err.text, "no-such-tool cannot be started: it is not in PATH", "a tool that is absent");
	check(tool.pid == 0 && tool.in < 0 && tool.out < 0 && tool.err < 0);
	check(open_descriptors() == before);
}

/** Our ends do not block; the tool's ends are its own, so that we see when it closes them. */
static void test_pipes(void) {
	char **argv = fixture_split(&arena, "sh@-c@exec <&-; echo closed; sleep 1000", '@');
	char text[10];
	struct tool tool;
	struct err err = {"no error"};
	unsigned before = open_descriptors();
	check(tool_start(&tool, argv, environment, &err) == 0);
	check(open_descriptors() == before + 3);
	check(read(tool.err, text, sizeof(text)) < 0 && errno == EAGAIN);
	poll(&(struct pollfd){.fd = tool.out, .events = POLLIN}, 1, 60000);
	check(read(tool.out, text, sizeof(text)) == 7);
	check(write(tool.in, "x", 1) < 0 && errno == EPIPE);
	check(getsid(tool.pid) == tool.pid);
	pid_t pid = tool.pid;
	tool_end(&tool);
	check(tool.pid == 0 && kill(pid, 0) < 0 && errno == ESRCH);
	check(open_descriptors() == before);
	tool_end(&tool);
}

static void check_last_line(const char *text, const char *want) {
	struct str line = tool_last_line(str_of(text));
	check_text(arena_text(&arena, line.p, line.len), want, "last line of '%s'", text);
}

static void test_environment(void) {
	struct env env;
	fixture_env(&env, &arena,
		    "A=1|SLURM_CONF=/c|SLURM_JOB_ID=1|SLURM_JOBID=1|SLURM_JOB_NODELIST=n1|SLURM_NODELIST=n1|"
		    "SLURM_NTASKS=4|SBATCH_X=1|SRUN_X=1|SLURMD_NODENAME=n1|XSLURM_A=1",
		    '|');
	struct buf out = BUF(&arena);
	for (char **entry = tool_environment(&arena, &env); *entry; entry++) {
		buf_puts(&out, *entry);
		buf_putc(&out, '|');
	}
	check_text(buf_text(&out),
		   "A=1|SLURM_CONF=/c|SLURM_JOB_ID=1|SLURM_JOBID=1|SLURM_JOB_NODELIST=n1|SLURM_NODELIST=n1|"
		   "SLURMD_NODENAME=n1|XSLURM_A=1|",
		   "the environment of tools");
}

int main(void) {
	arena = fixture_arena();
	environment = fixture_split(&arena, "PATH=/usr/bin:/bin", '|');
	signal(SIGPIPE, SIG_IGN);
	test_environment();
	test_output();
	test_limit();
	test_absent();
	test_pipes();
	check_last_line("", "");
	check_last_line("a\nb\n\n \n", "b");
	check_last_line("srun: error: Unable to allocate", "Unable to allocate");
	check_last_line("srun: Unable to allocate", "Unable to allocate");
	check_last_line("error: no", "no");
	check_last_line("it is: broken", "it is: broken");
	return check_done();
}
