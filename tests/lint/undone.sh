#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Each patch of nets/undone still applies, so that ./dev undone can bring its defect back, and names a net. Where code has
# moved, adapt the patch: bring the defect back where its mend is now. Prints TAP.
#
#     undone.sh [TREE]
set -eu
cd "${1:-$(dirname "$0")/../..}"
if ! command -v patch >/dev/null; then
	echo '1..0 # SKIP patch is not installed'
	exit 0
fi
n=0 failed=0
for file in tests/nets/undone/*.patch; do
	n=$((n + 1))
	said=$(patch --dry-run -p1 --silent --force <"$file" 2>&1) || said="${said:-it does not apply}"
	net=$(sed -n 's/^net: //p;/^---/q' "$file")
	grep -q "^	${net%% *})\|[( |]${net%% *}[ )|]" dev || said="$said '${net%% *}' is no word of ./dev"
	if [ -z "$said" ]; then
		echo "ok $n - $file"
	else
		failed=1
		printf 'not ok %s - %s\n' "$n" "$file"
		printf '%s\n' "$said" | sed 's/^/# /'
	fi
done
echo "1..$n"
exit $failed
