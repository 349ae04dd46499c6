# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Builds the static program for another processor, with Debian's cross compiler and musl.

# How Debian, GNU and the kernel (as QEMU and RPM) name each processor, Meson its family, its order of bytes, and an option that
# the compiler needs there.
readonly PROCESSORS="
amd64   x86_64      x86_64  x86_64  little
arm64   aarch64     aarch64 aarch64 little
ppc64el powerpc64le ppc64le ppc64   little -mlong-double-64
riscv64 riscv64     riscv64 riscv64 little
s390x   s390x       s390x   s390x   big"

# processor ARCH: print its line of PROCESSORS.
processor() {
	grep "^$1 " <<<"$PROCESSORS" ||
		die "build: no processor '$1'" "There are:$(awk 'NF { printf "%s %s", n++ ? "," : "", $1 }' <<<"$PROCESSORS")"
}

# has_processor ARCH: whether this release of Debian has what a build for it needs. Of riscv64, Debian 12 has no musl.
has_processor() {
	[[ $1 != riscv64 || $(. /etc/os-release && echo "${VERSION_ID:-sid}") != 12 ]]
}

# processors: print those that this release of Debian can build for.
processors() {
	local arch
	while read -r arch _; do
		[[ -z $arch ]] || ! has_processor "$arch" || echo "$arch"
	done <<<"$PROCESSORS"
}

# kernel_cpu ARCH: print the kernel's word for it.
kernel_cpu() {
	local line cpu
	line=$(processor "$1") || return
	read -r _ _ cpu _ <<<"$line"
	echo "$cpu"
}

# build_cross ARCH [PROGRAM]...: build build-ARCH/distinit, and these beside it.
build_cross() {
	local arch=$1 cpu line program
	shift
	line=$(processor "$arch") || return
	read -r _ cpu _ <<<"$line"
	has_processor "$arch" || die "build: this Debian cannot build for $arch: it has no compiler or no musl for it" "A newer Debian can."
	need "$PKGS_BUILD qemu-user-static gcc-${cpu//_/-}-linux-gnu linux-libc-dev-$arch-cross"
	fetch_sources
	apply_packagefiles
	fetch_musl "$arch" "$cpu"
	link_kernel_headers "$DEPS/$arch/kernel-headers" "/usr/$cpu-linux-gnu/include" "/usr/$cpu-linux-gnu/include"
	configure_musl "build-$arch" musl-other "$arch"
	compile "build-$arch" distinit distrun "$@"
	for program in distinit distrun "$@"; do
		check_static "build-$arch/$program"
	done
}

# fetch_musl ARCH CPU: download and unpack musl-dev of another processor, without adding a foreign
# architecture to the machine. The .deb is kept in the machine's cache.
fetch_musl() {
	local arch=$1 here=$ROOT/$DEPS/$1 cache deb
	cache=$(machine_cache)
	if [[ ! -e $here/complete ]]; then
		rm -rf "$here"
		mkdir -p "$here"
		cp "${cache:-/nowhere}"/musl-dev_*_"$arch".deb "$here/" 2>/dev/null ||
			step "musl-$arch" "Is the network up? Do /etc/apt's sources have $arch?" download_musl "$arch" "$here"
		deb=$(echo "$here"/musl-dev_*.deb)
		dpkg-deb --extract "$deb" "$here" || die "build: $deb is no package" "Remove it, here and in ${cache:-$here}."
		[[ -z $cache ]] || keep_source "$deb" "$cache/${deb##*/}"
		touch "$here/complete"
	fi
	# The file contains paths, so write it each time: the tree may have been moved.
	musl_specs "$2" "$here" <"$here/usr/lib/$2-linux-musl/musl-gcc.specs" >"$here/musl-gcc.specs"
}

# musl_specs CPU FOLDER: filter what tells gcc where musl is: below FOLDER, not in the root.
musl_specs() {
	local folder
	# In such a file gcc parts words at blanks, and takes a character after a backslash as it is, but for braces. So does sed in what
	# it puts in.
	folder=$(sed 's#[^[:alnum:]/._-]#\\&#g; s#[\\&]#\\&#g' <<<"$2")
	sed "s#/usr/\(include\|lib\)/$1-linux-musl#$folder&#g"
}

# download_musl ARCH DIR: with package lists of its own, as the machine's are for another processor.
download_musl() {
	local -a apt=(-o "Dir::State::lists=$2/apt/lists" -o Dir::State::status=/dev/null -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=
		-o APT::Sandbox::User=root -o Acquire::Retries=2 -o "APT::Architecture=$1" -o "APT::Architectures=$1")
	mkdir -p "$2/apt/lists/partial"
	apt-get "${apt[@]}" update || true # some of the machine's sources may have nothing for that processor
	(cd "$2" && apt-get "${apt[@]}" download musl-dev) && rm -rf "$2/apt"
}
