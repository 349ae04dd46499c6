# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# The RPM package of ./dev release. rpmbuild packs what is built already; it compiles, strips and compresses nothing.

# release_rpm ARCH BUILD STAGE EPOCH OUT
release_rpm() {
	local root=$PWD/$3/rpm cpu link
	cpu=$(kernel_cpu "$1")
	release_files "$2" "$3" "$root/files"
	install -D -m 644 -t "$root/files/usr/share/zsh/site-functions" "$3"/completions/_*
	install -D -m 644 -t "$root/files/usr/share/licenses/distinit" LICENSE "$3/THIRD-PARTY-LICENSES"
	release_pages "$root/files/usr/share/doc/distinit" LICENSE=../../licenses/distinit/LICENSE
	find "$root/files" -type d -exec chmod 755 {} +
	find "$root/files" -exec touch --no-dereference --date="@$4" {} +
	rpm_spec "$4" >"$root/distinit.spec"
	# rpmbuild parts the names of its folders at blanks.
	link=$(mktemp -d)
	ln -s "$root" "$link/rpm"
	# All that rpmbuild would take from this machine: its name, its clock, its settings.
	HOME=$link/rpm SOURCE_DATE_EPOCH=$4 rpmbuild -bb --quiet --target "$cpu-linux" --define "_topdir $link/rpm/top" \
		--define "_rpmdir $link/rpm" --define "_tmppath $link/rpm/top" --define "stage $link/rpm/files" --define '_buildhost localhost' \
		--define 'use_source_date_epoch_as_buildtime 1' --define 'source_date_epoch_from_changelog 0' \
		--define '_binary_payload w9.gzdio' --define '_build_id_links none' --define '_enable_debug_packages 0' \
		--define '__os_install_post %{nil}' --define 'optflags -O2' "$root/distinit.spec" >>"$LOGS/release.log" 2>&1 ||
		die "release: rpmbuild failed; what it says is at the end of $LOGS/release.log"
	rm -r "$link"
	mv "$root/$cpu"/*.rpm "$5/"
}

# rpm_spec EPOCH
rpm_spec() {
	cat <<-SPEC
		Name: distinit
		Version: $(release_version)
		Release: 1
		Summary: Container entrypoint for distributed training
		License: Apache-2.0 AND MIT AND BSD-3-Clause${RELEASE_URL:+
		URL: $RELEASE_URL}
		Group: Applications/System
		Packager: $(release_maintainer)
		AutoReqProv: no

		%description
		distinit turns what a cluster manager says about a job into the variables that
		training frameworks read, applies overrides, and becomes the program.

		distrun is for Slurm's batch scripts.

		%install
		cp -a %{stage}/. %{buildroot}/

		%files
		%defattr(-,root,root)
		/usr/bin/distinit
		/usr/bin/distrun
		%dir /usr/share/doc/distinit
		%doc /usr/share/doc/distinit/*
		%dir /usr/share/licenses/distinit
		%license /usr/share/licenses/distinit/*
		%doc /usr/share/man/man1/*
		/usr/share/bash-completion/completions/*
		/usr/share/fish/vendor_completions.d/*
		/usr/share/zsh/site-functions/*

		%changelog
		* $(LC_ALL=C date --utc --date="@$1" '+%a %b %d %Y') $(release_maintainer) - $(release_version)-1
		- See CHANGELOG.md.
	SPEC
}
