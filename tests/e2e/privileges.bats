#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Users, groups and capabilities: what the workload sees of itself in /proc, and that impossible
# changes are refused before anything runs. Here with this machine's capabilities, by setpriv and in
# user namespaces; tests/engines/runc.bats does it in containers.

# shellcheck disable=SC2154 # invoke sets status, output and stderr
# shellcheck disable=SC2016 # the inner shells expand the quoted texts

load helpers

setup() {
	requires setpriv unshare
	open_folder
	cp "$DISTINIT" "$OPEN_FOLDER/distinit"
	DISTINIT=$OPEN_FOLDER/distinit
	mkdir -p "$OPEN_FOLDER/root/etc"
	cat >"$OPEN_FOLDER/root/etc/passwd" <<-'END'
		root:x:0:0:root:/root:/bin/sh
		this line is none
		app:x:1000:1000:app:/home/app:/bin/sh
		4711:x:12:12::/home/number:/bin/sh
		homeless:x:1003:1003
	END
	cat >"$OPEN_FOLDER/root/etc/group" <<-'END'
		root:x:0:
		video:x:44:other,app
		render:x:109:app
		app:x:1000:
	END
	ROOT=--root=$OPEN_FOLDER/root
	cd / || return
}

teardown() {
	remove_open_folder
}

requires_userns() {
	unshare --user --map-root-user true 2>/dev/null || skip 'this machine makes no user namespaces for us'
}

# field NAME FILE: print this line of a status file.
field() {
	sed -n "s/^$1:[[:space:]]*//p" "$2"
}

