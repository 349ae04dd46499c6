#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# As the first process of real containers, by bare runc: capabilities x users x a read-only root x no_new_privs. What an engine
# would have asked of runc is in tests/programs/runc-bundle.
#
# shellcheck disable=SC2154,SC2030,SC2031 # status, output and stderr: by invoke() of the e2e tests' helpers, in each test

load ../e2e/helpers

BUNDLE=$BATS_TEST_DIRNAME/../programs/runc-bundle
export BATS_TEST_TIMEOUT=$((240 * ${PATIENCE:-1}))

# What Docker, podman and containerd give if nothing is said, and what that is in a status file.
USUAL=CHOWN,DAC_OVERRIDE,FOWNER,FSETID,KILL,SETGID,SETUID,SETPCAP,NET_BIND_SERVICE,NET_RAW,SYS_CHROOT,MKNOD,AUDIT_WRITE,SETFCAP
readonly USUAL_BITS=00000000a80425fb
readonly NONE=0000000000000000
readonly IPC_LOCK=0000000000004000

# why_not: why runc cannot run here, or nothing.
why_not() {
	local program said
	[[ $EUID -eq 0 ]] || { echo 'only root can run runc' && return; }
	for program in runc python3 readelf; do
		PATH=$PATH:/usr/sbin command -v "$program" >/dev/null || { echo "$program is not installed" && return; }
	done
	for program in /bin/busybox "$DISTINIT"; do
		[[ -x $program ]] || { echo "$program is not there (busybox-static)" && return; }
		! readelf -lW "$program" | grep -q INTERP || { echo "$program is not static" && return; }
	done
	"$BUNDLE" make "$FOLDER/probe" "$DISTINIT"
	said=$("$BUNDLE" run "$FOLDER/probe" -- -- true 2>&1) || echo "runc makes no containers here: ${said##*$'\n'}"
	"$BUNDLE" remove "$FOLDER/probe"
}

setup_file() {
	FOLDER=$(mktemp -d)
	chmod 755 "$FOLDER"
	NO_RUNC=$(why_not)
	export FOLDER NO_RUNC
	[[ -n $NO_RUNC ]] || "$BUNDLE" make "$FOLDER/image" "$DISTINIT"
}

teardown_file() {
	[[ ! -d $FOLDER/image ]] || "$BUNDLE" remove "$FOLDER/image"
	rm -rf "$FOLDER"
}

setup() {
	[[ -z $NO_RUNC ]] || skip "$NO_RUNC"
}

# container OPTION... -- ARG...: what distinit ARG... does in one.
container() {
	invoke timeout --kill-after=5 60 "$BUNDLE" run "$FOLDER/image" "$@"
}

# status_is NAME VALUE...: of the workload, which was "cat /proc/self/status".
status_is() {
	local value
	[ "$status" -eq 0 ]
	while (($#)); do
		value=$(sed -n "s/^$1:[[:space:]]*//p" <<<"$output" | tr '\t' ' ' | sed 's/ *$//')
		[ "$value" = "$2" ] || {
			echo "$1 is '$value', and should be '$2'"
			return 1
		}
		shift 2
	done
}

# matrix FUNCTION: call it with the options of each container, in which $uid, $caps, $nnp and $read_only tell what it is.
matrix() {
	local uid caps nnp read_only
	local -a options
	for uid in 0 1000; do
		for caps in '' "$USUAL" "$USUAL,IPC_LOCK,SYS_NICE"; do
			for nnp in 0 1; do
				for read_only in 0 1; do
					options=(--user="$uid" --caps="$caps")
					((nnp == 0)) || options+=(--no-new-privs)
					((read_only == 0)) || options+=(--read-only)
					"$1" "${options[@]}"
				done
			done
		done
	done
}

readonly STATUS=(cat /proc/self/status)

# --- what is not asked for stays --------------------------------------------------------------------------

left_alone() {
	local bits=$NONE
	((uid)) || case $caps in *IPC_LOCK*) bits=00000000a88465fb ;; ?*) bits=$USUAL_BITS ;; esac
	container "$@" -- -- "${STATUS[@]}"
	status_is Pid 1 Uid "$uid $uid $uid $uid" CapEff "$bits" NoNewPrivs "$nnp"
}

