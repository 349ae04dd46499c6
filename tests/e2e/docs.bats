#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The manual says what the program does, and the pages mention all of it. Their commands and tables:
# tests/docs.

# shellcheck disable=SC2154 # invoke sets status, output and stderr

load helpers

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || return
	MANUAL=cmd/distinit/distinit.1
}

requires_text() {
	[[ -s $1 ]] || skip "$1 is not written yet"
}

# names WORD: print the first words of the entries of a table.
names() {
	env -i "$DISTINIT" "$1" | sed -n 's/^  \([a-z0-9_]*\)\*\{0,1\} .*/\1/p' | sort -u
}

@test "the manual has every option of every --help" {
	requires_text "$MANUAL"
	for word in '' env explain wait check install bundle hosts managers frameworks; do
		# shellcheck disable=SC2086 # none or one
		for option in $(env -i "$DISTINIT" $word --help | grep -oE '^ +(-[A-Za-z], )?--[a-z-]+' | sed 's/.*--//'); do
			grep -Eq "^\.It .*Fl -$option( |\$)" "$MANUAL" || {
				echo "$MANUAL: no item for --$option (distinit $word --help)"
				return 1
			}
		done
	done
}

@test "the manual has no option that does not exist" {
	requires_text "$MANUAL"
	while read -r option; do
		for word in '' env explain wait check install bundle hosts; do
			# shellcheck disable=SC2086 # none or one
			distinit -- $word "--$option"
			[[ $stderr == *'unknown option'* ]] || continue 2
		done
		echo "$MANUAL has --$option, which is unknown"
		return 1
	done < <(sed -n '/^\.It /p' "$MANUAL" | grep -oE 'Fl -[a-z-]+' | sed 's/Fl -//' | sort -u)
}

@test "the manual has every subcommand and every exit status" {
	requires_text "$MANUAL"
	for word in env explain wait check install bundle hosts managers frameworks; do
		grep -Eq "^\.It Cm $word\b" "$MANUAL"
	done
	for number in 124 125 126 127; do
		grep -q "$number" "$MANUAL"
	done
}

@test "the manual is well-formed" {
	requires_text "$MANUAL"
	requires mandoc
	run mandoc -T lint -W warning "$MANUAL"
	[ -z "$output" ]
}

@test "the pages mention every source, launcher and framework" {
	for name in $(names managers); do
		grep -q "^| \`$name\`" docs/managers.md || { echo "docs/managers.md: no $name" && return 1; }
	done
	for name in $(names frameworks); do
		grep -q "^| \`$name\`" docs/frameworks.md || { echo "docs/frameworks.md: no $name" && return 1; }
	done
}

@test "managers shows for every manager what identifies it and what is read" {
	env -i "$DISTINIT" managers | awk '
		/^Launchers/ { exit }
		/^  [a-z]/ { managers++; name = $1 }
		/^ +known by [^ ]/ { known++ }
		/^ +reads [^ ]/ { reads++; if (known != managers || reads != managers) { print name; bad = 1 } }
		END { exit bad || managers == 0 || reads != managers }'
}

@test "the pages mention every subcommand" {
	for word in env explain wait check install bundle hosts managers frameworks; do
		grep -q "distinit $word" README.md docs/*.md || { echo "no page mentions distinit $word" && return 1; }
	done
}
