// SPDX-License-Identifier: Apache-2.0

#include "framework/tf_roles.h"

#include "base/nearest.h"
#include "base/num.h"

#include <errno.h>

static const char *const names[] = {"chief", "ps", "worker", "evaluator"};
_Static_assert(sizeof(names) / sizeof(names[0]) == TF_ROLES_MAX, "a role for each index");

#define WORKER	  names[2]
#define EVALUATOR names[3]

static int wrong_role(const struct tf_roles *roles, struct str piece, const char *why, struct err *err) {
	return err_set(err, EINVAL, "%s=%s: %s: %s", roles->from, quote_text(roles->text).s, quote(piece).s,
		       why);
}

static const char *find_name(struct str word, struct nearest *best) {
	for (size_t i = 0; i < TF_ROLES_MAX; i++) {
		if (str_is(word, names[i])) {
			return names[i];
		}
		nearest_try(best, names[i]);
	}
	return NULL;
}

/** Read one piece, "ps:2". */
static int read_role(struct tf_roles *roles, struct str piece, struct err *err) {
	struct str word = {piece.p, str_find(piece, ':')};
	struct nearest best = {.word = word};
	struct tf_role role = {.name = find_name(word, &best)};
	if (!role.name) {
		return err_set(err, EINVAL,
			       "%s=%s: there is no role %s%s (the roles are chief, ps, worker and evaluator)",
			       roles->from, quote_text(roles->text).s, quote(word).s,
			       nearest_hint(&best, "").s);
	}
	struct str number = word.len < piece.len ? str_from(piece, word.len + 1) : STR("");
	if (num_read_u32(number, &role.tasks) < 0 || role.tasks == 0) {
		return wrong_role(roles, piece, "a role needs ':' and its number of tasks, as in ps:2", err);
	}
	for (uint32_t i = 0; i < roles->n; i++) {
		if (roles->list[i].name == role.name) {
			return wrong_role(roles, piece, "this role is given twice", err);
		}
	}
	if (role.tasks > 1 && (role.name == names[0] || role.name == EVALUATOR)) {
		return wrong_role(roles, piece, "TensorFlow allows at most one", err);
	}
	roles->list[roles->n++] = role;
	return 0;
}

int tf_roles_read(const char *from, const char *text, struct tf_roles *out, struct err *err) {
	struct tf_roles roles = {.text = text, .from = from};
	struct str rest = str_of(text), piece;
	while (str_cut(&rest, ',', &piece)) {
		int r = read_role(&roles, piece, err);
		if (r < 0) {
			return r;
		}
	}
	*out = roles;
	return 0;
}

int tf_roles_fit(struct tf_roles *roles, uint32_t tasks, struct err *err) {
	uint64_t sum = 0;
	bool counted = false;
	for (uint32_t i = 0; i < roles->n; i++) {
		sum += roles->list[i].tasks;
		counted = counted || roles->list[i].name == WORKER;
	}
	if (sum > tasks || (counted && sum < tasks)) {
		return err_set(err, EINVAL, "%s=%s: these are %lu tasks, but the cluster has %u%s",
			       roles->from, quote_text(roles->text).s, (unsigned long)sum, tasks,
			       sum > tasks ? "" : "; without worker:N the rest are workers");
	}
	if (sum < tasks) {
		roles->list[roles->n++] = (struct tf_role){WORKER, tasks - (uint32_t)sum};
	}
	return 0;
}

bool tf_role_is_listed(const struct tf_role *role) {
	return role->name != EVALUATOR;
}
