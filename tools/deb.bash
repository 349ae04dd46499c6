# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# The Debian package of ./dev release.

# release_deb ARCH BUILD STAGE EPOCH OUT
release_deb() {
	local root=$3/deb version
	version=$(release_version)-1
	release_files "$2" "$3" "$root"
	install -D -m 644 -t "$root/usr/share/zsh/vendor-completions" "$3"/completions/_*
	deb_documents "$root/usr/share" "$version" "$4" "$3/THIRD-PARTY-LICENSES"
	deb_control "$1" "$root" "$version"
	find "$root" -type d -exec chmod 755 {} +
	find "$root" -exec touch --no-dereference --date="@$4" {} +
	SOURCE_DATE_EPOCH=$4 dpkg-deb --root-owner-group -Zgzip -z9 --build "$root" \
		"$5/distinit_${version}_$1.deb" >>"$LOGS/release.log"
}

# deb_documents SHARE VERSION EPOCH LICENCES: pages, changelogs, licences, and what lintian has to know.
deb_documents() {
	local doc=$1/doc/distinit
	mkdir -p "$doc" "$1/lintian/overrides"
	release_pages "$doc" LICENSE=../../common-licenses/Apache-2.0 CHANGELOG.md=changelog.gz
	gzip -9n <CHANGELOG.md >"$doc/changelog.gz"
	printf 'distinit (%s) unstable; urgency=medium\n\n  * See changelog.gz.\n\n -- %s  %s\n' "$2" "$(release_maintainer)" \
		"$(LC_ALL=C date --utc --rfc-email --date="@$3")" | gzip -9n >"$doc/changelog.Debian.gz"
	deb_copyright "$4" >"$doc/copyright"
	printf 'distinit: %s\n' 'statically-linked-binary [usr/bin/distinit]' 'statically-linked-binary [usr/bin/distrun]' \
		'initial-upload-closes-no-bugs [*]' \
		'zero-byte-file-in-doc-directory [usr/share/doc/distinit/python/distinit/py.typed]' >"$1/lintian/overrides/distinit"
	chmod 644 "$doc"/{copyright,changelog*.gz} "$1"/lintian/overrides/*
}

# deb_copyright LICENCES
deb_copyright() {
	cat - "$1" <<-'COPYRIGHT'
		distinit is copyright 2026 the distinit maintainers, under the Apache License, version 2.0. On Debian systems its text
		is in /usr/share/common-licenses/Apache-2.0.

	COPYRIGHT
}

# deb_control ARCH ROOT VERSION
deb_control() {
	mkdir -p "$2/DEBIAN"
	(cd "$2" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) >"$2/DEBIAN/md5sums"
	cat >"$2/DEBIAN/control" <<-CONTROL
		Package: distinit
		Version: $3
		Architecture: $1
		Maintainer: $(release_maintainer)${RELEASE_URL:+
		Homepage: $RELEASE_URL}
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
