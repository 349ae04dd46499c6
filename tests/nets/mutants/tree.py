# SPDX-License-Identifier: Apache-2.0
"""A copy of the tree, its build, and its tests, each of which can be run alone."""

import json
import re
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

from sites import Mutant

ROOT = Path(__file__).resolve().parents[3]
WORK = ROOT / "build-mutants"

# What may notice a change. Others need real engines, or are about documents, or only repeat these at length.
SUITES = ("unit", "vectors", "e2e", "rollcall", "python")
LEFT_OUT = ("e2e/static", "e2e/docs")


class Tree:
    """build-mutants/NAME, and its folder "build"."""

    def __init__(self, name: str, *options: str):
        self.path = WORK / name
        self.build = self.path / "build"
        self.copy()
        if not (self.build / "build.ninja").exists():
            subprocess.run(["meson", "setup", str(self.build), "-Doptimization=0", *options], cwd=self.path, check=True,
                           stdout=subprocess.DEVNULL)

    def copy(self) -> None:
        """What Git knows and what is not ignored."""
        listed = subprocess.run(["git", "-c", f"safe.directory={ROOT}", "ls-files", "-co", "--exclude-standard"], cwd=ROOT,
                                check=True, capture_output=True, text=True).stdout.split("\n")
        for name in filter(None, listed):
            source, target = ROOT / name, self.path / name
            if source.is_file() and (not target.exists() or source.read_bytes() != target.read_bytes()):
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target)
                shutil.copymode(source, target)

    @contextmanager
    def changed(self, mutant: Mutant) -> Iterator[None]:
        """With the change of @mutant, for as long as the block lasts."""
        file = self.path / mutant.path
        original = file.read_text(encoding="utf-8")
        lines = original.split("\n")
        lines[mutant.line] = mutant.after
        file.write_text("\n".join(lines), encoding="utf-8")
        try:
            yield
        finally:
            file.write_text(original, encoding="utf-8")

    def make(self, *targets: str) -> bool:
        return subprocess.run(["ninja", "-C", str(self.build), *targets], check=False, capture_output=True).returncode == 0

    def make_plain(self) -> None:
        """The programs as they are, in build/plain."""
        programs = [name for name in ("distinit", "distrun", "tests/crowd")]
        if not self.make(*programs):
            sys.exit("mutants: the tree does not build")
        for name in programs:
            target = self.build / "plain" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(self.build / name, target)

    def room(self, tests: list[dict], *words: str) -> str:
        """Run tests where they see no process but their own, may write only below the tree and in a /tmp and /run of their
        own, and have no network."""
        script = ('mount --make-rprivate / && mount --bind "$0" "$0" && mount -o remount,bind,ro / && '
                  'mount -t tmpfs tmp /tmp && mount -t tmpfs run /run && exec "$@"')
        done = subprocess.run(["unshare", "--pid", "--fork", "--kill-child", "--mount", "--net", "--ipc", "--mount-proc",
                               "sh", "-c", script, str(self.path), sys.executable,
                               str(self.path / "tests/nets/mutants/room.py"), str(self.build), *words],
                              cwd=self.path, check=False, capture_output=True, text=True, errors="replace",
                              input="".join(json.dumps(test) + "\n" for test in tests))
        return done.stdout.strip() or f"killed room: {done.stderr.strip()[-200:] or done.returncode}"

    def tests(self) -> Iterator[dict]:
        """name ("unit/num", "e2e/init: NAME"), cmd, env, file (what the test is written in), target (what it needs built)."""
        text = subprocess.run(["meson", "introspect", str(self.build), "--tests"], capture_output=True, check=True,
                              text=True).stdout
        for test in json.loads(text):
            suite = test["suite"][0].split(":")[-1]
            name = f"{suite}/{test['name']}"
            if suite not in SUITES or name in LEFT_OUT:
                continue
            out = {"name": name, "cmd": test["cmd"], "env": test["env"], "file": test["cmd"][-1], "target": ""}
            if suite in ("unit", "replay"):
                program = Path(test["cmd"][1 if suite == "replay" else 0])
                kind = {"unit": f"unit/{program.name}.c", "replay": f"fuzz/fuzz-{test['name']}.c"}[suite]
                out |= {"file": str(self.path / "tests" / kind), "target": f"tests/{program.name}"}
            yield from self.single(out) if suite in ("e2e", "rollcall") else [out]

    @staticmethod
    def single(test: dict) -> Iterator[dict]:
        """Each test of a bats file, by a filter."""
        file = Path(test["cmd"][-1])
        for line in file.read_text(encoding="utf-8").splitlines():
            match = re.match(r"@test (['\"])(.*)\1 \{$", line)
            if match:
                text = re.sub(r"\\([\"$`\\])", r"\1", match[2])
                pattern = "^" + re.sub(r"([][\\.^$*+?(){}|])", r"\\\1", text) + "$"
                yield {**test, "title": match[2], "name": f"{test['name']}: {text}", "target": "tests/crowd" if "CROWD" in test["env"] else "",
                       "cmd": ["env", "--default-signal", "bats", "--formatter", "tap", "-f", pattern, str(file)]}
