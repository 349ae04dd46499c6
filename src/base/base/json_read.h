// SPDX-License-Identifier: Apache-2.0
#pragma once

/** JSON from outside, parsed by cJSON, after checks that cJSON does not make. */

#include "base/err.h"

struct cJSON;

/** The limit for nesting. No manager writes JSON with more levels. */
#define JSON_DEPTH 32

/**
 * Read the whole of @text as one JSON value. @what names it in messages, such as "TF_CONFIG".
 *
 * Returns 0 and sets *@out, to be freed by cJSON_Delete(); -EINVAL, with line and column, if it is
 * not JSON.
 */
int json_read(const char *what, const char *text, struct cJSON **out, struct err *err);
