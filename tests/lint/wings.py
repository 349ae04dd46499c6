#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0

"""Which wing sees which: the compiler is given a header of each room, with the words that a file of each wing is compiled with.
HACKING.md's table of wings has what is expected. Prints TAP, one test a wing.

    wings.py BUILD
"""

import json
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv[1])


def told():
    """WING: those that it sees, of the table."""
    text = (ROOT / "HACKING.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `src/(\w+)` \|[^|]*\| ([\w, ]*)\|$", text, re.M)
    return {wing: {wing, *sees.replace(",", "").split()} for wing, sees in rows}


def words(wing):
    """How a file of @wing is compiled, but for its name and what is written. None: the build has no such file."""
    for one in json.loads((BUILD / "compile_commands.json").read_text(encoding="utf-8")):
        if f"/lib{wing}.a.p/" in one["output"]:
            command = shlex.split(one["command"])
            left = [i for i, word in enumerate(command) if word in ("-o", "-c", "-MF", "-MQ", "-MD")]
            values = {i + 1 for i in left if command[i] != "-MD"}
            return [word for i, word in enumerate(command) if i not in left and i not in values]
    return None


def compiles(command, header):
    return subprocess.run([*command, "-fsyntax-only", "-x", "c", "-"], cwd=BUILD, input=f'#include "{header}"\n', text=True,
                          capture_output=True, check=False)


def wrong(wing, sees, wings):
    command = words(wing)
    for other in wings:
        for room in sorted(path for path in (ROOT / "src" / other).iterdir() if path.is_dir()):
            # list.h is a table: those who include it say what its lines mean.
            header = min((path.name for path in room.glob("*.h") if path.name != "list.h"), default=None)
            if not header:
                continue
            ran = compiles(command, f"{room.name}/{header}")
            if other in sees and ran.returncode:
                yield f"does not see {room.name}/{header}: {ran.stderr.strip().splitlines()[0]}"
            elif other not in sees and not ran.returncode:
                yield f"sees {room.name}/{header}, of {other}"
            elif ran.returncode and "No such file" not in ran.stderr:
                yield f"{room.name}/{header}: {ran.stderr.strip().splitlines()[0]}"


def main():
    table = told()
    folders = {path.name for path in (ROOT / "src").iterdir() if path.is_dir()}
    built = [wing for wing in table if words(wing)]
    failed = table.keys() != folders
    print(f"{'not ' * failed}ok 1 - each wing of src is in the table of HACKING.md")
    for n, wing in enumerate(built, 2):
        errors = list(wrong(wing, table[wing], built))
        failed |= bool(errors)
        print(f"{'not ' * bool(errors)}ok {n} - {wing} sees {', '.join(sorted(table[wing]))}, and no other")
        for error in errors:
            print("# " + error)
    if len(built) < 2:
        failed = True
        print("# the build has no wings")
    print(f"1..{len(built) + 1}")
    return failed


sys.exit(main())
