// SPDX-License-Identifier: Apache-2.0
#pragma once

/** The cluster in JSON, as explain and the report have it. */

#include "base/json_write.h"
#include "cluster/cluster.h"

/** Add the member "cluster": an object, on one line; null for NULL. */
void cluster_json(const struct cluster *cluster, struct json *json);
