#!/bin/sh
# Who may look up the name of a host: the child process of src/system/net/lookup.c alone, which a dead name server keeps waiting,
# and which its bytes reach. Prints TAP.
#
#     names.sh [TREE]
set -eu

# FUNCTION: CALL for each call that asks a name server, or that makes the one that does.
calls() {
	# shellcheck disable=SC2016 # awk's
	find src cmd -name '*.[ch]' | sort | xargs awk '
		/^[A-Za-z_].*\(/ && !/;$/ {
			match($0, /[A-Za-z0-9_]+\(/)
			name = FILENAME ":" substr($0, RSTART, RLENGTH - 1)
			next
		}
		/^[[:space:]]*(\/?\*|\/\/)/ { next }
		/[^A-Za-z0-9_](getaddrinfo|getaddrinfo_a|gethostby[a-z0-9_]*|getnameinfo|getipnodeby[a-z]*|getservby[a-z_]*|getprotoby[a-z_]*|res_[a-z]+|ns_parse[a-z]+|dn_expand)\(/ ||
			(FILENAME == "src/system/net/lookup.c" && /[^A-Za-z0-9_]ask\(/) {
			sub(/^[[:space:]]*/, "")
			print name ": " $0
		}'
}

cd "${1:-$(dirname "$0")/../..}"
failed=0

# same NAME EXPECTED FOUND: one TAP line, and how the two differ.
same() {
	if [ "$2" = "$3" ]; then
		echo "ok $1"
		return
	fi
	failed=1
	printf 'not ok %s\n# expected:\n%s\n# found:\n%s\n' "$1" "$2" "$3" | sed '2,$s/^[^#]/# &/'
}

same '1 - names are looked up in the look-up child alone; others read addresses' \
	'src/system/net/lookup.c:ask: answer->code = getaddrinfo(host, NULL, &hints, &list);
src/system/net/lookup.c:child: ask(names[i], port, 0, &answer);
src/system/net/lookup.c:needs_no_look_up: ask(host, port, AI_NUMERICHOST, &answer);' "$(calls)"
same '2 - no other file knows the functions that would' 'src/system/net/lookup.c' \
	"$(grep -rlE '<(netdb|resolv|arpa/nameser)\.h>' --include='*.[ch]' src cmd | sort)"
echo "1..2"
exit $failed
