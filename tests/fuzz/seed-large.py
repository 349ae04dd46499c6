#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make an input of fuzz-large for each verb of directive files: seed-large.py FOLDER [DICTIONARY]"""

import pathlib
import sys

LINES = ["set X#=a", "add X#=a", "unset A#", "unset A*", "prepend X=a#", "append X=a", "first X=a#", "pass A#", "clean", "[app x]"]
WORDS = [
    "\0*300\0", "\0*3000\0", "\0*60000\0", "\0$--env-file=/f", "\0/f\n", "#", "A#=1", "A=1", "A*", "\0$--unset=", "\0$--set=",
    "\0$--append=", "\0$--first=", "\0$--hosts=", "[1-100000]", "\0$--hostfile=/f", "\0$--node-rank=0", "\0DISTINIT_ENV=",
]  # fmt: skip


def quoted(text):
    """A text as libFuzzer's dictionaries have it."""
    return '"' + "".join(c if " " <= c <= "~" and c not in '"\\' else f"\\x{ord(c):02x}" for c in text) + '"\n'


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for number, line in enumerate(LINES):
        data = f"$--env-file=/f\0*300\0A#=1\0*300\0/f\n{line}\n"
        (folder / f"line-{number}").write_bytes(data.encode())
    if len(sys.argv) > 2:
        verbs = [f"\n{line.split()[0]} " for line in LINES[:-1]]
        pathlib.Path(sys.argv[2]).write_text("".join(map(quoted, WORDS + verbs)), encoding="ascii")


main()
