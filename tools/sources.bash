# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Provides the source tarballs of the linked libraries where Meson looks for them. They come from
# this machine's cache, from Debian's archive, or from upstream. subprojects/*.wrap has their
# hashes.

readonly WRAPS="libcap cjson bearssl"
readonly TARBALLS=subprojects/packagecache

# wrap_field WRAP KEY: print a value of subprojects/WRAP.wrap.
wrap_field() {
	sed -n "s/^$2 *= *//p" "subprojects/$1.wrap"
}

# is_source FILE WRAP: check that FILE is the tarball of the wrap.
is_source() {
	[[ -f $1 ]] && echo "$(wrap_field "$2" source_hash)  $1" | sha256sum --check --status
}

# Prints this machine's cache of tarballs, which all clones of the tree share. Prints nothing if
# there is no place for it.
machine_cache() {
	local base=${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}}
	[[ -z $base ]] || printf '%s\n' "$base/distinit"
}

# fetch_sources: provide every tarball, or exit with instructions to do it by hand.
fetch_sources() {
	local wrap log=$LOGS/sources.log
	mkdir -p "$LOGS" "$TARBALLS"
	: >"$log"
	for wrap in $WRAPS; do
		fetch_source "$wrap" "$TARBALLS/$(wrap_field "$wrap" source_filename)" "$log"
	done
	rm -rf "$DEPS/apt"
}

# fetch_source WRAP TARBALL LOG
fetch_source() {
	local wrap=$1 tarball=$2 log=$3 kept fetched
	kept=$(machine_cache)
	kept=${kept:+$kept/${tarball##*/}}
	if ! is_source "$tarball" "$wrap"; then
		if is_source "$kept" "$wrap"; then
			cp "$kept" "$tarball"
		else
			say "fetching the source of $wrap"
			fetched=$DEPS/apt/${tarball##*/}
			fetch_from_debian "$wrap" "$fetched" >>"$log" 2>&1 </dev/null ||
				fetch_from_upstream "$wrap" "$fetched" >>"$log" 2>&1 </dev/null ||
				die_without_source "$wrap" "$tarball" "$log"
			mv "$fetched" "$tarball"
		fi
	fi
	[[ -z $kept ]] || keep_source "$tarball" "$kept"
}

# keep_source TARBALL COPY: copy it into the cache, for other clones. A failure is ignored.
keep_source() {
	cmp -s "$1" "$2" || { mkdir -p "${2%/*}" && cp "$1" "$2"; } 2>/dev/null || true
}

die_without_source() {
	local wrap=$1 tarball=$2 log=$3
	grep -E '^(E|W|Err|dev): ?|^  [^ ]' "$log" | tail -n 12 >&2 || true
	die "the source of $wrap cannot be had, neither from Debian's archive nor from upstream (all of it: $log)" \
		"Is the network up? Do /etc/apt's sources name Debian, with the component main?" \
		"By hand: download $(wrap_field "$wrap" source_url)" \
		"and put it here as $tarball" \
		"SHA-256: $(wrap_field "$wrap" source_hash)"
}

# private_apt DIR: set PRIVATE_APT, options for apt to keep its own package lists in DIR. The
# machine's lists are not changed. Installed packages do not count: apt would otherwise choose the
# source of the installed version.
private_apt() {
	mkdir -p "$1/lists/partial" "$1/parts"
	PRIVATE_APT=(-o "Dir::State::lists=$1/lists" -o Dir::State::status=/dev/null -o Dir::Cache::pkgcache=
		-o Dir::Cache::srcpkgcache= -o APT::Sandbox::User=root -o Acquire::Retries=2)
}

# fetch_from_debian WRAP FILE: fetch the .orig tarball from any version that has the right one.
# Several versions have it, and an archive may lack the files of a version that it lists.
fetch_from_debian() {
	local wrap=$1 file=$2 apt=$ROOT/$DEPS/apt package version
	package=${file##*/}
	package=${package%%_*}
	private_apt "$apt"
	PRIVATE_APT+=(-o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$apt/parts")
	if [[ ! -e $apt/updated ]]; then
		debian_source_entries "$apt/parts"
		apt-get "${PRIVATE_APT[@]}" update || true # some lists may be available, others not
		touch "$apt/updated"
	fi
	for version in $(versions_with "$package" "$(wrap_field "$wrap" source_hash)"); do
		echo "dev: $package $version"
		(cd "$apt" && apt-get "${PRIVATE_APT[@]}" source --download-only --tar-only "$package=$version") || true
		! is_source "$file" "$wrap" || return 0
	done
	return 1
}

# versions_with PACKAGE HASH: print the versions, in the lists of PRIVATE_APT, that have a file with
# this SHA-256.
versions_with() {
	apt-cache "${PRIVATE_APT[@]}" showsrc --only-source "$1" |
		awk -v RS= -v hash="$2" 'index($0, "\n " hash " ") && match($0, /\nVersion: [^\n]*/) {
			version = substr($0, RSTART + 10, RLENGTH - 10)
			if (!seen[version]++) print version
		}'
}

# debian_source_entries DIR: copy the machine's apt entries for Debian, changed to fetch sources. An
# entry is Debian's if its suite is the release's name and it has a component "main". Both formats
# of apt sources are read.
debian_source_entries() {
	local codename parts=$1
	codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
	find /etc/apt/sources.list.d -name '*.sources' -exec cat {} + -exec echo \; 2>/dev/null |
		sed '/^#/d' |
		awk -v name="$codename" 'BEGIN { RS = ""; ORS = "\n\n" }
			$0 ~ "(^|\n)Suites:[^\n]*[ \t]" name && /(^|\n)Components:[^\n]*[ \t]main/ &&
			!/(^|\n)Enabled: *no/ {
				gsub(/(^|\n)Types:[^\n]*/, "\nTypes: deb-src")
				sub(/^\n/, "")
				print
			}' >"$parts/debian.sources"
	# sources.list may not exist.
	{ find /etc/apt/sources.list /etc/apt/sources.list.d -name '*.list' -exec cat {} + 2>/dev/null || true; } |
		awk -v name="$codename" '$1 == "deb" && / main( |$)/ && $0 ~ " " name {
			$1 = "deb-src"
			print
		}' >"$parts/debian.list"
	[[ -s $parts/debian.sources || -s $parts/debian.list ]] || echo "dev: /etc/apt names no archive of Debian $codename"
}

# fetch_from_upstream WRAP FILE: apt's downloader checks the hash, and uses the machine's proxy.
fetch_from_upstream() {
	private_apt "$ROOT/$DEPS/apt"
	/usr/lib/apt/apt-helper "${PRIVATE_APT[@]}" download-file "$(wrap_field "$1" source_url)" "$2" \
		"SHA256:$(wrap_field "$1" source_hash)"
}
