# SPDX-License-Identifier: Apache-2.0
"""Strangers, and a slow network, for storm.bats.

    storm.py relay PORT DELAY_MS PID   listen on PORT here, and pass everything on, so much later in each direction, to PORT
                                       in the network of process PID; each connection has an address of its own there
    storm.py many PORT RATE            connect RATE times a second from one address, and hold on; say how many at the end
    storm.py idle PORT N               N connections from another address, which send a byte each second, and come again
"""

import ctypes
import os
import selectors
import signal
import socket
import struct
import sys
import time

libc = ctypes.CDLL(None, use_errno=True)
clock = time.monotonic


def pending(source, port):
    """A connection that is being made from the address @source."""
    s = socket.socket()
    s.setblocking(False)
    s.setsockopt(socket.IPPROTO_IP, 24, 1)  # IP_BIND_ADDRESS_NO_PORT
    s.bind((source, 0))
    s.connect_ex(("127.0.0.1", port))
    return s


def relay(port, delay, pid):
    listener = socket.create_server(("", port), backlog=1000)
    if libc.setns(os.open(f"/proc/{pid}/ns/net", os.O_RDONLY), 0) != 0:
        raise OSError(ctypes.get_errno(), "setns")
    print("ready", flush=True)
    wake = selectors.DefaultSelector()
    listener.setblocking(False)
    wake.register(listener, selectors.EVENT_READ, None)
    later, count = [], 0  # in the order of time: all are delayed alike
    while True:
        for key, _ in wake.select(max(0, later[0][0] - clock()) if later else None):
            if key.data is None:
                here = listener.accept()[0]
                there = pending(f"127.1.{count // 200}.{count % 200 + 1}", port)
                count += 1
                wake.register(here, selectors.EVENT_READ, there)
                wake.register(there, selectors.EVENT_READ, here)
                continue
            try:
                data = key.fileobj.recv(65536)
            except OSError:
                data = b""
            later.append((clock() + delay / 1000, key.data, data))
            if not data:
                wake.unregister(key.fileobj)
        while later and later[0][0] <= clock():
            _, to, data = later.pop(0)
            try:
                to.sendall(data) if data else to.shutdown(socket.SHUT_WR)
            except OSError:
                pass


def many(port, rate):
    held, begin, n = [], clock(), 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(print(f"{n} in {clock() - begin:.1f} s")))
    while True:
        while n < (clock() - begin) * rate:
            held.append(pending("127.9.0.1", port))
            n += 1
        if len(held) > 5000:
            del held[:1000]
        time.sleep(0.002)


def idle(port, n):
    held = [pending("127.8.0.1", port) for _ in range(n)]
    print("ready", flush=True)
    while True:
        time.sleep(1)
        for i, s in enumerate(held):
            try:
                s.send(b"x")
            except OSError:
                held[i] = pending("127.8.0.1", port)


if __name__ == "__main__":
    {"relay": relay, "many": many, "idle": idle}[sys.argv[1]](*map(int, sys.argv[2:]))
