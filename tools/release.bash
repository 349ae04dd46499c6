# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# ./dev release: packages and tarballs for each processor, and SHA256SUMS. The same commit gives the same files, in any
# folder, by any user, at any time, in any locale: all times are those of the commit.

readonly RELEASE_ARCHES="amd64 arm64"
readonly PKGS_RELEASE="git tar gzip dpkg-dev python3"

word_release() {
	local out=release arch
	while (($#)); do
		case $1 in
		--out=?*) out=${1#--out=} ;;
		*) die "release: unknown option '$1'" "./dev release [--out=FOLDER]" ;;
		esac
		shift
	done
	need "$PKGS_BUILD $PKGS_RELEASE"
	build_static
	for arch in $RELEASE_ARCHES; do
		[[ $arch == "$(dpkg --print-architecture)" ]] || build_cross "$arch"
	done
	mkdir -p "$out"
	[[ -z $(ls -A "$out") ]] || die "release: $out is not empty" "Remove it, or say --out=FOLDER."
	for arch in $RELEASE_ARCHES; do
		release_one "$arch" "$(release_build "$arch")" "$out"
	done
	(cd "$out" && sha256sum -- distinit* >SHA256SUMS)
	say "$out: $(wc -l <"$out/SHA256SUMS") files, and SHA256SUMS"
}

# release_build ARCH: print the folder that it is built in.
release_build() {
	[[ $1 == "$(dpkg --print-architecture)" ]] && echo build || echo "build-$1"
}

# release_one ARCH BUILD OUT: the tarball and the package of the programs in BUILD.
release_one() {
	local arch=$1 build=$2 out=$3 stage=$DEPS/release/$1 epoch
	epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)} ||
		die "release: the time of the commit is not known" "Set SOURCE_DATE_EPOCH, where there is no Git clone."
	rm -rf "$stage"
	mkdir -p "$stage"
	# Only this machine's own program can be asked for its options. They are the same for all.
	tools/completions "$stage/completions" build/distinit build/distrun
	release_tarball "$arch" "$build" "$stage" "$epoch" >"$out/distinit-$(release_version)-linux-$arch.tar.gz"
	release_package "$arch" "$build" "$stage" "$epoch" "$out"
}

release_version() {
	sed -n "s/^\tversion: '\(.*\)',/\1/p" meson.build
}

# release_tarball ARCH BUILD STAGE EPOCH: write it to stdout.
release_tarball() {
	local folder
	folder=distinit-$(release_version)-linux-$1
	install -D -m 755 -t "$3/$folder" "$2/distinit" "$2/distrun"
	install -D -m 644 -t "$3/$folder" LICENSE README.md CHANGELOG.md cmd/distinit/distinit.1 cmd/distrun/distrun.1
	install -D -m 644 -t "$3/$folder/completions" "$3"/completions/*
	tar --create --directory="$3" --sort=name --format=gnu --owner=0 --group=0 --numeric-owner --mtime="@$4" \
		--mode=u=rwX,go=rX "$folder" | gzip -9n
}

# release_package ARCH BUILD STAGE EPOCH OUT: the Debian package.
release_package() {
	local root=$3/root version
	version=$(release_version)-1
	install -D -m 755 -t "$root/usr/bin" "$2/distinit" "$2/distrun"
	install -D -m 644 "$3/completions/distinit.bash" "$root/usr/share/bash-completion/completions/distinit"
	install -D -m 644 "$3/completions/distrun.bash" "$root/usr/share/bash-completion/completions/distrun"
	install -D -m 644 -t "$root/usr/share/zsh/vendor-completions" "$3"/completions/_*
	install -D -m 644 -t "$root/usr/share/fish/vendor_completions.d" "$3"/completions/*.fish
	release_documents "$root/usr/share" "$version" "$4"
	release_control "$1" "$root" "$version"
	find "$root" -type d -exec chmod 755 {} +
	find "$root" -exec touch --no-dereference --date="@$4" {} +
	SOURCE_DATE_EPOCH=$4 dpkg-deb --root-owner-group -Zgzip -z9 --build "$root" \
		"$5/distinit_${version}_$1.deb" >>"$LOGS/release.log"
}

# release_documents SHARE VERSION EPOCH: manuals, changelogs, licences, and what lintian has to know.
release_documents() {
	local doc=$1/doc/distinit name
	mkdir -p "$1/man/man1" "$doc" "$1/lintian/overrides"
	for name in distinit distrun; do
		gzip -9n <"cmd/$name/$name.1" >"$1/man/man1/$name.1.gz"
	done
	gzip -9n <CHANGELOG.md >"$doc/changelog.gz"
	printf 'distinit (%s) unstable; urgency=medium\n\n  * See changelog.gz.\n\n -- %s  %s\n' "$2" "$(release_maintainer)" \
		"$(LC_ALL=C date --utc --rfc-email --date="@$3")" | gzip -9n >"$doc/changelog.Debian.gz"
	release_copyright >"$doc/copyright"
	printf 'distinit: %s\n' 'statically-linked-binary [usr/bin/distinit]' 'statically-linked-binary [usr/bin/distrun]' \
		'initial-upload-closes-no-bugs [*]' >"$1/lintian/overrides/distinit"
	chmod 644 "$1"/man/man1/* "$doc"/* "$1"/lintian/overrides/*
}

# Name and address, as of those who made the commit; or DEBFULLNAME and DEBEMAIL.
release_maintainer() {
	if [[ -n ${DEBEMAIL-} ]]; then
		printf '%s <%s>\n' "${DEBFULLNAME-}" "$DEBEMAIL"
	else
		git log -1 --format='%an <%ae>'
	fi
}

release_copyright() {
	cat <<-'COPYRIGHT'
		Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
		Upstream-Name: distinit

		Files: *
		Copyright: 2026 the distinit maintainers
		License: Apache-2.0
		 On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.
		Comment: The programs contain musl and cJSON (MIT) and libcap (BSD-3-clause).
	COPYRIGHT
}

# release_control ARCH ROOT VERSION
release_control() {
	mkdir -p "$2/DEBIAN"
	(cd "$2" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) >"$2/DEBIAN/md5sums"
	cat >"$2/DEBIAN/control" <<-CONTROL
		Package: distinit
		Version: $3
		Architecture: $1
		Maintainer: $(release_maintainer)
		Installed-Size: $(find "$2/usr" -type f -printf '%s\n' | awk '{ kib += int(($1 + 1023) / 1024) } END { print kib }')
		Section: utils
		Priority: optional
		Description: container entrypoint for distributed training
		 distinit turns what a cluster manager says about a job into the variables that
		 training frameworks read, applies overrides, and becomes the program.
		 .
		 distrun is for Slurm's batch scripts.
	CONTROL
	chmod 644 "$2"/DEBIAN/*
}
