// SPDX-License-Identifier: Apache-2.0

/**
 * Run a fuzz target without a fuzzer: it gets each file of a directory once, and TAP is printed. So
 * every input that ever broke a parser stays a test, with any compiler and under any sanitizer.
 *
 *     replay-NAME CORPUS
 *
 * A target that fails ends the program, as it does under a fuzzer. The name printed last is that of
 * the failing input.
 */

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/**
 * Read all of @file into memory of exactly its size, so that a sanitizer reports a read past the
 * end.
 */
static uint8_t *read_all(FILE *file, size_t *size) {
	if (fseek(file, 0, SEEK_END) != 0) {
		return NULL;
	}
	long end = ftell(file);
	if (end < 0 || fseek(file, 0, SEEK_SET) != 0) {
		return NULL;
	}
	// malloc(0) may return NULL, but a target expects a pointer.
	uint8_t *data = malloc(end > 0 ? (size_t)end : 1);
	if (data && fread(data, 1, (size_t)end, file) != (size_t)end) {
		free(data);
		return NULL;
	}
	*size = (size_t)end;
	return data;
}

static bool replay(const char *directory, const char *name) {
	char path[4096];
	int length = snprintf(path, sizeof(path), "%s/%s", directory, name);
	if (length < 0 || (size_t)length >= sizeof(path)) {
		return false;
	}

	FILE *file = fopen(path, "rbe");
	if (!file) {
		return false;
	}
	size_t size = 0;
	uint8_t *data = read_all(file, &size);
	(void)fclose(file);
	if (!data) {
		return false;
	}

	LLVMFuzzerTestOneInput(data, size);
	free(data);
	return true;
}

static int is_input(const struct dirent *entry) {
	return entry->d_name[0] != '.';
}

int main(int argc, char **argv) {
	if (argc != 2) {
		(void)fprintf(stderr, "usage: %s CORPUS\n", argv[0]);
		return 2;
	}

	struct dirent **inputs = NULL;
	int count = scandir(argv[1], &inputs, is_input, alphasort);
	if (count <= 0) {
		printf("Bail out! %s has no inputs: add one, or let './dev fuzz --merge' find some\n",
		       argv[1]);
		free(inputs);
		return 1;
	}

	bool failed = false;
	printf("1..%d\n", count);
	for (int i = 0; i < count; i++) {
		printf("# %s\n", inputs[i]->d_name);
		(void)fflush(stdout);
		bool read = replay(argv[1], inputs[i]->d_name);
		failed = failed || !read;
		printf("%s %d - %s%s\n", read ? "ok" : "not ok", i + 1, inputs[i]->d_name,
		       read ? "" : ": cannot be read");
		free(inputs[i]);
	}
	free(inputs);
	return failed;
}
