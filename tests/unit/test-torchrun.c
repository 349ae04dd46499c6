// SPDX-License-Identifier: Apache-2.0

#include "framework/torchrun.h"

#include "base/str.h"

#include "check.h"

#include <stdio.h>
#include <string.h>

#define WORDS_MAX 16

/** What the words of @command, with blanks or '|' between them, say: "found nnodes=2 rank". With '|', blanks stay. */
static void check_words(const char *command, const char *want) {
	char text[256], got[128] = "", *words[WORDS_MAX + 1] = {NULL}, *state = NULL;
	snprintf(text, sizeof(text), "%s", command);
	const char *between = strchr(command, '|') ? "|" : " ";
	char *word = strtok_r(text, between, &state);
	for (size_t i = 0; word && i < WORDS_MAX; i++) {
		words[i] = word;
		word = strtok_r(NULL, between, &state);
	}
	struct torchrun_words w = torchrun_read(words);
	snprintf(got, sizeof(got), "%s%s%s%s%s", w.found ? "found" : "-", w.standalone ? " standalone" : "",
		 w.node_rank_above_0 ? " rank>0"
		 : w.node_rank	     ? " rank"
				     : "",
		 w.rdzv ? " rdzv" : "", w.nnodes ? " nnodes" : "");
	if (w.nnodes) {
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "=%u", w.nnodes_max);
	}
	check_text(got, want, "'%s'", command);
}

int main(void) {
	check(!torchrun_read(NULL).found);
	check_words("torchrun train.py", "found");
	check_words("/opt/venv/bin/torchrun --nproc-per-node 8 train.py", "found");
	check_words("python3 -m torch.distributed.run train.py", "found");
	check_words("python3.11 -u -m torch.distributed.launch train.py", "found");
	check_words("accelerate launch --num_machines 2 --machine_rank 1 t.py", "found rank>0 nnodes=2");
	check_words("srun --nodes=2 torchrun train.py", "found");
	check_words("numactl --cpunodebind=0 torchrun train.py", "found");
	check_words("sh|-c|exec torchrun --nnodes=2 train.py", "found nnodes=2");
	check_words("bash|-lc|cd /app && torchrun train.py; echo done", "found");
	check_words("bash|-ec|(/opt/bin/torchrun --standalone train.py)", "found standalone");
	check_words("torchrun --nnodes 2 --node_rank 1 train.py", "found rank>0 nnodes=2");
	check_words("torchrun --nnodes=1:4 --rdzv_backend=c10d train.py", "found rdzv nnodes=4");
	check_words("torchrun --rdzv-backend static --node-rank=0 train.py", "found rank");
	check_words("torchrun --nnodes=$N train.py", "found nnodes=0");
	check_words("torchrun --nnodes", "found");

	// Not torchrun's own.
	check_words("torchrun train.py --standalone --nnodes=1", "found");
	check_words("torchrun -m pkg.train --nnodes=1", "found");
	check_words("torchrun --nnodesx=1 --node-ranks 2 train.py", "found");
	check_words("srun distinit -- torchrun train.py", "-");
	check_words("sh|-c|distinit -- torchrun train.py", "-");
	check_words("python train.py torchrun", "-");
	check_words("python -m torch.distributed.runner t.py", "-");
	check_words("python torch.distributed.launch", "-");
	check_words("sh -x torchrun.sh", "-");
	check_words("sh|-x|run torchrun now", "-");
	check_words("echo torchrunner", "-");
	return check_done();
}
