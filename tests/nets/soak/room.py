# SPDX-License-Identifier: Apache-2.0
"""A room with its own network and files of names, and commands in it."""

import subprocess
from pathlib import Path

from watch import until

UP = """
mount --make-rprivate /
mount --bind hosts /etc/hosts
mount --bind resolv.conf /etc/resolv.conf
ip link set lo up
sysctl -q -w net.ipv4.tcp_max_tw_buckets=262144 2>/dev/null
echo >ready
exec sleep infinity
"""


class Room:
    def __init__(self, folder: str, names: list[str]) -> None:
        self.folder = folder
        Path(folder, "hosts").write_text("127.0.0.1 localhost\n" + "".join(f"127.0.0.1 {name}\n" for name in names), encoding="utf-8")
        Path(folder, "resolv.conf").write_text("nameserver 127.0.0.1\n", encoding="utf-8")
        self.holder = subprocess.Popen(["unshare", "--mount", "--net", "sh", "-c", UP], cwd=folder)
        if not until(Path(folder, "ready").exists, 10):
            raise OSError("there is no room with a network of its own")

    def command(self, *words: str) -> list[str]:
        """Each becomes the last one: the pid is that of the command."""
        return ["nsenter", f"--target={self.holder.pid}", "--net", "--mount", "env", "-i", "--default-signal",
                f"--chdir={self.folder}", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", *words]

    def close(self) -> None:
        self.holder.kill()
        self.holder.wait()
