#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh BINARY: properties of generated clusters, as TAP; told in properties.py.
PYTHONDONTWRITEBYTECODE=1 exec python3 "$(dirname "$0")/properties.py" "$@"
