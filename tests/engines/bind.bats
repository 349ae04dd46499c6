#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# --wait --for=all, and PyTorch's store: one that binds the master's port afterwards, and one that has it already.

# shellcheck disable=SC2016 # another shell expands the scripts
# shellcheck disable=SC2034 # the helpers use these

load ../rollcall/binder

@test "roll call: PyTorch's store binds the port at once, fifty times" {
	"$PYTHON" -c 'import torch' 2>/dev/null || skip 'python3-torch is not installed'
	binder torch.distributed
	fifty_times torch
}

@test "roll call: PyTorch's store that has the port gets no byte, and still answers" {
	"$PYTHON" -c 'import torch' 2>/dev/null || skip 'python3-torch is not installed'
	requires strace
	cat >store.py <<-'END'
		import os, time
		from torch.distributed import TCPStore
		more = {"use_libuv": False} if "use_libuv" in TCPStore.__init__.__doc__ else {}
		store = TCPStore("127.0.0.1", 29500, None, True, wait_for_workers=False, **more)
		store.set("a", "b")
		open("store-up", "w").close()
		while not os.path.exists("ask"):
		    time.sleep(0.05)
		other = TCPStore("127.0.0.1", 29500, None, False, wait_for_workers=False, **more)
		print(other.get("a").decode(), store.get("a").decode(), flush=True)
	END
	in_room "$PYTHON" store.py >answer 3>&- &
	local store=$! rank
	until [[ -e store-up ]]; do
		kill -0 "$store"
		sleep 0.05
	done
	for rank in 0 1; do
		in_room env -i PATH="$PATH" strace -f -o "$rank.trace" -e trace=network,write,writev,close,read \
			"$DISTINIT" --hosts=h0,h1 "--node-rank=$rank" "--hostname=h$rank" --for=all --wait=20s -- \
			sh -c 'echo $MASTER_PORT' >"$rank.out" 2>"$rank.err" 3>&- &
		PIDS[rank]=$!
	done
	ended 0 0 1
	said 0 'distinit: warning: roll call: port 29500 of h0 is taken (by a listener of uid 0); all nodes use *'
	[[ $(<0.out) != 29500 && $(<0.out) == "$(<1.out)" ]]
	# Whatever a connection to the store had written to it.
	grep -q 'connect(.*htons(29500)' 1.trace
	cat 0.trace 1.trace | awk '
		/connect\([0-9]+,.*htons\(29500\)/ { split($0, a, /connect\(|,/); store[a[2]] = 1 }
		/ close\([0-9]+\)/ { split($0, a, /close\(|\)/); delete store[a[2]] }
		/ (send|sendto|sendmsg|write|writev)\([0-9]+,/ { split($0, a, /\(|,/); if (a[2] in store) { print; bad = 1 } }
		END { exit bad }'
	touch ask
	wait "$store"
	[[ $(<answer) == 'b b' ]]
}
