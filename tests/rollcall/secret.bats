#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# --wait --for=all: the secret that keeps strangers out.

# shellcheck disable=SC2034 # the helpers use these
# shellcheck disable=SC2154 # invoke sets status, output and stderr
# shellcheck disable=SC2016 # another shell expands the scripts

load room

SECRET=a-secret-of-the-job

setup() {
	enter_room
	HOSTS=h0,h1
	printf '%s\nsecond line\n' "$SECRET" >file
	chmod 600 file
}

teardown() {
	leave_room
}

@test "secret: a file's first line and the variable are one secret" {
	member 0 -v --secret-file=file -- true
	VARIABLES=(DISTINIT_SECRET="$SECRET")
	member 1 -- true
	ended 0 0 1
	said 0 '*info: roll call: all 2 nodes are here*; authenticated'
	VARIABLES=(DISTINIT_SECRET_FILE=file)
	member 0 -- true
	member 1 -- true
	ended 0 0 1
}

@test "secret: who has another one, or none, is never counted" {
	# The master waits longer: otherwise a member may only find that it has gone.
	WAIT=6s
	OPTIONS=(--master-port="$PORT")
	VARIABLES=(DISTINIT_SECRET="$SECRET")
	member 0 -- echo started
	listening
	VARIABLES=(DISTINIT_SECRET=another-secret-of-a-job)
	WAIT=4s
	member 1 -- echo started
	ended 124 0
	said 0 'distinit: warning: roll call: 127.0.0.* calls with another secret, or for another job; compare DISTINIT_SECRET and DISTINIT_JOB on both nodes'
	ended 124 1
	[[ $(<1.err) == *' is of another job, or uses another secret, for '*'; compare DISTINIT_SECRET and DISTINIT_JOB on both nodes' ]]
	# It came more than once, and that was said once.
	[[ $(grep -c 'calls with another secret' 0.err) -eq 1 ]]
	VARIABLES=(DISTINIT_SECRET="$SECRET")
	member 0 -- echo started
	listening
	VARIABLES=()
	member 1 -- echo started
	ended 124 0 1
	[[ ! -s 0.out && ! -s 1.out ]]
}

@test "secret: the program does not get it, nor does anybody see it" {
	VARIABLES=(DISTINIT_SECRET="$SECRET" DISTINIT_SECRET_FILE=)
	member 0 --keep-config --init -- sh -c 'env; tr "\0" "\n" </proc/$PPID/environ; sleep 0.2'
	listening
	run ! grep -a "$SECRET" "/proc/${PIDS[0]}/environ"
	member 1 -- true
	ended 0 0 1
	run ! grep -a "$SECRET" 0.out 0.err 1.err
	grep -q '^DISTINIT_WAIT=' 0.out || grep -q PATH 0.out
	# Also where there is no roll call.
	invoke env -i PATH="$PATH" DISTINIT_SECRET="$SECRET" "$DISTINIT" --keep-config --init -- sh -c 'env; cat /proc/$PPID/environ'
	[[ $status -eq 0 && $output != *"$SECRET"* ]]
	invoke env -i DISTINIT_SECRET="$SECRET" "$DISTINIT" explain
	[[ $status -eq 0 && $output != *"$SECRET"* ]]
	invoke env -i DISTINIT_SECRET="$SECRET" "$DISTINIT" --secret="$SECRET" -- true
	[[ $status -eq 125 && $stderr == *'unknown option'* ]]
}

# memory_of PID: all of its memory that may be written.
memory_of() {
	python3 - "$1" <<-'END'
		import re, sys
		with open(f"/proc/{sys.argv[1]}/maps") as maps, open(f"/proc/{sys.argv[1]}/mem", "rb", 0) as memory:
		    for begin, end in re.findall(r"^(\w+)-(\w+) rw", maps.read(), re.M):
		        memory.seek(int(begin, 16))
		        sys.stdout.buffer.write(memory.read(int(end, 16) - int(begin, 16)))
	END
}

@test "secret: of its file, nothing stays in memory" {
	requires python3
	{ echo "$SECRET"; for i in $(seq 600); do echo the-second-line-is-secret-too; done; } >file
	member 0 --secret-file=file -- true
	listening
	memory_of "${PIDS[0]}" >memory
	grep -qa -e --node-rank=0 memory
	run ! grep -a "$SECRET" memory
	run ! grep -a the-second-line memory
	member 1 --secret-file=file -- true
	ended 0 0 1
}

