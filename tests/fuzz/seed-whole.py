#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make inputs of fuzz-whole from the vectors: seed-whole.py FOLDER [DICTIONARY]

A case is taken if it has a variable, an option or a file that no earlier one has. The dictionary has the names of
variables, options and directives, and what is hard to guess.
"""

import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "vectors"))
sys.dont_write_bytecode = True

import run  # noqa: E402

HARD = [
    "hunter2", "_TOKEN=hunter2", "_PASSWD=hunter2", "://user:hunter2@host", "\x1b[31m", "\x7f", "\xc2\x9b", "%s", "\n",
    "\0*2\0", "\0*3000\0", "\0*60000\0", "\0/f\n", "\0/g\n", "\0$--env-file=/f", "\0$--hostfile=/f", "\0$--init",
    "\0$--together", "\0$--report=/r", "\0$--user=user", "\0/etc/passwd\n", "\0/etc/group\n", "\0/ids\n1000 0 0", "\0LISTEN_PID=4711",
    "\0LISTEN_PIDFDID=1", "\0DISTINIT_ENV=", "\0DISTINIT_ENV_FILE=/f", "\0DISTINIT_TRACK=", "\0DISTINIT_BUNDLE=", "A#=1",
    "\0%tini", "\0%dumb-init", "\0%catatonit", "\0%gosu", "\0$hosts", "\0$bundle", "\0$check", "\0$explain", "\0$env",
    "\0$--", "\0$/prog", "[app x]\n", "[1-4]", "4294967295", "4294967296", "A*",
]  # fmt: skip
VERBS = ["set ", "add ", "unset ", "prepend ", "append ", "first ", "clean\n", "pass "]


def words_of(case):
    """The words of the command line; an option and its value in two words are one."""
    yield from (option.replace("@ROOT@", "") for option in case.options)
    if case.hostname:
        yield f"--hostname={case.hostname}"


def input_of(case):
    pieces = [b"$" + run.to_bytes(word) for word in words_of(case)]
    pieces += [name.encode() + b"=" + run.to_bytes(value) for name, value in case.env.items()]
    pieces += [run.to_bytes(f"/{path.lstrip('/')}\n{text}") for path, text in case.files.items()]
    return b"\0".join(pieces)


def options():
    text = (HERE.parent.parent / "cmd" / "distinit" / "options.c").read_text(encoding="utf-8")
    return sorted(set(re.findall(r'^\t(?:\{|VERB\(|ALIAS\()"([a-z-]+)"', text, re.M)))


def quoted(text):
    """A text as libFuzzer's dictionaries have it."""
    return '"' + "".join(c if " " <= c <= "~" and c not in '"\\' else f"\\x{ord(c):02x}" for c in text) + '"\n'


def write_dictionary(path, variables):
    words = [*HARD, *(f"\0{name}=" for name in sorted(variables) if name.isidentifier()), *("\n" + verb for verb in VERBS)]
    for option in options():
        words += [f"\0$--{option}=", f"\0DISTINIT_{option.upper().replace('-', '_')}="]
    path.write_text("".join(map(quoted, words)), encoding="ascii")


def main():
    folder, seen, variables = pathlib.Path(sys.argv[1]), set(), set()
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted((HERE.parent / "vectors").glob("*.txt")):
        if path.stem == "hostlist":
            continue
        for number, case in enumerate(run.read_cases(path.read_text(encoding="utf-8")).values()):
            parts = {*case.env, *case.files, *(option.partition("=")[0] for option in case.options)}
            data = input_of(case)
            variables.update(case.env)
            if parts - seen and len(data) <= 8192:
                seen |= parts
                (folder / f"{path.stem}-{number:03}").write_bytes(data)
    if len(sys.argv) > 2:
        write_dictionary(pathlib.Path(sys.argv[2]), variables)


main()
