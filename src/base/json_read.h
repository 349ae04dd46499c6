// SPDX-License-Identifier: Apache-2.0
#pragma once

/** JSON from outside, read by cJSON behind the checks that it leaves to its caller. */

#include "base/err.h"

struct cJSON;

/** Nothing that a manager writes is nested deeper. */
#define JSON_DEPTH 32

/**
 * Read @text, all of it, as one JSON value. @what names it in the message, such as "TF_CONFIG".
 *
 * Returns 0 with *@out set, for cJSON_Delete(); -EINVAL if it is no JSON, with line and column.
 */
int json_read(const char *what, const char *text, struct cJSON **out, struct err *err);
