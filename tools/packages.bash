# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Finds missing Debian packages, and installs them without starting a daemon.

readonly POLICY=/usr/sbin/policy-rc.d # maintainer scripts ask it whether they may start a daemon

# missing PACKAGE...: print those that are not installed.
missing() {
	local installed package
	installed=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' "$@" 2>/dev/null || true)
	for package; do
		[[ $'\n'$installed$'\n' == *$'\n'"$package installed"$'\n'* ]] || printf '%s\n' "$package"
	done
}

# apt-get for scripts: asks no questions, and waits for the lock of another apt.
apt_quietly() {
	apt-get -y --no-install-recommends -o Acquire::Retries=3 -o DPkg::Lock::Timeout=120 \
		-o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold "$@"
}

# Package lists may be missing or old. If the first attempt fails, update them and retry.
apt_install() {
	apt_quietly install "$@" || { apt_quietly update && apt_quietly install "$@"; }
}

# need "PACKAGE...": install those that are missing.
need() {
	command -v apt-get >/dev/null ||
		die "this script installs Debian packages, and there is no apt-get" \
			"Elsewhere: meson setup build-here && ninja -C build-here, with cJSON and libcap installed."
	local -a packages
	read -ra packages <<<"$1"
	mapfile -t packages < <(missing "${packages[@]}")
	((${#packages[@]})) || return 0
	[[ $EUID -eq 0 ]] ||
		die "packages are missing, and only root can install them" "As root: apt-get install ${packages[*]}"
	# One at a time: another word of ./dev may be installing.
	mkdir -p "$DEPS"
	exec {PACKAGES_LOCK}>"$DEPS/packages.lock"
	flock "$PACKAGES_LOCK"
	say "installing ${packages[*]}"
	step packages "Is the network up? Do /etc/apt's sources name Debian 12?" without_daemons apt_install "${packages[@]}"
	exec {PACKAGES_LOCK}>&-
}

# without_daemons COMMAND...: run it, while maintainer scripts may not start services.
without_daemons() {
	local status=0 saved=''
	if [[ -e $POLICY || -L $POLICY ]]; then
		saved=$(mktemp -d)
		mv "$POLICY" "$saved/"
	fi
	# A signal also runs the EXIT trap.
	# shellcheck disable=SC2064 # expand the value now
	trap "restore_policy '$saved'" EXIT
	printf '#!/bin/sh\nexit 101\n' >"$POLICY"
	chmod 755 "$POLICY"
	"$@" || status=$?
	restore_policy "$saved"
	trap - EXIT
	return "$status"
}

restore_policy() {
	rm -f "$POLICY"
	if [[ -n $1 ]]; then
		mv "$1/${POLICY##*/}" "$POLICY"
		rmdir "$1"
	fi
}