@test "secret: what is wrong with it is said at once" {
	member 0 --secret-file=missing -- true
	ended 125 0
	[[ $(<0.err) == 'distinit: error: '*missing*'No such file or directory'* ]]
	echo short >short
	member 0 --secret-file=short -- true
	ended 125 0
	[[ $(<0.err) == *'error: --secret-file: the secret has 5 bytes, and 16 to 4096 are expected' ]]
	VARIABLES=(DISTINIT_SECRET=short)
	member 0 -- true
	ended 125 0
	[[ $(<0.err) == *'error: DISTINIT_SECRET: the secret has 5 bytes, and 16 to 4096 are expected' ]]
	VARIABLES=(DISTINIT_SECRET=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa)
	member 0 -- true
	ended 125 0
	[[ $(<0.err) == *"error: DISTINIT_SECRET: the secret has only 1 different bytes, and 8 are expected at least; 'openssl rand -hex 16' makes one" ]]
	VARIABLES=()
	printf 'abcdefgabcdefgabcdefg\n' >short
	member 0 --secret-file=short -- true
	ended 125 0
	[[ $(<0.err) == *'error: --secret-file: the secret has only 7 different bytes, and 8 are expected at least;'* ]]
	member 0 --secret-required -- true
	ended 125 0
	[[ $(<0.err) == 'distinit: error: --secret-required: there is no secret; set DISTINIT_SECRET or --secret-file' ]]
	chmod 644 file
	member 0 --secret-file=file -- true
	member 1 --secret-file=file -- true
	ended 0 0 1
	[[ $(<0.err) == *"warning: --secret-file='file' can be read by every user: chmod 600 protects the secret"* ]]
}

@test "secret: Backend.AI's key of the session is one" {
	mkdir -p root/home/config/ssh
	openssl rand -base64 600 >root/home/config/ssh/id_cluster 2>/dev/null || head -c 600 /dev/urandom >root/home/config/ssh/id_cluster
	local rank
	for rank in 0 1; do
		in_room env -i PATH="$PATH" BACKENDAI_CLUSTER_SIZE=2 BACKENDAI_CLUSTER_HOSTS=h0,h1 "BACKENDAI_CLUSTER_HOST=h$rank" \
			"BACKENDAI_CLUSTER_LOCAL_RANK=$rank" "$DISTINIT" --root="$PWD/root" --wait=10s --for=all --secret-required -v \
			-- true >"$rank.out" 2>"$rank.err" 3>&- &
		PIDS[rank]=$!
	done
	ended 0 0 1
	said 0 '*; authenticated'
}

@test "secret: a HELLO that is repeated or changed is not counted" {
	WAIT=3s
	VARIABLES=(DISTINIT_SECRET="$SECRET")
	member 0 -- true
	listening
	crowd call 150 "$PORT" --size=2 --first=1 --secret="$SECRET" --act=flip --wait=3000
	[[ $output == *'go=0 no=0 gone=150 '* ]]
	ended 124 0
	HOSTS=h0,h1,h2
	member 0 -- true
	listening
	# The first one is a member, the others say what it said.
	crowd call 5 "$PORT" --size=3 --first=1 --secret="$SECRET" --act=replay --wait=3000
	[[ $output == *' hellos=1 '* && $output == *'go=0 no=1 gone=4 '* ]]
	ended 124 0
	[[ $(<0.err) == *'1 of 3 nodes did not come'* ]]
}

@test "secret: a variable's file is read with the program's rights, also the manager's file under DISTINIT_ROOT" {
	[[ $UID -eq 0 ]] || skip 'not root'
	mkdir -p root/home/config/ssh
	head -c 600 /dev/urandom >root/home/config/ssh/id_cluster
	chmod 600 root/home/config/ssh/id_cluster
	chmod 755 "$BATS_TEST_TMPDIR" root root/home root/home/config root/home/config/ssh
	local session=(BACKENDAI_CLUSTER_SIZE=2 "BACKENDAI_CLUSTER_HOSTS=h0,h1" BACKENDAI_CLUSTER_HOST=h1 BACKENDAI_CLUSTER_LOCAL_RANK=1)
	local call=(--user=65534:65534 --wait=300ms --for=all --secret-required -- true)
	invoke in_room env -i PATH="$PATH" "${session[@]}" DISTINIT_ROOT="$PWD/root" "$DISTINIT" "${call[@]}"
	[[ $status -eq 125 && $stderr == *'--secret-required: there is no secret; '* ]]
	invoke in_room env -i PATH="$PATH" "${session[@]}" "$DISTINIT" --root="$PWD/root" "${call[@]}"
	[[ $status -eq 125 && $stderr == *'--secret-required: there is no secret; '* ]]
	# The program may read it, in a folder that is open to all.
	local open
	open=$(mktemp -d)
	chmod 755 "$open"
	cp -r root "$open"
	chown -R 65534 "$open/root/home/config/ssh"
	invoke in_room env -i PATH="$PATH" "${session[@]}" "$DISTINIT" --root="$open/root" "${call[@]}"
	rm -rf "$open"
	[[ $status -eq 124 ]]
}

