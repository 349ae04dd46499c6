// SPDX-License-Identifier: Apache-2.0
#pragma once

/** What a source and a launcher are, and the two tables of them. */

#include "cluster/rows.h"

/**
 * Names of variables and paths of files, then NULL. One '*' in a name stands for any text: "VC_*_HOSTS". These are data, no prose:
 * `distinit sources` lists them, and `distinit bundle` does not carry such variables to other hosts.
 */
#define READS(...) \
	(const char *const[]) { \
		__VA_ARGS__, NULL \
	}

/** Knows one cluster manager. */
struct source {
	const char *name;
	/** One line for `distinit sources`. */
	const char *about;
	/** For the same: what has to be there, in words; NULL: the row says it, */
	const char *known_by;
	/** the variables and files it reads, as READS() makes them; NULL: those of the row, */
	const char *const *reads;
	/** what it finds beside them and leaves alone, as it often misleads, or NULL, */
	const char *leaves;
	/** and what this manager does not tell, with the way out; or NULL. `explain` says it, too. */
	const char *lacks;
	/** What its variables are, where it does nothing but name them; or NULL. */
	const struct source_row *row;
	/**
	 * NULL: the row says it, as of read(). Whether this manager's variables are there, complete enough to be meant. Returns the one by which it was recognised, or
	 * NULL. Cheap, silent and without system calls: it is asked in every process.
	 */
	const char *(*detect)(const struct input *in);
	/** Fill in @out, which is preset to "unknown". Returns 0; -EINVAL with @err set. */
	int (*read)(struct input *in, struct placement *out, struct err *err);
	/** The user told the hosts by an option; what belongs to a manager then does not stand against it. */
	bool by_hand;
};

/** Knows one launcher, which starts one process per rank and tells each by variables which it is. */
struct launcher {
	const char *name;
	const char *about;
	/** The variables that say it. The first two are always there; a NULL one it does not have. */
	const char *rank;
	const char *size;
	const char *local_rank;
	const char *local_size;
	/** The variable with the name of this process's host, or NULL. */
	const char *host;
	/** The variable with the index of this process's node among the launcher's, or NULL. */
	const char *node;
	/** The variable that gives it away, where that is not `rank`. */
	const char *recognised_by;
	/**
	 * Whether this launcher started us, beyond that `rank` and `size` are set; NULL: that is enough. Others may use the
	 * same two names.
	 */
	bool (*detect)(const struct input *in);
	/** The manager that it is part of: its word counts where that manager gave the placement. NULL: it is part of none. */
	const char *manager;
	/** It copies its own environment to every node, so what names or numbers a node there (SLURMD_NODENAME) is wrong. */
	bool copies_env;
	/** It has set all there is to set: nothing is derived. */
	bool complete;
};

/** Ask source->detect() or the row. */
const char *source_detect(const struct input *in, const struct source *source);

/** What @source reads, as READS() makes it. */
const char *const *source_reads(struct arena *arena, const struct source *source);

/** What has to be there for @source to be recognised, in words. */
const char *source_known_by(struct arena *arena, const struct source *source);

/** More names than launcher_reads() finds. */
#define LAUNCHER_READS 8

/** The variables that @launcher is read from, then NULL. */
void launcher_reads(const struct launcher *launcher, const char *out[LAUNCHER_READS]);

/** The variable that gives @launcher away. */
const char *launcher_recognised_by(const struct launcher *launcher);

/** This node's index in @hosts by the launcher's word for this process's host, or else by this machine's name; or UNKNOWN. */
uint32_t launcher_node_rank(struct input *in, const struct hosts *hosts);

/** In the order of asking, NULL at the end. */
extern const struct source *const sources[];
extern const struct launcher *const launchers[];

extern const struct source source_manual;
extern const struct source source_backendai;
extern const struct source source_backendai_alone;
extern const struct source source_skypilot;
extern const struct source source_sagemaker;
extern const struct source source_sagemaker_platform;
extern const struct source source_vertex;
extern const struct source source_awsbatch;
extern const struct source source_azureml;
extern const struct source source_azurebatch;
extern const struct source source_trainjob;
extern const struct source source_pytorchjob;
extern const struct source source_jaxjob;
extern const struct source source_xgboostjob;
extern const struct source source_lws;
extern const struct source source_volcano;
extern const struct source source_tpu;
extern const struct source source_tfjob;
extern const struct source source_pai;
extern const struct source source_mpijob;
extern const struct source source_determined;
extern const struct source source_indexedjob;
extern const struct source source_nomad;
extern const struct source source_slurm;
extern const struct source source_slurm_allocation;
extern const struct source source_hostfile;
extern const struct source source_lsf;
extern const struct source source_pbs;
extern const struct source source_gridengine;
extern const struct source source_cobalt;
extern const struct source source_loadleveler;
extern const struct source source_flux;
extern const struct source source_htcondor;

extern const struct launcher launcher_torchrun;
extern const struct launcher launcher_openmpi;
extern const struct launcher launcher_mvapich2;
extern const struct launcher launcher_hydra;
extern const struct launcher launcher_azureml;
extern const struct launcher launcher_pals;
extern const struct launcher launcher_jsrun;
extern const struct launcher launcher_flux;
extern const struct launcher launcher_slurm;
extern const struct launcher launcher_pmi;

/**
 * Read the number in variable @name into *@out; absent or empty, it stays as it is.
 * Returns 0; -EINVAL with a sentence that names the variable.
 */
int read_u32(const struct input *in, const char *name, uint32_t *out, struct err *err);

/** What the user told by --nnodes, or UNKNOWN. */
uint32_t told_nnodes(const struct input *in);

/**
 * Take variable @name, which has to be there where @beside is: as text, as a number, or as a number of nodes, 1 to HOSTS_MAX.
 * Returns 0; -EINVAL.
 */
int need_value(const struct input *in, const char *name, const char *beside, const char **out,
	       struct err *err);
int need_u32(const struct input *in, const char *name, const char *beside, uint32_t *out, struct err *err);
int need_nnodes(const struct input *in, const char *name, const char *beside, uint32_t *out, struct err *err);

/** Refuse @number, of @name, that is not below @limit, of @limit_name; UNKNOWN ones are fine. Returns 0; -EINVAL. */
int check_below(const char *name, uint32_t number, const char *limit_name, uint32_t limit, struct err *err);

/** Refuse a number of nodes, @told in @name, that is not that of the hosts. Returns 0; -EINVAL. */
int check_count(const char *name, uint32_t told, const struct placement *place, struct err *err);

/** Read a port, 1 to 65535, from variable @name, likewise. */
int read_port(const struct input *in, const char *name, uint16_t *out, struct err *err);

/** The same for texts that are at hand; @name is for the message. */
int parse_u32(const char *name, const char *value, uint32_t *out, struct err *err);
int parse_port(const char *name, const char *value, uint16_t *out, struct err *err);
