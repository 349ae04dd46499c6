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
		for option in $(env -i "$DISTINIT" $word --help=all | grep -oE '^ +(-[A-Za-z], )?--[a-z-]+' | sed 's/.*--//'); do
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

@test "the manuals are well-formed" {
	requires mandoc
	# Other manuals may not be installed, and notes have the tree's line length.
	! mandoc -T lint -W style cmd/*/*.1 | grep -vE 'outdated mandoc.db|referenced manual not found|line longer than 80 bytes' || return 1
}

@test "the manuals: man has nothing to warn of, in terminals narrow and wide" {
	requires man
	local manual width
	for manual in cmd/*/*.1; do
		for width in 72 80 132; do
			invoke env LC_ALL=C.UTF-8 MANWIDTH=$width man --warnings --local-file "$manual"
			[[ $status -eq 0 ]]
			# groff 1.23 says so of a line that is one word, and fits.
			run ! grep -v 'cannot adjust line' <<<"${stderr:-cannot adjust line}"
		done
	done
}

@test "the demo runs, and speaks of no image, as it has none" {
	requires python3
	invoke tools/demo/demo --no-torch
	[[ $status -eq 0 && $output == *'Three programs meet'*'rank 2'* && $output != *image* ]]
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
