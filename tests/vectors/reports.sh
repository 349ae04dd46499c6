#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# reports.sh BINARY FOLDER: told in reports.py.
exec python3 "$(dirname "$0")/reports.py" "$@"