# finds NAME VALUE...: the workload printed these values (SHOW).
finds() {
	local value
	while (($#)); do
		value=$(sed -n "s/^$1:[[:space:]]*//p" <<<"$output" | tr '\t' ' ' | sed 's/ *$//')
		[ "$value" = "$2" ] || {
			echo "$1 is '$value', and should be '$2'"
			return 1
		}
		shift 2
	done
}

# The workload prints its own status.
readonly SHOW=(sh -c 'cat /proc/self/status; echo "HOME: ${HOME-unset}"; echo "USER: ${USER-unset}"; echo "LOGNAME: ${LOGNAME-unset}"')
readonly NO_CAPS=0000000000000000
# ipc_lock and sys_nice.
readonly TWO_CAPS=0000000000804000

# with_caps SET VAR... -- ARG...: invoke distinit with only the capabilities of SET, in setpriv's
# syntax ("+ipc_lock,+setuid").
with_caps() {
	local caps=$1
	shift
	local -a variables arguments
	split "$@"
	invoke env -i "${variables[@]}" setpriv --bounding-set="-all,$caps" --inh-caps=-all -- "$DISTINIT" "${arguments[@]}"
}

# --- users ----------------------------------------------------------------------------------------

@test "user: ids, groups and home come from the container's files" {
	requires_root
	distinit HOME=/root USER=root LOGNAME=root PATH="$PATH" -- "$ROOT" --user=app -- "${SHOW[@]}"
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	finds Uid '1000 1000 1000 1000' Gid '1000 1000 1000 1000' Groups '44 109 1000' \
		HOME /home/app USER app LOGNAME app \
		CapEff $NO_CAPS CapPrm $NO_CAPS CapInh $NO_CAPS CapAmb $NO_CAPS NoNewPrivs 0
}

@test "user: a number, with and without an entry in /etc/passwd" {
	requires_root
	distinit PATH="$PATH" -- "$ROOT" --user=1000 -- "${SHOW[@]}"
	finds Uid '1000 1000 1000 1000' Gid '1000 1000 1000 1000' Groups '44 109 1000' HOME /home/app USER app
	distinit PATH="$PATH" USER=root LOGNAME=root HOME=/root -- "$ROOT" --user=4321:5 -- "${SHOW[@]}"
	[ -z "$stderr" ]
	finds Uid '4321 4321 4321 4321' Gid '5 5 5 5' Groups '' HOME / USER unset LOGNAME unset
}

@test "user: USER:GROUP has no other groups, --groups says otherwise" {
	requires_root
	distinit PATH="$PATH" -- "$ROOT" --user=app:video -- "${SHOW[@]}"
	finds Uid '1000 1000 1000 1000' Gid '44 44 44 44' Groups ''
	distinit PATH="$PATH" -- "$ROOT" --user=app:video --groups=init -- "${SHOW[@]}"
	finds Gid '44 44 44 44' Groups '44 109'
	distinit PATH="$PATH" -- "$ROOT" --user=app --groups=none -- "${SHOW[@]}"
	finds Gid '1000 1000 1000 1000' Groups ''
	invoke setpriv --groups=7,8 env -i PATH="$PATH" "$DISTINIT" "$ROOT" --user=:video --groups=keep -- "${SHOW[@]}"
	finds Uid '0 0 0 0' Gid '44 44 44 44' Groups '7 8' HOME unset USER unset
	invoke setpriv --groups=7,8 env -i PATH="$PATH" "$DISTINIT" "$ROOT" --user=:video -- "${SHOW[@]}"
	finds Uid '0 0 0 0' Gid '44 44 44 44' Groups '' HOME unset USER unset LOGNAME unset
}

@test "user: --groups=keep keeps the groups of the container, such as a device's" {
	requires_root
	invoke env -i PATH="$PATH" setpriv --groups=7,9 "$DISTINIT" "$ROOT" --user=app --groups=keep -- "${SHOW[@]}"
	[ "$status" -eq 0 ]
	finds Uid '1000 1000 1000 1000' Groups '7 9'
}

@test "user: root's own groups are dropped" {
	requires_root
	invoke env -i PATH="$PATH" setpriv --groups=0,7 "$DISTINIT" "$ROOT" --user=app -- "${SHOW[@]}"
	finds Groups '44 109 1000'
	invoke env -i PATH="$PATH" setpriv --groups=0,7 "$DISTINIT" "$ROOT" --user=4321:4321 -- "${SHOW[@]}"
	finds Groups ''
}

# SECURITY.md: There is no way back to root.
@test "user: there is no way back" {
	requires_root
	requires python3
	distinit PATH="$PATH" -- "$ROOT" --user=app -- python3 -c 'import os
for change in (os.setuid, os.setgid, lambda i: os.setgroups([i])):
    try:
        change(0)
    except PermissionError:
        continue
    raise SystemExit("root again")'
	succeeds_with ''
}

@test "user: HOME, USER and LOGNAME stay if the user has set them; root's do not" {
	requires_root
	distinit HOME=/data USER=me PATH="$PATH" LOGNAME= -- "$ROOT" --user=app -- "${SHOW[@]}"
	finds HOME /data USER me LOGNAME app
	distinit HOME=/ PATH="$PATH" -- "$ROOT" --user=app -- "${SHOW[@]}"
	finds HOME /home/app USER app LOGNAME app
	# Directives are applied later, and override them.
	distinit HOME=/root PATH="$PATH" -- "$ROOT" --user=app --set HOME=/scratch --unset LOGNAME -- "${SHOW[@]}"
	finds HOME /scratch USER app LOGNAME unset
}

@test "user: a user without a home gets /" {
	requires_root
	distinit HOME=/root PATH="$PATH" -- "$ROOT" --user=homeless -- "${SHOW[@]}"
	finds HOME / USER homeless Uid '1003 1003 1003 1003'
}

@test "user: explain shows what set HOME, and which variables the user kept" {
	requires_root
	distinit HOME=/root USER=me -- explain "$ROOT" --user=app
	[[ $output == *"set       HOME=/home/app"*"by --user: that of app, uid 1000"* ]]
	[[ $output == *"kept      USER=me"* ]]
}

@test "user: a name of digits is a number, with a warning" {
	requires_root
	distinit PATH="$PATH" -- "$ROOT" --user=4711:4711 -- id -u
	warns_with "--user='4711:4711': '4711' is taken as a number; the user of that name in $OPEN_FOLDER/root/etc/passwd is uid 12"
	[ "$output" = 4711 ]
}

@test "user: a process that has that user already needs no rights" {
	invoke as_nobody env -i PATH="$PATH" "$DISTINIT" --user="$(as_nobody id -u):$(as_nobody id -g)" -- id -u
	succeeds_with "$(as_nobody id -u)"
	requires_root
	invoke setpriv --reuid=1000 --regid=1000 --groups=5 env -i PATH="$PATH" "$DISTINIT" "$ROOT" --user=app -- "${SHOW[@]}"
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	finds Uid '1000 1000 1000 1000' Groups 5 HOME /home/app
	# Root is root already.
	with_caps +kill PATH="$PATH" -- "$ROOT" --user=root -- id -u
	succeeds_with 0
}

@test "user: unknown ones are refused, with the most similar" {
	distinit PATH="$PATH" -- "$ROOT" --user=aap -- echo ran
	refuses_with "--user='aap': there is no user 'aap' in $OPEN_FOLDER/root/etc/passwd; did you mean 'app'?"
	distinit PATH="$PATH" -- "$ROOT" --user=app:vidoe -- echo ran
	refuses_with "--user='app:vidoe': there is no group 'vidoe' in $OPEN_FOLDER/root/etc/group; did you mean 'video'?"
	distinit PATH="$PATH" -- "$ROOT" --user=1000abc -- echo ran
	refuses_with "--user='1000abc': there is no user '1000abc' in $OPEN_FOLDER/root/etc/passwd"
	distinit PATH="$PATH" -- "$ROOT" --user=4294967295 -- echo ran
	refuses_with "--user='4294967295': '4294967295' is not a user id; the range is 0 to 4294967294"
	distinit PATH="$PATH" DISTINIT_USER=nobody:x -- --root=/nowhere -- echo ran
	refuses_with "DISTINIT_USER='nobody:x': there is no user 'nobody', because there is no file /nowhere/etc/passwd; a number does not need it"
	distinit PATH="$PATH" -- --user= -- echo ran
	refuses_with "--user='': expected USER, USER:GROUP or :GROUP"
	distinit PATH="$PATH" -- "$ROOT" --groups=al -- echo ran
	refuses_with "--groups='al': expected one of init, keep, none"
}

@test "user: without the right to change users, the error says why" {
	requires_root
	invoke as_nobody env -i PATH="$PATH" "$DISTINIT" --user=0 -- echo ran
	fails_like 125 "--user='0': this process already runs as uid 65534, and without cap_setuid it cannot change its user; start the container as root*"
	with_caps +setgid PATH="$PATH" -- "$ROOT" --user=app -- echo ran
	fails_like 125 "--user='app': this process is root, but lacks cap_setuid*docker run --cap-add=setuid*"
	with_caps +setuid PATH="$PATH" -- "$ROOT" --user=app -- echo ran
	fails_like 125 "--user='app': this process is root, but lacks cap_setgid*its group*"
	# The group is the current one: only the supplementary groups need the capability.
	with_caps +setuid PATH="$PATH" -- "$ROOT" --user=4321:0 --groups=keep -- id -u
	succeeds_with 4321
}

# --- user namespaces ------------------------------------------------------------------------------

@test "user namespace: an id that is not mapped is named" {
	requires_userns
	invoke unshare --user --map-root-user env -i PATH="$PATH" "$DISTINIT" --user=12345:0 -- echo ran
	fails_like 125 "--user='12345:0': there is no uid 12345 in this user namespace (it is not in /proc/self/uid_map)*"
	invoke unshare --user --map-root-user env -i PATH="$PATH" "$DISTINIT" --user=0:12345 -- echo ran
	fails_like 125 "--user='0:12345': there is no gid 12345 in this user namespace*"
	# Subcommands show it, or do not need it.
	invoke unshare --user --map-root-user env -i PATH="$PATH" "$DISTINIT" explain --user=12345:0
	[[ $status -eq 0 && $output == *"cannot be started: --user='12345:0': there is no uid 12345"* ]]
	invoke unshare --user --map-root-user env -i PATH="$PATH" "$DISTINIT" env --user=12345:0
	succeeds_with "HOME='/'"
}

@test "user namespace: if setgroups is denied, --groups=keep works" {
	requires_userns
	# As a user: its groups are not mapped in the namespace, and cannot be dropped.
	invoke as_nobody unshare --user --map-root-user env -i PATH="$PATH" "$DISTINIT" --groups=init --root=/nowhere -- echo ran
	fails_like 125 '--groups=init: uid 0 has no name*'
	if [[ $EUID -eq 0 ]]; then
		invoke setpriv --reuid=65534 --regid=65534 --groups=5,7 unshare --user --map-root-user env -i PATH="$PATH" \
			"$DISTINIT" --groups=none -- echo ran
		fails_like 125 "--groups=none: this user namespace does not let the supplementary groups change (/proc/self/setgroups says 'deny'); --groups=keep leaves them as they are"
		invoke setpriv --reuid=65534 --regid=65534 --groups=5,7 unshare --user --map-root-user env -i PATH="$PATH" \
			"$DISTINIT" --user=0 --groups=keep -- id -u
		succeeds_with 0
	fi
}

@test "user namespace: capabilities can be kept and dropped in it" {
	requires_userns
	invoke as_nobody unshare --user --map-root-user env -i PATH="$PATH" "$DISTINIT" --cap-drop=all --cap-keep=ipc_lock,sys_nice \
		-- "${SHOW[@]}"
	[ "$status" -eq 0 ]
	finds CapEff $TWO_CAPS CapPrm $TWO_CAPS CapBnd $TWO_CAPS CapAmb $TWO_CAPS CapInh $TWO_CAPS
}

# --- capabilities ---------------------------------------------------------------------------------

@test "capabilities: only the kept ones reach a user other than root" {
	requires_root
	distinit PATH="$PATH" -- "$ROOT" --user=app --cap-drop=all --cap-keep=ipc_lock,sys_nice --no-new-privs -- "${SHOW[@]}"
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	finds Uid '1000 1000 1000 1000' Groups '44 109 1000' NoNewPrivs 1 \
		CapEff $TWO_CAPS CapPrm $TWO_CAPS CapBnd $TWO_CAPS CapAmb $TWO_CAPS CapInh $TWO_CAPS
}

@test "capabilities: they take effect" {
	requires_root
	# "nice -n" is relative, and the tests may run with a niceness of their own.
	renice --priority 0 "$BASHPID" >/dev/null || skip 'this machine lets us set no priority'
	distinit PATH="$PATH" -- "$ROOT" --user=app --cap-keep=sys_nice -- nice -n -5 nice
	[ "$output" = -5 ]
	distinit PATH="$PATH" -- "$ROOT" --user=app -- nice -n -5 nice
	[ "$output" != -5 ]
}

@test "capabilities: without --cap-drop the bounding set stays" {
	requires_root
	before=$(field CapBnd /proc/self/status)
	distinit PATH="$PATH" -- "$ROOT" --user=app --cap-keep=ipc_lock -- "${SHOW[@]}"
	finds CapEff 0000000000004000 CapBnd "$before"
}

@test "capabilities: root that drops some does not get them back by executing a file" {
	requires_root
	distinit PATH="$PATH" -- --cap-drop=all -- "${SHOW[@]}"
	finds Uid '0 0 0 0' CapEff $NO_CAPS CapPrm $NO_CAPS CapBnd $NO_CAPS
	distinit PATH="$PATH" -- --cap-drop=all --cap-keep=CAP_IPC_LOCK --cap-keep=23 -- "${SHOW[@]}"
	finds Uid '0 0 0 0' CapEff $TWO_CAPS CapBnd $TWO_CAPS
	with_caps +ipc_lock,+sys_nice,+kill,+setpcap PATH="$PATH" -- --cap-drop=kill,cap_setpcap -- "${SHOW[@]}"
	finds CapEff $TWO_CAPS CapBnd $TWO_CAPS
}

@test "capabilities: ambient capabilities from an engine stay, unless they are dropped" {
	requires_root
	local two='-all,+ipc_lock,+sys_nice'
	local -a as_podman=(setpriv --reuid=1000 --regid=1000 --clear-groups "--inh-caps=$two" "--ambient-caps=$two"
		"--bounding-set=$two")
	invoke env -i PATH="$PATH" "${as_podman[@]}" "$DISTINIT" --no-new-privs -- "${SHOW[@]}"
	finds CapEff $TWO_CAPS CapAmb $TWO_CAPS NoNewPrivs 1
	invoke env -i PATH="$PATH" "${as_podman[@]}" "$DISTINIT" --cap-keep=ipc_lock -- "${SHOW[@]}"
	finds CapEff $TWO_CAPS
	invoke env -i PATH="$PATH" "${as_podman[@]}" "$DISTINIT" --cap-drop=sys_nice --no-new-privs -- "${SHOW[@]}"
	finds CapEff 0000000000004000 CapPrm 0000000000004000 CapAmb 0000000000004000
}

@test "capabilities: the error for a user without any explains Docker's behaviour and the way out" {
	requires_root
	invoke setpriv --reuid=1000 --regid=1000 --clear-groups --inh-caps=-all --bounding-set=-all,+ipc_lock \
		env -i PATH="$PATH" "$DISTINIT" --cap-keep=ipc_lock -- echo ran
	fails_like 125 '--cap-keep: cap_ipc_lock cannot be kept, because this process does not have it: the container has it*Docker and Kubernetes*start the container as root, and change the user with --user=1000'
}

@test "capabilities: one that the container does not have is named" {
	requires_root
	with_caps +setuid,+setgid,+setpcap PATH="$PATH" -- "$ROOT" --user=app --cap-keep=ipc_lock -- echo ran
	fails_like 125 '--cap-keep: cap_ipc_lock cannot be kept, because the container does not have it; add it with docker run --cap-add=ipc_lock*'
	distinit PATH="$PATH" -- --cap-keep=cap_62 -- echo ran
	fails_like 125 '--cap-keep: this kernel has no cap_62; its last capability is cap_*'
	# Unknown capabilities are ignored in --cap-drop: the list may be older or newer than the
	# kernel.
	distinit PATH="$PATH" -- --cap-drop=cap_62 -- echo ran
	succeeds_with ran
}

@test "capabilities: the bounding set cannot be changed without setpcap" {
	requires_root
	with_caps +setuid,+setgid,+ipc_lock PATH="$PATH" -- "$ROOT" --user=app --cap-drop=all --cap-keep=ipc_lock -- echo ran
	fails_like 125 '--cap-drop: cap_setgid cannot be dropped from the bounding set*this process lacks cap_setpcap*--no-new-privs*'
	with_caps +setuid,+setgid,+ipc_lock PATH="$PATH" -- "$ROOT" --user=app --cap-drop=all --cap-keep=ipc_lock --no-new-privs -- \
		"${SHOW[@]}"
	warns_with '--cap-drop: the bounding set keeps cap_setgid and others, because this process lacks cap_setpcap; with no_new_privs, no program can regain capabilities from it'
	finds Uid '1000 1000 1000 1000' CapEff 0000000000004000 NoNewPrivs 1
	# The same as root, which does not regain any.
	with_caps +kill,+ipc_lock PATH="$PATH" -- --cap-drop=kill --no-new-privs -- "${SHOW[@]}"
	[ "$status" -eq 0 ]
	finds Uid '0 0 0 0' CapEff 0000000000004000 CapBnd 0000000000004020
}

@test "capabilities: unknown and contradictory names are refused" {
	distinit PATH="$PATH" -- --cap-drop=ipc_lok -- echo ran
	refuses_with "--cap-drop='ipc_lok': there is no capability 'ipc_lok'; did you mean 'ipc_lock'?"
	distinit PATH="$PATH" DISTINIT_CAP_KEEP=ipc_lock,sysnice -- -- echo ran
	refuses_with "DISTINIT_CAP_KEEP='ipc_lock,sysnice': there is no capability 'sysnice'; did you mean 'sys_nice'?"
	distinit PATH="$PATH" -- --cap-keep=all -- echo ran
	refuses_with "--cap-keep='all': 'all' is not accepted here; name the capabilities needed"
	distinit PATH="$PATH" -- --cap-keep=kill --cap-drop=chown,kill -- echo ran
	refuses_with 'cap_kill is both in --cap-drop and in --cap-keep; use one of them'
}

@test "no_new_privs is set for any user, and stays set" {
	invoke as_nobody env -i PATH="$PATH" "$DISTINIT" --no-new-privs -- "${SHOW[@]}"
	finds NoNewPrivs 1
	distinit PATH="$PATH" DISTINIT_NO_NEW_PRIVS=1 -- -- "${SHOW[@]}"
	finds NoNewPrivs 1
	invoke setpriv --no-new-privs env -i PATH="$PATH" "$DISTINIT" --no-new-privs -- "${SHOW[@]}"
	finds NoNewPrivs 1
}

@test "no_new_privs prevents a setuid program from raising privileges, and ambient capabilities stay" {
	requires_root
	cp /usr/bin/id "$OPEN_FOLDER/id"
	chmod 4755 "$OPEN_FOLDER/id"
	distinit PATH="$PATH" -- "$ROOT" --user=app -- "$OPEN_FOLDER/id" -u
	[ "$output" = 0 ] || skip 'setuid programs gain nothing in this folder'
	distinit PATH="$PATH" -- "$ROOT" --user=app --no-new-privs --cap-keep=ipc_lock -- "$OPEN_FOLDER/id" -u
	succeeds_with 1000
}

@test "privileges: securebits that forbid ambient capabilities are an error before anything is changed" {
	requires_root
	requires capsh
	invoke env -i PATH="$PATH" capsh --secbits=0xc0 -- -c '"$0" "$@"' "$DISTINIT" "$ROOT" --user=app --cap-keep=kill -- echo ran
	fails_like 125 '--cap-keep: cap_kill cannot be kept: the securebits of this process (0xc0) forbid ambient capabilities'
	invoke env -i PATH="$PATH" capsh --secbits=0x20 -- -c '"$0" "$@"' "$DISTINIT" "$ROOT" --user=app --cap-keep=kill -- echo ran
	fails_like 125 '--cap-keep: no capability can be kept over the change of user: the securebits of this process (0x20) forbid it'
}

@test "privileges: where no capability may be kept over a change of user, --init changes the user all the same" {
	requires_root
	local -a locked=(setpriv --securebits=+keep_caps_locked "$DISTINIT" --user=1000:1000)
	invoke "${locked[@]}" -- id -u
	succeeds_with 1000
	invoke "${locked[@]}" --init -- id -u
	succeeds_with 1000
}

@test "capabilities: a setuid program that is run loses the ambient ones, as the manual says" {
	requires_root
	cp /bin/cat "$OPEN_FOLDER/cat"
	chown 4321 "$OPEN_FOLDER/cat"
	chmod 4755 "$OPEN_FOLDER/cat"
	distinit PATH="$PATH" -- "$ROOT" --user=app --cap-keep=ipc_lock -- "$OPEN_FOLDER/cat" /proc/self/status
	[[ $output == *$'\nUid:\t1000\t4321\t'* ]] || skip 'setuid programs gain nothing in this folder'
	finds CapAmb $NO_CAPS CapEff $NO_CAPS
	# Under no_new_privs it runs like any other program, and they stay.
	distinit PATH="$PATH" -- "$ROOT" --user=app --cap-keep=ipc_lock --no-new-privs -- "$OPEN_FOLDER/cat" /proc/self/status
	finds Uid '1000 1000 1000 1000' CapAmb 0000000000004000 CapEff 0000000000004000
}

@test "privileges: --log=info shows the workload's user and capabilities" {
	requires_root
	distinit PATH="$PATH" -- "$ROOT" -v --user=app --cap-keep=ipc_lock,kill --no-new-privs -- true
	[ "$status" -eq 0 ]
	[[ $stderr == *'distinit: info: runs as uid 1000, gid 1000, with cap_kill cap_ipc_lock, no_new_privs' ]]
}

# --- the rest -------------------------------------------------------------------------------------

@test "privileges: a subcommand changes nothing" {
	distinit HOME=/root -- env "$ROOT" --user=app --cap-keep=cap_62
	succeeds_with $'HOME=\'/home/app\'\nUSER=\'app\'\nLOGNAME=\'app\'' || {
		# HOME=/root belongs only to root.
		[ "$EUID" -ne 0 ]
		succeeds_with $'USER=\'app\'\nLOGNAME=\'app\''
	}
	distinit -- explain "$ROOT" --cap-keep=cap_62
	[ "$status" -eq 0 ]
	[[ $output == *'workload       cannot be started: --cap-keep: this kernel has no cap_62'* ]]
}

@test "privileges: all options work without /proc" {
	requires_root
	unshare --mount true 2>/dev/null || skip 'this machine makes no mount namespaces for us'
	invoke env -i PATH="$PATH" unshare --mount sh -c '
		umount -l /proc && exec "$0" "$@"' "$DISTINIT" "$ROOT" --user=app --cap-drop=all --cap-keep=ipc_lock --no-new-privs -- id -u
	succeeds_with 1000
}

@test "privileges: securebits that forbid keeping capabilities do not prevent a change of user without them" {
	requires_root
	requires capsh
	invoke env -i PATH="$PATH" capsh --secbits=0x20 -- -c '"$0" "$@"' "$DISTINIT" explain "$ROOT" --user=app
	[[ $status -eq 0 && $output == *'workload       uid 1000, gid 1000, groups 1000,44,109'* ]]
	invoke env -i PATH="$PATH" capsh --secbits=0x20 -- -c '"$0" "$@"' "$DISTINIT" "$ROOT" --user=app -- "${SHOW[@]}"
	[ "$status" -eq 0 ]
	finds Uid '1000 1000 1000 1000' Groups '44 109 1000' CapEff $NO_CAPS CapPrm $NO_CAPS CapAmb $NO_CAPS
	# With the locked bit that keeps all capabilities, they are still dropped.
	invoke env -i PATH="$PATH" capsh --secbits=0x2c -- -c '"$0" "$@"' "$DISTINIT" "$ROOT" --user=app --cap-keep=kill -- "${SHOW[@]}"
	[ "$status" -eq 0 ]
	finds Uid '1000 1000 1000 1000' CapEff 0000000000000020 CapPrm 0000000000000020
}

@test "privileges: securebits that forbid ambient capabilities do not matter if they are set already" {
	requires_root
	requires capsh
	local caps='-all,+setuid,+setgid,+setpcap,+kill'
	local -a as_user=(env -i PATH="$PATH" setpriv --reuid=1000 --regid=1000 --clear-groups "--inh-caps=$caps" "--ambient-caps=$caps"
		capsh --secbits=0x40 -- -c '"$0" "$@"' "$DISTINIT" "$ROOT")
	invoke "${as_user[@]}" --user=0:0 -- "${SHOW[@]}"
	[ "$status" -eq 0 ]
	finds Uid '0 0 0 0' Gid '0 0 0 0' CapAmb 00000000000001e0
	invoke "${as_user[@]}" --user=4321:4321 --cap-keep=kill -- "${SHOW[@]}"
	[ "$status" -eq 0 ]
	finds Uid '4321 4321 4321 4321' CapAmb 0000000000000020 CapEff 0000000000000020
	# Others would have to be raised.
	invoke "${as_user[@]}" --cap-drop=kill -- "${SHOW[@]}"
	[ "$status" -eq 0 ]
	finds CapAmb 00000000000001c0
}
