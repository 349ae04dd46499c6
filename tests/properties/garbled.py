# SPDX-License-Identifier: Apache-2.0
"""Nobody trains alone without a word: what managers tell, with something missing or garbled; prints TAP.

    garbled.sh DISTINIT VECTORS

Each case of the vectors with a cluster of several, and nodes that the makers make, lose each variable and file that
its manager and its launcher read, in turn, or get it garbled: a text that no manager writes, nothing, blanks, and for a
number one that is beyond all sizes, negative, or a fraction. Another value that fits is not tried, as nobody can know
better. Then one of these has to be true:

 - right: the scope, the number of processes, this one's, and the master are those of the whole cluster;
 - said: there is an error, or a warning that the whole cluster has not;
 - said when asked to wait for the others: the cluster is not known, or is one of one, and --wait --for=all says so.

All else is silent: this process trains alone, or in another place, without a word. silent.txt has exceptions, with
reasons.

GARBLED_SEED draws GARBLED_RUNS of them, or as many as take some 10 s of CPU. GARBLED_ALL=1 tries all: minutes.
GARBLED_SHOW=1 prints each that is silent, also the exceptions.
"""

import fnmatch
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
from cluster import one_of_each

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "vectors"), str(HERE.parent.parent / "tools")]
import run as vectors  # noqa: E402
import tables  # noqa: E402

# Not of one manager: without the one, the other is right.
NOT_A_MANAGERS = ("hostlist", "frameworks", "conflict")
CPU_SECONDS, TRIAL, EACH = 9, 20, 6
NONSENSE = "?!"
COUNTS = ("right", "said", "said when asked", "accepted", "silent")


def garbles_of(value):
    """{what was done: the new value; None: it is taken away}"""
    made = {"missing": None, "empty": "", "nonsense": NONSENSE, "blank behind": value + " ", "nonsense behind": value + NONSENSE}
    if re.fullmatch(r"\d+", value):
        made |= {"huge": value + "000000000", "negative": "-1", "fraction": value + ".5"}
    return made


class Answer:
    """What "explain" says."""

    def __init__(self, done):
        self.failed = done.returncode != 0
        said = {} if self.failed else json.loads(done.stdout)
        seen = said.get("cluster") or {}
        self.owners = said.get("source"), said.get("launcher")
        self.scope, self.warnings = said.get("scope"), set(said.get("warnings", []))
        task = self.scope == "task"
        self.size = seen.get("world_size" if task else "nnodes")
        self.number = seen.get("rank" if task else "node_rank")
        self.place = self.scope, self.size, self.number, seen.get("master_addr")

    @property
    def is_several(self):
        return not self.failed and self.size is not None and self.size > 1


class Case:
    """One process of a cluster."""

    def __init__(self, name, env, files, options, hostname):
        self.name, self.env, self.files = name, env, files
        self.words = [f"--hostname={hostname or vectors.NOWHERE}", *options]

    def run(self, binary, env, files, *words):
        with tempfile.TemporaryDirectory() as root:
            for path, text in files.items():
                file = pathlib.Path(root, path.lstrip("/"))
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(vectors.to_bytes(text, root))
            head = [w for w in words[:1] if not w.startswith("-")]
            given = [f"--root={root}", *(w.replace("@ROOT@", root) for w in self.words)]
            return subprocess.run([binary, *head, *given, *words[len(head):]],
                                  env={n.encode(): vectors.to_bytes(v, root) for n, v in env.items()},
                                  stdin=subprocess.DEVNULL, capture_output=True, timeout=60)

    def explain(self, binary, env, files):
        return Answer(self.run(binary, env, files, "explain", "--format=json"))

    def waits(self, binary, env, files):
        """Whether --for=all says anything. It would not end at once where there is somebody to meet."""
        done = self.run(binary, env, files, "--wait=2s", "--for=all", "--", "/bin/true")
        return done.returncode == 125 or done.stderr.strip()


class Mutation:
    def __init__(self, case, name, kind, env, files):
        self.case, self.name, self.kind, self.env, self.files = case, name, kind, env, files

    def judge(self, binary, whole):
        answer = self.case.explain(binary, self.env, self.files)
        if answer.failed or answer.warnings - whole.warnings:
            return "said", answer
        if answer.place == whole.place:
            return "right", answer
        known = answer.is_several and answer.scope != "allocation" and None not in answer.place
        if not known and self.case.waits(binary, self.env, self.files):
            return "said when asked", answer
        return "silent", answer


