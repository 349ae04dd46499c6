// SPDX-License-Identifier: Apache-2.0

/**
 * Finds torchrun in a command: "torchrun train.py", "python3 -m torch.distributed.run train.py", "srun
 * torchrun train.py", "sh -c 'exec torchrun train.py'". "accelerate launch" has torchrun's parser, and
 * other names for two of its options.
 *
 * Reference: torch/distributed/run.py of PyTorch; src/accelerate/commands/launch.py of Accelerate.
 * Options have '-' or '_' in their names.
 */

#include "framework/torchrun.h"

#include "base/num.h"
#include "base/str.h"

#include <string.h>

/** The state while the words are read, one after the other. */
struct reading {
	struct torchrun_words out;
	/** The option whose value comes next, or NULL. */
	const char *option;
	/** The last word was -m. */
	bool module;
	/** The rest is not torchrun's: its script or another distinit came. */
	bool ended;
};

/** @word without its folder, and without a shell's quotes and operators around it. */
static struct str bare(struct str word) {
	while (word.len && strchr("\"'(;&|`$", word.p[0])) {
		word = str_from(word, 1);
	}
	while (word.len && strchr("\"');&|`", word.p[word.len - 1])) {
		word.len--;
	}
	for (size_t i = word.len; i > 0; i--) {
		if (word.p[i - 1] == '/') {
			return str_from(word, i);
		}
	}
	return word;
}

static bool ends_with(struct str word, const char *end) {
	size_t len = strlen(end);
	return word.len > len && str_is(str_from(word, word.len - len), end);
}

/** Whether @word is the option @name, "--node-rank", with '-' or '_'. *@value is the text after '='. */
static bool is_option(struct str word, const char *name, struct str *value) {
	size_t len = strlen(name), end = str_find(word, '=');
	if (end != len) {
		return false;
	}
	for (size_t i = 0; i < len; i++) {
		bool dash = i > 1 && name[i] == '-' && word.p[i] == '_';
		if (word.p[i] != name[i] && !dash) {
			return false;
		}
	}
	*value = str_from(word, end + (end < word.len));
	return true;
}

static void read_value(struct torchrun_words *out, const char *option, struct str value) {
	uint32_t number = 0;
	if (strcmp(option, "--nnodes") == 0 || strcmp(option, "--num-machines") == 0) {
		size_t colon = str_find(value, ':');
		struct str max = colon < value.len ? str_from(value, colon + 1) : value;
		out->nnodes = true;
		out->nnodes_max = num_read_u32(max, &number) == 0 ? number : 0;
	} else if (strcmp(option, "--node-rank") == 0 || strcmp(option, "--machine-rank") == 0) {
		out->node_rank = true;
		out->node_rank_above_0 = num_read_u32(value, &number) == 0 && number > 0;
	} else {
		out->rdzv = !str_is(value, "static");
	}
}

/** Read a word after torchrun: an option, its value, or the script. */
static void read_option(struct reading *r, struct str word) {
	static const char *const options[] = {"--nnodes", "--num-machines", "--node-rank", "--machine-rank",
					      "--rdzv-backend"};
	struct str value;
	if (r->option) {
		read_value(&r->out, r->option, word);
		r->option = NULL;
		return;
	}
	if (is_option(word, "--standalone", &value)) {
		r->out.standalone = true;
	}
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		if (is_option(word, options[i], &value) && str_find(word, '=') == word.len) {
			r->option = options[i];
		} else if (is_option(word, options[i], &value)) {
			read_value(&r->out, options[i], value);
		}
	}
	r->ended = ends_with(word, ".py") || str_is(word, "-m") || str_is(word, "--module");
}

static void read_word(struct reading *r, struct str word) {
	struct str name = bare(word);
	if (r->out.found) {
		read_option(r, word);
		return;
	}
	bool by_module = r->module &&
			 (str_is(name, "torch.distributed.run") || str_is(name, "torch.distributed.launch"));
	r->out.found = by_module || str_is(name, "torchrun") || str_is(name, "accelerate");
	r->module = str_is(word, "-m");
	r->ended = !r->out.found && (str_is(name, "distinit") || ends_with(name, ".py"));
}

struct torchrun_words torchrun_read(char *const *words) {
	struct reading r = {.option = NULL};
	bool script = false;
	for (size_t i = 0; words && words[i] && !r.ended; i++) {
		struct str rest = str_of(words[i]), piece;
		if (script) {
			while (!r.ended && str_word(&rest, &piece)) {
				read_word(&r, piece);
			}
		} else {
			read_word(&r, rest);
		}
		// -c, -ec, -lc
		script = !r.out.found && rest.p && words[i][0] == '-' && words[i][1] != '-' &&
			 words[i][strlen(words[i]) - 1] == 'c';
	}
	return r.out.found ? r.out : (struct torchrun_words){.found = false};
}
