// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Numbers, ports and required variables, as sources read them from the environment. */

#include "cluster/cluster.h"

/**
 * Read the number in variable @name into *@out. If it is absent or empty, *@out does not change.
 * Returns 0; -EINVAL with a sentence that names the variable.
 */
int read_u32(const struct input *in, const char *name, uint32_t *out, struct err *err);

/**
 * Read the file that @setting names, under in->root, as access_read() does: with our rights only if the
 * command line names it. input_read_file() is for files that a variable or a manager names; @what is
 * its name in messages.
 */
int input_read_setting(struct input *in, const struct setting *setting, size_t max, struct str *out,
		       struct err *err);
int input_read_file(struct input *in, const char *what, const char *path, size_t max, struct str *out,
		    struct err *err);

/** The path of the file that @setting names, under in->root, for messages. */
const char *input_path(const struct input *in, const struct setting *setting);

/** Whether the manager's file @path, under in->root, exists. */
bool input_has_file(const struct input *in, const char *path);

/**
 * Read the names in the manager's folder @path, under in->root, each with a newline behind it; none if it cannot
 * be read. Returns 0; -EPERM as view_open() and view_close().
 */
int input_names(struct input *in, const char *path, struct str *out, struct err *err);

/** Split @list, of the variable @from, into out->hosts. Empty names are skipped. Returns 0; -E2BIG. */
int place_hosts(const struct input *in, const char *from, const char *list, char separator,
		struct placement *out, struct err *err);

/** The value of the user's --nnodes, or UNKNOWN. */
uint32_t given_nnodes(const struct input *in);

/**
 * Read variable @name, which is required because @beside is set: as text, as a number, or as a number of
 * nodes, 1 to HOSTS_MAX.
 * Returns 0; -EINVAL.
 */
int need_value(const struct input *in, const char *name, const char *beside, const char **out,
	       struct err *err);
int need_u32(const struct input *in, const char *name, const char *beside, uint32_t *out, struct err *err);
int need_nnodes(const struct input *in, const char *name, const char *beside, uint32_t *out, struct err *err);

/** The end of a message: a variable of a manager is set without its counterpart. */
#define MANAGERS_BOTH "; the manager sets both: pass both to this process, or pass --hosts"

/** The end of a message: two variables of a manager contradict each other. */
#define MANAGERS_COUNT "; both are the manager's: if one was set by hand, remove it; --hosts replaces both"

/** The end of a message: two variables of a manager or a launcher contradict each other. */
#define ONE_IS_STALE "; one was set by hand or in another job: unset it"

/** Check that @number (@name) is below @limit (@limit_name). UNKNOWN passes. Returns 0; -EINVAL. */
int check_below(const char *name, uint32_t number, const char *limit_name, uint32_t limit, struct err *err);

/** Check that @number (@name) is an index in the hosts. UNKNOWN passes. Returns 0; -EINVAL. */
int check_index(const char *name, uint32_t number, const struct placement *place, struct err *err);

/** Check that the number of nodes @number (@name) matches the hosts. Returns 0; -EINVAL. */
int check_count(const char *name, uint32_t number, const struct placement *place, struct err *err);

/** Set out->nproc_per_node to the number in variable @name. Anything but a number from 1 is ignored. */
void read_nproc(const struct input *in, const char *name, struct placement *out);

/** Read a port, 1 to 65535, from variable @name, as read_u32() reads a number. */
int read_port(const struct input *in, const char *name, uint16_t *out, struct err *err);

/** The same for values; @name is for the message. */
int parse_u32(const char *name, const char *value, uint32_t *out, struct err *err);
int parse_nnodes(const char *name, const char *value, uint32_t *out, struct err *err);
int parse_port(const char *name, const char *value, uint16_t *out, struct err *err);
