// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * The roles of TensorFlow's tasks: "chief:1,ps:2" gives them to the first tasks, in that order. The
 * rest are workers.
 *
 * There is at most one chief and one evaluator. The evaluator does not belong to the cluster in
 * which the others train. Reference: tensorflow/python/distribute/multi_worker_util.py of
 * TensorFlow.
 */

#include "base/err.h"

#include <stdint.h>

/** The number of roles: chief, ps, worker, evaluator. */
#define TF_ROLES_MAX 4

struct tf_role {
	/** Static storage. */
	const char *name;
	/** The number of tasks with this role. */
	uint32_t tasks;
};

struct tf_roles {
	/** In the order of the tasks. */
	struct tf_role list[TF_ROLES_MAX];
	uint32_t n;
	/** The text, and its option or variable. NULL: no roles were given. */
	const char *text;
	const char *from;
};

/**
 * Read @text. Returns 0; -EINVAL for an unknown role, a missing number, a repeated role, a second
 * chief or evaluator.
 */
int tf_roles_read(const char *from, const char *text, struct tf_roles *out, struct err *err);

/**
 * If @roles does not give the number of workers, make the rest of @tasks workers.
 * Returns 0; -EINVAL if the roles have more or fewer tasks than there are.
 */
int tf_roles_fit(struct tf_roles *roles, uint32_t tasks, struct err *err);

/** Whether tasks of this role are listed in TF_CONFIG's cluster. */
bool tf_role_is_listed(const struct tf_role *role);
