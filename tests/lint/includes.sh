#!/bin/sh
# Which room may include which others of its wing, as HACKING.md's table has them: each only some that stand above it, so that there
# is no circle. What holds between wings is the compiler's. Prints TAP, one test a room; a wrong #include is shown with its file and
# line, and with what is allowed there.
#
#     includes.sh [TREE]
set -eu

# ROOM: what it may include of its own wing, beside itself. The programs may include all.
allowed_table() {
	awk -F '|' '/^\| `(src\/[a-z]+\/|cmd\/)/ {
		names = $2
		allowed = $4
		gsub(/[`,]/, "", names)
		gsub(/,/, "", allowed)
		n = split(names, folders, " ")
		for (i = 1; i <= n; i++) {
			if (folders[i] ~ /^src/) {
				print folders[i] ":" allowed
			}
		}
	}
	END { print "cmd:" }' HACKING.md
}

# Headers of the system that one room alone may use.
reserved_table() {
	cat <<-'END'
		sys/capability.h src/system/priv
		bearssl.h src/meet/wire
		sys/socket.h src/system/net
		netinet/in.h src/system/net
		netdb.h src/system/net
		linux/rtnetlink.h src/system/net
	END
}

# FILE:LINE: HEADER for each include of a file under $1 that starts with the bracket $2.
includes_of() {
	find "$1" -name '*.[ch]' -exec grep -nHE "^[[:space:]]*#[[:space:]]*include[[:space:]]*[$2]" {} + |
		sed -E "s/^([^:]*:[0-9]+):[^\"<]*[\"<]([^\">]*).*/\1: \2/" || true
}

# Complain about the headers of its own wing that room $1 includes although they are not in $2.
check_own() {
	[ "$1" != cmd ] || return 0
	includes_of "$1" '"' | while read -r place header; do
		part=${header%%/*}
		case " ${1##*/} $2 " in
		*" $part "*) ;;
		*)
			if [ -d "${1%/*}/$part" ]; then
				echo "$place \"$header\": $1 may include of its wing only:${2:- nothing}"
			fi
			;;
		esac
	done
}

# Complain about rooms that stand in $1, the table, above one of those that they may include.
check_order() {
	above=' '
	while IFS=: read -r folder others; do
		[ "$folder" != cmd ] || continue
		for room in $others; do
			case $above in
			*" ${folder%/*}/$room "*) ;;
			*) echo "$folder: $room of its wing does not stand above it" ;;
			esac
		done
		above="$above$folder "
	done <<-END
		$1
	END
}

# Complain about headers of the system that are kept for another room than $1.
check_reserved() {
	includes_of "$1" '<' | while read -r place header; do
		reserved_table | while read -r reserved owner; do
			if [ "$header" = "$reserved" ] && [ "$1" != "$owner" ]; then
				echo "$place <$header>: only $owner may include it"
			fi
		done
	done
}

# A room that the table does not know is an error too: its place has to be thought about.
unknown_folders() {
	for folder in src/*/*/; do
		folder=${folder%/}
		if [ -d "$folder" ] && ! allowed_table | grep -q "^$folder:"; then
			echo "$folder: not in the table of rooms of HACKING.md"
		fi
	done
}

number=0
failed=0

# One TAP line: the name of the test, and what is wrong, if anything.
report() {
	number=$((number + 1))
	if [ -z "$2" ]; then
		echo "ok $number - $1"
		return
	fi
	failed=1
	echo "not ok $number - $1"
	echo "$2" | sed 's/^/# /'
}

cd "${1:-$(dirname "$0")/../..}"
while IFS=: read -r folder others; do
	[ -d "$folder" ] || continue
	report "$folder includes what it may" \
		"$(check_own "$folder" "$others"; check_reserved "$folder")"
done <<END
$(allowed_table)
END
report "every room is in the table" "$(unknown_folders)"
report "no circle: each room stands below those that it may include" "$(check_order "$(allowed_table)")"
echo "1..$number"
exit $failed
