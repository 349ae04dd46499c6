#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# --wait --for=all: the port on which the nodes meet, and which the program gets afterwards.

# shellcheck disable=SC2030,SC2031,SC2034 # the helpers use these, and a test is a subshell
# shellcheck disable=SC2154 # invoke sets status, output and stderr
# shellcheck disable=SC2153 # the room has the PORT
# shellcheck disable=SC2016 # another shell expands the scripts

load room

setup() {
	enter_room
	HOSTS=h0,h1
	cat >taken.py <<-'END'
		import socket, sys
		s = socket.socket()
		s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
		s.bind(("0.0.0.0", int(sys.argv[1])))
		s.listen()
		while True:
		    c = s.accept()[0]
		    got = c.recv(100)
		    print(len(got), "bytes", flush=True)
	END
}

teardown() {
	leave_room
}

@test "roll call: a port that is taken is moved for all, in all variables" {
	server taken.py "$PORT" >got
	listening
	OPTIONS=(--frameworks=all --set=NOTE=kept)
	VARIABLES=(OLD=there)
	member 0 -- env
	member 1 -- env
	ended 0 0 1
	local port
	port=$(sed -n 's/^MASTER_PORT=//p' 0.out)
	[[ $port -ge 20000 && $port -lt 29400 ]]
	said 0 "distinit: warning: roll call: port 29500 of h0 is taken (by a listener of uid 0); all nodes use $port"
	[[ $(wc -l <0.err) -eq $(sort -u 0.err | wc -l) ]]
	local rank
	for rank in 0 1; do
		grep -qx "MASTER_PORT=$port" "$rank.out"
		grep -qx "PET_MASTER_PORT=$port" "$rank.out"
		grep -qx "JAX_COORDINATOR_ADDRESS=h0:$port" "$rank.out"
		grep -q "^TF_CONFIG=.*\"h0:$port\",\"h1:$((port + 1))\"" "$rank.out"
		grep -qx NOTE=kept "$rank.out"
		grep -qx OLD=there "$rank.out"
	done
	run ! grep -h 29500 0.out 1.out
	# Whoever has the port got no byte of ours.
	run ! grep -v '^0 bytes' got
}

@test "roll call: words are filled with the port to which all moved" {
	server taken.py "$PORT" >got
	listening
	OPTIONS=(--fill)
	member 0 -- sh -c 'echo "$0 $MASTER_PORT"' '{master-port}'
	member 1 -- sh -c 'echo "$0 $MASTER_PORT"' '{master-port}'
	ended 0 0 1
	[[ $(<0.out) == "$(<1.out)" && $(<0.out) =~ ^(2[0-9]{4})\ (2[0-9]{4})$ && ${BASH_REMATCH[1]} == "${BASH_REMATCH[2]}" ]]
	[[ ${BASH_REMATCH[1]} -ne 29500 ]]
}

@test "roll call: a port that the user told, and that is taken, is an error" {
	server taken.py "$PORT" >got
	listening
	WAIT=1s
	member 0 --master-port="$PORT" -- true
	ended 125 0
	[[ $(<0.err) == 'distinit: error: roll call: port 29500 of h0 is taken (by a listener of uid 0), and --master-port sets this port; nothing was started' ]]
	VARIABLES=(MASTER_PORT=29500)
	member 0 -- true
	ended 125 0
	[[ $(<0.err) == *', and MASTER_PORT sets this port; nothing was started' ]]
	VARIABLES=()
	member 0 --set=MASTER_PORT=29500 -- true
	ended 125 0
}

@test "roll call: members learn that the port which the user told is taken" {
	server taken.py "$PORT" >got
	listening
	HOSTS=h0,h1,h2
	OPTIONS=(--master-port="$PORT")
	time_begins
	member 1 -- echo started
	member 0 -- echo started
	member 2 -- echo started
	ended 125 0 1 2
	local why='port 29500 of h0 is taken (by a listener of uid 0), and --master-port sets this port; nothing was started'
	[[ $(<0.err) == "distinit: error: roll call: $why" ]]
	[[ $(<1.err) == "distinit: error: h0 says: $why" && $(<2.err) == "$(<1.err)" ]]
	[[ ! -s 0.out && ! -s 1.out && ! -s 2.out ]]
	# It took the time that a silent port takes, not the 10 s of --wait.
	time_passed
	((CALM < 9000))
}

