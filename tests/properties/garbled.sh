#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# garbled.sh DISTINIT VECTORS: nobody trains alone without a word, as TAP; told in garbled.py.
PYTHONDONTWRITEBYTECODE=1 exec python3 "$(dirname "$0")/garbled.py" "$@"
