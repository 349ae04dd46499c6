#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# ./dev release as a whole: in this tree, and in a copy in another folder, by another user, at another time, in another
# locale and zone, with another umask. And its Debian package in a Debian that was just installed.
#
# shellcheck disable=SC2016,SC2154 # for the shell in the fresh root; bats' run sets status and output

load helpers

TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)

setup_file() {
	WHY=$(missing git rpmbuild lintian rpmlint faketime diffoscope debootstrap)
	[[ -n $WHY || -e $TREE/build-deps/arm64/complete ]] || WHY="there is no build for arm64"
	export WHY
	[[ -z $WHY ]] || return 0
	PLACE=$(mktemp -d)
	chmod 755 "$PLACE"
	export PLACE SOURCE_DATE_EPOCH=1700000000 DEBFULLNAME="Some Body" DEBEMAIL=body@debian.org
	"$TREE/tools/fresh-root" make "$PLACE/root" >"$PLACE/root.log" 2>&1 3>&- &
	(cd "$TREE" && ./dev release --out="$PLACE/one") >"$PLACE/one.log" 2>&1 3>&- || true
	(in_another_place) >"$PLACE/two.log" 2>&1 3>&- || true
	wait "$!" || touch "$PLACE/no-root"
}

# faketime changes the clock; NO_FAKE_STAT: but not the times of files, which rpmbuild would pack. No network: the libraries' tarballs, and musl for arm64, are copied, too.
in_another_place() {
	local copy=$PLACE/a/longer/path home=$PLACE/home arch
	mkdir -p "$copy" "$home/.cache/distinit"
	cd "$TREE" || return
	git -c safe.directory="$TREE" ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$copy"
	cp --parents -r subprojects/packagecache "$copy"
	for arch in amd64 arm64; do
		cp build-deps/$arch/musl-dev_*.deb "$home/.cache/distinit/" 2>/dev/null || true
	done
	find "$copy" -exec touch --date=2019-01-01 {} +
	chown -R 4321:4321 "$PLACE/a" "$home"
	cd "$copy" || return
	(
		umask 077
		env -u XDG_CACHE_HOME NO_FAKE_STAT=1 HOME="$home" USER=somebody TZ=Asia/Tokyo LANG=tr_TR.UTF-8 LC_ALL=tr_TR.UTF-8 \
			setpriv --reuid=4321 --regid=4321 --clear-groups faketime -f +400d ./dev release --out="$home/two"
	)
}

teardown_file() {
	[[ -z ${PLACE-} ]] || rm -rf --one-file-system "$PLACE"
}

setup() {
	[[ -z $WHY ]] || skip "$WHY"
}

@test "release: everything for both processors, in one go" {
	local version
	version=$(sed -n "s/^\tversion: '\(.*\)',/\1/p" "$TREE/meson.build")
	tail "$PLACE/one.log"
	cd "$PLACE/one"
	same "the files" "$(tr ' ' '\n' <<-END
		SHA256SUMS
		distinit-$version-1.aarch64.rpm
		distinit-$version-1.x86_64.rpm
		distinit-$version-linux-amd64.spdx.json
		distinit-$version-linux-amd64.tar.gz
		distinit-$version-linux-arm64.spdx.json
		distinit-$version-linux-arm64.tar.gz
		distinit-$version-py3-none-manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64.whl
		distinit-$version-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64.whl
		distinit_$version-1_amd64.deb
		distinit_$version-1_arm64.deb
	END
	)" "$(LC_ALL=C ls)"
	sha256sum --check --quiet SHA256SUMS
	same "the number of sums" 10 "$(wc -l <SHA256SUMS)"
	for arch in amd64 arm64; do
		same "the processor of the package" $arch "$(dpkg-deb --field distinit_*_$arch.deb Architecture)"
		"$PROGRAMS/check-spdx" distinit-*-$arch.spdx.json
		# What pip puts on PATH is what the package has.
		cmp <(tar -xOzf distinit-*-$arch.tar.gz "distinit-$version-linux-$arch/distinit") \
			<(python3 -c 'import sys, zipfile; sys.stdout.buffer.write(zipfile.ZipFile(sys.argv[1]).read(sys.argv[2]))' \
				distinit-*"$(cpu_of $arch)".whl "distinit-$version.data/scripts/distinit")
	done
	same "the RPM's processors" $'aarch64\nx86_64' "$(rpm --query --queryformat '%{ARCH}\n' --package ./*.rpm)"
}

