#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make an input of fuzz-cluster from each case of the vectors: seed-cluster.py FOLDER [DICTIONARY]

The dictionary has the names of variables that the cases use. Both are made anew whenever a fuzzer or a replay starts, so
a new manager's vectors are fuzzed without a further step.
"""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "vectors"))
sys.dont_write_bytecode = True

import run  # noqa: E402


def settings_of(case):
    """Options as the variables that they may be told by."""
    for option in case.options:
        name, _, value = option.removeprefix("--").partition("=")
        if option.startswith("--") and name.replace("-", "").isalpha():
            yield f"DISTINIT_{name.upper().replace('-', '_')}", value or "1"
    if case.hostname:
        yield "DISTINIT_HOSTNAME", case.hostname


def input_of(case):
    file = next(iter(case.files.values()), "")
    pairs = [*case.env.items(), *settings_of(case)]
    entries = [name.encode() + b"=" + run.to_bytes(value) for name, value in pairs]
    for path in case.files:
        entries = [entry.replace(b"=" + path.encode(), b"=/f") for entry in entries]
    return b"\0".join([run.to_bytes(file), *entries])


def main():
    folder, names = pathlib.Path(sys.argv[1]), set()
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted((HERE.parent / "vectors").glob("*.txt")):
        if path.stem == "hostlist":
            continue
        for number, case in enumerate(run.read_cases(path.read_text()).values()):
            data = input_of(case)
            names.update(name for name, _ in [*case.env.items(), *settings_of(case)])
            if len(data) <= 4096:
                (folder / f"{path.stem}-{number:03}").write_bytes(data)
    if len(sys.argv) > 2:
        lines = [f'"\\x00{name}="' for name in sorted(names) if name.isascii() and name.isidentifier()]
        pathlib.Path(sys.argv[2]).write_text("# Names of variables, by seed-cluster.py\n" + "\n".join(lines) + "\n")


main()
