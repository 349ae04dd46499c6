#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make inputs of fuzz-rdma from the trees of tests/programs/cards: seed-rdma.py FOLDER [DICTIONARY]"""

import pathlib
import subprocess
import sys
import tempfile

CARDS = pathlib.Path(__file__).resolve().parents[1] / "programs/cards"
WORDS = [
    "\tEthernet\n", "\tInfiniBand\n", "\t4: ACTIVE\n", "\tRoCE v2\n", "\tIB/RoCE v1\n", "\t0x1003\n", "/ports/1/", "/ports/2/", "state",
    "link_layer", "rate\t", "gids/", "gid_attrs/types/", "gid_attrs/ndevs/", "fe80:", "0000:0000:0000:0000:0000:ffff:0a00:0001",
    "0000:0000:0000:0000:0000:0000:0000:0000", "fd00::1", "mlx5_", "*33\n", "#", "/dev/infiniband/uverbs", "mlx5_core",
    "/device/driver\t>", "/device/infiniband_verbs/uverbs", "/sys/class/net/", "/sys/bus/pci/devices/", "/class\t0x030200\n", "\t>../pci",
]  # fmt: skip


def lines(root):
    """The files of a tree, with what the kernel's links lead to in their place."""
    cards = root / "sys/class/infiniband"
    for card in sorted(cards.iterdir()) if cards.exists() else []:
        yield f"{card.name}\t>{card.readlink()}"
        yield f"{card.name}/device/driver\t>{(card / 'device/driver').readlink()}"
        for file in sorted((card / "device").glob("infiniband_verbs/*")):
            yield f"{card.name}/device/infiniband_verbs/{file.name}\t"
        port = card / "ports/1"
        for file in sorted(port.rglob("*")):
            # Of a table's empty slots, the first is enough.
            if file.is_file() and (file.name == "0" or file.read_text(encoding="ascii").strip("0:\n")):
                yield f"{card.name}/ports/1/{file.relative_to(port)}\t{file.read_text(encoding='ascii').strip()}"
    for pattern in ("dev/infiniband/*", "sys/class/net/*/flags", "usr/local/gib/*/*"):
        for file in sorted(root.glob(pattern)):
            yield f"/{file.relative_to(root)}\t{file.read_text(encoding='ascii').strip()}"
    for device in sorted(root.glob("sys/bus/pci/devices/*")):
        yield f"/{device.relative_to(root)}\t>{device.readlink()}"
        yield f"/{device.relative_to(root)}/class\t{(device / 'class').read_text(encoding='ascii').strip()}"


def quoted(text):
    """A text as libFuzzer's dictionaries have it."""
    return '"' + "".join(c if " " <= c <= "~" and c not in '"\\' else f"\\x{ord(c):02x}" for c in text) + '"\n'


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    trees = subprocess.run([sys.executable, CARDS, "--list"], capture_output=True, text=True, check=True).stdout.split()
    for tree in trees:
        if tree == "many":  # 36,000 files; corpus/rdma has as many in a few lines
            continue
        with tempfile.TemporaryDirectory() as root:
            subprocess.run([sys.executable, CARDS, tree, root], check=True)
            (folder / f"tree-{tree}").write_text("\n".join(lines(pathlib.Path(root))) + "\n", encoding="ascii")
    if len(sys.argv) > 2:
        pathlib.Path(sys.argv[2]).write_text("".join(map(quoted, WORDS)), encoding="ascii")


main()
