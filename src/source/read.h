// SPDX-License-Identifier: Apache-2.0
#pragma once

/** A manager that the user describes: --read='hosts=ACME_NODES node-rank=ACME_INDEX'. */

#include "source/row.h"

/**
 * Make a row of @text, words with blanks between:
 *
 *     FIELD=VARIABLE      a name of row_field_names, and what source_row.variables may have
 *     FIELD?=VARIABLE     the variable need not be set
 *     hosts[;]=VARIABLE   a separator, one byte; or \n, \t
 *     slots, batch        source_row.slots, source_row.batch
 *
 * @from, "--read" or "DISTINIT_READ", is for messages. The row's names are in @arena.
 * Returns 0; -EINVAL for a wrong word, and for fields that describe no cluster. *@out is set on success only.
 */
int read_parse(struct arena *arena, const char *from, const char *text, struct source_row *out,
	       struct err *err);
