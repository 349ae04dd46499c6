// SPDX-License-Identifier: Apache-2.0

#include "srun/tool.h"

#include "base/clock.h"
#include "base/duration.h"
#include "exec/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/** The limit for a tool's output, in bytes. */
#define OUTPUT_MAX ((size_t)1 << 20)

/** Milliseconds between two looks whether a tool that has closed its streams has ended. */
#define END_PAUSE_MS 5

/** Whether the variable @name changes what Slurm's tools do. */
static bool steers(struct str name) {
	static const char *const kept[] = {"SLURM_CONF", "SLURM_JOB_ID", "SLURM_JOBID", "SLURM_JOB_NODELIST",
					   "SLURM_NODELIST"};
	if (!str_starts(name, STR("SLURM_")) && !str_starts(name, STR("SBATCH_")) &&
	    !str_starts(name, STR("SRUN_"))) {
		return false;
	}
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		if (str_is(name, kept[i])) {
			return false;
		}
	}
	return true;
}

char **tool_environment(struct arena *arena, const struct env *env) {
	char **all = env_vector(env), **to;
	size_t n = 0;
	while (all[n]) {
		n++;
	}
	char **out = to = arena_array(arena, n + 1, sizeof(*out));
	for (size_t i = 0; i < n; i++) {
		struct str text = str_of(all[i]);
		if (!steers((struct str){text.p, str_find(text, '=')})) {
			*to++ = all[i];
		}
	}
	*to = NULL;
	return out;
}

static void close_end(int *fd) {
	if (*fd >= 0) {
		close(*fd);
		*fd = -1;
	}
}

static void close_ends(struct tool *tool) {
	close_end(&tool->in);
	close_end(&tool->out);
	close_end(&tool->err);
}

/** Make a pipe, and make its end @ours, 0 or 1, non-blocking. Returns 0 or a negative errno. */
static int make_pipe(int ends[2], int ours) {
	if (pipe2(ends, O_CLOEXEC) < 0) {
		return -errno;
	}
	fcntl(ends[ours], F_SETFL, O_NONBLOCK);
	return 0;
}

int tool_start(struct tool *tool, char *const argv[], char *const envp[], struct err *err) {
	int in[2] = {-1, -1}, out[2] = {-1, -1}, errors[2] = {-1, -1};
	int r = make_pipe(in, 1);
	r = r < 0 ? r : make_pipe(out, 0);
	r = r < 0 ? r : make_pipe(errors, 0);
	pid_t pid = 0;
	const struct spawn program = {argv, envp, {in[0], out[1], errors[1]}, .in_session = true};
	r = r < 0 ? r : spawn(&program, &pid);
	close_end(&in[0]);
	close_end(&out[1]);
	close_end(&errors[1]);
	*tool = (struct tool){.pid = pid, .in = in[1], .out = out[0], .err = errors[0]};
	if (r < 0) {
		close_ends(tool);
		tool->pid = 0;
		return err_set(err, -r, "%s cannot be started: %s", argv[0],
			       r == -ENOENT ? "it is not in PATH" : strerror(-r));
	}
	return 0;
}

void tool_end(struct tool *tool) {
	close_ends(tool);
	if (tool->pid > 0) {
		kill(-tool->pid, SIGKILL);
		kill(tool->pid, SIGKILL);
		waitpid(tool->pid, NULL, 0);
	}
	tool->pid = 0;
}

struct str tool_last_line(struct str text) {
	struct str line, last = {"", 0};
	while (str_cut(&text, '\n', &line)) {
		line = str_trim(line);
		last = line.len ? line : last;
	}
	size_t colon = str_find(last, ':');
	if (colon < last.len && str_find(last, ' ') > colon) {
		last = str_trim(str_from(last, colon + 1));
	}
	return str_starts(last, STR("error: ")) ? str_from(last, 7) : last;
}

size_t tool_read(int *fd, char *at, size_t size) {
	ssize_t n = read(*fd, at, size);
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
		close_end(fd);
	}
	return n > 0 ? (size_t)n : 0;
}

void tool_tail_add(struct tool_tail *tail, struct str text) {
	size_t room = sizeof(tail->text) - text.len;
	if (tail->len > room) {
		memmove(tail->text, tail->text + tail->len - room, room);
		tail->len = room;
	}
	memcpy(tail->text + tail->len, text.p, text.len);
	tail->len += text.len;
}

/** Read from *@fd, and append to @to. Returns 0 or -EFBIG. */
static int read_more(int *fd, struct buf *to) {
	to->len += tool_read(fd, buf_reserve(to, 4096), 4096);
	return to->len > OUTPUT_MAX ? -EFBIG : 0;
}

/** Read both streams until end of file. Returns 0, -ETIMEDOUT or -EFBIG. */
static int read_streams(struct tool *tool, uint64_t until, struct buf *out, struct buf *errors) {
	while (tool->out >= 0 || tool->err >= 0) {
		uint64_t now = clock_now_ms();
		struct pollfd fds[2] = {{.fd = tool->out, .events = POLLIN},
					{.fd = tool->err, .events = POLLIN}};
		if (now >= until || poll(fds, 2, (int)(until - now)) == 0) {
			return -ETIMEDOUT;
		}
		int r = fds[0].revents ? read_more(&tool->out, out) : 0;
		r = r == 0 && fds[1].revents ? read_more(&tool->err, errors) : r;
		if (r < 0) {
			return r;
		}
	}
	return 0;
}

/** Wait for the end of @tool, which has closed its streams. Returns 0 or -ETIMEDOUT. */
static int await_end(const struct tool *tool, uint64_t until, int *status) {
	while (waitpid(tool->pid, status, WNOHANG) == 0) {
		if (clock_now_ms() >= until) {
			return -ETIMEDOUT;
		}
		nanosleep(&(struct timespec){.tv_nsec = END_PAUSE_MS * 1000000}, NULL);
	}
	return 0;
}

int tool_output(struct arena *arena, char *const argv[], char *const envp[], uint64_t timeout_ms,
		struct str *text, struct err *err) {
	struct tool tool;
	int r = tool_start(&tool, argv, envp, err), status = 0;
	if (r < 0) {
		return r;
	}
	close_end(&tool.in);
	struct buf out = BUF(arena), errors = BUF(arena);
	const uint64_t until = clock_now_ms() + timeout_ms;
	r = read_streams(&tool, until, &out, &errors);
	r = r < 0 ? r : await_end(&tool, until, &status);
	if (r < 0) {
		tool_end(&tool);
		return r == -ETIMEDOUT ? err_set(err, ETIMEDOUT, "%s did not answer within %s", argv[0],
						 duration_text(timeout_ms).s)
				       : err_set(err, EFBIG, "%s printed more than a megabyte", argv[0]);
	}
	if (status != 0) {
		struct str line = tool_last_line(buf_str(&errors));
		return err_set(err, EIO, "%s failed: %s", argv[0],
			       line.len ? quote(line).s : "it printed no error");
	}
	buf_text(&out);
	*text = buf_str(&out);
	return 0;
}
