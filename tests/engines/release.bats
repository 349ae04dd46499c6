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
	# Debian's word for each processor, and the kernel's. Of riscv64, Debian 12 has no musl.
	CPUS="amd64 x86_64;arm64 aarch64;ppc64el ppc64le;s390x s390x"
	[[ $(. /etc/os-release && echo "${VERSION_ID:-sid}") == 12 ]] || CPUS+=";riscv64 riscv64"
	export WHY CPUS
	[[ -z $WHY ]] || return 0
	PLACE=$(mktemp -d)
	chmod 755 "$PLACE"
	export PLACE SOURCE_DATE_EPOCH=1700000000 DEBFULLNAME="Some Body" DEBEMAIL=body@debian.org
	"$TREE/tools/fresh-root" make "$PLACE/root" >"$PLACE/root.log" 2>&1 3>&- &
	(cd "$TREE" && ./dev release --out="$PLACE/one") >"$PLACE/one.log" 2>&1 3>&- || true
	(in_another_place) >"$PLACE/two.log" 2>&1 3>&- || true
	wait "$!" || touch "$PLACE/no-root"
}

# faketime changes the clock; NO_FAKE_STAT: but not the times of files, which rpmbuild would pack. No network: the libraries' tarballs, and musl for other processors, are copied, too.
in_another_place() {
	local copy=$PLACE/a/longer/path home=$PLACE/home
	mkdir -p "$copy" "$home/.cache/distinit"
	cd "$TREE" || return
	git -c safe.directory="$TREE" ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$copy"
	cp --parents -r subprojects/packagecache "$copy"
	cp build-deps/*/musl-dev_*.deb "$home/.cache/distinit/" 2>/dev/null || true
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

@test "release: everything for all processors, in one go" {
	local version arch cpu files
	version=$(sed -n "s/^\tversion: '\(.*\)',/\1/p" "$TREE/meson.build")
	files="SHA256SUMS distinit-$version.openvex.json"
	tail "$PLACE/one.log"
	cd "$PLACE/one"
	while read -r arch cpu; do
		files+=" distinit-$version-1.$cpu.rpm distinit-$version-linux-$arch.spdx.json distinit-$version-linux-$arch.tar.gz"
		files+=" distinit-$version-py3-none-manylinux_2_17_$cpu.manylinux2014_$cpu.musllinux_1_1_$cpu.whl distinit_$version-1_$arch.deb"
	done < <(tr ';' '\n' <<<"$CPUS")
	same "the files" "$(tr ' ' '\n' <<<"$files" | LC_ALL=C sort)" "$(LC_ALL=C ls)"
	sha256sum --check --quiet SHA256SUMS
	same "the number of sums" "$(wc -w <<<"${files#* }")" "$(wc -l <SHA256SUMS)"
	while read -r arch cpu; do
		same "the processor of the package" "$arch" "$(dpkg-deb --field distinit_*_"$arch".deb Architecture)"
		same "the RPM's processor" "$cpu" "$(rpm --query --queryformat '%{ARCH}' --package ./*."$cpu".rpm)"
		"$PROGRAMS/check-spdx" distinit-*-"$arch".spdx.json
		# What pip puts on PATH is what the package has.
		cmp <(tar -xOzf distinit-*-"$arch".tar.gz "distinit-$version-linux-$arch/distinit") \
			<(python3 -c 'import sys, zipfile; sys.stdout.buffer.write(zipfile.ZipFile(sys.argv[1]).read(sys.argv[2]))' \
				distinit-*_"$cpu".whl "distinit-$version.data/scripts/distinit")
	done < <(tr ';' '\n' <<<"$CPUS")
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

@test "release: lintian and rpmlint have nothing to say about the packages of all processors" {
	cd "$PLACE/one"
	run lintian --allow-root --fail-on warning ./*.deb
	[[ $status -eq 0 && ! $output =~ (^|$'\n')[EW]: ]] || fail "lintian"
	run rpmlint --config "$PROGRAMS/rpmlint.toml" ./*.rpm
	[[ $status -eq 0 && $output == *"$(tr ';' '\n' <<<"$CPUS" | wc -l) packages"*' 0 errors, 0 warnings'* ]] || fail "rpmlint"
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

@test "release: OpenVEX has each vulnerability that is known, with its status, for each processor" {
	cd "$PLACE/one"
	"$PYTHON" - "$CPUS" <<-'END'
		import glob, json, sys
		said = json.load(open(glob.glob("*.openvex.json")[0]))
		assert said["@context"] == "https://openvex.dev/ns/v0.2.0" and said["author"] and said["timestamp"] and said["version"] == 1
		names = [each["vulnerability"]["name"] for each in said["statements"]]
		assert len(set(names)) == len(names) >= 7, names
		for each in said["statements"]:
		    assert each["status"] == "fixed" or each["justification"] and each["impact_statement"], each
		    assert len(each["products"]) == len(sys.argv[1].split(";")), each
	END
}

@test "release: tools/images makes an image for each processor, and an index that names them, the same each time" {
	command -v podman >/dev/null || skip "podman is not installed"
	local index
	# shellcheck disable=SC2034 # for tools/images
	export PODMAN="podman --root $PLACE/images --runroot $PLACE/images-run --storage-driver vfs"
	for index in first second; do
		run "$TREE/tools/images" "$PLACE/one" "localhost/$index"
		same "the exit status" 0 "$status"
		$PODMAN manifest push --all --format=oci --digestfile="$PLACE/$index.digest" "localhost/$index" "oci:$PLACE/$index.oci"
		$PODMAN rmi --all --force >/dev/null
	done
	same "the digest" "$(<"$PLACE/first.digest")" "$(<"$PLACE/second.digest")"
	"$PYTHON" - "$PLACE/first.oci" "$CPUS" "$(git -c safe.directory="$TREE" -C "$TREE" rev-parse HEAD)" <<-'END'
		import json, pathlib, sys
		blobs = pathlib.Path(sys.argv[1], "blobs/sha256")
		def read(entry): return json.loads((blobs / entry["digest"].partition(":")[2]).read_text())
		index = read(json.loads((blobs.parent.parent / "index.json").read_text())["manifests"][0])
		wanted = sorted(pair.split()[1 if pair.startswith("ppc") else 0] for pair in sys.argv[2].split(";"))
		assert sorted(each["platform"]["architecture"] for each in index["manifests"]) == wanted, index
		for each in index["manifests"]:
		    image = read(each)
		    config = read(image["config"])
		    assert config["architecture"] == each["platform"]["architecture"] and config["config"]["Entrypoint"] == ["/distinit"], config
		    for said in (image["annotations"], config["config"]["Labels"]):
		        assert said["org.opencontainers.image.revision"] == sys.argv[3] and said["org.opencontainers.image.title"] == "distinit", said
	END
}
