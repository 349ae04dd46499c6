# SPDX-License-Identifier: Apache-2.0
"""Several tasks at once: each worker is a process with a network of its own, and takes the next task until there is none."""

import ctypes
import fcntl
import os
import pickle
import signal
import socket
import struct
import subprocess
import sys
import time
import traceback
from pathlib import Path
from typing import Callable, Iterator, Sequence, TypeVar

T = TypeVar("T")

NEW_NETWORK, NEW_MOUNTS, SUBREAPER, DEATH_SIGNAL = 0x40000000, 0x00020000, 36, 1

libc = ctypes.CDLL(None, use_errno=True)


class WorkerFailed(Exception):
    pass


def enter_room(folder: str) -> None:
    """Mounts of our own, in which h0 to h9 are addresses of the loopback, and m0 to m9 others of this machine."""
    if libc.unshare(NEW_NETWORK | NEW_MOUNTS) < 0:
        print("1..0 # SKIP no namespaces for mounts and networks here")
        sys.exit(0)
    Path(folder, "hosts").write_text("127.0.0.1 localhost\n" + "".join(f"127.0.0.{100 + i} h{i}\n10.9.0.{100 + i} m{i}\n" for i in range(10)))
    Path(folder, "resolv.conf").write_text("nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")
    subprocess.run(f"mount --make-rprivate / && mount --bind {folder}/hosts /etc/hosts && mount --bind {folder}/resolv.conf "
                   "/etc/resolv.conf", shell=True, check=True)


def leave_room() -> None:
    subprocess.run("umount /etc/hosts /etc/resolv.conf", shell=True, check=False)


def set_up() -> None:
    """Orphans come to this worker, it ends with its parent, and has a network with a loopback interface, which also has 10.9.0.0/24."""
    libc.prctl(DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    libc.prctl(SUBREAPER, 1, 0, 0, 0)
    libc.unshare(NEW_NETWORK)
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh14x", b"lo", 0x41))
        for request, address in ((0x8916, "10.9.0.1"), (0x891C, "255.255.255.0")):
            fcntl.ioctl(any_socket, request, struct.pack("16sHH4s8x", b"lo:1", socket.AF_INET, 0, socket.inet_aton(address)))


def work(folder: str, tasks: Sequence[Callable[[], T]], deadline: float, numbers: int, done: int) -> None:
    set_up()
    while time.monotonic() < deadline:
        taken = os.read(numbers, 4)
        if not taken:
            return
        number, = struct.unpack("i", taken)
        result = tasks[number]()
        Path(folder, f"result-{number}").write_bytes(pickle.dumps(result))
        os.write(done, taken)


def start_worker(folder: str, tasks: Sequence[Callable[[], T]], deadline: float, pipes: list[tuple[int, int]]) -> int:
    (numbers, more), (ready, done) = pipes
    worker = os.fork()
    if worker == 0:
        status = 1
        try:
            os.close(more)
            os.close(ready)
            work(folder, tasks, deadline, numbers, done)
            status = 0
        except BaseException:  # whatever it is, the parent's work must not go on here
            traceback.print_exc()
        finally:
            os._exit(status)
    return worker


def at_once(jobs: int, folder: str, tasks: Sequence[Callable[[], T]], deadline: float) -> Iterator[tuple[int, T]]:
    """Do the tasks, until the deadline. Yields the number and the result of each that is done."""
    pipes = [os.pipe(), os.pipe()]
    (numbers, more), (ready, done) = pipes
    fcntl.fcntl(more, fcntl.F_SETPIPE_SZ, 1 << 20)
    os.write(more, b"".join(struct.pack("i", number) for number in range(len(tasks))))
    workers = [start_worker(folder, tasks, deadline, pipes) for _ in range(jobs)]
    for end in (more, done):
        os.close(end)
    with os.fdopen(ready, "rb") as results:
        try:
            while finished := results.read(4):
                number, = struct.unpack("i", finished)
                path = Path(folder, f"result-{number}")
                yield number, pickle.loads(path.read_bytes())
                path.unlink()
        finally:
            while os.read(numbers, 1 << 16):
                pass  # the caller has seen enough: no worker takes another one
            os.close(numbers)
            failed = [worker for worker in workers if os.waitpid(worker, 0)[1]]
    if failed:
        raise WorkerFailed
