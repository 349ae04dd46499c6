#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# --wait --for=all, and other programs on the master's port: those that follow, and one that has it already.

# shellcheck disable=SC2034 # the helpers use these
# shellcheck disable=SC2016 # another shell expands the scripts

load room

# Debian's, which has PyTorch by python3-torch.
PYTHON=/usr/bin/python3

setup() {
	enter_room
	HOSTS=h0,h1,h2
}

teardown() {
	leave_room
}

# binder MODULE...: a Python process that has these modules. Who connects to it and says how has MASTER_PORT bound that way.
binder() {
	cat >binder.py <<-'END'
		import http.server, importlib, os, signal, socket, sys
		for name in sys.argv[1:]:
		    importlib.import_module(name)
		def bind(how, port):
		    if how == "plain":
		        s = socket.socket()
		        s.bind(("", port))
		        s.listen()
		    elif how == "http":
		        http.server.ThreadingHTTPServer(("", port), http.server.SimpleHTTPRequestHandler)
		    else:
		        store = sys.modules["torch.distributed"].TCPStore("127.0.0.1", port, None, True, wait_for_workers=False)
		        store.set("a", "b")
		        assert store.get("a") == b"b"
		signal.signal(signal.SIGCHLD, signal.SIG_IGN)
		s = socket.socket(socket.AF_UNIX)
		s.bind("binder")
		s.listen()
		while True:
		    c = s.accept()[0]
		    how, port = c.recv(100).decode().split()
		    if os.fork() == 0:
		        try:
		            bind(how, int(port))
		            c.send(b"bound")
		        except BaseException as e:
		            c.send(repr(e).encode())
		        os._exit(0)
		    c.close()
	END
	cat >ask.py <<-'END'
		import os, socket, sys
		s = socket.socket(socket.AF_UNIX)
		s.connect("binder")
		s.send((sys.argv[1] + " " + os.environ["MASTER_PORT"]).encode())
		answer = s.recv(1000).decode()
		sys.exit(answer != "bound" and answer)
	END
	in_room "$PYTHON" binder.py "$@" 3>&- &
	until [[ -S binder ]]; do
		kill -0 "$!"
		sleep 0.05
	done
}

# fifty_times HOW: the program on the master can bind the port at once, that often.
fifty_times() {
	local i
	for i in {1..50}; do
		member 0 -- "$PYTHON" -S ask.py "$1"
		member 1 -- true
		member 2 -- true
		ended 0 0 1 2
	done
}

@test "roll call: a program without SO_REUSEADDR binds the port at once, fifty times" {
	binder
	fifty_times plain
}

@test "roll call: Python's http.server binds the port at once, fifty times" {
	binder
	fifty_times http
}

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
		store = TCPStore("127.0.0.1", 29500, None, True, wait_for_workers=False)
		store.set("a", "b")
		open("store-up", "w").close()
		while not os.path.exists("ask"):
		    time.sleep(0.05)
		other = TCPStore("127.0.0.1", 29500, None, False, wait_for_workers=False)
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
