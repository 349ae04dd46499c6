#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# mixed.sh DISTINIT VECTORS: no manager takes the variables of another for its own, as TAP; told in mixed.py.
PYTHONDONTWRITEBYTECODE=1 exec python3 "$(dirname "$0")/mixed.py" "$@"
