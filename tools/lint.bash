# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# ./dev lint: one function for each check.

readonly PKGS_LINT="$PKGS_BUILD pkg-config libcjson-dev libcap-dev libbearssl-dev git clang-14 clang-format-14 clang-tidy-14 cppcheck shellcheck mandoc python3 mypy patch"

# Runs git, even if another user owns the tree, as may be the case in a container.
git_here() {
	git -c safe.directory="$ROOT" "$@"
}

# files_of PATTERN...: print the files that git tracks, and untracked files that are not ignored.
files_of() {
	git_here ls-files --cached --others --exclude-standard --deduplicate -- "$@" | while IFS= read -r file; do
		[[ ! -f $file ]] || printf '%s\n' "$file"
	done
}

# Prints the shell scripts, by their name or first line.
shell_files() {
	files_of '*.sh' '*.bash' '*.bats'
	files_of | grep -vE '\.[a-z0-9]+$' | while IFS= read -r file; do
		if head -c 64 "$file" | head -n 1 | grep -qaE '^#!.*[/ ](ba|da)?sh\b'; then
			printf '%s\n' "$file"
		fi
	done
}

lint_failed=''

# check NAME COMMAND...: run one check of lint. A failure does not stop the others.
check() {
	local name=$1
	shift
	local log=$LOGS/lint-$name.log
	mkdir -p "$LOGS"
	if "$@" >"$log" 2>&1 </dev/null; then
		printf 'ok      %s\n' "$name"
		return
	fi
	printf 'FAILED  %s\n' "$name"
	head -n 60 "$log" || true
	lint_failed+=" $name"
}

lint_format() {
	local -a files
	mapfile -t files < <(files_of 'src/*.[ch]' 'cmd/*.[ch]' 'tests/*.[ch]')
	clang-format-14 --dry-run -Werror "${files[@]}" && return
	echo "To apply it: clang-format-14 -i FILE"
	return 1
}

lint_cppcheck() {
	local -a files
	mapfile -t files < <(files_of 'src/*.c' 'cmd/*.c')
	cppcheck --quiet -j "$(nproc)" --enable=warning,performance,portability --inconclusive --inline-suppr \
		--library=posix,gnu --std=c11 --error-exitcode=1 -D_GNU_SOURCE -D__GNUC__ '-DDISTINIT_VERSION="0"' -I src/base -I src/system -I src/derive -I src/meet -I src/slurm -I cmd -I cmd/distinit -I cmd/distrun \
		--suppress=missingIncludeSystem --suppress=unmatchedSuppression --suppress=checkersReport \
		"${files[@]}"
}

# The analyser follows so many states of a function, a third of its default, and takes two fifths of the time.
lint_tidy() {
	files_of 'src/*.c' 'cmd/*.c' | xargs -n 4 -P "$(nproc)" clang-tidy-14 -p build-lint --quiet \
		--extra-arg=-Wno-unknown-warning-option \
		--extra-arg=-Xclang --extra-arg=-analyzer-config --extra-arg=-Xclang --extra-arg=max-nodes=75000
}

lint_shell() {
	local -a files
	mapfile -t files < <(shell_files | sort -u)
	shellcheck --external-sources --source-path=SCRIPTDIR "${files[@]}"
}

# python_files: print the Python files, by their name or first line.
python_files() {
	files_of '*.py'
	files_of | grep -vE '\.[a-z0-9]+$' | while IFS= read -r file; do
		if head -c 64 "$file" | head -n 1 | grep -qaE '^#!.*[/ ]python3\b'; then
			printf '%s\n' "$file"
		fi
	done
}

lint_python() {
	local -a files
	mapfile -t files < <(python_files | sort -u)
	PYTHONPYCACHEPREFIX=$ROOT/$DEPS/pycache python3 -W error -m py_compile "${files[@]}"
}

# The module that users import has types, and so has the example of its use.
lint_types() {
	local -a files
	mapfile -t files < <(files_of 'python/*.py' 'tests/python/test_*.py')
	MYPYPATH=python mypy --strict --cache-dir="$DEPS/mypy" "${files[@]}"
}

lint_manual() {
	local -a files
	mapfile -t files < <(files_of '*.1')
	((${#files[@]})) || return 0
	mandoc -T lint -W warning "${files[@]}"
}

# The tree has to be self-contained: no file may mention a path outside it.
lint_outside() {
	! git_here grep -nE '\.\./sh[a]red'
}

lint_werror() {
	configure build-lint -Dwerror=true -Doptimization=2 -Ddebug=true --wrap-mode=nofallback
	ninja -C build-lint all meson-test-prereq
}

# The other compiler has warnings of its own.
lint_clang() {
	CC=clang-14 configure build-clang -Dwerror=true --wrap-mode=nofallback
	ninja -C build-clang all meson-test-prereq
}

word_lint() {
	need "$PKGS_LINT"
	git_here rev-parse --git-dir >/dev/null || die "lint asks Git which files are ours, and this is no clone"
	check includes tests/lint/includes.sh
	check opens tests/lint/opens.sh
	check names tests/lint/names.sh
	check loop tests/lint/loop.py
	check promises tests/lint/promises.py
	check undone tests/lint/undone.sh
	check words tests/lint/words.py
	check outside lint_outside
	check format lint_format
	check shell lint_shell
	check manual lint_manual
	check python lint_python
	check types lint_types
	check werror lint_werror
	check clang lint_clang
	check pages env DISTINIT=build-lint/distinit PYTHONDONTWRITEBYTECODE=1 tests/docs/check
	check cppcheck lint_cppcheck
	check tidy lint_tidy
	[[ -z $lint_failed ]] || die "lint:$lint_failed" "All that a check said is in $LOGS/lint-NAME.log"
}
