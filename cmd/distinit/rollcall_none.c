// SPDX-License-Identifier: Apache-2.0

/** In place of rollcall.c, together.c and check.c, if the program is built without the roll call. */

#include "distinit/start.h"

#include <errno.h>

const char *rollcall_text(struct session *s, uint64_t timeout_ms) {
	(void)s, (void)timeout_ms;
	return "nothing would start: this distinit is built without the roll call";
}

int rollcall_prepare(struct session *s, struct err *err) {
	return session_calls_roll(s) ? err_set(err, ENOSYS,
					       "--for=all: this distinit is built without the roll call; "
					       "the build option -Droll_call=true has it")
				     : 0;
}

int together_options(struct session *s, struct init_plan *plan, struct err *err) {
	(void)s, (void)plan;
	return err_set(
		err, ENOSYS,
		"--together, --max-restarts and --progress: this distinit is built without the roll call; "
		"the build option -Droll_call=true has it");
}

void together_prepare(struct session *s, struct init_plan *plan) {
	(void)s, (void)plan;
}

bool session_again(struct session *s, struct init_plan *plan, int *status, struct err *err) {
	(void)s, (void)plan, (void)status, (void)err;
	return false;
}

bool rollcall_tell(struct session *s, const struct err *why, bool said) {
	(void)s, (void)why, (void)said;
	return false;
}

int rollcall_alone(struct session *s) {
	(void)s;
	return 0;
}

void together_join(struct session *s, struct init_plan *plan) {
	(void)s, (void)plan;
}

int rollcall_run(struct session *s, uint64_t timeout_ms, const char *longer) {
	(void)s, (void)timeout_ms, (void)longer;
	return 0;
}

int check_options(struct session *s, struct err *err) {
	return settings_on(&s->settings, OPT_CHECK)
		       ? err_set(err, ENOSYS,
				 "--check: this distinit is built without the roll call; "
				 "the build option -Droll_call=true has it")
		       : 0;
}

int session_check(struct session *s) {
	(void)s;
	return 0;
}

int session_expect(struct session *s, struct err *err) {
	(void)s, (void)err;
	return 0;
}

void session_expect_text(struct session *s, struct buf *out) {
	(void)s, (void)out;
}

void session_expect_json(struct session *s, struct json *json) {
	(void)s, (void)json;
}
