// SPDX-License-Identifier: Apache-2.0
#pragma once

/** What the words of a command say of torchrun, which is told the nodes by its options or by PET_*. */

#include <stdbool.h>
#include <stdint.h>

struct torchrun_words {
	/** The command starts torchrun, itself or through another program. All else is false if it does not. */
	bool found;
	/** --standalone: this node alone. */
	bool standalone;
	/** --node-rank, and a number other than 0 in it. */
	bool node_rank, node_rank_above_0;
	/** --nnodes. The number, at most of a range; 0: it is none. */
	bool nnodes;
	uint32_t nnodes_max;
	/** --rdzv-backend, other than static. */
	bool rdzv;
};

/**
 * Read the @words of a command; NULL: there is none. What a distinit among them starts is left to that one. The
 * text behind a shell's -c counts as words, too.
 */
struct torchrun_words torchrun_read(char *const *words);
