# SPDX-License-Identifier: Apache-2.0
"""No false recognition: the variables of two managers, mixed; prints TAP.

    mixed.py DISTINIT VECTORS

Each case of the vectors gets the variables of another: of another manager's plainest case; of node 3 of 5 that its
maker makes, whose numbers hardly any vector has; and what containers, mpirun and torchrun really set (leaked.txt).
The variables of the case itself stand. The answer is then that of the one or that of the other, or a part of it, or a
refusal. It is never a cluster put together from two: the hosts, their number, this node's and the master have one
owner.

There are exceptions, and each is what a real job looks like:

 - A launcher's ranks are where it says, in whatever manager. So the node's number is not compared there.
 - MASTER_ADDR, where it is set, is the user's word, whoever set it. FROM_MASTER managers number their hosts after it.
 - Where both set RANK, or INDEX, there is one value: the number may be the case's.
 - OPEN managers need only names that anybody sets. NODE_RANK of the one with MASTER_ADDR of the other is such a job,
   if no other manager recognises either of them.
 - SAME_NUMBERS: both managers set the same names to the number of nodes and to this one's, so nothing tells whose they are.
 - COPIED: a launcher copies the pod's number to other pods, so there the pod's name counts, even if it does not go
   with the number.

Of all pairs, those that MIXED_SEED draws are tried: MIXED_RUNS of them, or as many as take some 40 s of CPU, if the
program is slow, as with sanitizers. The plainest cases of two managers come first. MIXED_ALL=1 tries all: minutes.
"""

import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import makers_basic  # noqa: F401
import makers_batch  # noqa: F401
import makers_named  # noqa: F401
import makers_pods  # noqa: F401
from cluster import MANAGERS

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "vectors"))
import run as vectors  # noqa: E402

PLACEMENT = ("hosts", "nnodes", "node_rank", "master_addr")
# Not a manager's: cases of several, and of options.
MIXED = ("conflict", "override", "hostlist", "frameworks", "manual", "hostfile")
# Managers that take the names that everybody sets.
OPEN = ("plain", "vessl", "brainpp", "tione")
FROM_MASTER = ("gpurecipes",)
SAME_NUMBERS = ({"axlearn", "jaxjob"},)
COPIED = "a host name that is not the pod's"
CPU_SECONDS, TRIAL = 12, 20


class Other:
    """Whose variables a case gets."""

    def __init__(self, name, env, files):
        self.name, self.env, self.files = name, env, files


def ask(binary, case, other):
    """(source, launcher, placement), or None for a refusal."""
    with tempfile.TemporaryDirectory() as root:
        for owner in other, case:
            vectors.write_files(owner, root)
        env = {k.encode(): vectors.to_bytes(v, root) for k, v in {**other.env, **case.env}.items()}
        words = [f"--root={root}", f"--hostname={case.hostname or vectors.NOWHERE}"]
        words += [o.replace("@ROOT@", root) for o in options_of(case)]
        done = subprocess.run([binary, "explain", "--format=json", *words], env=env, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=60)
    if done.returncode:
        return None
    said = json.loads(done.stdout)
    cluster = said["cluster"] or {}
    return said["source"], said["launcher"], tuple(str(cluster.get(key)) for key in PLACEMENT)


def options_of(case):
    """What a placement does not depend on is left out."""
    return [option for option in case.options if not option.startswith("--frameworks")]


def read_leaked(path):
    """[Other]"""
    kinds, kind = {}, None
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            kind = kinds.setdefault(line[1:-1], {})
        elif line and not line.startswith("#"):
            name, _, value = line.partition("=")
            kind[name] = value
    return [Other(name, env, {}) for name, env in kinds.items()]


def read_vectors(folder):
    """({file: [case]}, {file: its plainest case}): that is the first which derives from variables alone."""
    cases, plainest = {}, {}
    for path in sorted(folder.glob("*.txt")):
        if path.stem in MIXED:
            continue
        cases[path.stem] = list(vectors.read_cases(path.read_text(encoding="utf-8")).values())
        plainest[path.stem] = next(c for c in cases[path.stem] if c.env and not c.refused and c.cluster is not None)
    return cases, plainest


def make_others():
    """Node 3 of 5 of every maker: [Other]"""
    others = []
    for name, makers in MANAGERS.items():
        for number, make in enumerate(makers):
            cluster = make(random.Random(f"{name} {number}"), 5)
            member = cluster.member(min(3, cluster.n - 1))
            others.append(Other(f"{name}, made {number}", member.env, member.files))
    return others