@test "secret: the manager's file is not read through a symlink that others can make" {
	[[ $UID -eq 0 ]] || skip 'not root'
	mkdir -p root/home/config/ssh
	head -c 600 /dev/urandom >elsewhere
	ln -s "$PWD/elsewhere" root/home/config/ssh/id_cluster
	chown -hR 65534 root/home/config/ssh
	local session=(BACKENDAI_CLUSTER_SIZE=2 "BACKENDAI_CLUSTER_HOSTS=h0,h1" BACKENDAI_CLUSTER_HOST=h1 BACKENDAI_CLUSTER_LOCAL_RANK=1)
	local call=(--root="$PWD/root" --wait=300ms --for=all --secret-required -- true)
	invoke in_room env -i PATH="$PATH" "${session[@]}" "$DISTINIT" "${call[@]}"
	[[ $status -eq 125 && $stderr == *'--secret-required: there is no secret; '* ]]
	# Root's own link is good, as in a volume of Kubernetes.
	chown -hR 0 root/home/config/ssh
	invoke in_room env -i PATH="$PATH" "${session[@]}" "$DISTINIT" "${call[@]}"
	[[ $status -eq 124 ]]
}

# same_key VAR=VALUE...: with these variables, members 0 and 1 that have the same /root/.ssh/id_rsa meet, authenticated;
# %r in them is the rank.
same_key() {
	local rank
	mkdir -p root/root/.ssh
	head -c 600 /dev/urandom >root/root/.ssh/id_rsa
	for rank in 0 1; do
		in_room env -i PATH="$PATH" "${@//%r/$rank}" "$DISTINIT" --root="$PWD/root" "--hostname=h$rank" --wait=10s --for=all \
			--secret-required -v -- true >"$rank.out" 2>"$rank.err" 3>&- &
		PIDS[rank]=$!
	done
	ended 0 0 1
	said 0 '*; authenticated'
}

@test "secret: the key of Volcano's plugin ssh is one" {
	same_key VC_WORKER_HOSTS=h0,h1 VC_WORKER_NUM=2 VC_TASK_INDEX=%r
	grep -q '"job": "volcano:"' <(in_room env -i VC_WORKER_HOSTS=h0,h1 VC_TASK_INDEX=0 "$DISTINIT" --root="$PWD/root" \
		--hostname=h0 --wait=100ms --for=all --report=/dev/stdout -- true)
}

@test "secret: the key of an MPIJob is one, for the ranks of its mpirun" {
	# Open MPI hands its variable on to the workers. They have no hostfile.
	VARIABLES=(OMPI_MCA_orte_default_hostfile=/etc/mpi/hostfile OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_LOCAL_SIZE=1
		OMPI_COMM_WORLD_LOCAL_RANK=0 OMPI_COMM_WORLD_NODE_RANK=0 MASTER_ADDR=h0)
	same_key "${VARIABLES[@]}" OMPI_COMM_WORLD_RANK=%r
}

@test "secret: the protocol is that of another implementation" {
	requires python3
	local line n=0
	while read -r line; do
		grep -qF "\"$line\"" "$BATS_TEST_DIRNAME/../unit/test-frame.c"
		n=$((n + 1))
	done < <(python3 "$BATS_TEST_DIRNAME/roll.py" vector)
	[[ $n -eq 8 ]]
}

