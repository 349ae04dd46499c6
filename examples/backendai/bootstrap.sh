#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Backend.AI's bootstrap script: writes what distinit derives to ~/.distinit.env, and has shells read it.
# Where distinit is missing or finds a mistake, the session starts all the same.

distinit=${DISTINIT:-/distinit}
file=$HOME/.distinit.env

if "$distinit" env --output="$file"; then
	for rc in "$HOME/.profile" "$HOME/.bashrc"; do
		if ! grep -qsF .distinit.env "$rc"; then
			# shellcheck disable=SC2016 # for that shell
			printf '%s\n' 'if [ -r "$HOME/.distinit.env" ]; then set -a; . "$HOME/.distinit.env"; set +a; fi' >>"$rc"
		fi
	done
fi
exit 0
