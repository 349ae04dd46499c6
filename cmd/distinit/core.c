// SPDX-License-Identifier: Apache-2.0

#include "distinit/core.h"

#include <errno.h>

static const enum option_id options[] = {
	OPT_CHECK,	 OPT_EXPECT,	      OPT_AGREE,    OPT_AGREE_ENV, OPT_JOB,
	OPT_SECRET_FILE, OPT_SECRET_REQUIRED, OPT_PROGRESS, OPT_TOGETHER,  OPT_MAX_RESTARTS,
	OPT_NO_RESTART,	 OPT_MAX_IDLE_STARTS, OPT_LINGER};

/** A subcommand, and the names by which the full program is another one. */
static const char *const words[] = {"check",	 "docker-init", "podman-init", "tini",
				    "dumb-init", "catatonit",	"gosu",	       "su-exec"};

static int check_frameworks(const char *label, const char *list, struct err *err) {
	struct str rest = str_of(list), word;
	while (str_cut(&rest, ',', &word)) {
		if (str_is(word, "rdma")) {
			return err_set(err, ENOSYS, "%s: the framework rdma is " IN_FULL_PROGRAM, label);
		}
	}
	return 0;
}

int core_check_options(const struct session *s, struct err *err) {
	const struct settings *set = &s->settings;
	const char *what = set->value[OPT_FOR];
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		if (set->value[options[i]]) {
			return err_set(err, ENOSYS, "%s is " IN_FULL_PROGRAM,
				       settings_label(set, options[i]));
		}
	}
	if (what && strcmp(what, "all") == 0) {
		return err_set(err, ENOSYS, "%s=all, the roll call, is " IN_FULL_PROGRAM,
			       settings_label(set, OPT_FOR));
	}
	if (set->value[OPT_AS] && core_check_word(set->value[OPT_AS], err) < 0) {
		return -ENOSYS;
	}
	return set->value[OPT_FRAMEWORKS] ? check_frameworks(settings_label(set, OPT_FRAMEWORKS),
							     set->value[OPT_FRAMEWORKS], err)
					  : 0;
}

int core_check_word(const char *word, struct err *err) {
	const char *slash = word ? strrchr(word, '/') : NULL;
	const char *name = slash ? slash + 1 : word;
	for (size_t i = 0; name && i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(name, words[i]) == 0) {
			return err_set(err, ENOSYS, "%s is " IN_FULL_PROGRAM, name);
		}
	}
	return 0;
}
