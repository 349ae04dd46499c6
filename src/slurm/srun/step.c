// SPDX-License-Identifier: Apache-2.0

#include "srun/step.h"

#include "base/signals.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

/** The signals that scancel, a job's --signal and its limits send. */
#define SIGNALS "HUP INT QUIT USR1 USR2 ALRM TERM"

/**
 * The script that runs on the node, in dash or bash. After a trapped signal, `read` fails in dash and
 * continues in bash, so the trap sets a variable, by which the script tells a signal from end of file.
 */
static const char script[] = "for s in " SIGNALS "; do trap \"t=1; echo $s\" $s; done\n"
			     "t=\n"
			     "echo \"UP $SLURM_STEP_ID\"\n"
			     "while :; do\n"
			     "	if read -r status; then\n"
			     "		case $status in '' | *[!0-9]*) exit 70 ;; esac\n"
			     "		exit \"$status\"\n"
			     "	fi\n"
			     "	[ -n \"$t\" ] || exit 70\n"
			     "	t=\n"
			     "done\n";

/** Write @count uniformly distributed letters and digits to @at. Returns 0 or a negative errno. */
static int put_random(char *at, size_t count) {
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
	unsigned char some[64];
	for (size_t i = 0; i < count;) {
		ssize_t n = getrandom(some, sizeof(some), 0);
		if (n < 0 && errno != EINTR) {
			return -errno;
		}
		for (ssize_t k = 0; k < n && i < count; k++) {
			// 252 is the last multiple of 36 that a byte can hold.
			if (some[k] < 252) {
				at[i++] = letters[some[k] % 36];
			}
		}
	}
	return 0;
}

static bool is_name(struct str name) {
	static const char others[] = "._-/";
	for (size_t i = 0; i < name.len; i++) {
		char c = name.p[i];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
		if (!letter && !strchr(others, c)) {
			return false;
		}
	}
	return name.len > 0 && name.p[0] != '-';
}

int step_name(char out[STEP_NAME_MAX], const char *name, uint32_t csx, struct err *err) {
	char random[] = "wsjob-0123456789012345678901";
	struct str base = str_of(name);
	if (!name) {
		int r = put_random(random + 6, 22);
		if (r < 0) {
			return err_set(err, -r,
				       "no name can be made for the step: getrandom() fails: %s; --name=NAME "
				       "sets one",
				       strerror(-r));
		}
		base = str_of(random);
	} else if (!is_name(base) || base.len > 64) {
		return err_set(
			err, EINVAL,
			"%s: expected up to 64 letters, digits, and any of . _ - /, not beginning with '-'",
			quote(base).s);
	}
	int n = snprintf(out, STEP_NAME_MAX, "%.*s", (int)base.len, base.p);
	if (csx) {
		snprintf(out + n, (size_t)(STEP_NAME_MAX - n), "-csx%u", csx);
	}
	return 0;
}

int step_start(struct step *step, struct arena *arena, const char *name, const char *job_id,
	       char *const envp[]) {
	*step = (struct step){.state = STEP_STARTING, .srun = TOOL_NONE};
	// --overlap and --mem=0, because the command may use all resources of the job. --nodes=1 and --ntasks=1,
	// because by the job's own numbers, srun would start a task on every node.
	const char *const words[] = {
		"srun",
		arena_format(arena, "--jobid=%s", job_id),
		"--overlap",
		"--nodes=1",
		"--ntasks=1",
		"--mem=0",
		"--mpi=none",
		"--export=NONE",
		"--chdir=/",
		"--quiet",
		arena_format(arena, "--job-name=%s", name),
		"/bin/sh",
		"-c",
		script,
	};
	size_t n = sizeof(words) / sizeof(words[0]);
	char **argv = arena_array(arena, n + 1, sizeof(*argv));
	for (size_t i = 0; i < n; i++) {
		argv[i] = arena_text(arena, words[i], strlen(words[i]));
	}
	argv[n] = NULL;
	if (tool_start(&step->srun, argv, envp, &step->why) < 0) {
		step->state = STEP_OVER;
		step->end = STEP_NEVER;
		return -1;
	}
	return 0;
}

void step_fds(const struct step *step, struct pollfd fds[2]) {
	fds[0] = (struct pollfd){.fd = step->srun.out, .events = POLLIN};
	fds[1] = (struct pollfd){.fd = step->srun.err, .events = POLLIN};
}

/** Handle a complete line from the step. */
static void take_line(struct step *step, struct str line) {
	if (str_starts(line, STR("UP ")) && line.len - 3 < sizeof(step->id)) {
		memcpy(step->id, line.p + 3, line.len - 3);
		step->id[line.len - 3] = '\0';
		step->state = step->state == STEP_STARTING ? STEP_UP : step->state;
		return;
	}
	// Others may write to srun's output, too. So no line is any other signal, such as KILL.
	struct str words = str_of(SIGNALS), word;
	while (str_cut(&words, ' ', &word)) {
		if (str_eq(line, word)) {
			step->signals |= (uint64_t)1 << (signal_read(word, NULL) - 1);
		}
	}
}

static void take_text(struct step *step, struct str text) {
	for (size_t i = 0; i < text.len; i++) {
		if (text.p[i] == '\n') {
			take_line(step, (struct str){step->line, step->line_len});
			step->line_len = 0;
		} else if (step->line_len < sizeof(step->line)) {
			step->line[step->line_len++] = text.p[i];
		}
	}
}

void step_read(struct step *step) {
	char text[1024];
	size_t n;
	while ((n = tool_read(&step->srun.out, text, sizeof(text))) > 0) {
		take_text(step, (struct str){text, n});
	}
	while ((n = tool_read(&step->srun.err, text, sizeof(text))) > 0) {
		tool_tail_add(&step->errors, (struct str){text, n});
	}
}

void step_send_status(struct step *step, int status) {
	if (step->status_sent || step->srun.in < 0) {
		return;
	}
	char line[16];
	size_t n = (size_t)snprintf(line, sizeof(line), "%d\n", status);
	step->status_sent = true;
	// This does not block, because the pipe has room for a line. If the step no longer reads, srun has ended,
	// and its status will tell why.
	ssize_t ignored = write(step->srun.in, line, n);
	(void)ignored;
	close(step->srun.in);
	step->srun.in = -1;
}

/** Set `why`: how srun ended, and the last line of its stderr. */
static void explain(struct step *step, int status) {
	struct str line = tool_last_line((struct str){step->errors.text, step->errors.len});
	const char *colon = line.len ? ": " : "";
	struct quoted text = quote(line);
	if (WIFSIGNALED(status)) {
		err_set(&step->why, EIO, "srun was killed by signal %d%s%s", WTERMSIG(status), colon,
			line.len ? text.s : "");
	} else {
		err_set(&step->why, EIO, "srun has ended with status %d%s%s", WEXITSTATUS(status), colon,
			line.len ? text.s : "");
	}
}

void step_reaped(struct step *step, int status) {
	step_read(step);
	step->srun.pid = 0;
	tool_end(&step->srun);
	bool up = step->state == STEP_UP;
	// srun exits with its task's status. If Slurm killed the task, that is 128+N.
	bool cancelled = up && WIFEXITED(status) && WEXITSTATUS(status) > 128;
	step->state = STEP_OVER;
	explain(step, status);
	step->end = !up ? STEP_NEVER : step->status_sent ? STEP_DONE : cancelled ? STEP_CANCELLED : STEP_GONE;
}

void step_kill(struct step *step) {
	if (step->srun.pid > 0) {
		kill(-step->srun.pid, SIGKILL);
		kill(step->srun.pid, SIGKILL);
	}
}
