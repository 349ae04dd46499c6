# SPDX-License-Identifier: Apache-2.0
"""Bytes that a terminal obeys, thrown at every message; prints TAP.

    foreign.py DISTINIT DISTRUN VECTORS

Whatever others have named (a value, a path, a file's line, a program, a user) may hold escape sequences or the end of
a line. It reaches neither stderr nor "explain" as it is: each line of stderr is one of ours, and all bytes are
printable. Every option of every --help and every variable of the vectors gets such a text, alone and
behind what belongs there.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "vectors"))
import run as vectors  # noqa: E402

# ESC, the ends of lines, DEL, a C1 control in UTF-8 and as a byte, no UTF-8; MARK is never the beginning of a line.
MARK = b"FOREIGN"
EVIL = b"\x1b[31m\n" + MARK + b"\r\x7f\xc2\x9b\x9b\xff"
PRINTABLE = re.compile(rb"[\x20-\x7e\n]*")
JSON_CONTROL = re.compile(rb"[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]")


def options_of(program, word):
    """(option, whether it takes a value) from --help, which is made from the table of options."""
    all_of_them = "--help=all" if pathlib.Path(program).name == "distinit" else "--help"
    text = subprocess.run([program, *word, all_of_them], capture_output=True, check=True, text=True).stdout
    found = re.findall(r"^ {2}(?:-\w, |    )--([a-z-]+)(\[?=|[ ][A-Z]+\b(?=[=\[ ]|$))?", text, re.M)
    return [(name, bool(value)) for name, value in found]


class Thrower:
    def __init__(self, root):
        self.root = root
        self.runs = 0
        self.bad = []

    def run(self, argv, env):
        self.runs += 1
        done = subprocess.run(argv, env=env, stdin=subprocess.DEVNULL, capture_output=True, cwd=self.root, timeout=60)
        program = os.path.basename(argv[0]).encode()
        lines = done.stderr.split(b"\n")
        if not PRINTABLE.fullmatch(done.stderr):
            self.complain(argv, env, "stderr has control bytes", done.stderr)
        elif any(line and not line.startswith(program + b": ") for line in lines):
            self.complain(argv, env, "stderr has lines that are not ours", done.stderr)
        return done

    def complain(self, argv, env, what, output):
        changed = {name: value for name, value in env.items() if EVIL in os.fsencode(value)}
        self.bad.append(f"{what}: {argv} {changed}: {output!r}"[:700])

    def explain(self, distinit, words, env):
        done = self.run([distinit, "explain", *words], env)
        if not PRINTABLE.fullmatch(done.stdout) or b"\n" + MARK in done.stdout:
            self.complain(["explain", *words], env, "explain has control bytes", done.stdout)
        done = self.run([distinit, "explain", "--format=json", *words], env)
        if JSON_CONTROL.search(done.stdout):
            self.complain(["explain", *words], env, "JSON has control bytes", done.stdout)
        if done.stdout:
            json.loads(done.stdout)


def try_options(thrower, program, words, command):
    for word in words:
        for name, takes in options_of(program, word):
            path = os.fsencode(thrower.root) + b"/" + EVIL
            texts = [EVIL, b"A=" + EVIL, b"A" + EVIL + b"=1", path, b"auto" + EVIL] if takes else [EVIL]
            for text in texts:
                option = b"--" + name.encode() + b"=" + text
                tail = command if not word or word[0] not in ("explain", "env", "wait", "hosts", "bundle") else []
                thrower.run([program, *word, "-v", option, *tail], {})
                thrower.run([program, *word, b"--" + name.encode(), text, *tail], {})
                thrower.run([program, *word, b"--" + name.encode(), b"NAME", text, *tail], {})
                variable = "DISTINIT_" + name.upper().replace("-", "_")
                env = {variable.replace("DISTINIT", "DISTRUN"): text, variable: text}
                thrower.run([program, *word, *tail], env)
                if not word:
                    thrower.run([program, "--init", "-vv", "--hosts=a,b", "--node-rank=0", *tail], env)
                    thrower.run([program, "--lenient", f"--root={thrower.root}", *tail], env)
    for text in (EVIL, b"-" + EVIL, b"--" + EVIL, b"--set" + EVIL):
        thrower.run([program, text, *command], {})
        thrower.run([program, b"--", text], {})


def try_vectors(thrower, distinit, folder):
    seen = set()
    for path in sorted(folder.glob("*.txt")):
        if path.name == "hostlist.txt":
            continue
        for case in vectors.read_cases(path.read_text(encoding="utf-8")).values():
            fresh = [name for name in case.env if (path.name, name) not in seen]
            seen.update((path.name, name) for name in fresh)
            if not fresh and not case.files:
                continue
            with tempfile.TemporaryDirectory() as root:
                try_case(thrower, distinit, case, fresh, root)


def try_case(thrower, distinit, case, fresh, root):
    vectors.write_files(case, root)
    words = [f"--root={root}", "--hostname=" + (case.hostname or "nowhere")]
    words += [option.replace("@ROOT@", root) for option in case.options]
    env = {name.encode(): vectors.to_bytes(value, root) for name, value in case.env.items()}
    for name in fresh:
        for value in (EVIL, env[name.encode()] + EVIL):
            dirty = {**env, name.encode(): value}
            thrower.explain(distinit, words, dirty)
            thrower.run([distinit, "-vv", *words, "--", "true"], dirty)
    for name in case.files:
        path = pathlib.Path(root, name.lstrip("/"))
        if not path.is_file():
            continue
        path.chmod(0o644)
        path.write_bytes(path.read_bytes().rstrip(b"\n") + EVIL)
        thrower.explain(distinit, words, env)


def try_rest(thrower, distinit):
    """What is no option's and no vector's: a program's name, a user's, a path of a directive file, a bundle."""
    root = pathlib.Path(thrower.root)
    name = b"prog" + EVIL
    program = os.fsencode(root) + b"/" + name
    pathlib.Path(os.fsdecode(program)).write_text("#!/bin/sh\nexit 3\n", encoding="ascii")
    os.chmod(program, 0o755)
    thrower.run([distinit, "--init", "-vv", "--", program], {})
    thrower.run([distinit, "-vv", "--set", b"X" + b"\xc2\x9b\xff" + b"=1", "--", "true"], {b"Y\x1b" + EVIL: b"1"})
    thrower.run([distinit, "-vv", "--unset", "Y*", "--", "true"], {b"Y\x1b\x7f": b"1"})
    thrower.explain(distinit, ["--unset", "Y*", "--set", b"Z\xff=" + EVIL], {b"Y" + EVIL: b"1"})
    bad = root / "bad"
    bad.mkdir()
    file = os.fsencode(bad) + b"/" + EVIL
    pathlib.Path(os.fsdecode(file)).write_bytes(b"sett A=1\n")
    thrower.run([distinit, "--env-file", file, "--", "true"], {})
    pathlib.Path(os.fsdecode(file)).write_bytes(b"A=" + EVIL.replace(b"\n", b"") + b"\nA" + EVIL + b"=1\n")
    thrower.run([distinit, "--env-file", file, "--", "true"], {})
    thrower.explain(distinit, [b"--env-file=" + file], {})
    etc = root / "etc"
    etc.mkdir()
    (etc / "passwd").write_bytes(b"trainer\x1b\x7f\x9b:x:1000:1000::/:/bin/sh\n")
    (etc / "group").write_bytes(b"")
    thrower.run([distinit, f"--root={root}", "--user=trainer123", "--", "true"], {})
    thrower.run([distinit, f"--root={root}", "--user=trainer", "--", "true"], {})


def main():
    distinit, distrun, folder = sys.argv[1:4]
    number, failed = 0, False
    with tempfile.TemporaryDirectory() as root:
        parts = [
            ("options of distinit", lambda t: try_options(t, distinit, [[], ["env"], ["explain"], ["hosts"], ["bundle"]], ["--", "true"])),
            ("options of distrun", lambda t: try_options(t, distrun, [["surrogate"], ["exec"], ["launch"], ["analyze"]], ["--", "true"])),
            ("variables of the vectors", lambda t: try_vectors(t, distinit, pathlib.Path(folder))),
            ("names of programs, users and files", lambda t: try_rest(t, distinit)),
        ]
        for name, part in parts:
            thrower = Thrower(root)
            part(thrower)
            number += 1
            failed |= bool(thrower.bad)
            print(f"{'not ok' if thrower.bad else 'ok'} {number} - {name}: {thrower.runs} runs, {len(thrower.bad)} bad")
            for line in thrower.bad[:12]:
                print("# " + line)
    print(f"1..{number}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
