#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# secrets.sh DISTINIT DISTRUN VECTORS: what looks secret, wherever it is told, as TAP; told in secrets.py.
PYTHONDONTWRITEBYTECODE=1 exec python3 "$(dirname "$0")/secrets.py" "$@"
