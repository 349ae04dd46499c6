// SPDX-License-Identifier: Apache-2.0

#include "distrun/commands.h"

#include "base/json_write.h"
#include "srun/tool.h"
#include "srun/where.h"

#include <errno.h>

/** Timeout for squeue, in milliseconds. */
#define ASK_MS 10000

static void put_text(struct buf *out, const struct where *w) {
	static const char *const what[] = {"not in a Slurm job", "the batch script of job ",
					   "salloc's shell of job ", "salloc's shell, a step, of job ",
					   "step "};
	buf_putf(out, "%s: %s", slurm_place_name(w->place), what[w->place]);
	if (w->place == SLURM_STEP) {
		buf_put_plain(out, str_of(w->step_id));
		buf_puts(out, " of job ");
	}
	buf_put_plain(out, str_of(w->place == SLURM_NONE ? "" : w->job_id));
	buf_puts(out, "\n  ");
	buf_put_plain(out, str_of(w->why));
	buf_puts(out, "\n  ");
	buf_puts(out, where_takes_steps(w) ? "commands get a surrogate step here\n"
					   : "commands get no surrogate step here\n");
}

static void put_json(struct buf *out, const struct where *w) {
	struct json json = {.out = out};
	json_open(&json, NULL, '{');
	json_text(&json, "where", slurm_place_name(w->place));
	json_text(&json, "job_id", w->job_id);
	json_text(&json, "step_id", w->step_id);
	json_text(&json, "by", w->by);
	json_text(&json, "why", w->why);
	json_fact(&json, "surrogate", where_takes_steps(w));
	json_close(&json, '}');
	buf_putc(out, '\n');
}

int command_where(struct distrun_session *s) {
	struct err err;
	if (s->settings.arguments[0]) {
		err_set(&err, EINVAL, "'distrun where' takes no arguments, but there is %s",
			quote_text(s->settings.arguments[0]).s);
		return session_fail(s, &err);
	}
	int format = settings_choose(&s->settings, OPT_FORMAT, &err);
	if (format < 0) {
		return session_fail(s, &err);
	}
	struct where where;
	where_read(&s->arena, &s->env, s->settings.value[OPT_ROOT], &where);
	where_ask(&s->arena, tool_environment(&s->arena, &s->env), ASK_MS, &where);
	struct buf out = BUF(&s->arena);
	if (format) {
		put_json(&out, &where);
	} else {
		put_text(&out, &where);
	}
	return say_result(&s->speaker, buf_str(&out));
}
