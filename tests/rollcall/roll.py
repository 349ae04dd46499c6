# SPDX-License-Identifier: Apache-2.0
"""The roll call's protocol once more, for tests: what it says byte for byte, and others than members, on either side.

    python3 roll.py vector     print the test vector of tests/unit/test-frame.c
"""

import hashlib
import hmac
import os
import socket
import struct
import sys

PROOF, HELLO, FACTS, WAIT, ASK, GO, NO, END = 20, 1, 2, 16, 17, 18, 19, 21


def mac(key, *parts):
    return hmac.new(key, b"".join(parts), hashlib.sha256).digest()


def job_key(job, secret=b""):
    return mac(secret or b"distinit without a secret", b"distinit roll call 4\0", job)


# --- RFC 8439

def rotate(x, n):
    return (x << n | x >> 32 - n) & 0xffffffff


def quarter(s, a, b, c, d):
    for x, y, z, n in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
        s[x] = (s[x] + s[y]) & 0xffffffff
        s[z] = rotate(s[z] ^ s[x], n)


def block(key, counter, nonce):
    begin = list(struct.unpack("<16I", b"expand 32-byte k" + key + struct.pack("<I", counter) + nonce))
    s = begin[:]
    for _ in range(10):
        for column in range(4):
            quarter(s, column, column + 4, column + 8, column + 12)
        for i in range(4):
            quarter(s, i, (i + 1) % 4 + 4, (i + 2) % 4 + 8, (i + 3) % 4 + 12)
    return struct.pack("<16I", *((a + b) & 0xffffffff for a, b in zip(s, begin)))


def chacha20(key, nonce, data):
    out = bytearray()
    for i in range(0, len(data), 64):
        out += bytes(a ^ b for a, b in zip(data[i:i + 64], block(key, 1 + i // 64, nonce)))
    return bytes(out)


def pad(data):
    return data + bytes(-len(data) % 16)


def tag(key, nonce, head, sealed):
    one_time = block(key, 0, nonce)[:32]
    r = int.from_bytes(one_time[:16], "little") & 0x0ffffffc0ffffffc0ffffffc0fffffff
    data = pad(head) + pad(sealed) + struct.pack("<QQ", len(head), len(sealed))
    a = 0
    for i in range(0, len(data), 16):
        a = (a + int.from_bytes(data[i:i + 16] + b"\1", "little")) * r % ((1 << 130) - 5)
    return ((a + int.from_bytes(one_time[16:], "little")) & (1 << 128) - 1).to_bytes(16, "little")


# --- the connection

def greeting(nonce=None, seconds=600, lowest=4, highest=4):
    return b"DISTROLL" + struct.pack("<BBHI", lowest, highest, 0, seconds) + (nonce or os.urandom(16))


def meet(key, hello, nonce=None):
    nonce = nonce or os.urandom(16)
    return nonce + mac(key, b"meet", hello, nonce)[:16]


class Line:
    """One side of a connection: b"member" or b"desk"."""

    def __init__(self, key, side, hello, nonce, connection=None):
        other = b"desk" if side == b"member" else b"member"
        self.keys = mac(key, side, hello, nonce), mac(key, other, hello, nonce)
        self.sent = self.received = 0
        self.connection = connection

    def seal(self, kind, payload, version=4):
        head = struct.pack("<HBB", 20 + len(payload), kind, version)
        nonce = struct.pack("<I8x", self.sent)
        self.sent += 1
        sealed = chacha20(self.keys[0], nonce, payload)
        return head + sealed + tag(self.keys[0], nonce, head, sealed)

    def open(self, frame):
        nonce = struct.pack("<I8x", self.received)
        self.received += 1
        assert tag(self.keys[1], nonce, frame[:4], frame[4:-16]) == frame[-16:], "a wrong tag"
        return frame[2], chacha20(self.keys[1], nonce, frame[4:-16])

    def send(self, kind, payload):
        self.connection.sendall(self.seal(kind, payload))

    def receive(self):
        """The next frame: its type and payload."""
        head = exactly(self.connection, 4)
        return self.open(head + exactly(self.connection, struct.unpack("<H", head[:2])[0] - 4))


def exactly(connection, n):
    data = b""
    while len(data) < n:
        more = connection.recv(n - len(data))
        if not more:
            raise EOFError
        data += more
    return data


def hello(rank, size, incarnation, clock, left, digests, host, node, starts=0, able=0, why_not=b""):
    texts = b"".join(struct.pack("B", len(text)) + text for text in (why_not, host, node))
    return struct.pack("<IIIQQI5QB", rank, size, starts, incarnation, clock, left, *digests, able) + texts


def go(port, flags=0, start=0, took=0):
    return struct.pack("<HBII", port, flags, start, took)


def listen(port, address=""):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind((address, port))
    s.listen(1000)
    return s


def desk(listener, key, port, seconds=600):
    """Accept a member, as its coordinator. Returns the line once both have proved themselves, and its HELLO."""
    connection = listener.accept()[0]
    begin = greeting(seconds=seconds)
    connection.sendall(begin)
    said = exactly(connection, 32)
    assert said == meet(key, begin, said[:16]), "a wrong proof"
    line = Line(key, b"desk", begin, said[:16], connection)
    line.send(PROOF, struct.pack("<H", port))
    kind, payload = line.receive()
    assert kind == HELLO
    return line, payload


def call(address, port, key):
    """Come to the coordinator as a member. Returns the line once both have proved themselves."""
    connection = socket.create_connection((address, port))
    begin, nonce = exactly(connection, 32), os.urandom(16)
    connection.sendall(meet(key, begin, nonce))
    line = Line(key, b"member", begin, nonce, connection)
    assert line.receive()[0] == PROOF
    return line


def facts(group, *pairs):
    """The payload of FACTS: names and values, sorted by name."""
    texts = b"".join(struct.pack("<B", len(name)) + name + struct.pack("<H", len(value)) + value for name, value in pairs)
    return struct.pack("<BH", group, len(pairs)) + texts


def vector():
    key = job_key(b"slurm:4711.0", b"correct horse")
    begin, nonce = greeting(bytes(range(16))), bytes(range(16, 32))
    member, coordinator = (Line(key, side, begin, nonce) for side in (b"member", b"desk"))
    said = hello(1, 2, 0x1122334455667788, 1795316400000, 600000, range(1, 6), b"n2", b"n2", 7)
    for what in (key, begin, meet(key, begin, nonce), member.keys[0], coordinator.keys[0],
                 coordinator.seal(PROOF, struct.pack("<H", 29500)), member.seal(HELLO, said), coordinator.seal(GO, go(29500, 1, 7, 1234))):
        print(what.hex())


if __name__ == "__main__" and sys.argv[1:] == ["vector"]:
    vector()
