# SPDX-License-Identifier: Apache-2.0
"""No false recognition: the variables of two managers, mixed; prints TAP.

    mixed.py DISTINIT VECTORS

Each case of the vectors gets the variables of another manager's plainest case, and those that containers, mpirun and
torchrun really set (leaked.txt), each beside its own, which stand. The answer is then that of the one or that of
the other, whole, or a refusal; and from leaked.txt its own, unless those are ranks. It is never a cluster put together
from two: hosts, number and size have one owner.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "vectors"))
import run as vectors  # noqa: E402

# What a placement is. The launcher, its rank and MASTER_ADDR have owners of their own.
PLACEMENT = ("hosts", "nnodes", "node_rank")
# Not a manager's: cases of several, and of options.
MIXED = ("conflict", "override", "hostlist", "frameworks", "manual", "hostfile")


class Asked:
    """A case, and what distinit says of it with more variables."""

    def __init__(self, binary, name, case):
        self.binary, self.name, self.case = binary, name, case

    def ask(self, more):
        """(source, launcher, placement), or None for a refusal. @more is the environment of another."""
        with tempfile.TemporaryDirectory() as root:
            vectors.write_files(self.case, root)
            env = {k.encode(): vectors.to_bytes(v, root) for k, v in {**more, **self.case.env}.items()}
            words = [f"--root={root}", f"--hostname={self.case.hostname or vectors.NOWHERE}"]
            words += [o.replace("@ROOT@", root) for o in self.case.options]
            done = subprocess.run([self.binary, "explain", "--format=json", *words], env=env, stdin=subprocess.DEVNULL,
                                  capture_output=True, timeout=60)
        if done.returncode:
            return None
        said = json.loads(done.stdout)
        cluster = said["cluster"] or {}
        return said["source"], said["launcher"], tuple(str(cluster.get(key)) for key in PLACEMENT)


def read_leaked(path):
    """{heading: variables}"""
    kinds, kind = {}, None
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            kind = kinds.setdefault(line[1:-1], {})
        elif line and not line.startswith("#"):
            name, _, value = line.partition("=")
            kind[name] = value
    return kinds


def collect(binary, folder):
    """({file: [Asked]}, {file: its plainest case}): that is the first which derives from variables alone."""
    cases, plainest = {}, {}
    for path in sorted(folder.glob("*.txt")):
        if path.stem in MIXED:
            continue
        found = vectors.read_cases(path.read_text(encoding="utf-8")).items()
        cases[path.stem] = [Asked(binary, f"{path.stem} [{name}]", case) for name, case in found]
        derives = [a for a in cases[path.stem] if a.case.env and not a.case.refused and a.case.cluster is not None]
        plainest[path.stem] = derives[0]
    return cases, plainest


def check(asked, own, other, alone, more):
    """One mixture. @alone is what the other says by itself, under the host name of this one."""
    said = asked.ask(more)
    if said is None or said == own or own is None:
        return None
    source, _, placement = said
    # The other's answer, where it comes first; or where this one has none.
    if alone is not None and source == alone[0] and placement == alone[2]:
        return None
    if own[0] == source and placement == own[2]:
        return None
    # Only a launcher: ranks on one node, or nothing but ranks.
    if source is None and said[1] in (own[1], alone and alone[1]):
        return None
    return f"{asked.name} with {other}: {said}; by itself {own}, the other {alone}"


def mix(asked, plainest, bad):
    own, runs = asked.ask({}), 0
    for name, other in plainest.items():
        if name == asked.name.partition(" ")[0]:
            continue
        # The other under this host name, with this one's files out of sight.
        case = vectors.Case(other.name)
        case.env, case.options, case.files = other.case.env, asked.case.options, other.case.files
        case.hostname = asked.case.hostname
        alone = Asked(asked.binary, name, case).ask({})
        both = Asked(asked.binary, asked.name, asked.case)
        both.case = vectors.Case(asked.name)
        both.case.env, both.case.options, both.case.hostname = asked.case.env, asked.case.options, asked.case.hostname
        both.case.files = {**other.case.files, **asked.case.files}
        complaint = check(both, own, name, alone, other.case.env)
        runs += 2
        if complaint:
            bad.append(complaint)
    return runs


def main():
    binary, folder = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
    cases, plainest = collect(binary, folder)
    leaked = read_leaked(pathlib.Path(__file__).with_name("leaked.txt"))
    print(f"1..{len(cases)}")
    failed = False
    for number, (name, members) in enumerate(cases.items(), 1):
        bad, runs = [], 0
        # The plainest case with each of the others, and each case with what leaks.
        runs += mix(plainest[name], plainest, bad)
        for asked in members:
            own = asked.ask({})
            for kind, variables in leaked.items():
                runs += 1
                complaint = check(asked, own, kind, Asked(binary, kind, vectors.Case(kind)).ask(variables), variables)
                if complaint:
                    bad.append(complaint)
        failed |= bool(bad)
        print(f"{'not ok' if bad else 'ok'} {number} - {name}: {runs} runs, {len(bad)} wrong", flush=True)
        for line in bad[:12]:
            print("# " + line)
    return failed


if __name__ == "__main__":
    sys.exit(main())
