# SPDX-License-Identifier: Apache-2.0
"""No false recognition: the variables of two managers, mixed; prints TAP.

    mixed.py DISTINIT VECTORS

Each case of the vectors gets the variables of another manager's plainest case, and those that containers, mpirun and
torchrun really set (leaked.txt), each beside its own, which stand. The answer is then that of the one or that of
the other, whole, or a refusal. It is never a cluster put together from two: the hosts, their number, and this
node's have one owner. (Ranks have a second one, their launcher, which says on which node they are.)

MIXED_ALL=1 mixes every case with every manager's: minutes.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "vectors"))
import run as vectors  # noqa: E402

# What a placement is. MASTER_ADDR, where it is set, is the user's word, whoever set it.
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


def check(said, own, alone):
    """Whether @said is the answer @own, or that of the other, @alone; None is a refusal."""
    if said is None or said == own or said[:2] == (None, "torchrun"):
        return True
    source, launcher, (hosts, nnodes, rank) = said
    if source == own[0] and launcher != own[1] and own[1]:
        # A launcher in a step of another one: the manager speaks of the whole job then.
        return True
    for whole in own, alone:
        if whole is None or whole[0] != source:
            continue
        # A launcher's ranks are where it says; and without a manager, so are their nodes.
        if source is None or ((hosts, nnodes) == whole[2][:2] and (launcher or rank == whole[2][2])):
            return True
    return False


class Mixer:
    def __init__(self, binary):
        self.binary = binary
        self.known = {}
        self.runs = 0

    def ask(self, case, more, files):
        self.runs += 1
        both = vectors.Case(case.name)
        both.env, both.options, both.hostname = case.env, options_of(case), case.hostname
        both.files = {**files, **case.files}
        return Asked(self.binary, case.name, both).ask(more)

    def alone(self, name, variables, files, case):
        """What the other says under the host name and the options of @case."""
        key = (name, case.hostname, tuple(options_of(case)))
        if key not in self.known:
            bare = vectors.Case(name)
            bare.options, bare.hostname = case.options, case.hostname
            self.known[key] = self.ask(bare, variables, files)
        return self.known[key]

    def mix(self, case, name, variables, files):
        """A complaint about @case with the variables and files of another, or None."""
        own = self.own(case)
        if own is None or "lenient" in case.name:
            return None
        said, alone = self.ask(case, variables, files), self.alone(name, variables, files, case)
        return None if check(said, own, alone) else f"[{case.name}] with {name}: {said}; own {own}, the other {alone}"

    def own(self, case):
        if id(case) not in self.known:
            self.known[id(case)] = self.ask(case, {}, {})
        return self.known[id(case)]


def options_of(case):
    """What a placement does not depend on is left out."""
    return [option for option in case.options if not option.startswith("--frameworks")]


def main():
    binary, folder = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
    cases, plainest = collect(binary, folder)
    leaked = read_leaked(pathlib.Path(__file__).with_name("leaked.txt"))
    everything = os.environ.get("MIXED_ALL")
    mixer, failed = Mixer(binary), False
    print(f"1..{len(cases)}")
    for number, (name, members) in enumerate(cases.items(), 1):
        before, bad = mixer.runs, []
        for asked in members:
            others = [(kind, variables, {}) for kind, variables in leaked.items()]
            if everything or asked is plainest[name]:
                others += [(o, a.case.env, a.case.files) for o, a in plainest.items() if o != name]
            bad += filter(None, (mixer.mix(asked.case, *other) for other in others))
        failed |= bool(bad)
        print(f"{'not ok' if bad else 'ok'} {number} - {name}: {mixer.runs - before} runs, {len(bad)} wrong", flush=True)
        for line in bad[:12]:
            print("# " + line)
    return failed


if __name__ == "__main__":
    sys.exit(main())
