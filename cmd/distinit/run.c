// SPDX-License-Identifier: Apache-2.0

#include "distinit/start.h"
#include "distinit/subcommands.h"

#include "base/file.h"
#include "base/secret.h"
#include "cluster/source.h"
#include "exec/exec.h"
#include "flow/changes.h"
#include "flow/clear.h"
#include "flow/privileges.h"

#include <errno.h>
#include <unistd.h>

/** Print an error for a command line without a command or without '--'. */
static int refuse_command_line(struct session *s) {
	struct err err;
	char **words = s->settings.arguments;
	if (!words[0]) {
		err_set(&err, EINVAL,
			"no command%s; usage: distinit [OPTION]... -- COMMAND [ARG]... (see --help)%s",
			s->settings.separated ? " after '--'" : "",
			s->settings.value[OPT_CHECK] ? "; to check this node: distinit check" : "");
	} else if (subcommand_find(words[0])) {
		err_set(&err, EINVAL,
			"the subcommand '%s' comes before its options: distinit %s [OPTION]...; to run a "
			"program "
			"of this name: distinit [OPTION]... -- %s",
			words[0], words[0], words[0]);
	} else {
		const struct quoted word = quote_text(secret_word(&s->arena, words - 1, 1));
		const struct option *bare = s->settings.bare;
		const char * or = bare ? arena_format(&s->arena, ", or '=': --%s=%s", bare->name, word.s)
				       : "";
		err_set(&err, EINVAL, "'--' is missing before the command %s%s", word.s, or);
	}
	log_termination(s, &err);
	return session_fail(s, &err);
}

/** Print the line of --log=info, and with --log=debug a line for each variable. */
static void say_what_was_derived(struct session *s) {
	struct buf line = BUF(&s->arena);
	struct change *list;
	uint32_t n = flow_changes(&s->flow, false, SIZE_MAX, &list);
	if (s->flow.has_cluster) {
		const struct cluster *c = &s->flow.cluster;
		buf_puts(&line, c->source ? c->source->name : c->launcher->name);
		buf_putf(&line, " (%s)", scope_name(c->scope));
		if (c->nnodes != UNKNOWN) {
			buf_putf(&line, ", %u node%s", c->nnodes, c->nnodes == 1 ? "" : "s");
		}
		if (c->place.node_rank != UNKNOWN) {
			buf_putf(&line, ", node rank %u", c->place.node_rank);
		}
		if (c->launcher) {
			buf_putf(&line, ", rank %u of %u", c->task.rank, c->task.world_size);
		}
	} else {
		bool child = s->flow.started_by && s->flow.started_by->complete;
		buf_puts(&line, s->flow.broken ? "a cluster that is not understood"
				: child	       ? "a child of torchrun, which is left alone"
					       : "no cluster");
	}
	const char *actions[] = {"set", "kept", "unset"};
	for (size_t a = 0; a < sizeof(actions) / sizeof(actions[0]); a++) {
		const char *before = "; ";
		for (uint32_t i = 0; i < n; i++) {
			if (strcmp(list[i].action, actions[a]) == 0) {
				buf_putf(&line, "%s%s %s", before, *before == ';' ? actions[a] : "",
					 list[i].name);
				before = "";
			}
		}
	}
	say_line(&s->speaker, LOG_INFO, buf_text(&line));
	for (uint32_t i = 0; s->speaker.log >= LOG_DEBUG && i < n; i++) {
		const struct change *e = &list[i];
		say_line(&s->speaker, LOG_DEBUG,
			 arena_format(&s->arena, "%s %s%s%s (%s%s%s)", e->action, e->name,
				      e->value ? "=" : "", e->value ? quote_text(e->value).s : "", e->by,
				      e->why ? ": " : "", e->why ? e->why : ""));
	}
}

/** Print the user, the group and the capabilities of the workload. */
static void say_who_it_is(struct session *s) {
	const struct priv_plan *plan = &s->flow.plan;
	struct buf line = BUF(&s->arena);
	buf_putf(&line, "runs as uid %u, gid %u, with ", plan->target.uid[0], plan->target.gid[0]);
	buf_puts(&line, plan->workload ? "" : "no capabilities");
	caps_put(&line, plan->workload);
	buf_puts(&line, plan->target.no_new_privs ? ", no_new_privs" : "");
	say_line(&s->speaker, LOG_INFO, buf_text(&line));
}

/** Become the workload; or with @plan, start it and stay. */
static int start_workload_of(struct session *s, struct init_plan *plan, struct err *err) {
	if (plan) {
		together_join(s, plan);
	}
	int r = session_fill(s, err);
	if (r < 0 && !plan) {
		return EXIT_OURS;
	}
	char **argv = s->settings.arguments, **envp = env_vector(&s->env);
	const char *path = env_get(&s->env, "PATH");
	struct err late;
	if (!plan) {
		if (s->report.path &&
		    report_started(&s->report, argv[0], (uint32_t)getpid(), false, &late) < 0) {
			say_line(&s->speaker, LOG_WARN, late.text);
		}
		return exec_program(&s->arena, argv, envp, path, err);
	}
	plan->argv = argv;
	plan->envp = envp;
	plan->path = path;
	if (s->report.path) {
		plan->report = &s->report;
		report_reserve(&s->report, &s->arena, argv[0]);
	}
	const int ours = s->signal ? 128 + s->signal : EXIT_OURS;
	s->speaker.at_once = true;
	int status = r < 0 ? ours : init_run(&s->arena, plan, err);
	s->speaker.at_once = false;
	if (err->text[0] && plan->observer && !plan->observer->again) {
		// The others have to know that nothing was started here.
		struct workload_end end = {.status = status, .raw = status};
		memcpy(end.text, err->text, sizeof(end.text) - 1);
		plan->observer->end = &end;
		observe(plan->observer, EVENT_ENDED, 0, 0);
	}
	s->ran = !err->text[0];
	return status;
}

