// SPDX-License-Identifier: Apache-2.0

#include "base/signals.h"

#include "base/nearest.h"
#include "base/num.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>

/** The first and last realtime signal of programs; distinit's C library may reserve more. */
#define RT_FIRST 34
#define RT_LAST	 SIGNAL_MAX

static const struct {
	char name[8];
	uint8_t number;
} names[] = {
	{"HUP", SIGHUP},       {"INT", SIGINT},	  {"QUIT", SIGQUIT},   {"ILL", SIGILL},	  {"TRAP", SIGTRAP},
	{"ABRT", SIGABRT},     {"BUS", SIGBUS},	  {"FPE", SIGFPE},     {"KILL", SIGKILL}, {"USR1", SIGUSR1},
	{"SEGV", SIGSEGV},     {"USR2", SIGUSR2}, {"PIPE", SIGPIPE},   {"ALRM", SIGALRM}, {"TERM", SIGTERM},
	{"STKFLT", SIGSTKFLT}, {"CHLD", SIGCHLD}, {"CONT", SIGCONT},   {"STOP", SIGSTOP}, {"TSTP", SIGTSTP},
	{"TTIN", SIGTTIN},     {"TTOU", SIGTTOU}, {"URG", SIGURG},     {"XCPU", SIGXCPU}, {"XFSZ", SIGXFSZ},
	{"VTALRM", SIGVTALRM}, {"PROF", SIGPROF}, {"WINCH", SIGWINCH}, {"IO", SIGIO},	  {"PWR", SIGPWR},
	{"SYS", SIGSYS},       {"IOT", SIGABRT},  {"POLL", SIGIO},     {"CLD", SIGCHLD},  {"RTMIN", RT_FIRST},
	{"RTMAX", RT_LAST},
};

#define N_NAMES (sizeof(names) / sizeof(names[0]))

/** Put @text into @upper in upper case, without "SIG". Returns its length; 0: too long for a name. */
static size_t plain(struct str text, char upper[16]) {
	size_t n = text.len < 16 ? text.len : 0;
	for (size_t i = 0; i < n; i++) {
		char c = text.p[i];
		upper[i] = c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
	}
	if (n > 3 && memcmp(upper, "SIG", 3) == 0) {
		n -= 3;
		memmove(upper, upper + 3, n);
	}
	return n;
}

/** Find @name. Returns its number; or -EINVAL, and the nearest name is in @best. */
static int find(struct str name, struct nearest *best) {
	for (size_t i = 0; i < N_NAMES; i++) {
		if (str_is(name, names[i].name)) {
			return names[i].number;
		}
		nearest_try(best, names[i].name);
	}
	return -EINVAL;
}

/** Read the offset after RTMIN or RTMAX (@base): "+N" or "-N". */
static int read_offset(int base, struct str text) {
	char sign = base == RT_FIRST ? '+' : '-';
	uint64_t offset;
	if (text.p[0] != sign || num_read(str_from(text, 1), RT_LAST - RT_FIRST, &offset) < 0) {
		return -EINVAL;
	}
	return sign == '+' ? base + (int)offset : base - (int)offset;
}

int signal_read(struct str text, const char **suggestion) {
	uint64_t number;
	char upper[16];
	struct nearest best = {0};
	int signal = -EINVAL;
	if (num_read(text, SIGNAL_MAX, &number) == 0) {
		signal = number ? (int)number : -EINVAL;
	} else {
		struct str name = {upper, plain(text, upper)};
		best.word = name;
		if (name.len > 5 && memcmp(upper, "RTM", 3) == 0) {
			int base = find((struct str){upper, 5}, &best);
			signal = base < 0 ? base : read_offset(base, str_from(name, 5));
		} else if (name.len) {
			signal = find(name, &best);
		}
	}
	if (suggestion) {
		*suggestion = best.found;
	}
	return signal;
}

struct signal_name signal_name(int signal) {
	struct signal_name out = {""};
	for (size_t i = 0; i < N_NAMES; i++) {
		if (names[i].number == signal) {
			memcpy(out.s, names[i].name, sizeof(names[i].name));
			return out;
		}
	}
	if (signal > RT_FIRST) {
		snprintf(out.s, sizeof(out.s), "RTMIN+%d", signal - RT_FIRST);
	} else {
		snprintf(out.s, sizeof(out.s), "%d", signal);
	}
	return out;
}
