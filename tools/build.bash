# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Sets up build folders with Meson, and compiles; builds the static program with musl, for this
# processor or another.

readonly PKGS_BUILD="gcc libc6-dev linux-libc-dev musl-tools binutils meson ninja-build dpkg-dev xz-utils"

word_build() {
	local arch='' to
	local -a core=()
	while (($#)); do
		case $1 in
		--arch=*) arch=${1#--arch=} ;;
		--core) core=(distinit-core) ;;
		*) die "build: unknown option '$1'" "./dev build [--core] [--arch=ARCH]" ;;
		esac
		shift
	done
	if [[ -n $arch && $arch != "$(dpkg --print-architecture)" ]]; then
		build_cross "$arch" "${core[@]}"
		to=build-$arch/distinit
	else
		build_native "${core[@]}"
		return
	fi
	say "$to: $(stat -c %s "$to") bytes, static"
}

# build_native [PROGRAM]...: the static programs, and these beside them.
build_native() {
	need "$PKGS_BUILD"
	build_static "$@"
	local to
	for to in build/distinit build/distrun "${@/#/build/}"; do
		say "$to: $(stat -c %s "$to") bytes, static"
	done
}

# build_static [PROGRAM]...
build_static() {
	local arch program
	arch=$(dpkg --print-architecture)
	fetch_sources
	apply_packagefiles
	link_kernel_headers "$DEPS/$arch/kernel-headers" /usr/include "/usr/include/$(gcc -print-multiarch)"
	configure_musl build musl "$arch"
	compile build distinit distrun "$@"
	for program in distinit distrun "$@"; do
		check_static "build/$program"
	done
}

# link_kernel_headers FOLDER INCLUDE ASM: link to only the three folders of kernel headers.
link_kernel_headers() {
	mkdir -p "$1"
	ln -sfn "$2/linux" "$1/linux"
	ln -sfn "$2/asm-generic" "$1/asm-generic"
	ln -sfn "$3/asm" "$1/asm"
}

# configure_musl DIR NAME ARCH: set up DIR with cross/NAME.ini and its constants.
configure_musl() {
	local constants=$DEPS/$3/constants.ini line cpu qemu family endian flag
	line=$(processor "$3") || return
	read -r _ cpu qemu family endian flag <<<"$line"
	printf "%s = '%s'\n" root "$ROOT" cpu "$cpu" arch "$3" qemu "$qemu" family "$family" endian "$endian" |
		sed '1i [constants]' >"$constants.new"
	echo "flags = [${flag:+\"$flag\"}]" | tr '"' "'" >>"$constants.new"
	cmp -s "$constants.new" "$constants" || cp "$constants.new" "$constants"
	rm "$constants.new"
	configure "$1" --cross-file="$constants" --cross-file="cross/$2.ini" --wrap-mode=forcefallback -Dstatic=true -Db_lto=true
}

# configure DIR OPTION...: run meson setup, unless DIR is set up with these options already.
configure() {
	local dir=$1
	shift
	local wanted="$ROOT $*"
	[[ -f $dir/build.ninja && -f $dir/.dev-options && $(<"$dir/.dev-options") == "$wanted" ]] && return
	rm -rf "$dir"
	step "setup-${dir##*/}" "If it says that a file is missing, meson.build and the tree disagree." \
		meson setup "$dir" "$@"
	printf '%s\n' "$wanted" >"$dir/.dev-options"
}

# compile DIR [TARGET]...
compile() {
	local dir=$1 log=$LOGS/compile-${1##*/}.log
	shift
	mkdir -p "$LOGS"
	if ! ninja -C "$dir" "$@" >"$log" 2>&1 </dev/null; then
		# Leave out command lines and Meson's success messages.
		grep -E '^FAILED:|^ninja: error|ERROR|error:|warning:|undefined reference|^ +([0-9]+ )?\||: In function' "$log" |
			head -n 60 >&2 || true
		die "$dir does not compile (all of it: $log)" "Again, alone: ninja -C $dir"
	fi
	grep -E 'warning:' "$log" >&2 || true
}

# Meson copies subprojects/packagefiles/ over a tarball only when it unpacks the tarball. They may
# have changed since.
apply_packagefiles() {
	step packagefiles "From nothing: ./dev clean" meson subprojects packagefiles --apply
}

# A program that needs a loader does not start in an image without one.
check_static() {
	if readelf --program-headers "$1" | grep -qE '^ *(INTERP|DYNAMIC) '; then
		die "$1 is not static: it has a loader or a dynamic section (readelf -l)" \
			"Was an option of the linker changed in meson.build?"
	fi
	[[ $(readelf --file-header "$1") == *'Type:'*EXEC* ]] || die "$1 is position-independent, and should not be"
}
