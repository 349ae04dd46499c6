// SPDX-License-Identifier: Apache-2.0
#pragma once

/** The options of torchrun in the words of a command. torchrun gets the nodes by these, or by PET_*. */

#include <stdbool.h>
#include <stdint.h>

struct torchrun_words {
	/**
	 * The command starts torchrun, itself or through another program. If not, all other fields are
	 * false.
	 */
	bool found;
	/** --standalone is given: torchrun trains on this node alone. */
	bool standalone;
	/** --node-rank is given, and its number is above 0. */
	bool node_rank, node_rank_above_0;
	/** --nnodes is given. */
	bool nnodes;
	/** Its number, or the upper end of its range; 0: it has none. */
	uint32_t nnodes_max;
	/** --rdzv-backend is given, and is not static. */
	bool rdzv;
};

/**
 * Read the @words of a command; NULL: there is none. Words after another distinit do not count, because
 * that one reads them. The text after a shell's -c is split into words.
 */
struct torchrun_words torchrun_read(char *const *words);

/** Whether @nnodes, a value of PET_NNODES, is a range such as "2:4": the number of nodes is not fixed. "2:2" is 2. */
bool torchrun_is_elastic(const char *nnodes);
