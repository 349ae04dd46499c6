// SPDX-License-Identifier: Apache-2.0

#include "format/format.h"

const struct format *const formats[] = {
	&format_shell, &format_docker, &format_json, &format_null, NULL,
};

const struct format *format_find(const char *name) {
	for (size_t i = 0; formats[i]; i++) {
		if (strcmp(formats[i]->name, name) == 0) {
			return formats[i];
		}
	}
	return NULL;
}
