#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A scene in which a program waits: a port, a hosts file or a name server that changes while it does.

    scene.py [OPTION]... -- [VAR=VALUE]... PROGRAM [ARG]...

PROGRAM has -vv among its arguments, so that it says each attempt; @PORT@ in a word is the scene's port. Nothing here depends
on time: what changes does so once PROGRAM has failed once, or once it has asked the name server. Ends with PROGRAM's status, 128+N
if signal N ended it, and prints "accepted N" at the end of its standard output where it listened: connections of which each was
closed and had sent nothing.

    --port=closed|open|later|full   nobody listens; somebody does; does once PROGRAM has failed; or does but takes nobody
    --port=proxy                    a proxy accepts, and closes at once, until PROGRAM has failed; then somebody listens
    --ipv6                          the port is one of ::1, not of 127.0.0.1
    --hosts=LINE                    add LINE to /etc/hosts once it has failed (in a mount namespace of the test's)
    --dns=silent|unknown|later      a name server at 127.0.0.1 that never answers; knows no name; or knows all once it was asked
    --when=TEXT                     not its first failure, but a message with TEXT in it counts
    --signal=NAME                   send it to PROGRAM once it has failed, or has asked
"""

import argparse
import signal
import socket
import struct
import subprocess
import sys
import threading

FAILED = "distinit: debug: waiting for "


class Scene:
    def __init__(self, options):
        self.options = options
        self.began = threading.Event()
        self.process = None
        self.started = threading.Event()
        self.kept = []
        family = socket.AF_INET6 if options.ipv6 else socket.AF_INET
        self.socket = socket.socket(family, socket.SOCK_STREAM)
        self.socket.bind(("::1" if options.ipv6 else "127.0.0.1", 0))
        self.address = self.socket.getsockname()
        if options.port == "proxy":
            self.socket.listen(64)
            threading.Thread(target=self.be_proxy, daemon=True).start()
        if options.port in ("open", "full"):
            self.socket.listen(0 if options.port == "full" else 64)
        if options.port == "full":
            self.fill()

    def fill(self):
        """Take all places of the queue, so that the kernel drops what else comes."""
        for _ in range(8):
            place = socket.socket(self.socket.family, socket.SOCK_STREAM)
            place.setblocking(False)
            place.connect_ex(self.address[:2])
            self.kept.append(place)

    def be_proxy(self):
        """Who connects before the program behind it listens meets an end of file."""
        while not self.began.is_set():
            peer, _ = self.socket.accept()
            if self.began.is_set():
                self.kept.append(peer)
            else:
                peer.close()

    def go_on(self):
        """What changes, once."""
        if self.began.is_set():
            return
        self.began.set()
        if self.options.port == "later":
            self.socket.listen(64)
        if self.options.hosts:
            with open("/etc/hosts", "a", encoding="ascii") as file:
                file.write(self.options.hosts + "\n")
        if self.options.signal:
            self.process.send_signal(signal.Signals["SIG" + self.options.signal])

    def serve_names(self):
        server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        server.bind(("127.0.0.1", 53))
        threading.Thread(target=self.answer_names, args=(server,), daemon=True).start()

    def answer_names(self, server):
        while True:
            query, peer = server.recvfrom(512)
            known = self.began.is_set() and self.options.dns == "later"
            if self.options.dns != "silent":
                server.sendto(answer(query, known), peer)
            else:
                self.started.wait()
                self.go_on()

    def read(self):
        """Hand on what the program says, and notice its first failure."""
        for line in self.process.stderr:
            sys.stderr.write(line)
            sys.stderr.flush()
            if self.options.when in line:
                self.go_on()

    def run(self, words):
        words = [word.replace("@PORT@", str(self.address[1])) for word in words]
        if self.options.dns:
            self.serve_names()
        self.process = subprocess.Popen(["env", "-i", *words], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                        text=True)
        self.started.set()
        self.read()
        status = self.process.wait()
        if self.options.port in ("open", "later"):
            print("accepted", self.accepted())
        return status if status >= 0 else 128 - status

    def accepted(self):
        self.socket.settimeout(0)
        number = 0
        while True:
            try:
                peer, _ = self.socket.accept()
            except OSError:
                return number
            peer.settimeout(30)
            if peer.recv(1) != b"":
                sys.exit("scene.py: something was sent")
            number += 1


def answer(query, known):
    """To a question for an A or AAAA record: 127.0.0.1 for the first kind, or that there is no such name."""
    end = 12
    while query[end]:
        end += 1 + query[end]
    question = query[12:end + 5]
    kind = struct.unpack(">H", query[end + 1:end + 3])[0]
    records = known and kind == 1
    head = query[:2] + struct.pack(">HHHHH", 0x8180 if known else 0x8183, 1, int(records), 0, 0)
    record = b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 1, 4) + bytes([127, 0, 0, 1])
    return head + question + (record if records else b"")


def main():
    parser = argparse.ArgumentParser(prog="scene.py")
    parser.add_argument("--port", choices=["closed", "open", "later", "full", "proxy"], default="closed")
    parser.add_argument("--ipv6", action="store_true")
    parser.add_argument("--hosts")
    parser.add_argument("--dns", choices=["silent", "unknown", "later"])
    parser.add_argument("--when", default=FAILED)
    parser.add_argument("--signal")
    parser.add_argument("words", nargs="+")
    options = parser.parse_args()
    return Scene(options).run(options.words)


if __name__ == "__main__":
    sys.exit(main())
