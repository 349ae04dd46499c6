#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# foreign.sh DISTINIT DISTRUN VECTORS: bytes that a terminal obeys, as TAP; told in foreign.py.
PYTHONDONTWRITEBYTECODE=1 exec python3 "$(dirname "$0")/foreign.py" "$@"
