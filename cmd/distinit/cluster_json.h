// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Writes the cluster in JSON, for explain and the report. */

#include "base/json_write.h"
#include "cluster/cluster.h"

/** Add the member "cluster", an object on one line; null if @c is NULL. */
void cluster_json(const struct cluster *cluster, struct json *json);
