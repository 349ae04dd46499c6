#!/bin/sh
# Replay a fuzz target's inputs: those of its corpus, and, for a target that has a seed-NAME.py, those that it makes.
#
#     replay.sh REPLAY-PROGRAM CORPUS
set -eu
here=$(cd "$(dirname "$0")" && pwd)
inputs=$2
if [ -f "$here/seed-${2##*/}.py" ]; then
	inputs=$(mktemp -d)
	trap 'rm -rf "$inputs"' EXIT
	python3 "$here/seed-${2##*/}.py" "$inputs"
	cp "$2"/* "$inputs"
fi
"$1" "$inputs"
