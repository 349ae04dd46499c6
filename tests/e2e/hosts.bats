#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# distinit hosts: host lists, expanded and compressed. Single lists are in
# tests/vectors/hostlist.txt.

load helpers

@test "a list is expanded, one host per line" {
	distinit -- hosts 'n[1-3],login,gpu[08-10]'
	succeeds_with $'n1\nn2\nn3\nlogin\ngpu08\ngpu09\ngpu10'
}

@test "without a list: the cluster's hosts, in node-rank order" {
	distinit BACKENDAI_CLUSTER_SIZE=3 BACKENDAI_CLUSTER_HOSTS=sub1,main1,sub2 BACKENDAI_CLUSTER_HOST=sub2 \
		BACKENDAI_CLUSTER_LOCAL_RANK=2 -- hosts
	succeeds_with $'main1\nsub1\nsub2'
	distinit -- hosts --hosts='n[1-2]' --node-rank=0
	succeeds_with $'n1\nn2'
	distinit DISTINIT_HOSTS='n[1-2]' DISTINIT_NODE_RANK=0 -- hosts --count
	succeeds_with 2
}

@test "without a list and without a cluster: an error" {
	distinit -- hosts
	fails_like 125 '*'
}

@test "--count: how many" {
	distinit -- hosts --count 'n[1-3],m'
	succeeds_with 4
	distinit -- hosts --count 'n[1-65536]'
	succeeds_with 65536
}

@test "--first: the first one" {
	distinit -- hosts --first 'n[3,1-2]'
	succeeds_with n3
}

@test "--nth: counted from 0" {
	distinit -- hosts --nth=0 'n[5-7]'
	succeeds_with n5
	distinit -- hosts --nth=2 'n[5-7]'
	succeeds_with n7
}

@test "--nth: beyond the list, or not a number, is an error" {
	distinit -- hosts --nth=3 'n[5-7]'
	refuses_with '--nth=3: the list has 3 hosts, counted from 0'
	distinit -- hosts --nth=last 'n[5-7]'
	fails_like 125 "--nth='last' is not a whole number"
	distinit -- hosts --nth=-1 'n[5-7]'
	fails_like 125 "--nth='-1' is not a whole number"
}

@test "--compress: one list, as Slurm writes it" {
	distinit -- hosts --compress 'n1,n2,n3,n5,gpu08,gpu09,gpu10,login'
	succeeds_with 'n[1-3,5],gpu[08-10],login'
	distinit -- hosts --compress n1
	succeeds_with n1
	distinit -- hosts --compress 'n9,n10,n11'
	succeeds_with 'n[9-11]'
	distinit -- hosts --compress 'n09,n10,n1'
	succeeds_with 'n[09-10,1]'
}

@test "--compress: keeps the order, and repeated names" {
	distinit -- hosts --compress 'n3,n1,n2,n2'
	succeeds_with 'n[3,1-2,2]'
	distinit -- hosts --compress 'a1,b1,a2'
	succeeds_with 'a1,b1,a2'
}

@test "compressed and expanded again: the same, for 300 random lists" {
	"$BATS_TEST_DIRNAME/../programs/host-lists" 300 1 >"$BATS_TEST_TMPDIR/lists"
	python3 - "$DISTINIT" "$BATS_TEST_TMPDIR/lists" <<-'PYTHON'
		import subprocess, sys

		def hosts(*words):
		    return subprocess.run([sys.argv[1], "hosts", *words], env={}, stdout=subprocess.PIPE, check=True, text=True).stdout

		lists = open(sys.argv[2]).read().splitlines()
		assert len(lists) == 300
		for text in lists:
		    short = hosts("--compress", text).rstrip("\n")
		    assert hosts(short) == hosts(text), f"{text} became {short}, which is another"
	PYTHON
}

@test "a list that begins with a dash follows --" {
	distinit -- hosts -- '-n[1-2]'
	succeeds_with $'-n1\n-n2'
}

@test "a malformed list: an error with the column" {
	distinit -- hosts 'n[1-3],m[2-1]'
	refuses_with "HOSTLIST='n[1-3],m[2-1]', column 10: the range ends before it begins"
}

@test "a list that is too large is refused before it uses memory" {
	distinit -- hosts 'n[1-65536][1-65536]'
	refuses_with "HOSTLIST='n[1-65536][1-65536]' stands for more than 1048576 hosts"
	distinit -- hosts 'n[1-1000][1-1000][1-1000][1-1000][1-1000][1-1000][1-1000][1-1000]'
	[ "$status" -eq 125 ]
}

@test "two lists: an error" {
	distinit -- hosts n1 n2
	fails_like 125 '*'
}

@test "a full disk is an error" {
	[ -c /dev/full ] || skip 'there is no /dev/full'
	status=0
	message=$(env -i "$DISTINIT" hosts n1 2>&1 >/dev/full) || status=$?
	[ "$status" -eq 125 ]
	[ "$message" = 'distinit: error: cannot write to stdout: No space left on device' ]
}

# --- a file of hosts ------------------------------------------------------------------------------

@test "--hostfile: its hosts are printed, in their order" {
	printf '%s\n' 'n2 slots=2' '# none' n10:3 'n1 4' >"$BATS_TEST_TMPDIR/hosts"
	distinit -- hosts --hostfile="$BATS_TEST_TMPDIR/hosts" --node-rank=0
	succeeds_with $'n2\nn10\nn1'
}

@test "--hostfile: a large one" {
	seq -f 'node%g' 100000 | sed 's/.*/&\n&/' >"$BATS_TEST_TMPDIR/hosts"
	distinit -- hosts --hostfile="$BATS_TEST_TMPDIR/hosts" --node-rank=0 --count
	succeeds_with 100000
}

@test "--hostfile: one that is larger than any job's is refused, and so is anything but a file" {
	truncate --size=17M "$BATS_TEST_TMPDIR/hosts"
	distinit -- hosts --hostfile="$BATS_TEST_TMPDIR/hosts"
	refuses_with "--hostfile '$BATS_TEST_TMPDIR/hosts' has more than 16777216 bytes"
	distinit -- hosts --hostfile="$BATS_TEST_TMPDIR"
	refuses_with "--hostfile '$BATS_TEST_TMPDIR' cannot be read: Is a directory"
}

@test "one list only: the second is named" {
	distinit -- hosts a,b c,d
	refuses_with "hosts takes one host list, not also 'c,d'; put options first, and join lists by commas"
}
