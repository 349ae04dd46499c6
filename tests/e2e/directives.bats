#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Directives: the operations of PMIx' RFC0022 and ours, on the command line, in files and in
# variables. Many tests are from problems that users of PRRTE met (its pull requests 2279, 2581,
# 2683).

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

teardown() {
	remove_open_folder
}

# file LINE...: write these lines to "file".
file() {
	printf '%s\n' "$@" >file
}

# file_gives EXPECTED LINE...: a file of these lines turns an empty environment into EXPECTED.
file_gives() {
	local expected=$1
	shift
	file "$@"
	distinit -- --env-file file -- env
	succeeds_with "$expected"
}

# file_refused TEXT LINE...
file_refused() {
	local expected=$1
	shift
	file "$@"
	distinit -- --env-file file -- touch ran
	refuses_with "$expected"
	[ ! -e ran ]
}

# --- the operations -------------------------------------------------------------------------------

@test "set: overwrites, creates" {
	distinit FOO=1 -- --set FOO=2 --set NEW= -- env
	succeeds_with $'FOO=2\nNEW='
}

@test "add: only if the variable does not exist" {
	distinit FOO=1 -- --add FOO=2 --add NEW=3 -- env
	succeeds_with $'FOO=1\nNEW=3'
}

@test "add: an empty variable exists" {
	distinit FOO= -- --add FOO=2 -- env
	succeeds_with FOO=
}

@test "unset: removes" {
	distinit FOO=1 BAR=2 -- --unset FOO -- env
	succeeds_with BAR=2
}

@test "unset: an absent name is ignored, without a message" {
	distinit BAR=2 -- --unset FOO --unset 'NO*' -- env
	succeeds_with BAR=2
}

@test "unset NAME*: all names that begin with NAME, also two in a row" {
	distinit A=0 AB=1 AC=2 BA=3 AD=4 -- --unset 'A*' -- env
	succeeds_with BA=3
	distinit NCCL_DEBUG=x SLURM_A=1 SLURM_B=2 X=3 -- --unset NCCL_DEBUG --unset 'SLURM_*' -- env
	succeeds_with X=3
}

@test "unset *: all" {
	distinit A=1 B=2 -- --unset '*' --set C=3 -- env
	succeeds_with C=3
}

@test "prepend: value and separator in front; creates" {
	distinit P=/usr/bin:/bin -- --prepend P=/opt/bin --prepend Q=/q -- env
	succeeds_with $'P=/opt/bin:/usr/bin:/bin\nQ=/q'
}

@test "append: separator and value behind; creates" {
	distinit P=/usr/bin -- --append P=/opt/bin --append Q=/q -- env
	succeeds_with $'P=/usr/bin:/opt/bin\nQ=/q'
}

@test "prepend, append: no separator is added to an empty variable" {
	# In PATH or LD_LIBRARY_PATH it would mean the working folder.
	distinit E= F= G= -- --prepend E=/x --append F=/x --first G=/x -- env
	succeeds_with $'E=/x\nF=/x\nG=/x'
}

@test "prepend, append, first: an empty value does nothing, with a warning" {
	distinit P=/bin -- --prepend P= -- env
	warns_with "prepend 'P': the value is empty, so nothing changes"
	[ "$output" = P=/bin ]
	distinit -- --append NEW= --first NEW= -- env
	warns_with "append 'NEW': the value is empty, so nothing changes" \
		"first 'NEW': the value is empty, so nothing changes"
	[ -z "$output" ]
}

@test "prepend: a variable whose name only begins with NAME is not changed" {
	distinit PATHEXT=.exe P=/bin -- --prepend PATH=/x --prepend P=/y -- /usr/bin/env
	succeeds_with $'PATHEXT=.exe\nP=/y:/bin\nPATH=/x'
}

@test "prepend: adds the value even if it is there already" {
	distinit P=old -- --prepend P=x -- env
	succeeds_with P=x:old
	distinit P=x:old -- --prepend P=x -- env
	succeeds_with P=x:x:old
}

