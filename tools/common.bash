# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Shared by all commands of ./dev: messages, logs, and running a step.

# shellcheck disable=SC2034 # used by the files that source this
readonly DEPS=build-deps      # what builds need besides our sources: headers, package lists
readonly LOGS=build-deps/logs # one log per step

say() {
	printf 'dev: %s\n' "$*" >&2
}

# die WHAT [ADVICE]...: print what failed and what to do, and exit.
die() {
	say "error: $1"
	shift
	local advice
	for advice in "$@"; do
		printf '     %s\n' "$advice" >&2
	done
	exit 1
}

# step NAME ADVICE COMMAND...: run a command with its output in a log. Show the log only on failure.
step() {
	local name=$1 advice=$2 log=$LOGS/$1.log
	shift 2
	mkdir -p "$LOGS"
	if ! "$@" >"$log" 2>&1 </dev/null; then
		tail -n 40 "$log" >&2
		die "'$name' failed; above is the end of $log" "$advice"
	fi
}

# hand_over FILE [ARG]...: exec a program of the tree.
hand_over() {
	[[ -x $1 ]] || die "$1 is not there, or not executable"
	exec "$@"
}
