#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The manual and README.md say what the program does.

# shellcheck disable=SC2154 # status, output and stderr are what invoke sets

load helpers

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || return
	MANUAL=cmd/distinit/distinit.1
}

requires_text() {
	[[ -s $1 ]] || skip "$1 is not written yet"
}

# names WORD: the first words of the entries of a table.
names() {
	env -i "$DISTINIT" "$1" | sed -n 's/^  \([a-z0-9_]*\)\*\{0,1\} .*/\1/p' | sort -u
}

@test "the manual has every option of every --help" {
	requires_text "$MANUAL"
	for word in '' env explain wait install bundle hosts sources frameworks; do
		# shellcheck disable=SC2086 # none or one
		for option in $(env -i "$DISTINIT" $word --help | grep -oE '^ +(-[A-Za-z], )?--[a-z-]+' | sed 's/.*--//'); do
			grep -Eq "^\.It .*Fl -$option( |\$)" "$MANUAL" || {
				echo "$MANUAL: no item for --$option (distinit $word --help)"
				return 1
			}
		done
	done
}

@test "the manual has no option that there is not" {
	requires_text "$MANUAL"
	while read -r option; do
		for word in '' env explain wait install bundle hosts; do
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
	for word in env explain wait install bundle hosts sources frameworks; do
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

@test "README.md mentions every source, launcher and framework" {
	requires_text README.md
	for name in $(names sources) $(names frameworks); do
		grep -qw "$name" README.md || {
			echo "README.md: no $name"
			return 1
		}
	done
}

@test "sources tells of every manager what it is known by and what it reads" {
	env -i "$DISTINIT" sources | awk '
		/^Launchers/ { exit }
		/^  [a-z]/ { managers++; name = $1 }
		/^ +known by [^ ]/ { known++ }
		/^ +reads [^ ]/ { reads++; if (known != managers || reads != managers) { print name; bad = 1 } }
		END { exit bad || managers == 0 || reads != managers }'
}

@test "README.md mentions every subcommand" {
	requires_text README.md
	for word in env explain wait install bundle hosts sources frameworks; do
		grep -q "distinit $word" README.md || grep -qE "\`$word\b" README.md
	done
}

@test "options in README.md exist" {
	requires_text README.md
	# In the program's own commands; those of others have options of theirs.
	while read -r option; do
		for word in '' env explain wait install bundle hosts; do
			# shellcheck disable=SC2086 # none or one
			[[ $(env -i "$DISTINIT" $word "--$option" 2>&1 >/dev/null) == *'unknown option'* ]] || continue 2
		done
		echo "README.md has --$option, which is unknown"
		return 1
	done < <(grep -oE 'distinit [^`|]*--[a-z].*' README.md | sed 's/ -- .*//' | grep -oE -- '--[a-z][a-z-]+' |
		sed 's/--//' | sort -u)
}
