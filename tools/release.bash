# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# ./dev release: tarballs, packages, wheels and SBOMs for each processor, an OpenVEX document, SHA256SUMS and its signature. The same commit gives the same files, in any
# folder, by any user, at any time, in any locale: all times are those of the commit.

readonly PKGS_RELEASE="git tar gzip xz-utils dpkg-dev rpm python3"
# shellcheck disable=SC2034 # for the tests (tools/test.bash)
readonly PKGS_PACKAGING="$PKGS_RELEASE cpio debhelper lintian rpmlint minisign diffoscope-minimal debootstrap faketime zsh fish python3-pip python3-venv python3-wheel twine"
readonly RELEASE_PUBLIC_KEY=minisign.pub # the maintainers' public key, which users verify with
# The project's home page, https://..., for the packages, wheels and SBOMs. Empty: they name none. It stands here and not in an option, nor is
# it Git's remote: each machine that makes a release of this commit makes the same files.
readonly RELEASE_URL=''
readonly RELEASE_USAGE="./dev release [--out=FOLDER] [--key=FILE]"

word_release() {
	local out=release key='' arch
	while (($#)); do
		case $1 in
		--out=?*) out=${1#--out=} ;;
		--key=?*) key=${1#--key=} ;;
		*) die "release: unknown option '$1'" "$RELEASE_USAGE" ;;
		esac
		shift
	done
	[[ -z $key ]] || release_check_key "$key"
	release_check_url "$RELEASE_URL"
	need "$PKGS_BUILD $PKGS_RELEASE${key:+ minisign}"
	mkdir -p "$out"
	[[ -z $(ls -A "$out") ]] || die "release: $out is not empty" "Remove it, or say --out=FOLDER."
	build_static distinit-core
	for arch in $(processors); do
		[[ $arch == "$(dpkg --print-architecture)" ]] || build_cross "$arch" distinit-core
	done
	for arch in $(processors); do
		release_one "$arch" "$(release_build "$arch")" "$out"
	done
	release_vex >"$out/distinit-$(release_version).openvex.json"
	(cd "$out" && sha256sum -- distinit* >SHA256SUMS)
	[[ -z $key ]] || release_sign "$out" "$key"
	say "$out: $(wc -l <"$out/SHA256SUMS") files, and SHA256SUMS, ${key:+signed}${key:-not signed (--key=FILE)}"
}

# release_check_key KEY: before anything is built.
release_check_key() {
	[[ -r $1 ]] || die "release: --key=$1 is not there, or not readable" "minisign -G -s FILE -p $RELEASE_PUBLIC_KEY makes a pair of keys."
	[[ -r $RELEASE_PUBLIC_KEY ]] ||
		die "release: $RELEASE_PUBLIC_KEY is not there: users could not verify the signature" \
			"Commit the public key that belongs to $1 as $RELEASE_PUBLIC_KEY. 'minisign -R -s FILE -p $RELEASE_PUBLIC_KEY' makes it again."
}

# release_check_url URL: empty, or one that fits into each format of packages. No blank or line in it may add a field.
release_check_url() {
	[[ -z $1 || $1 =~ ^https?://[[:alnum:].:/_~-]+$ ]] ||
		die "release: RELEASE_URL='$1' in tools/release.bash is no address such as https://HOST/PATH"
}

# release_sign OUT KEY: sign SHA256SUMS, and verify that as users will do.
release_sign() {
	local comment
	comment="distinit $(release_version)"
	minisign -S -s "$2" -m "$1/SHA256SUMS" -c "$comment" -t "$comment" >>"$LOGS/release.log" ||
		die "release: minisign cannot sign with --key=$2"
	minisign -V -p "$RELEASE_PUBLIC_KEY" -m "$1/SHA256SUMS" >>"$LOGS/release.log" 2>&1 && return
	rm "$1/SHA256SUMS.minisig"
	die "release: $RELEASE_PUBLIC_KEY is not the public key of --key=$2, so the signature is removed" \
		"Sign with the maintainers' key, or commit the new public key."
}

# release_build ARCH: print the folder that it is built in.
release_build() {
	[[ $1 == "$(dpkg --print-architecture)" ]] && echo build || echo "build-$1"
}

# release_one ARCH BUILD OUT: the tarball, the packages and the SBOM of the programs in BUILD.
release_one() {
	local arch=$1 build=$2 out=$3 stage=$DEPS/release/$1 epoch tarball
	epoch=$(release_epoch) || return
	tarball=$out/distinit-$(release_version)-linux-$arch.tar.gz
	rm -rf "$stage"
	mkdir -p "$stage"
	# Only this machine's own program can be asked for its options. They are the same for all.
	tools/completions "$stage/completions" build/distinit build/distrun
	release_licences >"$stage/THIRD-PARTY-LICENSES"
	release_tarball "$arch" "$build" "$stage" "$epoch" >"$tarball"
	release_deb "$arch" "$build" "$stage" "$epoch" "$out"
	release_rpm "$arch" "$build" "$stage" "$epoch" "$out"
	release_wheel "$arch" "$build" "$stage" "$epoch" "$out"
	release_sbom "$arch" "$epoch" "$tarball" >"${tarball%.tar.gz}.spdx.json"
}

# release_epoch: print the time that all files have.
release_epoch() {
	[[ -z ${SOURCE_DATE_EPOCH-} ]] || { echo "$SOURCE_DATE_EPOCH" && return; }
	git_here log -1 --format=%ct || die "release: the time of the commit is not known" "Set SOURCE_DATE_EPOCH, where there is no Git clone."
}

release_version() {
	sed -n "s/^\tversion: '\(.*\)',/\1/p" meson.build
}

# Name and address, as of those who made the commit; or DEBFULLNAME and DEBEMAIL.
release_maintainer() {
	if [[ -n ${DEBEMAIL-} ]]; then
		printf '%s <%s>\n' "${DEBFULLNAME-}" "$DEBEMAIL"
	else
		git_here log -1 --format='%an <%ae>'
	fi
}

# release_tarball ARCH BUILD STAGE EPOCH: write it to stdout.
release_tarball() {
	local folder
	folder=distinit-$(release_version)-linux-$1
	install -D -m 755 -t "$3/$folder" "$2/distinit" "$2/distinit-core" "$2/distrun"
	install -D -m 644 -t "$3/$folder" LICENSE "$3/THIRD-PARTY-LICENSES" cmd/distinit/distinit.1 cmd/distrun/distrun.1
	tools/ship-pages "$3/$folder" LICENSE=LICENSE cmd/distinit/distinit.1=distinit.1 cmd/distrun/distrun.1=distrun.1
	install -D -m 644 -t "$3/$folder/completions" "$3"/completions/*
	tar --create --directory="$3" --sort=name --format=gnu --owner=0 --group=0 --numeric-owner --mtime="@$4" \
		--mode=u=rwX,go=rX "$folder" | gzip -9n
}

# Prints the licences of the libraries in the programs, which ask for that.
release_licences() {
	local wrap tarball file
	file=$(find /usr/share/doc/musl-dev/copyright "$DEPS"/*/usr/share/doc/musl-dev/copyright 2>/dev/null | head -n 1)
	[[ -n $file ]] || die "release: the licence of musl is not there (/usr/share/doc/musl-dev/copyright)" \
		"apt-get install --reinstall musl-dev, where no file in /etc/dpkg/dpkg.cfg.d excludes it."
	printf 'distinit and distrun contain parts of these libraries.\n\n--- musl ---\n\n'
	cat "$file"
	for wrap in $WRAPS; do
		tarball=$TARBALLS/$(wrap_field "$wrap" source_filename)
		file=$(tar --list --file="$tarball" | grep -iE '^[^/]+/license(\.txt)?$') || die "release: $tarball has no licence"
		printf '\n--- %s ---\n\n' "$(wrap_field "$wrap" directory)"
		# Of libcap's two licences ours is the first: the BSD one.
		tar --extract --to-stdout --file="$tarball" "$file" | sed '/^GPL v2.0:/,$d'
	done
}

# release_musl ARCH: print the version of Debian's musl that is linked, and its library.
release_musl() {
	local cpu
	if [[ $1 == "$(dpkg --print-architecture)" ]]; then
		dpkg-query --show --showformat='${Version}\n' musl-dev
		echo "/usr/lib/$(uname -m)-linux-musl/libc.a"
	else
		dpkg-deb --field "$DEPS/$1"/musl-dev_*.deb Version
		cpu=$(sed -n "s/^cpu = '\(.*\)'/\1/p" "$DEPS/$1/constants.ini")
		echo "$DEPS/$1/usr/lib/$cpu-linux-musl/libc.a"
	fi
}

# release_sbom ARCH EPOCH TARBALL: what is inside, as SPDX.
release_sbom() {
	local -a musl
	mapfile -t musl < <(release_musl "$1")
	tools/sbom --arch="$1" --version="$(release_version)" --epoch="$2" --tarball="$3" --musl-version="${musl[0]}" \
		--musl-library="${musl[1]}" ${RELEASE_URL:+--url="$RELEASE_URL"}
}

# release_vex: what the known vulnerabilities of the libraries mean for these programs, as OpenVEX.
release_vex() {
	local arch
	local -a musl
	arch=$(dpkg --print-architecture)
	mapfile -t musl < <(release_musl "$arch")
	# shellcheck disable=SC2046 # words
	tools/vex --version="$(release_version)" --epoch="$(release_epoch)" --musl-version="${musl[0]}" $(processors)
}

# release_wheel ARCH BUILD STAGE EPOCH OUT: distinit for pip.
release_wheel() {
	tools/wheel --cpu="$(kernel_cpu "$1")" --version="$(release_version)" --epoch="$4" ${RELEASE_URL:+--url="$RELEASE_URL"} \
		--program="$2/distinit" --completions="$3/completions" --licence=LICENSE --licence="$3/THIRD-PARTY-LICENSES" "$5"
}

# release_files BUILD STAGE ROOT: what both packages install in the same places.
release_files() {
	local name
	install -D -m 755 -t "$3/usr/bin" "$1/distinit" "$1/distrun"
	for name in distinit distrun; do
		install -D -m 644 "$2/completions/$name.bash" "$3/usr/share/bash-completion/completions/$name"
		install -D -m 644 -t "$3/usr/share/fish/vendor_completions.d" "$2/completions/$name.fish"
		mkdir -p "$3/usr/share/man/man1"
		gzip -9n <"cmd/$name/$name.1" >"$3/usr/share/man/man1/$name.1.gz"
		chmod 644 "$3/usr/share/man/man1/$name.1.gz"
	done
}

# release_pages DOC [PATH=PLACE]...: the pages of both packages, whose manuals stand in the same place.
release_pages() {
	tools/ship-pages "$@" cmd/distinit/distinit.1=../../man/man1/distinit.1.gz cmd/distrun/distrun.1=../../man/man1/distrun.1.gz
}