@test "roll call: members learn it where the job's next port is taken, too" {
	local told=$PORT next why
	# Who comes gets an answer at once, and goes.
	sed -i 's|c.recv(100)|b""; c.sendall(b"HTTP/1.1 400 Bad Request\\r\\n\\r\\n" * 4); c.close()|' taken.py
	server taken.py "$told" >got
	listening
	member 0 -- env
	member 1 -- true
	ended 0 0 1
	next=$(sed -n 's/^MASTER_PORT=//p' 0.out)
	server taken.py "$next" >got.next
	PORT=$next listening
	OPTIONS=(--master-port="$told")
	member 1 -- echo started
	member 0 -- echo started
	ended 125 0 1
	why="port $told of h0 is taken (by a listener of uid 0), and --master-port sets this port; nothing was started"
	[[ $(<0.err) == "distinit: error: roll call: $why" && $(<1.err) == "distinit: error: h0 says: $why" ]]
	[[ ! -s 0.out && ! -s 1.out ]]
}

@test "roll call: a port that another process holds by its name counts as taken" {
	cat >hold.py <<-'END'
		import socket, time
		s = socket.socket(socket.AF_UNIX)
		s.bind("\0distinit/29500")
		open("held", "w").close()
		time.sleep(100)
	END
	server hold.py
	until [[ -e held ]]; do nap 0.02; done
	member 0 -- sh -c 'echo $MASTER_PORT'
	member 1 -- sh -c 'echo $MASTER_PORT'
	ended 0 0 1
	[[ $(<0.out) == "$(<1.out)" && $(<0.out) != 29500 ]]
	WAIT=1s
	member 0 --master-port=29500 -- echo started
	ended 125 0
	[[ $(<0.err) == 'distinit: error: roll call: port 29500 of h0 is taken'*', and --master-port sets this port; nothing was started' ]]
}

@test "roll call: who was told a port starts by the word from that one only" {
	server taken.py "$PORT" >got
	listening
	# It has the port that the coordinator would take, and the key, as there is no secret.
	cat >go.py <<-END
		import hashlib, struct, sys
		sys.path.insert(0, "$BATS_TEST_DIRNAME")
		import roll
		job = b"manual:room"
		number = int.from_bytes(hashlib.sha256(job + struct.pack("<HB", $PORT, 1)).digest()[:8], "little")
		port = 20000 + (number & 0xffffff) % 9400
		line, hello = roll.desk(roll.listen(port), roll.job_key(job), port)
		open("told", "w").close()
		line.send(roll.GO, roll.go(port))
		line.connection.recv(1)
	END
	server go.py
	WAIT=5s
	member 1 --master-port="$PORT" -- echo started
	ended 124 1
	[[ -e told && ! -s 1.out ]]
	rm told
	# Who was told none takes its word.
	server go.py
	WAIT=9s
	member 1 -- echo started
	ended 0 1
	[[ -e told && $(<1.out) == started ]]
}

@test "roll call: two jobs on the same hosts both start, on two ports" {
	VARIABLES=(DISTINIT_SECRET=secret-of-the-first-job)
	member 0 -- sh -c 'echo $MASTER_PORT'
	listening
	VARIABLES=(DISTINIT_SECRET=secret-of-the-second-job)
	in_room env -i PATH="$PATH" "${VARIABLES[@]}" "$DISTINIT" --hosts=h0,h1 --node-rank=0 --hostname=h0 --for=all --wait=10s \
		-- sh -c 'echo $MASTER_PORT' >2.out 2>2.err 3>&- &
	PIDS[2]=$!
	said 2 '*port 29500 of h0 is taken*; all nodes use *'
	in_room env -i PATH="$PATH" "${VARIABLES[@]}" "$DISTINIT" --hosts=h0,h1 --node-rank=1 --hostname=h1 --for=all --wait=10s \
		-- sh -c 'echo $MASTER_PORT' >3.out 2>3.err 3>&- &
	PIDS[3]=$!
	ended 0 2 3
	VARIABLES=(DISTINIT_SECRET=secret-of-the-first-job)
	member 1 -- sh -c 'echo $MASTER_PORT'
	ended 0 0 1
	[[ $(<0.out) == 29500 && $(<1.out) == 29500 && $(<2.out) != 29500 && $(<2.out) == "$(<3.out)" ]]
}

# other FILE RANK ARG...: that member of the other job, on the same hosts; its output is in FILE.out and FILE.err.
other() {
	local file=$1 rank=$2
	shift 2
	# Not by in_room: a kill of a function in the background ends a shell, and not the program.
	nsenter --net --mount --wd --target "$ROOM" env -i PATH="$PATH" "${VARIABLES[@]}" "$DISTINIT" --hosts=h0,h1 --node-rank="$rank" --hostname="h$rank" --for=all \
		--wait=5s "$@" >"$file.out" 2>"$file.err" 3>&- &
	PIDS[file]=$!
}

