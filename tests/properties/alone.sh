#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# alone.sh DISTINIT VECTORS: torchrun on one of several nodes is told of them, or there is a word, as TAP; told in alone.py.
PYTHONDONTWRITEBYTECODE=1 exec python3 "$(dirname "$0")/alone.py" "$@"
