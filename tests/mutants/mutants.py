#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Changes one operator, bound, constant or branch of src/ or cmd/ at random, builds, and runs the fast tests: those that are
near to the change first, until one fails. A change that no test notices is a survivor: a test is missing, the code does
not matter, or the change means the same (equivalent.txt, with the reason).

    mutants.py [--count=N] [--seed=S] [--seconds=S] [--only=PREFIX,...]

--seconds: for the tests of one mutant. Works on a copy of the tree, build-mutants/tree, as root (see room.py).
"""

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

from sites import Mutant, mutants_of

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "build-mutants"
TREE = WORK / "tree"
BUILD = TREE / "build"
HERE = Path(__file__).resolve().parent

# Only the static programs have these; the tests here are of a native build, which is faster.
LEFT_OUT = ("src/base/libc.c", "src/base/malloc.c")

# What else is near to a folder, besides the unit tests that include its headers.
NEAR = {
    "src/source": ["vectors/conflict", "vectors/override", "vectors/manual"],
    "src/env": ["e2e/directives", "e2e/bundle"],
    "src/net": ["e2e/wait", "rollcall/meet"],
    "src/flow": ["e2e/frameworks", "e2e/explain", "e2e/options", "e2e/hosts", "e2e/security"],
    "src/format": ["e2e/env"],
    "src/framework": ["e2e/frameworks", "vectors/frameworks"],
    "src/install": ["e2e/install"],
    "src/exec": ["e2e/entrypoint"],
    "src/priv": ["e2e/privileges", "e2e/security"],
    "src/process": ["e2e/explain"],
    "src/report": ["e2e/report", "e2e/ended"],
    "src/init": ["e2e/ended", "e2e/init", "e2e/terminal", "e2e/report"],
    "src/rollcall": ["rollcall/meet", "rollcall/agree", "rollcall/secret", "rollcall/port", "e2e/check"],
    "src/slurm": ["e2e/distrun", "e2e/csrun"],
    "src/container": ["e2e/csrun"],
    "src/measure": ["e2e/analyze"],
    "cmd/names": ["e2e/names"],
    "cmd/distrun": ["e2e/csrun", "e2e/distrun", "e2e/analyze"],
    "cmd/distinit": ["e2e/options", "e2e/explain", "e2e/env", "e2e/hosts", "e2e/entrypoint"],
    "cmd/common": ["e2e/options"],
}

# For what has no tests of its own on the command line: quick, and broad.
QUICK = ["e2e/entrypoint", "e2e/frameworks", "e2e/env", "e2e/hosts"]


def copy_tree() -> None:
    """A copy of what Git knows and of what is not ignored, with a build folder of its own."""
    TREE.mkdir(parents=True, exist_ok=True)
    listed = subprocess.run(["git", "-c", f"safe.directory={ROOT}", "ls-files", "-co", "--exclude-standard"], cwd=ROOT,
                            check=True, capture_output=True, text=True).stdout.split("\n")
    for name in filter(None, listed):
        source, target = ROOT / name, TREE / name
        if source.is_file() and (not target.exists() or source.read_bytes() != target.read_bytes()):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    if not (BUILD / "build.ninja").exists():
        subprocess.run(["meson", "setup", str(BUILD), "-Doptimization=0", "-Ddebug=false"], cwd=TREE, check=True,
                       stdout=subprocess.DEVNULL)


def in_room(*command: str) -> "subprocess.CompletedProcess[str]":
    """Run it where it sees no process but its own, may write only below the tree and in a /tmp of its own, and has no network."""
    script = ('mount --make-rprivate / && mount --bind "$0" "$0" && mount -o remount,bind,ro / && '
              'mount -t tmpfs tmp /tmp && mount -t tmpfs run /run && exec "$@"')
    return subprocess.run(["unshare", "--pid", "--fork", "--kill-child", "--mount", "--net", "--ipc", "--mount-proc",
                           "sh", "-c", script, str(TREE), *command], cwd=TREE, check=False, capture_output=True, text=True,
                          errors="replace", stdin=subprocess.DEVNULL)


def build(*targets: str) -> bool:
    return subprocess.run(["ninja", "-C", str(BUILD), *targets], check=False, capture_output=True).returncode == 0


def target_of(test: str) -> list[str]:
    return ["tests/test-" + test.split("/")[1]] if test.startswith("unit/") else []


def is_near(test: str, path: str) -> bool:
    """Whether a unit test includes the header of a file, or has its name."""
    source = (TREE / "tests/unit" / f"test-{test.split('/')[1]}.c").read_text(encoding="utf-8")
    return Path(path).stem == test.split("/")[1] or path.split("/", 1)[1][:-2] + ".h\"" in source


def tests_for(path: str, known: list[str], killers: Counter[str]) -> tuple[list[str], list[str]]:
    """The tests that are near to this file, the most likely killer first; and all others."""
    units = [name for name in known if name.startswith("unit/")]
    vectors = [name for name in known if name.startswith("vectors/") and name != "vectors/reports"]
    near = sorted((name for name in known if killers[name]), key=lambda name: -killers[name])
    near += [name for name in units if is_near(name, path)]
    near += [name for name in vectors if name.split("/")[1] == Path(path).stem]
    near += [name for name in NEAR.get("/".join(path.split("/")[:2]), []) if name in known]
    near = list(dict.fromkeys(near))
    broad = [] if any(name.startswith(("e2e/", "rollcall/")) for name in near) else QUICK
    return near, [name for name in units + vectors + broad if name in known and name not in near]


def equivalents() -> set[tuple[str, str, str]]:
    """(path, line, changed line) of each known one. In the file: the path, '- LINE', '+ LINE', and the reason."""
    out, path, before = set(), "", ""
    for line in (HERE / "equivalent.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith(("src/", "cmd/")):
            path = line
        elif line.startswith("- "):
            before = line[2:]
        elif line.startswith("+ "):
            out.add((path, before, line[2:]))
    return out


def judged(tests: list[str], seconds: float) -> str:
    if not build("distinit", "distrun", *(target for name in tests for target in target_of(name))):
        return "does not build"
    done = in_room(sys.executable, str(TREE / "tests/mutants/room.py"), str(BUILD), str(seconds), *tests)
    return done.stdout.strip() or f"killed room: {done.stderr.strip()[-200:] or done.returncode}"


def try_one(mutant: Mutant, near: list[str], others: list[str], seconds: float) -> str:
    file = TREE / mutant.path
    original = file.read_text(encoding="utf-8")
    lines = original.split("\n")
    lines[mutant.line] = mutant.after
    file.write_text("\n".join(lines), encoding="utf-8")
    try:
        result = judged(near, seconds)
        return judged(others, seconds) if result == "survived" else result
    finally:
        file.write_text(original, encoding="utf-8")


def all_tests() -> list[str]:
    """Meson's tests that may kill a mutant, by "suite/name". Their commands go to tests.json."""
    text = subprocess.run(["meson", "introspect", str(BUILD), "--tests"], capture_output=True, check=True, text=True).stdout
    tests = {f"{test['suite'][0].split(':')[-1]}/{test['name']}": test for test in json.loads(text)}
    (BUILD / "tests.json").write_text(json.dumps(tests), encoding="utf-8")
    named = QUICK + sum(NEAR.values(), [])
    return [name for name in tests if name.startswith(("unit/", "vectors/")) or name in named]


