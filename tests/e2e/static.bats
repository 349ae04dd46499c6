#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The binary as a file, and its system calls: it has to run in any image, and to cost little.

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

# These tests are for the shipped binary, not for a build with sanitizers.
requires_static() {
	requires readelf
	if readelf --dyn-syms -W "$DISTINIT" | grep -Eq '__(asan|ubsan|msan|tsan)_'; then
		skip 'a build with sanitizers'
	fi
}

# traced FILE VAR=VALUE... -- COMMAND...: write the system calls between the start of distinit and
# of the command to FILE.
traced() {
	local file=$1
	shift
	local -a variables arguments
	split "$@"
	strace -f -o trace env -i "${variables[@]}" "$DISTINIT" "${arguments[@]}" >/dev/null
	# From the line after the one that starts distinit, to the one that starts the command.
	sed -E 's/^[0-9]+ +//' trace | awk '/^execve\(/ { n++; if (n == 3) exit } n == 2 && !/^execve\(/ { sub(/\(.*/, ""); print }' >"$file"
}

requires_strace() {
	requires strace
	strace -o /dev/null true || skip 'strace may not trace here'
}

@test "static: no interpreter, no dynamic section, no relocations" {
	requires_static
	run readelf -lW "$DISTINIT"
	[[ $output != *INTERP* && $output != *DYNAMIC* ]]
	run readelf -rW "$DISTINIT"
	[[ $output == *"no relocations"* ]]
}

@test "no segment is both writable and executable, also not the stack, and constants are not executable" {
	requires_static
	requires python3
	cat >segments.py <<-'END'
		import struct, sys
		data = open(sys.argv[1], "rb").read()
		at, sections_at = struct.unpack_from("<QQ", data, 32)
		size, n, section_size, n_sections, names = struct.unpack_from("<5H", data, 54)
		READ, WRITE, EXECUTE, LOAD, STACK = 4, 2, 1, 1, 0x6474e551
		# Type, flags, and the addresses from and to.
		segments = [struct.unpack_from("<II8xQ16xQ", data, at + i * size) for i in range(n)]
		sections = [struct.unpack_from("<IIQQQQ", data, sections_at + i * section_size) for i in range(n_sections)]
		name = lambda s: data[sections[names][4] + s[0]:].split(b"\0")[0].decode()
		flags = {name(s): g[1] for s in sections for g in segments if g[0] == LOAD and s[3] and g[2] <= s[3] < g[2] + g[3]}
		print(flags, [hex(g[1]) for g in segments if g[0] == STACK])
		assert not any(g[1] & WRITE and g[1] & EXECUTE for g in segments)
		assert [g[1] for g in segments if g[0] == STACK] == [READ | WRITE]
		assert flags[".rodata"] == READ and flags[".text"] == READ | EXECUTE and flags[".data"] == READ | WRITE
	END
	local program
	for program in "$DISTINIT" "$DISTRUN"; do
		python3 segments.py "$program"
	done
}

@test "functions with arrays look whether their stack was written over: -fstack-protector-strong" {
	requires_static
	requires objdump
	readelf -hW "$DISTINIT" | grep -q 'X86-64' || skip 'the canary is looked for as amd64 has it'
	# Of musl alone it would be a few, and with -fstack-protector 220.
	local program n
	for program in "$DISTINIT:600" "$DISTRUN:300"; do
		n=$(objdump -d --no-show-raw-insn "${program%:*}" | grep -c '%fs:0x28')
		echo "${program##*/}: $n"
		((n >= ${program##*:}))
	done
}

@test "the binary has no symbols" {
	requires_static
	run readelf -sW "$DISTINIT"
	[ -z "$output" ]
}

@test "each program has the package's name and version in a note, as systemd's ELF_PACKAGE_METADATA has it" {
	requires_static
	requires python3
	local program
	for program in "$DISTINIT" "$DISTRUN"; do
		readelf --notes --wide "$program" | tee notes | grep -q '^ *FDO .*FDO_PACKAGING_METADATA'
		sed -n 's/.*Packaging Metadata: //p' notes >note.json
		python3 - "$("$program" --version)" <<-'PYTHON'
			import json, sys
			assert json.load(open("note.json")) == {"type": "generic", "name": "distinit", "version": sys.argv[1].split()[1]}
		PYTHON
		# A scanner without the section's name finds it by the segment.
		readelf --program-headers --wide "$program" | grep -q '^ *NOTE '
	done
}

# It finds an accident, such as a library that came along whole. No code is written for it: docs/decisions.md, Size.
@test "distinit and distrun have at most 1,000,000 bytes each" {
	requires_static
	[ "$(stat -c %s "$DISTINIT")" -le 1000000 ]
	[ "$(stat -c %s "$DISTRUN")" -le 1000000 ]
}

@test "an ordinary start makes three system calls, two of them of the C library" {
	requires_static
	requires_strace
	local hosts=main1,sub1,sub2,sub3,sub4,sub5,sub6,sub7
	traced calls BACKENDAI_CLUSTER_SIZE=8 BACKENDAI_CLUSTER_HOSTS=$hosts BACKENDAI_CLUSTER_HOST=sub3 \
		BACKENDAI_CLUSTER_LOCAL_RANK=3 PATH=/usr/bin:/bin HOME=/root LANG=C -- -- /bin/true
	cat calls
	[ "$(cat calls)" = $'arch_prctl\nset_tid_address\npoll' ]
}

@test "without a cluster there is one more, which looks for SageMaker's file" {
	requires_static
	requires_strace
	traced calls PATH=/usr/bin:/bin -- -- /bin/true
	cat calls
	[ "$(sed 's/newfstatat/stat/' calls)" = $'arch_prctl\nset_tid_address\npoll\nstat' ]
}

@test "a step of Slurm is read without another system call" {
	requires_static
	requires_strace
	traced calls SLURM_JOB_ID=55 SLURM_STEP_ID=0 SLURM_STEP_NODELIST='n[1-3]' SLURM_STEP_NUM_NODES=3 \
		SLURM_STEP_NUM_TASKS=6 'SLURM_STEP_TASKS_PER_NODE=2(x3)' SLURM_PROCID=4 SLURM_NODEID=2 SLURM_LOCALID=0 \
		-- -- /bin/true
	cat calls
	[ "$(cat calls)" = $'arch_prctl\nset_tid_address\npoll' ]
}

@test "privileges make system calls only if they are requested" {
	requires_static
	requires_strace
	traced calls PATH=/usr/bin:/bin -- --no-new-privs -- /bin/true
	grep -q prctl calls
	run ! grep -E '^(open|socket|fork|clone|setuid|setgroups)' calls
}

@test "only the named directive files are opened" {
	requires_static
	requires_strace
	echo A=1 >file
	traced calls "${SESSION[@]}" -- --env-file file -- /bin/true
	grep -E '^(open|socket|connect|stat|access|readlink)' calls >opened || true
	cat opened
	[ "$(wc -l <opened)" -eq 1 ]
}
