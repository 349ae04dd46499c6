# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shellcheck disable=SC2034 # room.bash uses these
#
# For the tests of who binds the master's port after a roll call.

load ../rollcall/room

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
		        TCPStore = sys.modules["torch.distributed"].TCPStore
		        # Debian 13's has no libuv, which a newer store takes unless told.
		        more = {"use_libuv": False} if "use_libuv" in TCPStore.__init__.__doc__ else {}
		        store = TCPStore("127.0.0.1", port, None, True, wait_for_workers=False, **more)
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
		nap 0.05
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
