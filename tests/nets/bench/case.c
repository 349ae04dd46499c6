// SPDX-License-Identifier: Apache-2.0

#include "case.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** All of a file, and a NUL more; NULL with errno set. */
static char *read_file(const char *path, size_t *size) {
	FILE *file = fopen(path, "rbe");
	if (!file) {
		return NULL;
	}

	char *data = NULL;
	if (fseek(file, 0, SEEK_END) == 0) {
		long end = ftell(file);
		rewind(file);
		data = end < 0 ? NULL : malloc((size_t)end + 1);
		if (data) {
			*size = fread(data, 1, (size_t)end, file);
			data[*size] = '\0';
		}
	}
	fclose(file);
	return data;
}

int bench_case_read(const char *path, struct bench_case *out) {
	size_t size = 0;
	char *data = read_file(path, &size);
	if (!data) {
		return -1;
	}

	size_t count = 0;
	for (size_t i = 0; i < size; i++) {
		count += data[i] == '\0';
	}
	char **strings = calloc(count + 2, sizeof(*strings));
	if (!strings) {
		return -1;
	}

	char **envp = NULL;
	char **next = strings;
	for (char *at = data; at < data + size; at += strlen(at) + 1) {
		if (*at == '\0' && !envp) {
			*next++ = NULL;
			envp = next;
		} else {
			*next++ = at;
		}
	}
	if (!envp || !strings[0]) {
		errno = EINVAL;
		return -1;
	}
	*out = (struct bench_case){.argv = strings, .envp = envp};
	return 0;
}
