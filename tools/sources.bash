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
			fetched=$tarball.new
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

# debian_archives: print "ADDRESS SUITE" for each archive that the machine's apt sources name. apt itself reads the sources, in
# all their formats, and needs no package lists for that.
debian_archives() {
	local lists
	lists=$(mktemp -d)
	mkdir "$lists/partial"
	apt-get -o "Dir::State::lists=$lists" --print-uris update |
		sed -n "s#^'\([^']*\)/dists/\([^/]*\)/InRelease'.*#\1 \2#p"
	rm -r "$lists"
}

# download ADDRESS WRAP FILE: apt's downloader checks the hash, and uses the machine's proxy.
download() {
	/usr/lib/apt/apt-helper -o APT::Sandbox::User=root -o Acquire::Retries=2 download-file "$1" "$3" \
		"SHA256:$(wrap_field "$2" source_hash)"
}

# fetch_from_debian WRAP FILE: fetch the tarball from the pool of an archive. The pool keeps the files of all releases,
# whichever this machine has.
fetch_from_debian() {
	local name package archive
	name=$(wrap_field "$1" source_filename)
	package=${name%%_*}
	for archive in $(debian_archives | cut -d ' ' -f 1 | uniq); do
		# The pool has a folder for each first letter, and for "lib" with the next one.
		[[ $package == lib* ]] && archive+=/pool/main/${package:0:4} || archive+=/pool/main/${package:0:1}
		! download "$archive/$package/$name" "$1" "$2" || return 0
	done
	return 1
}

fetch_from_upstream() {
	download "$(wrap_field "$1" source_url)" "$1" "$2"
}