def prepare() -> list[str]:
    copy_tree()
    if not build("distinit", "distrun"):
        sys.exit("mutants: the tree does not build")
    (BUILD / "plain").mkdir(exist_ok=True)
    for name in ("distinit", "distrun"):
        shutil.copy2(BUILD / name, BUILD / "plain" / name)
    (BUILD / "known.json").unlink(missing_ok=True)
    return all_tests()


def choose(count: int, seed: int, only: str) -> list[Mutant]:
    files = [path for path in sorted(TREE.glob("src/*/*.c")) + sorted(TREE.glob("cmd/*/*.c"))]
    names = [str(path.relative_to(TREE)) for path in files]
    all_of_them = [mutant for name in names if name not in LEFT_OUT and name.startswith(tuple(only.split(",")))
                   for mutant in mutants_of(name, (TREE / name).read_text(encoding="utf-8"))]
    known = equivalents()
    all_of_them = [m for m in all_of_them if (m.path, m.before.strip(), m.after.strip()) not in known]
    print(f"mutants: {len(all_of_them)} are possible; {len(known)} known equivalents are left out; seed {seed}", flush=True)
    return random.Random(seed).sample(all_of_them, min(count, len(all_of_them)))


def main() -> int:
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=180)
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("mutants: only root can make the namespaces that a mutant needs around it")
    known = prepare()
    killers: dict[str, Counter[str]] = {}
    counts: Counter[str] = Counter()
    for number, mutant in enumerate(choose(asked.count, asked.seed, asked.only), 1):
        mine = killers.setdefault(mutant.path, Counter())
        result = try_one(mutant, *tests_for(mutant.path, known, mine), asked.seconds)
        killer = re.match(r"killed ([^:]+):", result)
        if killer:
            mine[killer[1]] += 1
        counts[" ".join(result.split()[:1])] += 1
        print(f"{number} {result}\n  {mutant.path}:{mutant.line + 1} ({mutant.what})\n  - {mutant.before.strip()}\n"
              f"  + {mutant.after.strip()}", flush=True)
    ran = counts["killed"] + counts["survived"] + counts["time"]
    print(f"mutants: {counts['killed']} killed of {ran}; {counts['survived']} survived, {counts['time']} were not killed in time, "
          f"{counts['does']} did not build")
    return 0


if __name__ == "__main__":
    sys.exit(main())