@test "secret: a stranger that repeats the greeting learns nothing, and holds nobody" {
	# What a master once sent to the stranger, who now holds its port.
	cat >stranger.py <<-'END'
		import os, roll, socket
		s = roll.listen(29500)
		open("bound", "w").close()
		while True:
		    c = s.accept()[0]
		    c.settimeout(10)
		    c.sendall(roll.greeting(bytes(range(16))))
		    said = b""
		    try:
		        while more := c.recv(10000):
		            said += more
		    except OSError:
		        pass
		    with open("learned", "a") as out:
		        print(len(said), file=out)
	END
	VARIABLES=(DISTINIT_SECRET="$SECRET")
	PYTHONPATH="$BATS_TEST_DIRNAME" server stranger.py
	until [[ -e bound ]]; do nap 0.02; done
	# The master moves to the next port. The member gives the stranger two seconds.
	member 0 -- true
	sleep 0.3
	time_begins
	member 1 -- true
	ended 0 0 1
	time_passed
	((CALM < 3500))
	# A nonce and a proof, and nothing else.
	[[ $(sort -u learned) == 32 ]]
}

@test "secret: a member that came by a relay goes to the coordinator itself" {
	cat >relay.py <<-'END'
		import roll, select, socket, sys
		s = roll.listen(29500)
		open("bound", "w").close()
		while True:
		    member, desk = s.accept()[0], None
		    for port in map(int, open("ports").read().split()):
		        try:
		            desk = socket.create_connection(("127.0.0.1", port))
		            break
		        except OSError:
		            pass
		    said = b""
		    while desk:
		        for one in select.select([member, desk], [], [])[0]:
		            data = one.recv(10000)
		            other = desk if one is member else member
		            said += data if one is member else b""
		            if not data:
		                other.close()
		                desk = None
		                break
		            other.sendall(data)
		    with open("learned", "ab") as out:
		        out.write(said + b"\n")
	END
	VARIABLES=(DISTINIT_SECRET="$SECRET")
	PYTHONPATH="$BATS_TEST_DIRNAME" server relay.py
	until [[ -e bound ]]; do nap 0.02; done
	member 0 -- true
	said 0 '*port 29500 of h0 is taken*; all nodes use *'
	grep -oE 'use [0-9]+' 0.err | grep -oE '[0-9]+' >ports
	member 1 -- true
	ended 0 0 1
	# It said its nonce and its proof to the relay, once.
	[[ $(wc -c <learned) -le 34 && $(wc -c <learned) -ge 33 ]]
}

@test "secret: a master that lies takes neither the deadline of a restart nor the limit of starts" {
	cat >liar.py <<-'END'
		import os, roll, socket, struct, sys, time
		port, how = int(sys.argv[1]), sys.argv[2]
		s = roll.listen(port)
		open(f"bound-{port}", "w").close()
		key = roll.job_key(b"manual:room", sys.argv[3].encode())
		starts = 0
		while True:
		    line, hello = roll.desk(s, key, port)
		    print(struct.unpack("<I", hello[8:12])[0], flush=True)
		    start = {"pause": starts, "back": 0, "above": 7}[how]
		    line.send(roll.GO, roll.go(port, 1, start))
		    starts += 1
		    # Once the program has started, rank 0 fails with status 1, and all start again.
		    while how != "above" and starts == 1 and not os.path.getsize("1.out"):
		        time.sleep(0.02)
		    pause = 0xffffffff if how == "pause" else 0
		    end = struct.pack("<BBIB", 0, 1, 0, 2) + b"h0" + b"\1x" + struct.pack("<BI", 1, pause) + b"\0"
		    try:
		        line.send(roll.END, end)
		    except OSError:
		        pass
		    if how == "pause":
		        s.close()
		        break
	END
	local how port=29500
	WAIT=1s
	VARIABLES=(DISTINIT_SECRET="$SECRET")
	OPTIONS=(--together --max-restarts=2 --grace=300ms --leftovers-grace=300ms)
	for how in pause back above; do
		port=$((port + 1))
		PYTHONPATH="$BATS_TEST_DIRNAME" in_room python3 liar.py "$port" "$how" "$SECRET" >"$how.out" 3>&- &
		until [[ -e bound-$port ]]; do nap 0.02; done
		: >1.out
		# Its own time, the grace of all, and what a master with the secret may add.
		soon 15000 eval 'member 1 --master-port="$port" -- sh -c "echo started; exec sleep 100"; until_true gone "${PIDS[1]}" && ended 124 1'
		case $how in
		pause) [[ $(wc -l <1.out) -eq 1 ]] ;;
		back) [[ $(wc -l <1.out) -eq 1 && $(<back.out) == 0$'\n'1* && $(sort -u back.out | wc -l) -eq 2 ]] ;;
		above) [[ ! -s 1.out ]] ;;
		esac
	done
}