@test "first: the value becomes the first element, once" {
	distinit P=/usr/bin:/bin -- --first P=/bin -- env
	succeeds_with P=/bin:/usr/bin
	distinit P=/usr/bin:/bin -- --first P=/bin --first P=/bin -- env
	succeeds_with P=/bin:/usr/bin
	distinit P=/bin:/usr/bin:/bin -- --first P=/bin -- env
	succeeds_with P=/bin:/usr/bin
	distinit P=/usr/bin -- --first P=/bin --first Q=/q -- env
	succeeds_with $'P=/bin:/usr/bin\nQ=/q'
}

@test "first: other elements are not changed, not even empty ones" {
	distinit P=a::b:x -- --first P=x -- env
	succeeds_with P=x:a::b
	distinit 'P[;]=x' 'Q=a, b, c' -- --first 'Q[, ]=c' -- env
	[ "$status" -eq 0 ]
	[ "$(grep ^Q <<<"$output")" = 'Q=c, a, b' ]
}

@test "clean and pass: an empty environment, and the variables that are kept" {
	distinit PATH=/usr/bin:/bin NCCL_A=1 NCCL_B=2 X=3 -- --clean --pass 'NCCL_*' --pass PATH -- env
	succeeds_with $'PATH=/usr/bin:/bin\nNCCL_A=1\nNCCL_B=2'
}

@test "clean: removes the derived variables too, and pass restores them" {
	distinit "${SESSION[@]}" -- --clean --pass MASTER_ADDR -- env
	succeeds_with MASTER_ADDR=main1
}

@test "clean: variables that are set after it stay" {
	distinit X=1 -- --set A=1 --clean --set B=2 -- env
	succeeds_with B=2
}

@test "pass: an absent name is a warning" {
	distinit -- --clean --pass NOPE --pass 'NO*' -- env
	warns_with "pass 'NOPE': there is no such variable"
}

@test "a name that occurs twice: unset removes both, set leaves one" {
	invoke raw FOO=1 BAR=x FOO=2 -- "$DISTINIT" --unset FOO -- /usr/bin/env
	succeeds_with BAR=x
	invoke raw FOO=1 BAR=x FOO=2 -- "$DISTINIT" --set FOO=3 -- /usr/bin/env
	succeeds_with $'FOO=3\nBAR=x'
	invoke raw FOO=1 BAR=x FOO=2 -- "$DISTINIT" --append FOO=3 -- /usr/bin/env
	succeeds_with $'FOO=1:3\nBAR=x'
}

@test "values: any bytes, unchanged" {
	# shellcheck disable=SC2016 # a literal text
	for value in 'a=b=c' ' blanks ' $'two\nlines' 'äöü€' $'\xff\xfe' "it's" '"quoted"' '$HOME' '\n' 'a#b'; do
		cmp <(env -i "$DISTINIT" --set V="$value" -- cat /proc/self/environ) <(printf 'V=%s\0' "$value")
	done
}

@test "values: 100 kB" {
	big=$(head -c 100000 /dev/zero | tr '\0' x)
	[ "$(env -i "$DISTINIT" --set V="$big" -- printenv V)" = "$big" ]
	[ "$(env -i V=a "$DISTINIT" --append V="$big" -- printenv V)" = "a:$big" ]
}

@test "values: a variable above the kernel's limit is refused" {
	big=$(head -c 131000 /dev/zero | tr '\0' x)
	distinit V=12345678901234567890123456789012345678901234567890123456789012345678901234567890 -- \
		--append V="$big" -- true
	refuses_with "'V' would have 131084 bytes, name and NUL included; the kernel takes 131072"
}

# --- order ----------------------------------------------------------------------------------------

@test "order: set, prepend gives both; prepend, set only the last" {
	distinit -- --set FOO=1 --prepend FOO=x -- env
	succeeds_with FOO=x:1
	distinit -- --prepend FOO=x --set FOO=1 -- env
	succeeds_with FOO=1
}

@test "order: set, prepend, set leaves the last set" {
	distinit -- --set FOO=1 --prepend FOO=x --set FOO=2 -- env
	succeeds_with FOO=2
}

