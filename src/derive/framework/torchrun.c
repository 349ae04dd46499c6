// SPDX-License-Identifier: Apache-2.0

/**
 * torchrun without flags: each of its options has its default in PET_<OPTION>. It does not read
 * MASTER_ADDR or MASTER_PORT.
 *
 * Reference: torch/distributed/run.py, argparse_util.py of PyTorch. Its help requires brackets
 * around an IPv6 address.
 */

#include "base/num.h"
#include "cluster/rendezvous.h"
#include "framework/framework.h"

#define SHUTDOWN "TORCH_ELASTIC_SHUTDOWN_TIMEOUT"

/** Seconds: torchrun's own grace, and the time that it needs to exit. */
#define OWN_GRACE_S 30
#define ENDS_IN_S   5

static const char *const names[] = {
	"PET_NNODES", "PET_NODE_RANK", "PET_MASTER_ADDR", "PET_MASTER_PORT", "PET_NPROC_PER_NODE", NULL,
};

/** Why PET_* are left out: a clause with the way out; NULL: they are derived. */
struct left_out {
	const char *why;
	/** torchrun's own rendezvous counts the nodes, and all its settings are given. */
	bool elastic;
};

/** The rendezvous in PET_RDZV_BACKEND; NULL: torchrun's default, static, for which it reads PET_NODE_RANK. */
static const char *own_rendezvous(const struct env *env) {
	const char *backend = env_value(env, "PET_RDZV_BACKEND");
	return backend && strcmp(backend, "static") != 0 ? backend : NULL;
}

/** Read PET_NNODES, "2" or "1:4". Returns whether it is one of these. */
static bool read_range(const char *text, uint32_t *min, uint32_t *max) {
	struct str rest = str_of(text), first;
	str_cut(&rest, ':', &first);
	if (num_read_u32(first, min) < 0) {
		return false;
	}
	*max = *min;
	return !rest.p || num_read_u32(rest, max) == 0;
}

bool torchrun_is_elastic(const char *nnodes) {
	uint32_t min, max;
	return strchr(nnodes, ':') && !(read_range(nnodes, &min, &max) && min == max);
}

/** Why a given PET_NNODES leaves the others out; `why` is NULL if it does not. */
static struct left_out by_given_nnodes(const struct derivation *d, const char *given) {
	struct arena *arena = d->env->arena;
	const uint32_t n = d->cluster->nnodes;
	const struct quoted shown = quote_text(given);
	uint32_t min, max;
	if (!read_range(given, &min, &max)) {
		return (struct left_out){
			arena_format(arena, "PET_NNODES=%s is neither N nor MIN:MAX", shown.s), false};
	}
	if (min != max) {
		bool static_one = !d->torchrun.rdzv;
		return (struct left_out){
			arena_format(arena,
				     static_one ? "PET_NNODES=%s is elastic, which needs a rendezvous: "
						  "set PET_RDZV_BACKEND and PET_RDZV_ENDPOINT"
						: "PET_NNODES=%s is elastic: "
						  "torchrun's own rendezvous numbers the nodes",
				     shown.s),
			!static_one};
	}
	if (n != UNKNOWN && min != n) {
		return (struct left_out){
			arena_format(arena, "PET_NNODES=%s is set, but there are %u nodes: unset it", shown.s,
				     n),
			false};
	}
	return (struct left_out){NULL, false};
}

/** Why the user's own settings of torchrun leave PET_* out; `why` is NULL if they do not. */
static struct left_out by_user(const struct derivation *d) {
	static const char *const parts[] = {"PET_RDZV_ENDPOINT", "PET_RDZV_ID", "PET_RDZV_CONF"};
	const struct env *env = d->env;
	const char *backend = own_rendezvous(env), *given = env_value(env, "PET_NNODES");
	const char *alone = env_value(env, "PET_STANDALONE");
	uint32_t number, min, max;
	if (alone && (num_read_u32(str_of(alone), &number) < 0 || number)) {
		return (struct left_out){
			arena_format(env->arena, "PET_STANDALONE=%s is set: unset it", quote_text(alone).s),
			false};
	}
	if (backend) {
		bool counted = d->torchrun.nnodes || (given && read_range(given, &min, &max) && max > 1);
		return (struct left_out){arena_format(env->arena,
						      counted ? "PET_RDZV_BACKEND=%s numbers the nodes"
							      : "PET_RDZV_BACKEND=%s is set, "
								"but torchrun knows of one node only: "
								"set PET_NNODES, too",
						      quote_text(backend).s),
					 counted};
	}
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (env_value(env, parts[i])) {
			return (struct left_out){
				arena_format(env->arena,
					     "%s is set without PET_RDZV_BACKEND: set that, too, or unset it",
					     parts[i]),
				d->torchrun.rdzv && d->torchrun.nnodes};
		}
	}
	return given ? by_given_nnodes(d, given) : (struct left_out){NULL, false};
}

/**
 * Why torchrun is wrong here or lacks values, or NULL. If only some of its variables were set, it
 * would hang.
 */
static const char *misplaced(const struct cluster *c) {
	if (c->scope == SCOPE_ALLOCATION) {
		return "this is a job script, and each node's torchrun would inherit them: "
		       "start distinit in the step (srun distinit -- torchrun ...), "
		       "or pass --scope=node if it runs once on each node";
	}
	if (c->nnodes == UNKNOWN) {
		return "the number of nodes is not known: pass --nnodes";
	}
	if (c->place.node_rank == UNKNOWN) {
		return "this node's number is not known: "
		       "pass --node-rank, or --hosts with this machine in it";
	}
	if (c->master_addr.len == 0) {
		return "the master is not known: pass --master-addr or --hosts";
	}
	return starter_misplaced(c);
}