class Mixer:
    def __init__(self, binary):
        self.binary, self.known, self.runs = binary, {}, 0

    def own(self, case):
        if id(case) not in self.known:
            self.known[id(case)] = ask(self.binary, case, Other("nobody", {}, {}))
        return self.known[id(case)]

    def alone(self, other, case):
        """What the other says with the host name and the options of @case, which may be variables."""
        user = {name: value for name, value in case.env.items() if name.startswith("DISTINIT_")}
        key = (other.name, case.hostname, *options_of(case), *user.items())
        if key not in self.known:
            bare = vectors.Case(other.name)
            bare.env, bare.options, bare.hostname = user, case.options, case.hostname
            self.known[key] = ask(self.binary, bare, other)
        return self.known[key]

    def mix(self, case, other):
        """A complaint about @case with the variables and files of @other, or None."""
        own = self.own(case)
        if own is None or "lenient" in case.name:
            return None
        self.runs += 1
        said, alone = ask(self.binary, case, other), self.alone(other, case)
        if (case.name == COPIED and said and said[1]) or Checker(case, other).accepts(said, own, alone):
            return None
        return f"[{case.name}] with {other.name}: {said}; own {own}, the other {alone}"


class Checker:
    def __init__(self, case, other):
        # Names that both set, and what the mixture says of them.
        shared = {name: value for name, value in case.env.items() if name in other.env}
        self.numbers = [value for name, value in shared.items() if name.endswith(("RANK", "INDEX"))]
        self.told = {**other.env, **case.env}.get("MASTER_ADDR")
        self.envs = case.env, other.env
        self.other = other.name.partition(",")[0]
        self.hostname = case.hostname

    def is_part(self, some, whole, env, launched):
        """Whether all that is known in the placement @some is so in @whole, which follows from @env."""
        *nodes, rank, master = zip(some, whole)
        masters = ["None", whole[3], self.told]
        if launched:  # where all ranks share a node, it is the master; and several ranks of one node have one
            masters += ["127.0.0.1", self.hostname, *env.values(), *re.findall(r"'([^']*)'", whole[0])]
        return all(a in ("None", b) for a, b in nodes) and master[0] in masters \
            and (launched or rank[0] in ("None", rank[1], *self.numbers))

    def accepts(self, said, own, alone):
        """Whether @said is the answer @own, or that of the other, @alone; None is a refusal."""
        if said is None or said == own or said[:2] == (None, "torchrun"):
            return True
        if own[0] and own[0] in (self.other, alone and alone[0]):
            return True  # one manager twice: there is no other
        if {own[0], alone and alone[0]} in SAME_NUMBERS:
            return True
        source, launcher, some = said
        if source in FROM_MASTER and self.told:
            some = ("None", *some[1:])
        for whole in own, alone:
            if whole and source == whole[0] and launcher != whole[1] and whole[1]:
                return True  # a launcher in a step of another one: the manager speaks of the whole job then
        recognised = {own[0], alone[0] if alone else None} - {None, *OPEN}
        owners = zip((own, alone), self.envs)
        return any(whole and self.is_part(some, whole[2], env, launcher) for whole, env in owners) \
            or (source in OPEN and not recognised)


def affordable(binary, case):
    """How many runs take CPU_SECONDS."""
    before = os.times()
    for _ in range(TRIAL):
        ask(binary, case, Other("nobody", {}, {}))
    after = os.times()
    return int(CPU_SECONDS * TRIAL / max(sum(after[:4]) - sum(before[:4]), 0.01))


def pairs(cases, plainest, leaked, made, most):
    """[(file, case, Other)], at most @most of them."""
    others = [Other(name, case.env, case.files) for name, case in plainest.items()]
    kept, drawn = [], []
    for name, members in cases.items():
        for case in members:
            for other in leaked + others + made:
                if other.name.partition(",")[0] != name:
                    sure = case is plainest[name] and other in others
                    (kept if sure else drawn).append((name, case, other))
    if not os.environ.get("MIXED_ALL"):
        draw = random.Random(os.environ.get("MIXED_SEED", "1"))
        for some in kept, drawn:
            draw.shuffle(some)
        return (kept + drawn)[:most]
    return kept + drawn


def main():
    binary, folder = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
    cases, plainest = read_vectors(folder)
    tried = {name: [] for name in cases}
    leaked = read_leaked(pathlib.Path(__file__).with_name("leaked.txt"))
    most = min(int(os.environ.get("MIXED_RUNS", "6000")), affordable(binary, plainest["backendai"]))
    for name, case, other in pairs(cases, plainest, leaked, make_others(), most):
        tried[name].append((case, other))
    mixer, failed = Mixer(binary), False
    print(f"1..{len(cases)}")
    for number, (name, some) in enumerate(tried.items(), 1):
        before = mixer.runs
        bad = [line for line in (mixer.mix(case, other) for case, other in some) if line]
        failed |= bool(bad)
        print(f"{'not ok' if bad else 'ok'} {number} - {name}: {mixer.runs - before} runs, {len(bad)} wrong", flush=True)
        for line in bad[:12]:
            print("# " + line)
    return failed


if __name__ == "__main__":
    sys.exit(main())
