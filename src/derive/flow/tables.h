// SPDX-License-Identifier: Apache-2.0
#pragma once

/** The tables of sources, launchers and frameworks, made from the lists (source/list.h and similar). */

#include "cluster/source.h"
#include "framework/framework.h"

/** In the order in which they are asked, NULL at the end. */
extern const struct source *const sources[];
extern const struct launcher *const launchers[];

/** In the order in which they run, NULL at the end. */
extern const struct framework *const frameworks[];
