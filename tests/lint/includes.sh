#!/bin/sh
# Which folder may include which: the layers of the program, as HACKING.md's table of rooms has them. Prints TAP, one test
# a folder; a wrong #include is shown with its file and line, and with what is allowed there.
#
#     includes.sh [TREE]
set -eu

# FOLDER: what it may include beside itself. HACKING.md's table of rooms is the data: "all" stands for all of src.
allowed_table() {
	awk -F '|' '/^\| `(src|cmd)\// {
		names = $2
		allowed = $4
		gsub(/[`,]/, "", names)
		gsub(/,/, "", allowed)
		sub(/nothing/, "", allowed)
		n = split(names, folders, " ")
		for (i = 1; i <= n; i++) {
			if (folders[i] ~ /^src/) {
				print folders[i] ":" allowed
				every = every " " substr(folders[i], 5)
			}
		}
	}
	END { print "cmd:" every }' HACKING.md
}

# Headers of the system that one folder alone may use.
reserved_table() {
	cat <<-'END'
		sys/capability.h src/priv
		bearssl.h src/wire
		sys/socket.h src/net
		netinet/in.h src/net
		netdb.h src/net
		linux/rtnetlink.h src/net
	END
}

# FILE:LINE: HEADER for each include of a file under $1 that starts with the bracket $2.
includes_of() {
	find "$1" -name '*.[ch]' -exec grep -nHE "^[[:space:]]*#[[:space:]]*include[[:space:]]*[$2]" {} + |
		sed -E "s/^([^:]*:[0-9]+):[^\"<]*[\"<]([^\">]*).*/\1: \2/" || true
}

# Complain about the project's own headers that folder $1 includes although they are not in $2.
check_own() {
	includes_of "$1" '"' | while read -r place header; do
		part=${header%%/*}
		case " $2 " in
		*" $part "*) ;;
		*) echo "$place \"$header\": $1 may include only: ${2:-nothing}" ;;
		esac
	done
}

# Complain about headers of the system that are kept for another folder than $1.
check_reserved() {
	includes_of "$1" '<' | while read -r place header; do
		reserved_table | while read -r reserved owner; do
			if [ "$header" = "$reserved" ] && [ "$1" != "$owner" ]; then
				echo "$place <$header>: only $owner may include it"
			fi
		done
	done
}

# What "..." may begin with: own folder (for cmd: that of each program), then the table's.
own_names() {
	case $1 in
	cmd) find cmd -mindepth 1 -maxdepth 1 -type d -exec basename {} \; | tr '\n' ' ' ;;
	*) echo "${1#src/}" ;;
	esac
}

# A folder that the table does not know is an error too: its layer has to be thought about.
unknown_folders() {
	for folder in src/*/; do
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
		"$(check_own "$folder" "$(own_names "$folder")$others"; check_reserved "$folder")"
done <<END
$(allowed_table)
END
report "every folder of src is in the table" "$(unknown_folders)"
echo "1..$number"
exit $failed