@test "runc: without options the workload is PID 1, as the container is, in all 24 of them" {
	matrix left_alone
}

# --- the user ---------------------------------------------------------------------------------------------

becomes_app() {
	container "$@" -- --user=app -- "${STATUS[@]}"
	if [[ $uid -eq 0 && -z $caps ]]; then
		fails_like 125 "--user='app': this process is root, but lacks cap_setuid, which it needs*"
		return
	fi
	[ -z "$stderr" ]
	status_is Pid 1 Uid '1000 1000 1000 1000' Gid '1000 1000 1000 1000' CapEff $NONE CapPrm $NONE CapAmb $NONE \
		NoNewPrivs "$nnp"
	# Who is app already keeps the groups that the engine gave.
	((uid)) || status_is Groups '44 1000'
}

@test "runc: --user=app becomes app, or is it already, or says what is missing" {
	matrix becomes_app
}

@test "runc: HOME of the container is replaced, the image needs no /etc/passwd for a number" {
	container --caps="$USUAL" --env=HOME=/root -- --user=app -- env
	[ "$status" -eq 0 ]
	[[ $output == *HOME=/home/app* && $output == *USER=app* ]]
	container --caps="$USUAL" --env=HOME=/root --env=USER=root -- --root=/tmp --user=1234:5 -- env
	[ "$output" = $'PATH=/bin\nHOME=/' ]
}

@test "runc: groups that the engine gave, as for a device, stay by --groups=keep" {
	container --caps="$USUAL" --user=0:0:27,109 -- --user=app --groups=keep -- "${STATUS[@]}"
	status_is Uid '1000 1000 1000 1000' Groups '27 109'
	container --user=1000:1000:27,109 -- --user=app -- "${STATUS[@]}"
	status_is Uid '1000 1000 1000 1000' Groups '27 109'
	container --user=1000:1000:27,109 -- --user=app --groups=init -- echo ran
	fails_like 125 '--groups=init: this process already runs as uid 1000, and without cap_setgid*'
}

# --- capabilities -----------------------------------------------------------------------------------------

keeps_ipc_lock() {
	container "$@" -- --user=app --cap-drop=all --cap-keep=ipc_lock -- "${STATUS[@]}"
	if [[ $uid -eq 0 && -z $caps ]]; then
		fails_like 125 "--user='app'*cap_setuid*"
	elif [[ $caps != *IPC_LOCK* ]]; then
		fails_like 125 '--cap-keep: cap_ipc_lock cannot be kept, because the container does not have it*'
	elif ((uid)); then
		fails_like 125 '--cap-keep: cap_ipc_lock cannot be kept, because this process does not have it*Docker and Kubernetes*--user=1000'
	else
		[ -z "$stderr" ]
		status_is Uid '1000 1000 1000 1000' CapInh $IPC_LOCK CapPrm $IPC_LOCK CapEff $IPC_LOCK CapBnd $IPC_LOCK \
			CapAmb $IPC_LOCK NoNewPrivs "$nnp"
	fi
}

@test "runc: --cap-keep hands a capability to a user, or names why not" {
	matrix keeps_ipc_lock
}

drops_all() {
	container "$@" -- --cap-drop=all -- "${STATUS[@]}"
	if ((uid)) && [[ -n $caps ]] && ((nnp == 0)); then
		fails_like 125 '--cap-drop: cap_chown cannot be dropped from the bounding set*--no-new-privs*'
		return
	fi
	status_is Uid "$uid $uid $uid $uid" CapInh $NONE CapPrm $NONE CapEff $NONE CapAmb $NONE NoNewPrivs "$nnp"
	if [[ $uid -eq 0 || -z $caps ]]; then
		[ -z "$stderr" ]
		status_is CapBnd $NONE
	fi
}

