#!/bin/sh
# Which files may open a file in another way than by src/access. There, it is decided whose rights open what somebody
# told of. All others open paths that are fixed, or that are looked at after the change of privileges. Prints TAP.
#
#     opens.sh [TREE]
set -eu

# FILE: why.
allowed() {
	cat <<-'END'
		src/access/access.c the room itself
		src/access/place.c the room itself
		src/access/write.c the room itself
		src/base/file.c file_read() and file_read_path(), for those below
		src/base/file.h its contract
		src/priv/plan.c /proc/self/uid_map and its like
		src/priv/wishes.c /etc/passwd and /etc/group: who the program will be is read there
		src/process/process.c /proc/self
		src/exec/exec.c the program itself, after the change of privileges
		src/flow/clear.c names in a folder that src/access has opened
		src/install/install.c /proc/self/exe; names in a folder that src/access has opened
		src/init/leftovers.c /proc
		src/init/places.c the working directory
		src/init/say.c our stderr
		src/init/why.c the files of cgroups, after the change of privileges
		src/net/listen.c /proc/net
		src/base/entries.c folders of /proc and /sys, for workers.c, machine.c and usage.c
		src/node/machine.c /proc and /sys below --root, after access_become()
		src/together/workers.c /proc
		src/node/program.c the program itself, after access_become()
		src/flow/leftover.c /proc
		src/report/termination.c /proc
		src/srun/budget.c distrun's, which is a tool of the user who calls it
		src/srun/where.c distrun's
		src/srun/site.c distrun's
		src/measure/usage.c distrun's
	END
}

# Calls of functions that open or make files, without comments.
calls() {
	find src cmd -name '*.[ch]' -exec grep -nHE '(^|[^A-Za-z0-9_>.])(open|open64|openat|openat2|creat|fopen|freopen|mkstemp|mkostemp|mknod|mkfifo|symlink|link|rename|renameat|truncate|file_read|file_read_path)\(' {} + |
		grep -vE '^[^:]*:[0-9]+:[[:space:]]*(/?\*|//)' || true
}

cd "${1:-$(dirname "$0")/../..}"
wrong=$(calls | while IFS= read -r line; do
	allowed | grep -q "^${line%%:*} " || echo "# $line"
done)
# An entry that nobody needs any more would let somebody in.
stale=$(allowed | while read -r file _; do
	calls | grep -q "^$file:" || echo "# $file: opens nothing"
done)
failed=0

# One TAP line: its number and name, and what is wrong, if anything.
report() {
	if [ -z "$2" ]; then
		echo "ok $1"
		return
	fi
	failed=1
	printf 'not ok %s\n%s\n' "$1" "$2"
}

report '1 - only src/access opens what somebody told of' "$wrong"
report '2 - who may open files does so' "$stale"
echo "1..2"
exit $failed
