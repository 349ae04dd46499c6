# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shellcheck disable=SC2034 # the tests use these
#
# For the tests of the roll call: a room with its own network, in which h0 to h99 are addresses of the loopback, and members
# in it. CROWD is the path of many members in one process.

load ../e2e/helpers

: "${CROWD:=$BATS_TEST_DIRNAME/../../build/tests/crowd}"
PORT=29500

# enter_room: from here on, in_room runs commands there.
enter_room() {
	requires python3 nsenter
	cd "$BATS_TEST_TMPDIR" || return
	own_network
	printf '%s\n' h{0..99} | awk '{ print "127.0.0." 99 + NR, $0 }' >>etc/hosts
	: >etc/termination-log
	"${NAMESPACE[@]}" sh -c 'echo >ready && exec sleep 1000' 3>&- &
	ROOM=$!
	until [[ -e ready ]]; do kill -0 "$ROOM" && nap 0.02 || return; done
	PIDS=()
	HOSTS=h0,h1,h2
	WAIT=10s
	JOB=room
	OPTIONS=()
	VARIABLES=()
}

# end_network PID: kill the processes in its network, and those that they start meanwhile. It stays open until then: the kernel gives
# the number of a network that has ended to the next one, which is another test's.
end_network() {
	local held network found process
	{ [[ -n $1 ]] && exec {held}<"/proc/$1/ns/net"; } 2>/dev/null || return 0
	network=$(readlink "/proc/self/fd/$held")
	if [[ $network == "$(readlink /proc/$$/ns/net)" ]]; then
		# It has none of its own yet.
		kill -KILL "$1" || true
	else
		while found=$(find /proc/[0-9]*/ns/net -printf '%p %l\n' 2>/dev/null | grep -F " $network"); do
			while IFS=/ read -r _ _ process _; do
				kill -KILL "$process" 2>/dev/null || true
			done <<<"$found"
		done
	fi
	exec {held}<&-
}

# leave_room: no process stays in it.
leave_room() {
	end_network "${ROOM-}"
}

in_room() {
	nsenter --net --mount --wd --target "$ROOM" "$@"
}

# kill_program SIGNAL PATTERN: the processes of this room whose command line has PATTERN. Other tests at the same time have the same
# command lines in their rooms.
kill_program() {
	pkill "-$1" --ns "$ROOM" --nslist net --full "$2"
}

# member RANK ARG...: start that member in the background. Its output is in RANK.out and RANK.err.
member() {
	local rank=$1
	shift
	# A shell's background job ignores INT and QUIT.
	nsenter --net --mount --wd --target "$ROOM" env -i --default-signal PATH="$PATH" DISTINIT_JOB="$JOB" "${VARIABLES[@]}" "$DISTINIT" --hosts="$HOSTS" --node-rank="$rank" \
		--hostname="h$rank" --for=all --wait="$WAIT" "${OPTIONS[@]}" "$@" >"$rank.out" 2>"$rank.err" 3>&- &
	PIDS[rank]=$!
}

# ended STATUS RANK...: these members have ended with STATUS. Waits for them.
ended() {
	local expected=$1 rank got
	shift
	for rank; do
		got=0
		wait "${PIDS[rank]}" || got=$?
		sed "s/^/$rank: /" "$rank.out" "$rank.err"
		[[ $got -eq $expected ]] || {
			echo "member $rank: status $got, not $expected; all say:"
			tail -n +1 ./*.err
			return 1
		}
	done
}

# said RANK PATTERN [out]: a line of its messages, or of its output, matches PATTERN. Waits for it.
said() {
	local line file=$1.${3-err} deadline=$((SECONDS + 30 * PATIENCE))
	while ((SECONDS < deadline)); do
		[[ -e $file ]] || : >>"$file"
		while IFS= read -r line; do
			# shellcheck disable=SC2053 # a pattern is meant
			[[ $line == $2 ]] && return
		done <"$file"
		nap 0.02
	done
	echo "member $1 did not say: $2"
	cat "$1.err"
	return 1
}

# listening: wait until somebody listens on the port in the room.
listening() {
	local hex
	hex=$(printf ':%04X ' "$PORT")
	until_true eval "in_room grep -hE '${hex}[0-9A-F:]+ 0A' /proc/net/tcp /proc/net/tcp6 >listeners"
}

# server SCRIPT ARG...: a Python program in the room, until the test ends.
server() {
	in_room python3 "$@" 3>&- &
}

# name_server ["no such name"]: the room's name server. It gives that answer, or none. Once it was asked, there is a file
# "asked".
name_server() {
	cat >dns.py <<-'END'
		import socket, sys
		s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		s.bind(("127.0.0.1", 53))
		open("bound", "w").close()
		while True:
		    question, sender = s.recvfrom(512)
		    open("asked", "w").close()
		    if sys.argv[1:]:
		        s.sendto(question[:2] + b"\x81\x83" + question[4:], sender)
	END
	server dns.py "$@"
	until [[ -e bound ]]; do nap 0.02; done
}

# crowd ARG...: invoke the crowd in the room.
crowd() {
	invoke in_room "$CROWD" "$@"
}

# digests ARG...: those of a member, for a crowd that says the same.
digests() {
	in_room "$CROWD" hear "$PORT" >digests 3>&- &
	local hear=$!
	listening
	member 1 "$@"
	wait "$hear"
	kill "${PIDS[1]}"
	wait "${PIDS[1]}" || true
	DIGESTS=$(<digests)
}
