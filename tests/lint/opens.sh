#!/bin/sh
# Who may open files, and look at them, in another way than by src/system/access: there, it is decided with whose rights. The
# names of all others are constants, or come from the command line. Prints TAP.
#
# What a variable names, and all below DISTINIT_ROOT, has a shape that the compiler holds: `struct view` is known to
# src/system/access/view.c alone, which takes the program's rights before it makes one. Test 3 finds what goes around it.
#
#     opens.sh [TREE]
set -eu

# FILE: why.
allowed() {
	cat <<-'END'
		src/system/access/access.c the room itself
		src/system/access/allows.c the room itself
		src/system/access/place.c the room itself
		src/system/access/try.c the room itself: a view has to be there
		src/system/access/view.c the room itself
		src/system/access/write.c the room itself
		src/base/base/proc.c /proc
		src/base/base/entries.c entries_open(), for those below
		src/base/base/file.c file_read() and file_read_path(), for those below
		src/base/base/file.h their contract
		src/base/base/entries.h its contract
		src/system/priv/plan.c /proc/self/uid_map and its like
		src/system/priv/wishes.c /etc/passwd and /etc/group: who the program will be is read there
		src/system/process/process.c /proc/self, "/"
		src/system/process/container.c /proc/self/ns
		src/system/exec/exec.c the program itself, with the rights of that moment
		src/derive/flow/clear.c names in a folder that src/system/access has opened
		src/system/install/install.c /proc/self/exe; names in a folder that src/system/access has opened
		src/system/init/leftovers.c /proc
		src/system/init/places.c the working directory
		src/system/init/say.c our stderr
		src/system/init/why.c the files of cgroups, below the root of a view
		src/system/net/listen.c /proc/net
		src/meet/together/look.c the files of --progress, beside the program, whose rights are ours by then
		src/meet/together/workers.c /proc
		src/derive/flow/stale.c /proc
		src/system/report/termination.c /proc
		src/slurm/srun/mounts.c distrun's, which is a tool of the user who calls it
		src/slurm/srun/runtime.c distrun's
		src/slurm/srun/where.c distrun's
		src/slurm/srun/site.c distrun's
		src/slurm/measure/usage.c distrun's
		cmd/distrun/csrun.c distrun's
		cmd/distinit/run.c the command that was not found, after the change of privileges
	END
}

# FILE: how it uses the text of a root. Any other makes a path of it that nobody opens with the program's rights.
roots() {
	cat <<-'END'
		src/system/access/ the room itself
		src/base/base/file.c file_under_root()
		src/base/base/file.h its contract
		src/derive/cluster/read.c setting_under_root(), whose setting src/system/access opens
		src/derive/flow/flow.c view_open()
		src/system/init/why.c view_root(), of a view that is made after the change of privileges
		src/system/node/devices.c view_root(): is there one?
		src/system/priv/wishes. /etc/passwd and /etc/group below it, unless the command line fixes a privilege
		src/system/priv/rights rights_lower(), which src/system/access calls
		src/slurm/srun/where distrun's
		src/system/report/termination setting_under_root(), whose setting src/system/access opens
		cmd/distinit/options. the table
		cmd/distinit/rollcall.c setting_under_root(), whose setting src/system/access opens
		cmd/distinit/explain/explain.c view_open()
		cmd/distinit/init_options.c termination_path()
		cmd/distinit/session.c the setting, view_open(), and the one for /etc/passwd
		cmd/distinit/wait.c termination_path()
		cmd/distrun/ distrun's
	END
}

# Calls of functions that open, make or look at files, without comments.
calls() {
	find src cmd -name '*.[ch]' -exec grep -nHE '(^|[^A-Za-z0-9_>.])(open|open64|openat|openat2|creat|fopen|freopen|mkstemp|mkostemp|mknod|mkfifo|symlink|link|unlink|unlinkat|rename|renameat|truncate|stat|lstat|fstatat|statx|statfs|statvfs|access|faccessat|readlink|readlinkat|opendir|scandir|nftw|glob|realpath|chdir|entries_open|file_read|file_read_path|file_read_small)\(' {} + |
		grep -vE '^[^:]*:[0-9]+:[[:space:]]*(/\*|\*[ /]|\*$|//)' || true
}

# Where the text of a root is used: a variable may name it.
uses_of_roots() {
	find src cmd -name '*.[ch]' -exec grep -nHE 'file_under_root\(|setting_under_root\(|view_root\(|OPT_ROOT|[>.]root\.value|(->|[>.])root;|options->root|rights_lower\(|access_lower\(|struct view \{|\*root\b' {} + |
		grep -vE '^[^:]*:[0-9]+:[[:space:]]*(/\*|\*[ /]|\*$|//)' || true
}

cd "${1:-$(dirname "$0")/../..}"
wrong=$(calls | while IFS= read -r line; do
	allowed | grep -q "^${line%%:*} " || echo "# $line"
done)
# An entry that nobody needs any more would let somebody in.
stale=$(
	allowed | while read -r file _; do
		calls | grep -q "^$file:" || echo "# $file: opens nothing"
	done
	roots | while read -r file _; do
		uses_of_roots | grep -q "^$file" || echo "# $file: uses no root"
	done
)
around=$(uses_of_roots | while IFS= read -r line; do
	roots | while read -r file _; do
		case $line in "$file"*) echo known ;; esac
	done | grep -q known || echo "# $line"
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

report '1 - only src/system/access opens what a variable names' "$wrong"
report '2 - each entry of the lists is needed' "$stale"
report '3 - what is below a root is read through a view, or by src/system/access' "$around"
echo "1..3"
exit $failed
