#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# A bootstrap script for Backend.AI: writes the derived variables to ~/.distinit.env, and makes
# shells read that file. If distinit is missing or reports an error, the session starts anyway.

distinit=${DISTINIT:-/distinit}
file=$HOME/.distinit.env

if "$distinit" env --output="$file"; then
	for rc in "$HOME/.profile" "$HOME/.bashrc"; do
		if ! grep -qsF .distinit.env "$rc"; then
			# shellcheck disable=SC2016 # that shell expands it
			printf '%s\n' 'if [ -r "$HOME/.distinit.env" ]; then set -a; . "$HOME/.distinit.env"; set +a; fi' >>"$rc"
		fi
	done
fi
exit 0
