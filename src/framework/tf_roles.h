// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * The roles of TensorFlow's tasks: "chief:1,ps:2" gives them to the first tasks, in that order, and the rest are workers.
 *
 * At most one may be the chief and one the evaluator, which is no part of the cluster that the others train in: so
 * tensorflow/python/distribute/multi_worker_util.py of TensorFlow.
 */

#include "base/err.h"

#include <stdint.h>

/** There are so many: chief, ps, worker, evaluator. */
#define TF_ROLES_MAX 4

struct tf_role {
	/** Static storage. */
	const char *name;
	/** How many tasks have it. */
	uint32_t tasks;
};

struct tf_roles {
	/** In the order of the tasks. */
	struct tf_role list[TF_ROLES_MAX];
	uint32_t n;
	/** The text, and the option or variable that it came from. NULL: nobody told any. */
	const char *text;
	const char *from;
};

/** Read @text. Returns 0; -EINVAL for an unknown role, one without a number, one twice, a second chief or evaluator. */
int tf_roles_read(const char *from, const char *text, struct tf_roles *out, struct err *err);

/**
 * Make the rest of @tasks workers, unless the workers are counted as well.
 * Returns 0; -EINVAL if more or fewer have a role than there are.
 */
int tf_roles_fit(struct tf_roles *roles, uint32_t tasks, struct err *err);

/** Whether tasks of this role stand in TF_CONFIG's cluster. */
bool tf_role_is_listed(const struct tf_role *role);