@test "order: unset, add sets; add, unset removes" {
	distinit FOO=1 -- --unset FOO --add FOO=2 -- env
	succeeds_with FOO=2
	distinit FOO=1 -- --add FOO=2 --unset FOO -- env
	succeeds_with ''
}

@test "order: all directives of one kind are applied, the first too" {
	distinit -- -x A=1 -x B=2 -x C=3 -- env
	succeeds_with $'A=1\nB=2\nC=3'
	distinit -- -x X=1 -x X=2 -- env
	succeeds_with X=2
}

@test "order: DISTINIT_ENV_FILE, DISTINIT_ENV, --env-file, then their application sections, then options" {
	printf '%s\n' 'append A=file1' '[app me]' 'append A=section1' >one
	printf '%s\n' 'append A=file2' '[app me]' 'append A=section2' >two
	printf '%s\n' 'append A=file3' '[app me]' 'append A=section3' >three
	distinit DISTINIT_ENV_FILE=one:two DISTINIT_ENV=$'append A=env\n[app me]\nappend A=section-env' \
		A=0 -- --append A=option --env-file three --app me -- printenv A
	succeeds_with 0:file1:file2:env:file3:section1:section2:section-env:section3:option
}

@test "order: several --env-file in the order given" {
	echo 'append A=1' >one
	echo 'append A=2' >two
	distinit -- --env-file two --env-file one -- env
	succeeds_with A=2:1
}