# cpu_of ARCH: the kernel's word for it.
cpu_of() {
	[[ $1 == amd64 ]] && echo x86_64 || echo aarch64
}

@test "release: the same in another folder, by another user, at another time, in another locale: diffoscope is silent" {
	tail "$PLACE/two.log"
	run diffoscope --exclude-directory-metadata=yes "$PLACE/one" "$PLACE/home/two"
	[[ $status -eq 0 && -z $output ]] || fail "they differ"
	# They were built, not copied.
	[[ $(stat -c %u "$PLACE/a/longer/path/build-arm64/distinit") == 4321 ]]
	run diffoscope --exclude-directory-metadata=yes "$PLACE/one" "$PLACE/home"
	[[ $status -eq 1 && -n $output ]] || fail "it is always silent"
}

@test "release: lintian and rpmlint have nothing to say about the packages of both processors" {
	cd "$PLACE/one"
	run lintian --allow-root --fail-on warning ./*.deb
	[[ $status -eq 0 && ! $output =~ (^|$'\n')[EW]: ]] || fail "lintian"
	run rpmlint --config "$PROGRAMS/rpmlint.toml" ./*.rpm
	[[ $status -eq 0 && $output == *'2 packages'*' 0 errors, 0 warnings'* ]] || fail "rpmlint"
}

@test "release: in a fresh Debian the package installs, upgrades from an older one, and is purged without a trace" {
	local new older=$PLACE/older version
	new=$(echo "$PLACE"/one/*_"$(dpkg --print-architecture)".deb)
	version=$(dpkg-deb --field "$new" Version)
	[[ ! -e $PLACE/no-root ]] || skip "no bare Debian can be made here: $(tail -n 1 "$PLACE/root.log")"
	dpkg-deb --raw-extract "$new" "$older"
	sed -i 's/^Version: .*/Version: 0.0.9-1/' "$older/DEBIAN/control"
	touch "$older/usr/share/doc/distinit/old"
	dpkg-deb --root-owner-group --build "$older" "$PLACE/root/root/older.deb" >/dev/null
	cp "$new" "$PLACE/root/root/new.deb"
	run "$TREE/tools/fresh-root" run "$PLACE/root" '
		set -e
		files() { find / -xdev -path /var/lib/dpkg -prune -o -path /var/log -prune -o -path /var/cache -prune -o -path /tmp -prune -o -print | sort; }
		files >/tmp/before
		dpkg --install /root/older.deb
		test -e /usr/share/doc/distinit/old
		dpkg --install /root/new.deb
		test ! -e /usr/share/doc/distinit/old
		echo "installed $(dpkg-query --show --showformat="\${Version}" distinit)"
		dpkg --verify distinit
		distinit --hosts=n1,n2 --node-rank=1 -- sh -c "echo rank \$PET_NODE_RANK"
		distrun where || true
		dpkg --purge distinit
		files | diff /tmp/before -
		echo "no trace"'
	[[ $status -eq 0 && $output == *"installed $version"*'rank 1'*'no trace' ]] || fail "not so"
}

@test "release: in a fresh Debian with python3 and pip alone, pip installs the wheel without a network" {
	local version
	version=$(sed -n "s/^\tversion: '\(.*\)',/\1/p" "$TREE/meson.build")
	[[ ! -e $PLACE/no-root ]] || skip "no bare Debian can be made here: $(tail -n 1 "$PLACE/root.log")"
	"$TREE/tools/fresh-root" run "$PLACE/root" 'apt-get update && apt-get install -y --no-install-recommends python3-venv' >"$PLACE/pip.log" 2>&1 ||
		skip "Debian's packages cannot be had: $(tail -n 1 "$PLACE/pip.log")"
	cp "$PLACE"/one/*.whl "$PLACE/root/root/"
	run unshare --net "$TREE/tools/fresh-root" run "$PLACE/root" '
		set -e
		python3 -m venv /tmp/venv
		. /tmp/venv/bin/activate
		pip install --no-index --find-links=/root distinit
		pip check
		distinit --version
		DISTINIT_HOSTS=n1,n2 DISTINIT_NODE_RANK=1 distinit explain
		python -c "import distinit.environment"'
	[[ $status -eq 0 && $output == *"distinit $version"*MASTER_ADDR*n1* ]] || fail "not so"
}