static struct left_out why_left_out(const struct derivation *d) {
	struct left_out left = by_user(d);
	return left.why ? left : (struct left_out){misplaced(d->cluster), false};
}

/** Whether there are other nodes, as far as is known. */
static bool has_others(const struct cluster *c) {
	if (cluster_is_single(c) || cluster_has_one_node(c)) {
		return false;
	}
	return !cluster_is_vague(c) || (c->place.node_rank != UNKNOWN && c->place.node_rank > 0);
}

/**
 * Whether torchrun's variables describe all nodes, whoever set them. A range never does: without a
 * rendezvous, torchrun waits for the range's upper end.
 */
static bool knows_all_nodes(const struct derivation *d) {
	const char *nnodes = env_value(d->env, "PET_NNODES");
	uint32_t min, max, n = d->cluster->nnodes;
	return nnodes && read_range(nnodes, &min, &max) && min == max &&
	       (n == UNKNOWN ? max > 1 : max == n) && env_value(d->env, "PET_NODE_RANK") &&
	       env_value(d->env, "PET_MASTER_ADDR");
}

/** Why torchrun trains on this node alone, by its own options; or NULL. */
static const char *alone_by_words(const struct derivation *d) {
	const struct torchrun_words *words = &d->torchrun;
	if (words->standalone) {
		return "--standalone is among its options: remove it";
	}
	return words->nnodes && words->nnodes_max == 1
		       ? "--nnodes=1 is among its options: remove it, as PET_NNODES is derived"
		       : NULL;
}

const char *torchrun_alone(const struct derivation *d, bool derives, bool asked) {
	const struct cluster *c = d->cluster;
	if (!has_others(c)) {
		return NULL;
	}
	const char *by_words = alone_by_words(d);
	if (by_words || knows_all_nodes(d)) {
		return by_words;
	}
	struct left_out left = why_left_out(d);
	bool numbered =
		d->torchrun.nnodes && (d->torchrun.node_rank || d->torchrun.rdzv || own_rendezvous(d->env));
	if (left.elastic || numbered) {
		return NULL;
	}
	if (cluster_is_vague(c)) {
		const char *set = by_user(d).why;
		return set ? set
			   : "only this node's number is known: "
			     "pass --nnodes, and --nnodes=1 if each node trains alone";
	}
	return derives ? left.why : asked ? "--frameworks leaves torchrun out: add it" : NULL;
}

const char *torchrun_hint(const struct derivation *d) {
	const struct torchrun_words *words = &d->torchrun;
	const char *backend = own_rendezvous(d->env);
	uint32_t number = 0;
	bool numbered =
		words->node_rank_above_0 ||
		(num_read_u32(str_of(env_value(d->env, "PET_NODE_RANK")), &number) == 0 && number > 0);
	return words->found && numbered && (words->rdzv || backend)
		       ? "torchrun reads --node-rank (PET_NODE_RANK) with --rdzv-backend=static only: "
			 "with another rendezvous it numbers the nodes itself"
		       : NULL;
}

/** Number 0 must be on the node that torchrun uses as master. */
static void derive_node_rank(struct derivation *d) {
	const struct cluster *c = d->cluster;
	uint32_t rank = cluster_rank_around(c, master_node_of(d, "PET_MASTER_ADDR"));
	derive_noted(d, "PET_NODE_RANK", rank, "this node's rank; the master's is 0");
}

/** A service called "pet-master" makes Kubernetes set PET_MASTER_PORT=tcp://10.0.0.1:80. */
static void drop_service_link(struct derivation *d) {
	const char *set = env_value(d->env, "PET_MASTER_PORT");
	if (is_service_link(set)) {
		derive_replaces_link(d, "PET_MASTER_PORT", "pet-master");
	}
}

/**
 * Derive the time that torchrun gives its workers from TERM to KILL: 30 s, unless PyTorch 2.12 or later
 * reads another from this variable. torchrun must end before distinit kills it, so that it reports which
 * worker failed, and leaves no worker behind.
 */
static void derive_shutdown(struct derivation *d) {
	if (d->grace_s > OWN_GRACE_S + ENDS_IN_S) {
		derive_number(d, SHUTDOWN, d->grace_s - ENDS_IN_S, "--grace, less 5 s for torchrun itself");
	}
}

static void torchrun_derive(struct derivation *d) {
	const struct cluster *c = d->cluster;
	const char *why = why_left_out(d).why;
	if (why) {
		derive_leaves_all_out(d, names, why);
		return;
	}
	derive_shutdown(d);
	derive_number(d, "PET_NNODES", c->nnodes, "the number of nodes");
	derive_node_rank(d);
	derive_address(d, "PET_MASTER_ADDR", "", 0, c->master_addr_why);
	drop_service_link(d);
	derive_number(d, "PET_MASTER_PORT", c->master_port, c->master_port_why);
	if (c->scope == SCOPE_NODE && c->place.nproc_per_node != UNKNOWN) {
		derive_number(d, "PET_NPROC_PER_NODE", c->place.nproc_per_node, "set by the manager");
	}
}

const struct framework framework_torchrun = {
	.name = "torchrun",
	.about = "torchrun, without flags",
	.sets = "PET_NNODES PET_NODE_RANK PET_MASTER_ADDR PET_MASTER_PORT PET_NPROC_PER_NODE " SHUTDOWN,
	.standard = true,
	.derive = torchrun_derive,
};
