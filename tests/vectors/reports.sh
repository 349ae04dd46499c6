#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh BINARY FILE: the cases of a vector file, as TAP. What such a file may say is told in reports.py.
exec python3 "$(dirname "$0")/reports.py" "$@"