def mutations(case, reads):
    """All of @case."""
    def is_read(name):
        return any(fnmatch.fnmatchcase(name.lstrip("/"), one.lstrip("/")) for one in reads)

    for name in filter(is_read, case.env):
        for kind, value in garbles_of(case.env[name]).items():
            env = dict(case.env)
            env.pop(name)
            yield Mutation(case, name, kind, env if value is None else {**env, name: value}, case.files)
    for name in filter(is_read, case.files):
        files = {path: text for path, text in case.files.items() if path != name}
        for kind, text in ("missing", None), ("empty", ""), ("nonsense", NONSENSE + "\n"):
            yield Mutation(case, name, kind, case.env, files if text is None else {**files, name: text})


def read_tables(binary):
    """{manager's or launcher's name: the names that it reads}"""
    reads = {}
    for group in tables.read(binary, "managers"):
        for entry in group:
            reads.setdefault(entry.name.rstrip("*"), set()).update(entry.parts.get("reads", "").split())
    return reads


def options_of(options):
    return [option for option in options if not option.startswith("--frameworks")]


def read_cases(folder):
    for path in sorted(folder.glob("*.txt")):
        if path.stem not in NOT_A_MANAGERS:
            for case in vectors.read_cases(path.read_text(encoding="utf-8")).values():
                if not case.refused and case.cluster is not None:
                    yield Case(f"{path.stem} [{case.name}]", case.env, case.files, options_of(case.options), case.hostname)


def make_cases():
    for name, env, member in one_of_each(os.environ.get("GARBLED_SEED", "1")):
        yield Case(name, env, member.files, options_of(member.options), member.hostname)


def read_accepted():
    """[(owner, variable, kind)] of silent.txt: patterns."""
    lines = (HERE / "silent.txt").read_text(encoding="utf-8").splitlines()
    return [line.split(None, 3)[:3] for line in lines if line and not line.startswith("#")]


def affordable(binary):
    """How many runs take CPU_SECONDS."""
    before = os.times()
    for _ in range(TRIAL):
        Case("", {"BACKENDAI_CLUSTER_SIZE": "1"}, {}, [], None).explain(binary, {}, {})
    after = os.times()
    return int(CPU_SECONDS * TRIAL / max(sum(after[:4]) - sum(before[:4]), 0.01))


def draw(binary, cases):
    """[(the answer for the whole cluster, Mutation)]: a few of each case, or all."""
    reads, drawn, seed = read_tables(binary), [], os.environ.get("GARBLED_SEED", "1")
    everything = bool(os.environ.get("GARBLED_ALL"))
    most = 1 << 30 if everything else min(int(os.environ.get("GARBLED_RUNS", "1500")), affordable(binary))
    random.Random(seed).shuffle(cases)
    for case in cases:
        whole = case.explain(binary, case.env, case.files) if len(drawn) < most else None
        if whole and whole.is_several:
            names = set().union(*(reads.get(owner, ()) for owner in whole.owners if owner))
            some = [(whole, mutation) for mutation in mutations(case, names)]
            # A slow machine tries the first of the same.
            few = random.Random(f"{seed} {case.name}").sample(some, min(len(some), EACH))
            drawn += some if everything else few
    return drawn[:most]


def main():
    binary, folder = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
    cases = [*read_cases(folder), *make_cases()]
    accepted, counts, bad, known = read_accepted(), dict.fromkeys(COUNTS, 0), {}, {}
    for whole, mutation in draw(binary, cases):
        verdict, answer = mutation.judge(binary, whole)
        owner = whole.owners[0] or whole.owners[1]
        if verdict == "silent":
            what = f"{owner} {mutation.name} {mutation.kind}"
            line = f"{what}: in {mutation.case.name}: {answer.owners} {answer.place}, and not {whole.place}"
            exempt = any(fnmatch.fnmatchcase(what, " ".join(words[:2] + [words[2].replace("_", " ")])) for words in accepted)
            verdict = "accepted" if exempt else verdict
            (known if exempt else bad).setdefault(what, line)
        counts[verdict] += 1
    shown = [*bad.values(), *(known.values() if os.environ.get("GARBLED_SHOW") else ())]
    tried = sum(counts.values())
    print("1..1")
    print(f"{'not ok' if bad or not tried else 'ok'} 1 - {tried} tried: " + ", ".join(f"{n} {what}" for what, n in counts.items()))
    for line in shown[:200]:
        print("# " + line)
    return bool(bad) or not tried


if __name__ == "__main__":
    sys.exit(main())
