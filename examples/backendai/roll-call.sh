#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The start-up command of a batch session that starts on all of its containers, or on none. docs/roll-call.md explains it.
#
#     backend.ai session create -t batch --cluster-size 4 --cluster-mode multi-node \
#         -c "sh roll-call.sh torchrun train.py" IMAGE
#
# The secret is the session's own key, which Backend.AI puts into each of its containers.

exec "${DISTINIT:-/distinit}" --wait="${DISTINIT_WAIT:-10m}" --for=all --secret-required -- "$@"