@test "order: explain shows what set each variable" {
	echo 'set A=file' >one
	distinit D=4 DISTINIT_ENV='set B=env' -- explain --env-file one --set C=option --unset D --format=json
	[ "$status" -eq 0 ]
	[ "$(python3 -c 'import json, sys
for v in json.load(sys.stdin)["variables"]:
    print(v["name"], v["action"], v["by"])' <<<"$output" | sort)" = $'A set one:1\nB set DISTINIT_ENV:1\nC set --set\nD unset --unset' ]
}

# --- job and application --------------------------------------------------------------------------

@test "sections: the job level comes first, and an application gets only its own sections" {
	file 'set A=job' '[app trainer]' 'append A=app' '[app loader]' 'append A=other'
	distinit -- --env-file file --app trainer -- env
	succeeds_with A=job:app
	distinit -- --env-file file --app loader -- env
	succeeds_with A=job:other
	distinit -- --env-file file -- env
	succeeds_with A=job
	distinit DISTINIT_APP=trainer -- --env-file file -- env
	succeeds_with A=job:app
}

@test "sections: the example of the manual" {
	file 'prepend P=/job' '[app trainer]' 'append P=/app'
	distinit P=/usr/bin:/bin -- --env-file file --app trainer -- env
	succeeds_with P=/job:/usr/bin:/bin:/app
	distinit P=/usr/bin:/bin -- --env-file file -- env
	succeeds_with P=/job:/usr/bin:/bin
}

@test "sections: an application may have several" {
	file '[app a]' 'append X=1' '[app b]' 'append X=2' '[app a]' 'append X=3'
	distinit -- --env-file file --app a -- env
	succeeds_with X=1:3
}

@test "sections: an error in a section of another application is an error" {
	file_refused "file:2:1: unknown verb 'sett'; did you mean 'set'?" '[app other]' 'sett A=1'
}

@test "sections: a heading other than [app NAME] is an error" {
	file_refused "file:1:1: unknown section '[trainer]'; expected [app NAME]" '[trainer]'
	file_refused "file:1:1: unknown section '[app ]'; expected [app NAME]" '[app ]'
}

# --- other people's spellings ---------------------------------------------------------------------

@test "separators: one byte or several" {
	distinit C=-g D=a E=x -- --append 'C[ ]=-O2' --append 'D[;]=b' --prepend 'E[, ]=y' -- env
	succeeds_with $'C=-g -O2\nD=a;b\nE=y, x'
}

@test "separators: = and ] between the brackets" {
	distinit A=1 B=1 -- --append 'A[=]=2' --append 'B[]]=2' -- env
	succeeds_with $'A=1=2\nB=1]2'
}

@test "separators: an empty one is an error, and so is one for a verb that takes none" {
	distinit -- --append 'A[]=1' -- true
	refuses_with "--append: 'A'[]: the separator between the brackets is empty"
	distinit -- --set 'A[;]=1' -- true
	refuses_with "--set: 'A': only prepend, append and first take a [separator]"
}

@test "letters: -e, -u and -x, with the value in the next or in the same word" {
	distinit A=1 B=2 -- -e A=3 -uB -eC=4 -x D=5 -- env
	succeeds_with $'A=3\nC=4\nD=5'
}

@test "mpirun: -x NAME=VALUE sets, -x NAME passes, -x of an absent name is a warning" {
	distinit A=1 -- -x B=2 -x A -- env
	succeeds_with $'A=1\nB=2'
	distinit -- -x MISSING -- true
	warns_with "pass 'MISSING': there is no such variable"
}

@test "PRRTE: --set-env, --unset-env, --prepend-env and --append-env with two words" {
	distinit A=1 B=2 P=old -- --set-env A=3 --unset-env B --prepend-env 'P[:]' new --append-env 'Q[;]' q \
		--append-env 'P[;]' z -- env
	succeeds_with $'A=3\nP=new:old;z\nQ=q'
	distinit -- --prepend-env 'P[:]'
	refuses_with '--prepend-env needs a name and a value'
}

@test "PMIx: names of constants and keys are verbs in files" {
	file 'PMIX_SET_ENVAR A=1' 'PMIX_ADD_ENVAR A=2' 'PMIX_ADD_ENVAR B=2' 'PMIX_UNSET_ENVAR C' \
		'PMIX_PREPEND_ENVAR D=x' 'PMIX_APPEND_ENVAR D=z' 'PMIX_FIRST_ENVAR D=old'
	distinit C=3 D=old -- --env-file file -- env
	succeeds_with $'D=old:x:z\nA=1\nB=2'
	file 'pmix.envar.set A=1' 'pmix.envar.add A=2' 'pmix.envar.add B=2' 'pmix.envar.unset C' \
		'pmix.envar.prepnd D=x' 'pmix.envar.appnd D=z' 'pmix.envar.first D=old'
	distinit C=3 D=old -- --env-file file -- env
	succeeds_with $'D=old:x:z\nA=1\nB=2'
}

@test "PRRTE's style: NAME and VALUE in two words is an error that shows how to write it" {
	distinit -- --prepend PATH /x -- true
	refuses_with "--prepend: 'PATH' has no '='; NAME=VALUE is expected; write --prepend PATH=/x"
}

@test "docker: a file of NAME=VALUE lines, as for --env-file" {
	# shellcheck disable=SC2016 # a literal text
	file '# comment' '' 'A=1' 'B=two words ' 'C="quoted"' "D='quoted'" 'E=' 'F=a#b' '  # indented' 'G=$A'
	distinit A=0 -- --env-file file -- env
	succeeds_with $'A=1\nB=two words \nC=quoted\nD=quoted\nE=\nF=a#b\nG=$A'
}

@test "docker: a NAME alone keeps the variable" {
	file clean A
	distinit A=1 B=2 -- --env-file file -- env
	succeeds_with A=1
}

# --- names ----------------------------------------------------------------------------------------

@test "names: an empty one is an error that names the option" {
	distinit -- --set =x -- true
	refuses_with "--set: the variable's name is empty; a name is expected before the '='"
	distinit -- --prepend =x -- true
	refuses_with "--prepend: the variable's name is empty; a name is expected before the '='"
	distinit -- --unset '' -- true
	refuses_with "--unset: the variable's name is empty; a name is expected before the '='"
}

@test "names: one with '=' cannot be removed" {
	distinit -- --unset A=1 -- true
	refuses_with "--unset: 'A=1': expected a name without '='"
}

@test "names: without '=' there is nothing to set" {
	distinit -- --set A -- true
	refuses_with "--set: 'A' has no '='; NAME=VALUE is expected"
}

@test "names: blanks and control characters are refused, and shown as text" {
	distinit -- --set 'A B=1' -- true
	refuses_with "--set: the name 'A B' contains a blank or control character"
	distinit -- --set $'A\e[2J=1' -- true
	refuses_with "--set: the name 'A\\x1b[2J' contains a blank or control character"
}

@test "names: an existing name with a blank can be removed" {
	distinit 'A B=1' C=2 -- --unset 'A B' -- env
	succeeds_with C=2
}

@test "names: '*' only at the end, and not in set" {
	distinit -- --set 'A*=1' -- true
	refuses_with "--set: 'A*': '*' is allowed only at the end of a name, in unset and pass"
	distinit -- --unset 'A*B' -- true
	refuses_with "--unset: 'A*B': '*' is allowed only at the end of a name, in unset and pass"
}

# --- files ----------------------------------------------------------------------------------------

@test "file: every verb" {
	file 'set A=1' 'add A=2' 'add B=2' 'unset C' 'prepend D=x' 'append D=z' 'first D=old' 'unset E*'
	distinit C=3 D=old E1=1 E2=2 -- --env-file file -- env
	succeeds_with $'D=old:x:z\nA=1\nB=2'
}

@test "file: values that are wholly in quotes" {
	file_gives $'A=a b\nB=tab\there "and" \\ back\nC=$x \\n\nD="half\nE=\'a\' \'b\'\nF=\nG=\'\nH=\\x' \
		"A='a b'" 'B="tab\there \"and\" \\ back"' "C='\$x \\n'" 'D="half' "E='a' 'b'" "F=''" "G='" 'H="\x"'
}

@test "file: a newline in double quotes" {
	file 'A="one\ntwo"'
	cmp <(env -i "$DISTINIT" --env-file file -- cat /proc/self/environ) <(printf 'A=one\ntwo\0')
}

@test "file: blanks around verb and name do not matter, those of the value stay" {
	file_gives $'A= 1 \nB=2' $'  \tset \t A= 1 ' $'B=2'
}

@test "file: Windows' line ends, a byte order mark, no newline at the end" {
	printf '\xef\xbb\xbfA=1\r\nset B=2\r\n\r\nC=3' >file
	cmp <(env -i "$DISTINIT" --env-file file -- cat /proc/self/environ) <(printf 'A=1\0B=2\0C=3\0')
}

@test "file: an empty one does nothing, with a warning" {
	: >file
	distinit A=1 -- --env-file file -- env
	warns_with "--env-file 'file' is empty"
	[ "$output" = A=1 ]
	distinit A=1 -- --env-file /dev/null -- env
	succeeds_with A=1
}

@test "file: very long lines, and thousands of lines" {
	{
		printf '#'
		head -c 1000000 /dev/zero | tr '\0' x
		echo
		for i in $(seq 3000); do echo "A$i=$i"; done
	} >file
	distinit -- --env-file file -- printenv A1 A3000
	succeeds_with $'1\n3000'
}

@test "file: a line of 1 MB is refused with its place" {
	{
		echo 'B=2'
		printf A=
		head -c 1000000 /dev/zero | tr '\0' x
		echo
	} >file
	distinit -- --env-file file -- touch ran
	refuses_with "file:2:1: 'A' would have 1000003 bytes, name and NUL included; the kernel takes 131072"
	[ ! -e ran ]
}

@test "file: more than 8 MB is refused" {
	head -c 9000000 /dev/zero | tr '\0' '\n' >file
	distinit -- --env-file file -- touch ran
	refuses_with "--env-file 'file' has more than 8388608 bytes"
	[ ! -e ran ]
}

@test "file: an unknown verb on line 7 is reported with file, line and column" {
	file 'A=1' '' '# comment' 'B=2' 'unset C' 'prepend P=/x' '   prepned P=/y' 'D=4'
	distinit -- --env-file file -- touch ran
	refuses_with "file:7:4: unknown verb 'prepned'; did you mean 'prepend'?"
	[ ! -e ran ]
}

@test "file: errors are reported with their column" {
	file_refused "file:1:7: 'A' has no '='; NAME=VALUE is expected" 'set  A'
	file_refused "file:1:5: the variable's name is empty; a name is expected before the '='" 'set =1'
	file_refused "file:1:8: 'A=1': expected a name without '='" 'unset A=1'
	file_refused "file:1:6: 'set' needs a variable after it" 'set  '
	file_refused "file:1:7: clean takes no argument; found 'A'" 'clean A'
	file_refused "file:1:1: unknown verb 'export'; write the line without it, or with 'set'" 'export A=1'
	file_refused "file:1:1: unknown verb 'xyzzy'; expected NAME=VALUE, or one of: set add unset prepend append first clean pass" 'xyzzy A=1'
}

@test "file: nothing is applied before the whole file is read" {
	file 'PATH=/nowhere' 'bad line here'
	distinit -- --env-file file -- touch ran
	[ "$status" -eq 125 ]
	[ ! -e ran ]
}

@test "file: a NUL byte is refused with its place" {
	printf 'A=1\nB=\0\n' >file
	distinit -- --env-file file -- touch ran
	refuses_with 'file:2:3: a NUL byte; a text file is expected'
	[ ! -e ran ]
}

@test "file: a program instead of a text is refused" {
	distinit -- --env-file "$DISTINIT" -- touch ran
	fails_like 125 "$DISTINIT:1:*"
	[ ! -e ran ]
}

@test "file: one that is missing is refused" {
	distinit -- --env-file no-such-file -- touch ran
	refuses_with "--env-file 'no-such-file' cannot be read: No such file or directory"
	distinit DISTINIT_ENV_FILE=/no/such/file -- -- touch ran
	refuses_with "DISTINIT_ENV_FILE '/no/such/file' cannot be read: No such file or directory"
	[ ! -e ran ]
}

@test "file: a folder is refused" {
	mkdir folder
	distinit -- --env-file folder -- touch ran
	refuses_with "--env-file 'folder' cannot be read: Is a directory"
	[ ! -e ran ]
}

@test "file: an unreadable one is refused" {
	requires setpriv
	open_folder
	cp "$DISTINIT" "$OPEN_FOLDER/distinit"
	echo A=1 >"$OPEN_FOLDER/file"
	chmod 0 "$OPEN_FOLDER/file"
	invoke as_nobody env -i "$OPEN_FOLDER/distinit" --env-file "$OPEN_FOLDER/file" -- echo ran
	refuses_with "--env-file '$OPEN_FOLDER/file' cannot be read: Permission denied"
}

@test "file: a FIFO without a writer does not block the start" {
	mkfifo fifo
	invoke timeout 20 env -i "$DISTINIT" --env-file fifo -- true
	[ "$status" -ne 124 ]
}

@test "file: a pipe, as the shell's <(...) makes" {
	invoke env -i "$DISTINIT" --env-file <(echo A=1) -- env
	succeeds_with A=1
	invoke env -i "$DISTINIT" --env-file <(sleep 0.3; echo A=1) -- env
	succeeds_with A=1
}

# --- limits ---------------------------------------------------------------------------------------

# cpu_us ARG...: invoke distinit in an empty environment, with a limit of memory. In $cpu are the microseconds of processor time that
# it took. COPIES: so many entries A=1 are its environment.
cpu_us() {
	invoke python3 -c '
import ctypes, os, resource, sys
def vector(words):
    return (ctypes.c_char_p * (len(words) + 1))(*words, None)
words = vector([os.fsencode(word) for word in sys.argv[1:]])
entries = vector([b"A=1"] * int(os.environ.get("COPIES", "0")))
pid = os.fork()
if pid == 0:
    resource.setrlimit(resource.RLIMIT_AS, (700000000, 700000000))
    ctypes.CDLL(None).execve(words[0], words, entries)
    os._exit(1)
_, status, used = os.wait4(pid, 0)
with open("cpu", "w") as file:
    file.write(str(round((used.ru_utime + used.ru_stime) * 1000000)))
sys.exit(os.waitstatus_to_exitcode(status))' "$DISTINIT" "$@"
	cpu=$(<cpu)
	echo "processor: $cpu us"
}

# least_us ARG...: the least of three times, in $cpu: a busy machine only adds to them.
least_us() {
	local least='' _
	for _ in 1 2 3; do
		cpu_us "$@"
		[[ -n $least && $least -lt $cpu ]] || least=$cpu
	done
	cpu=$least
}

# bounded ARG...: invoke distinit, which takes at most twenty times the processor time of half a million plain lines: five times or
# more what it needs, but a fraction of what a quadratic algorithm needs.
bounded() {
	if [[ ! -e plain ]]; then
		yes $'A=1\nunset A' | head -n 500000 >plain
		least_us --env-file plain -- /bin/true
		echo "$cpu" >plain.us
	fi
	cpu_us "$@"
	((cpu <= 20 * $(<plain.us)))
}

@test "much: a list that grows line by line has a limit, and the error shows an alternative" {
	yes 'append X=a' | head -n 60000 >file
	bounded --env-file file -- /bin/touch ran
	refuses_with "append 'X': the directives so far process more than 128 MiB of lists and variables; set a long list in one directive"
	[ ! -e ran ]
	yes 'prepend X=a' | head -n 60000 >file
	bounded --env-file file -- /bin/true
	fails_like 125 "prepend 'X': *"
	seq -f 'first X=%.0f' 60000 >file
	bounded --env-file file -- /bin/true
	fails_like 125 "first 'X': *"
}

@test "much: a thousand elements of a hundred bytes are no problem" {
	seq -f "append X=/a/folder/with/a/long/name/as/they/are/in/a/class/path/of/a/program/in/java/library-%05g.jar" 1200 >file
	# shellcheck disable=SC2016 # the inner shell expands it
	bounded --env-file file -- /bin/sh -c 'echo ${#X}'
	succeeds_with "$((1200 * 94 - 1))"
}

@test "much: names that end with a star, on many variables, too" {
	{
		seq -f 'B%.0f=' 35000
		yes 'unset A*' | head -n 850000
	} >file
	bounded --env-file file -- /bin/true
	fails_like 125 "unset 'A\*': the directives so far process more than 128 MiB of lists and variables*"
	{
		seq -f 'B%.0f=' 35000
		yes clean | head -n 850000
	} >file
	bounded --env-file file -- /bin/true
	fails_like 125 'clean: *'
}

# Ten times as much takes ten times the time or little more; a quadratic algorithm takes a hundred times.
@test "much: one variable set and removed again and again" {
	local tenth
	yes $'A=1\nunset A' | head -n 50000 >tenth
	yes $'A=1\nunset A' | head -n 500000 >file
	least_us --env-file tenth -- /bin/true
	tenth=$cpu
	least_us --env-file file -- /usr/bin/env
	succeeds_with ''
	((cpu <= 40 * tenth))
}

@test "much: one variable a hundred thousand times in the environment, and explain" {
	local tenth
	COPIES=10000 least_us explain --unset A
	tenth=$cpu
	COPIES=100000 least_us explain --unset A
	[ "$status" -eq 0 ]
	[ "$(grep -c '^unset *A$' <<<"$output")" -eq 1 ]
	((cpu <= 40 * tenth))
}

@test "much: names that were chosen to have the same hash" {
	# Blocks of 16 bytes, in two forms that cancelled each other in an earlier hash without a
	# key.
	python3 - >file <<-'PYTHON'
		import itertools, sys
		forms = (b"aaaaaaaaaaaaaaaa", b"aaaaaaa\xe1aaaaeaa\xe1")
		for name in itertools.product(forms, repeat=15):
		    sys.stdout.buffer.write(b"".join(name) + b"z=\n")
	PYTHON
	bounded --env-file file --clean -- /bin/true
	succeeds_with ''
}

# --- variables ------------------------------------------------------------------------------------

@test "DISTINIT_ENV: lines as in a file; errors name the variable and line" {
	distinit P=/bin DISTINIT_ENV=$'set A=1\nprepend P=/x\n# comment\nB=2' -- -- env
	succeeds_with $'P=/x:/bin\nA=1\nB=2'
	distinit DISTINIT_ENV=$'A=1\nsett B=2' -- -- touch ran
	refuses_with "DISTINIT_ENV:2:1: unknown verb 'sett'; did you mean 'set'?"
	[ ! -e ran ]
}

@test "DISTINIT_ENV_FILE: several files, joined by ':', empty names between them skipped" {
	echo 'append A=1' >one
	echo 'append A=2' >two
	distinit DISTINIT_ENV_FILE=":one::two:" -- -- env
	succeeds_with A=1:2
}

@test "directives override derived variables and the user's variables" {
	distinit "${SESSION[@]}" MASTER_PORT=1 -- --set MASTER_ADDR=x --set MASTER_PORT=2 --unset TF_CONFIG \
		--unset 'PET_*' --unset 'BACKENDAI_*' -- env
	succeeds_with $'MASTER_PORT=2\nMASTER_ADDR=x'
}

@test "--set of a variable that others follow changes only that one" {
	local plain
	distinit "${SESSION[@]}" -- -- env
	plain=$(grep -v ^MASTER_PORT= <<<"$output" | sort)
	[[ $plain == *PET_MASTER_PORT=29500* && $plain == *main1:29500* ]]
	distinit "${SESSION[@]}" -- --set MASTER_PORT=4 -- env
	[[ $status -eq 0 && -z $stderr && $output == *MASTER_PORT=4* ]]
	[ "$(grep -v ^MASTER_PORT= <<<"$output" | sort)" = "$plain" ]
}

@test "a separator's brackets are the end of the name, and '+=' is an error in a file, too" {
	distinit -- --append 'CFLAGS[=-O2' -- true
	refuses_with "--append: 'CFLAGS[': the separator in brackets has to be the end of the name; NAME[SEPARATOR]=VALUE is expected"
	distinit -- --first 'X[;]y=1' -- true
	refuses_with "--first: 'X[;]y': the separator in brackets has to be the end of the name; NAME[SEPARATOR]=VALUE is expected"
	distinit -- --set 'X[=1' -- printenv 'X['
	succeeds_with 1
	distinit DISTINIT_ENV='PATH+=/opt' -- -- true
	refuses_with "DISTINIT_ENV:1:5: there is no '+='; write append PATH=VALUE"
	distinit DISTINIT_ENV=$'\nprepend PATH+=/opt' -- -- true
	refuses_with "DISTINIT_ENV:2:13: there is no '+='; write append PATH=VALUE"
	distinit DISTINIT_ENV='X=a+=b' -- -- printenv X
	succeeds_with a+=b
}

@test "a bundle carries a name that ends with '+'" {
	env -i DISTINIT_TRACK='A+' 'A+=1' "$DISTINIT" bundle >written
	distinit -- --env-file=written -- printenv 'A+'
	succeeds_with 1
}

@test "an app whose section is in no file: a warning, with the nearest; of a variable only where a file has sections" {
	printf '[app trainer]\nX=1\n' >sections
	distinit -- --app=trainr --env-file=sections -- true
	warns_with "--app='trainr': no directive file has a section [app trainr]; did you mean 'trainer'?"
	distinit DISTINIT_APP=trainr DISTINIT_ENV_FILE="$PWD/sections" -- -- true
	warns_with "DISTINIT_APP='trainr': no directive file has a section [app trainr]; did you mean 'trainer'?"
	distinit -- --app=x -- true
	warns_with "--app='x': no directive file has a section [app x]"
	distinit -- --app=x --env-file=<(echo Y=1) -- true
	succeeds_with ''
	distinit DISTINIT_APP=x -- -- true
	succeeds_with ''
	distinit -- --app=trainer --env-file=sections -- printenv X
	succeeds_with 1
}

@test "a directive without effect is named with its file and line" {
	file A=1 'pass FOO' 'append A='
	distinit -- --env-file=file -- true
	warns_with "file:2: pass 'FOO': there is no such variable" "file:3: append 'A': the value is empty, so nothing changes"
	distinit -- --pass FOO -- true
	warns_with "pass 'FOO': there is no such variable"
}