@test "roll call: two nodes of one rank in a job without an id are named" {
	HOSTS=h0,h1 JOB='' WAIT=5s
	member 0 -- echo started
	listening
	member 1 -- echo started
	other 9 1 -- echo started
	ended 125 0 1
	[[ $(<0.err) == *"two nodes say that they are rank 1: "*"; nothing was started; if they are of two jobs: DISTINIT_SECRET or DISTINIT_JOB tells them apart"* ]]
	[[ ! -s 0.out && ! -s 1.out && ! -s 9.out ]]
}

@test "roll call: two jobs on the same hosts that nothing tells apart are not mixed" {
	HOSTS=h0,h1 JOB='' WAIT=5s
	# The master that listens has two nodes of rank 0; the other one finds it.
	local sentence="DISTINIT_SECRET or DISTINIT_JOB"
	# Whichever master is first listens; the other one finds that out, and tells it, and both end.
	local order i
	for order in '0 2' '2 0'; do
		for i in $order; do
			if ((i < 2)); then member "$i" -- echo started; else other "$i" $((i - 2)) -- echo started; fi
			[[ $i != "${order%% *}" ]] || listening
		done
		for i in $order; do
			ended 125 "$i"
			[[ $(<"$i.err") == *"$sentence"* && ! -s $i.out ]]
		done
	done
	# In any order of all: they meet, and end. On a busy machine a master may be over when the other one comes, which may then start,
	# with a member that looks for it: nothing tells whose that is.
	for order in '0 2 1 3' '0 3 2 1' '2 0 3 1' '3 1 2 0'; do
		for i in $order; do
			if ((i < 2)); then member "$i" -- echo started; else other "$i" $((i - 2)) -- echo started; fi
		done
		local refused=0
		for i in 0 2; do
			local got=0
			wait "${PIDS[i]}" || got=$?
			cat "$i.err"
			if [[ $got -eq 125 ]]; then
				[[ $(<"$i.err") == *"$sentence"* && ! -s $i.out ]]
				refused=$((refused + 1))
			else
				[[ ($got -eq 0 && $(<"$i.out") == started) || ($got -eq 124 && ! -s $i.out) ]]
			fi
		done
		((refused > 0))
		# A member may find that its master has gone, and look for it until its time is over.
		kill "${PIDS[1]}" "${PIDS[3]}" 2>/dev/null || true
		wait "${PIDS[1]}" "${PIDS[3]}" || true
	done
}

@test "roll call: where nothing tells two jobs apart, and one master has gone, its member starts with the other: a warning names its command" {
	HOSTS=h0,h1 JOB='' WAIT=10s
	member 0 -- echo one
	other 3 1 -- echo other
	ended 0 0 3
	[[ $(<0.out) == one && $(<3.out) == other ]]
	grep -F 'distinit: warning: roll call: argv[1]=one on h0, sha256:' 0.err
}

@test "roll call: DISTINIT_JOB tells two jobs on the same hosts apart" {
	HOSTS=h0,h1 WAIT=5s JOB=one
	VARIABLES=(DISTINIT_JOB=two)
	other 2 0 --report=report -- sh -c 'echo $MASTER_PORT'
	# One after the other, both may have the same port.
	listening
	VARIABLES=()
	member 0 -- sh -c 'echo $MASTER_PORT'
	member 1 -- sh -c 'echo $MASTER_PORT'
	VARIABLES=(DISTINIT_JOB=two)
	other 3 1 -- sh -c 'echo $MASTER_PORT'
	ended 0 0 1 2 3
	[[ $(<0.out) == "$(<1.out)" && $(<2.out) == "$(<3.out)" && $(<0.out) != 29500 && $(<2.out) == 29500 ]]
	grep -q '"job": "manual:two"' report
}

@test "roll call: a port that was agreed on is not taken by another job before the program binds it" {
	HOSTS=h0,h1 JOB=one
	member 0 --init -- sleep 3
	member 1 -- true
	ended 0 1
	# The first job's program runs, and has not bound its port.
	VARIABLES=(DISTINIT_JOB=two)
	other 2 0 --init -- sh -c 'echo $MASTER_PORT; ls -l /proc/self/fd'
	other 3 1 -- sh -c 'echo $MASTER_PORT'
	ended 0 2 3
	[[ $(<3.out) != 29500 && $(<2.out) == "$(<3.out)"* ]]
	[[ $(<2.err) == *'port 29500 of h0 is taken'* ]]
	# The program has nothing of it.
	run ! grep -i 'socket' 2.out
	ended 0 0
	other 2 0 --init -- sh -c 'echo $MASTER_PORT'
	other 3 1 -- sh -c 'echo $MASTER_PORT'
	ended 0 2 3
	[[ $(<2.out) == 29500 ]]
}

