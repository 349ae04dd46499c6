#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make an input of fuzz-distrun for each option, and one for each name of the site's file: seed-distrun.py FOLDER [DICTIONARY]

The dictionary has the options, and the words of the tools' answers.
"""

import pathlib
import re
import sys

TREE = pathlib.Path(__file__).resolve().parent.parent.parent

HARD = [
    "\0*2\0", "\0*3000\0", "\0*200000\0", "\0PATH=/bin", "\0SLURM_JOB_ID=12", "\0SLURM_STEP_ID=0", "\0>squeue\n", "\0>sinfo\n",
    "\0>srun\n", "\0!srun\n", "\0/s\n", "\0$--site=/s", "\0$--runtime=none", "\0$--distinit=none", "\ndistrun-probe result rank=0 ",
    "\ndistrun-probe ready rank=0 ", "\ndistrun-probe tick rank=0 ", " node=", "part*|2|4\n", "8+", "12.0 ", "wsjob-",
    "srun: error: n2: task 0: Exited with exit code ", "distrun budget 1\n", "\nlimit ", "\nused ", "\nat ", "\nrun place 1 2 3",
    "slurmstepd: [12.0]", "/job_12/step_0", "\x1b[31m", "%s", "18446744073709551615", "281474976710656", "4294967295",
]  # fmt: skip


def found(path, pattern):
    return sorted(set(re.findall(pattern, (TREE / path).read_text(encoding="utf-8"), re.M)))


def quoted(text):
    """A text as libFuzzer's dictionaries have it."""
    return '"' + "".join(c if " " <= c <= "~" and c not in '"\\' else f"\\x{ord(c):02x}" for c in text) + '"\n'


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    options = found("cmd/distrun/options.c", r'^\t\{"([a-z-]+)"')
    names = found("src/slurm/srun/site.c", r'^\t\[SITE_\w+\] = \{"(\w+)"')
    fields = found("src/slurm/measure/message.c", r'\[FIELD_\w+\] = "(\w+)"')
    for option in options:
        data = f"$launch\0$--{option}=1\0$--runtime=none\0$--dry-run\0$prog\0PATH=/bin\0>srun\n\0>sinfo\na*|2|8\n"
        (folder / f"option-{option}").write_bytes(data.encode())
    for name in names:
        data = f"$exec\0$--site=/s\0$--dry-run\0$prog\0PATH=/bin\0/s\n{name}=1\n"
        (folder / f"site-{name}").write_bytes(data.encode())
    if len(sys.argv) > 2:
        words = [*HARD, *(f" {field}=" for field in fields), *(f"\n{name}=" for name in names)]
        variables = found("src/slurm/srun/site.c", r'"(CSRUN_\w+)"')
        words += [f"\0$--{option}=" for option in options] + [f"\0{name}=" for name in variables]
        pathlib.Path(sys.argv[2]).write_text("".join(map(quoted, words)), encoding="ascii")


main()