@test "runc: --cap-drop=all leaves nothing, also to root, or is refused" {
	matrix drops_all
}

@test "runc: the fewest capabilities that are needed are those that the manual names" {
	container --caps=SETUID,SETGID,SETPCAP,IPC_LOCK --no-new-privs --read-only -- \
		--user=app --cap-drop=all --cap-keep=ipc_lock --no-new-privs -- "${STATUS[@]}"
	[ -z "$stderr" ]
	status_is Uid '1000 1000 1000 1000' CapEff $IPC_LOCK CapBnd $IPC_LOCK NoNewPrivs 1
	container --caps=SETUID,SETGID,IPC_LOCK -- --user=app --cap-drop=all --cap-keep=ipc_lock -- echo ran
	fails_like 125 '--cap-drop: cap_setgid cannot be dropped from the bounding set*cap_setpcap*'
	container --caps=SETUID,SETGID,IPC_LOCK -- --user=app --cap-keep=ipc_lock -- "${STATUS[@]}"
	status_is CapEff $IPC_LOCK
}

@test "runc: what podman hands to a user as ambient capabilities stays, can be kept, and dropped" {
	container --user=1000 --like=podman --caps=IPC_LOCK,SYS_NICE -- -- "${STATUS[@]}"
	status_is CapEff 0000000000804000
	container --user=1000 --like=podman --caps=IPC_LOCK,SYS_NICE -- --user=app --cap-keep=ipc_lock -- "${STATUS[@]}"
	status_is CapEff 0000000000804000
	container --user=1000 --like=podman --caps=IPC_LOCK,SYS_NICE -- --cap-drop=all --cap-keep=ipc_lock --no-new-privs -- "${STATUS[@]}"
	status_is CapEff $IPC_LOCK CapAmb $IPC_LOCK
}

# --- explain ----------------------------------------------------------------------------------------------

# said EXPRESSION: of what explain said as JSON, its "process".
said() {
	python3 -c 'import json, sys
process = json.load(sys.stdin)["process"]
workload = process["workload"]
assert eval("(" + sys.argv[1] + ")"), (sys.argv[1], process)' "$1" <<<"$output"
}

is_explained() {
	container "$@" -- explain --format=json --user=app --cap-keep=ipc_lock
	[ "$status" -eq 0 ]
	said "process['pid'] == 1 and process['uid'] == $uid and process['no_new_privs'] == bool($nnp)
		and process['root_read_only'] == bool($read_only) and process['user_namespace'] is False
		and process['container'] == 'namespace' and process['signals_ignored'] == []
		and ('cap_ipc_lock' in process['capabilities']['bounding']) == ('IPC_LOCK' in '$caps')"
	# What it says will be is what is.
	container "$@" -- --user=app --cap-keep=ipc_lock -- "${STATUS[@]}"
	local ran=$status
	container "$@" -- explain --format=json --user=app --cap-keep=ipc_lock
	if ((ran)); then
		said 'workload is None and process["workload_error"]'
	else
		said 'workload["uid"] == 1000 and workload["capabilities"] == ["cap_ipc_lock"] and process["workload_error"] is None'
	fi
}

@test "runc: explain tells of each container what it is, and of the workload what it will have" {
	matrix is_explained
}

@test "runc: explain says which capabilities do not reach the user" {
	container --user=1000 --caps="$USUAL,IPC_LOCK" --read-only -- explain
	[ "$status" -eq 0 ]
	[[ $output == *'PID 1, uid 1000'* && $output == *'/ is read-only'* ]]
	[[ $output == *'not effective ipc_lock: the container has them, this user has not'* ]]
	[[ $output == *'locked memory'* ]]
}