@test "roll call: a member whose connection is cut as it is told does not keep the others" {
	HOSTS=h0,h1,h2
	digests -- echo started
	member 0 -- echo started
	listening
	in_room "$CROWD" call 1 "$PORT" --first=2 --size=3 --digests="$DIGESTS" --act=deaf 3>&- &
	member 1 -- echo started
	ended 0 0 1
	said 0 'distinit: warning: roll call: GO was sent to h2, but may not have been read'
	wait "$!" || true
}

# looks RANK WHERE OPTION...: in the background, a member that prints all that its program finds. It has a limit, signals
# and children as few have.
looks() {
	local rank=$1 where=$2
	shift 2
	(
		ulimit -Sn 300
		exec nsenter --net --mount --wd --target "$ROOM" env -i --default-signal --ignore-signal=USR1 --block-signal=CHLD,USR2 \
			PATH="$PATH" ODD=$'a\nb' "$DISTINIT" --hosts=h0,h1 "--node-rank=$rank" "--hostname=h$rank" "$@" \
			-- /usr/bin/python3 -S look.py >"$where" 2>"$rank.err" 3>&-
	) &
	PIDS[rank]=$!
}

@test "roll call: the program finds all as it would without" {
	cat >look.py <<-'END'
		import os, resource
		print([(fd, os.readlink("/proc/self/fd/" + fd)) for fd in sorted(os.listdir("/proc/self/fd")) if int(fd) > 2
		       and os.path.exists("/proc/self/fd/" + fd)])
		for name in sorted(n for n in dir(resource) if n.startswith("RLIMIT")):
		    print(name, resource.getrlimit(getattr(resource, name)))
		for line in open("/proc/self/status"):
		    if line.startswith(("SigP", "SigB", "SigI", "SigC", "Shd", "Cap", "Umask", "Uid", "Gid", "Groups", "NoNew", "Seccomp", "Threads", "Cpus")):
		        print(line, end="")
		print(open("/proc/self/environ", "rb").read(), open("/proc/self/cmdline", "rb").read())
		print(os.getcwd(), os.getpriority(os.PRIO_PROCESS, 0), os.getpgrp() == os.getpid(), os.getsid(0))
		try:
		    print(os.waitpid(-1, os.WNOHANG))
		except ChildProcessError:
		    print("no children")
	END
	looks 0 0.out --for=all --wait=3s
	listening
	# By then a child of the master has looked the other one up.
	sleep 2
	looks 1 1.out --for=all --wait=3s
	ended 0 0 1
	local rank
	for rank in 0 1; do
		looks "$rank" without
		ended 0 "$rank" >/dev/null
		diff "$rank.out" without
		grep -q "^RLIMIT_NOFILE (300, " without
		grep -q "^no children" without
	done
}

@test "roll call: with IPv4 only, and with IPv6 only" {
	in_room sh -c 'echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6' || skip 'no IPv6 here'
	member 0 -- true
	member 1 -- true
	ended 0 0 1
	in_room sh -c 'echo 0 >/proc/sys/net/ipv6/conf/all/disable_ipv6; echo 0 >/proc/sys/net/ipv6/conf/lo/disable_ipv6'
	OPTIONS=(--master-addr=::1)
	member 0 -- true
	member 1 -- true
	ended 0 0 1
}

# members_without_proc: two members, where nothing is in /proc.
members_without_proc() {
	cat >bare <<-'END'
		mount -t tmpfs none /proc
		exec "$@"
	END
	local rank
	for rank in 0 1; do
		in_room unshare --mount sh "$PWD/bare" env -i PATH="$PATH" "$DISTINIT" --hosts=h0,h1 "--node-rank=$rank" \
			"--hostname=h$rank" --for=all --wait=10s -- echo started >"$rank.out" 2>"$rank.err" 3>&- &
		PIDS[rank]=$!
	done
}

@test "roll call: without /proc, and without a termination log, all is the same" {
	members_without_proc
	ended 0 0 1
	[[ $(<0.out) == started && $(<1.out) == started ]]
}

@test "roll call: without /proc, a port that is taken is moved all the same" {
	server taken.py "$PORT" >got
	listening
	members_without_proc
	ended 0 0 1
	said 0 'distinit: warning: roll call: port 29500 of h0 is taken; all nodes use *'
}

@test "roll call: a report that does not fit on its disk is a warning, and the job starts" {
	mkdir small
	in_room mount -t tmpfs -o size=4k none "$PWD/small"
	in_room sh -c 'head -c 8192 /dev/zero >small/full' 2>/dev/null || true
	member 0 --report=small/report -- echo started
	member 1 --report=small/report -- echo started
	ended 0 0 1
	[[ $(<0.out) == started && $(<1.out) == started ]]
	said 0 'distinit: warning: *report*No space left on device*'
	[[ $(wc -l <0.err) -eq 1 ]]
}