int session_clear(struct session *s) {
	const char *list = s->settings.value[OPT_CLEAR];
	struct notes stay = {.arena = &s->arena};
	uint32_t removed = 0;
	struct err err;
	if (!list) {
		return 0;
	}
	if (clear_files(session_label(s, OPT_CLEAR), list, &stay, &removed, &err) < 0) {
		return rollcall_tell(s, &err, false) ? 0 : wait_fail(s, &err, EXIT_OURS);
	}
	for (const struct note *note = stay.first; note; note = note->next) {
		say_line(&s->speaker, LOG_WARN, note->text);
	}
	say_line(&s->speaker, LOG_INFO,
		 arena_format(&s->arena, "%s: %u removed", session_label(s, OPT_CLEAR), removed));
	return 0;
}

int run_workload(struct session *s, struct init_plan *plan, struct err *err) {
	s->flow.wants.supervises = plan != NULL;
	// Deriving may resolve names, which takes time. A signal must not get lost meanwhile.
	if (plan && init_hold_signals(plan, err) < 0) {
		return EXIT_OURS;
	}
	if (check_options(s, err) < 0 || session_derive(s, err) < 0 ||
	    flow_write_hostfile(&s->flow, err) < 0 || session_fill_check(s, err) < 0 ||
	    rollcall_prepare(s, err) < 0) {
		return EXIT_OURS;
	}
	say_notes(&s->speaker, &s->notes);
	if (s->speaker.log >= LOG_INFO) {
		say_what_was_derived(s);
		if (s->flow.wishes.any) {
			say_who_it_is(s);
		}
	}
	if (privileges_drop(&s->flow, err) < 0) {
		return EXIT_OURS;
	}
	if (plan && session_view(s, &plan->view, err) < 0) {
		return EXIT_OURS;
	}
	report_derived(s);
	err->text[0] = '\0';
	int status = session_check(s);
	if (plan && !status) {
		together_prepare(s, plan);
	}
	status = status ? status : session_clear(s);
	status = status ? status : session_wait(s);
	status = status ? status : rollcall_alone(s);
	if (status) {
		return status;
	}
	do {
		status = start_workload_of(s, plan, err);
	} while (plan && session_again(s, plan, &status, err));
	return status;
}

/**
 * What the word that is no program shows of what was meant, or NULL. After `docker run IMAGE explain` the word
 * went to the image's ENTRYPOINT, behind its "--".
 */
static const char *what_was_meant(struct session *s) {
	char **words = s->settings.arguments;
	const char *word = words[0], *self = self_path(&s->arena);
	const struct quoted shown = quote_text(secret_word(&s->arena, words - 1, 1));
	if (!words[1] && subcommand_find(word)) {
		return arena_format(
			&s->arena,
			"it is a subcommand of distinit, not a program: docker run --entrypoint %s IMAGE %s",
			quote_text(self ? self : "/distinit").s, words[0]);
	}
	if (word[0] == '-') {
		return arena_format(
			&s->arena,
			"it looks like an option of distinit, which has to be before '--'; for an image "
			"whose ENTRYPOINT ends with it: docker run --entrypoint %s IMAGE %s",
			quote_text(self ? self : "/distinit").s, shown.s);
	}
	if (strchr(word, ' ')) {
		return "it is one word: give each argument a word of its own";
	}
	if (strchr(word, '=')) {
		return arena_format(&s->arena, "to set a variable: --set %s, before '--'", shown.s);
	}
	if (str_has_word(STR("alias cd eval export source ulimit umask unset"), str_of(word))) {
		return arena_format(&s->arena, "it is a builtin of the shell: sh -c '%s ...'", word);
	}
	return !strchr(word, '/') && access(word, F_OK) == 0
		       ? "it is in this folder, which is not in PATH: put ./ before it"
		       : NULL;
}

int command_run(struct session *s) {
	struct err err;
	if (!s->settings.separated || !s->settings.arguments[0]) {
		return refuse_command_line(s);
	}
	session_report_open(s);
	session_fill_forgotten(s);
	struct init_plan plan;
	bool stay;
	int status = EXIT_OURS;
	init_plan_preset(&plan);
	if (read_map_exit(s, &plan, &err) == 0 && session_plan(s, &err) == 0 &&
	    read_init_plan(s, &plan, &stay, &err) == 0) {
		status = run_workload(s, stay ? &plan : NULL, &err);
	}
	if (err.text[0]) {
		const char *meant = status == EXIT_NOT_FOUND ? what_was_meant(s) : NULL;
		if (meant) {
			struct err cause = err;
			err_set(&err, cause.code, "%s; %s", cause.text, meant);
		}
		status = wait_fail(s, &err, status);
	}
	return s->ran ? status : plan.status_as[status];
}
