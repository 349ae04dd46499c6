# SPDX-License-Identifier: Apache-2.0
"""Nobody trains alone without a word: torchrun on one of several nodes; prints TAP.

    alone.sh DISTINIT VECTORS

Each case of the vectors that says anything of several nodes, and nodes that the makers make, start torchrun as it stands,
and in each WAY in which its variables can be left out: the user's own variables and options, torchrun's own options, other
frameworks, another scope, --wait, and each variable of the manager taken away. torchrun here prints what it was told. Then
one of these has to be true:

 - told: PET_NNODES, PET_NODE_RANK and PET_MASTER_ADDR, or torchrun's options, say all that it needs, and the number of
   nodes is that of the cluster;
 - elastic: a rendezvous of torchrun's own, with a number of nodes above 1;
 - said: a warning, or an error, that the same program without anything of a cluster does not get;
 - one: nothing says that there are several nodes: the whole case is a cluster of one, or none, or what is left names none;
 - asked: the user's own words say that nothing is to be derived (--frameworks=none, --cluster=none), or directives on the
   command line change PET_*: these come last, so that what they leave is what the user wants for this program.

All else is silent. "explain" of what is left out has to say why. The same ways without any cluster, as on a laptop, have to
be silent; that is one test more.

ALONE_SEED draws some of them, as many as take some seconds. ALL=1 tries all: minutes; ALONE_ONLY=PATTERN of those only the
cases with such a name. ALONE_SHOW=1 prints where nothing says
that there are several nodes.
"""

import collections
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
sys.path.insert(0, str(HERE.parent / "vectors"))
import run as vectors  # noqa: E402

SECONDS = 6
PRINTS = "#!/bin/sh\nprintf '%s\\n' \"PET_NNODES=$PET_NNODES\" \"PET_NODE_RANK=$PET_NODE_RANK\" \"PET_MASTER_ADDR=$PET_MASTER_ADDR\"\n"
TORCHRUN = ["torchrun", "train.py"]
READ = ("PET_NNODES", "PET_NODE_RANK", "PET_MASTER_ADDR")


class Way:
    """One way in which torchrun's variables are left out, or may be."""

    def __init__(self, name, env=None, options=(), words=None, asked=False, told=False):
        self.name, self.env, self.options, self.words = name, env or {}, list(options), words or TORCHRUN
        self.asked, self.told = asked, told


def with_options(*options):
    return ["torchrun", *options, "train.py"]


WAYS = [
    Way("as it is"),
    Way("in a shell", words=["sh", "-c", "exec torchrun train.py"]),
    Way("by srun", words=["srun", "torchrun", "train.py"]),
    Way("by python -m", words=["python3", "-m", "torch.distributed.run", "train.py"]),
    Way("PET_NNODES=1", {"PET_NNODES": "1"}),
    Way("PET_NNODES=1:1", {"PET_NNODES": "1:1"}),
    Way("PET_NNODES=two", {"PET_NNODES": "two"}),
    Way("PET_NNODES=1:4", {"PET_NNODES": "1:4"}),
    Way("PET_NNODES=99", {"PET_NNODES": "99"}),
    Way("PET_STANDALONE=1", {"PET_STANDALONE": "1"}),
    Way("PET_STANDALONE=0", {"PET_STANDALONE": "0"}),
    Way("static", {"PET_RDZV_BACKEND": "static"}),
    Way("c10d without a number", {"PET_RDZV_BACKEND": "c10d", "PET_RDZV_ENDPOINT": "a:1"}),
    Way("c10d", {"PET_RDZV_BACKEND": "c10d", "PET_RDZV_ENDPOINT": "a:1", "PET_NNODES": "1:4"}),
    Way("endpoint alone", {"PET_RDZV_ENDPOINT": "a:1"}),
    Way("id alone", {"PET_RDZV_ID": "7"}),
    Way("conf alone", {"PET_RDZV_CONF": "timeout=9"}),
    Way("--standalone", words=with_options("--standalone")),
    Way("--nnodes=1", words=with_options("--nnodes=1")),
    Way("--nnodes 2", words=with_options("--nnodes", "2")),
    Way("--nnodes=2 --node-rank=1", words=with_options("--nnodes=2", "--node_rank", "1"), told=True),
    Way("--rdzv-backend", words=with_options("--nnodes=2", "--rdzv_backend=c10d"), told=True),
    Way("other frameworks", options=["--frameworks=torch"]),
    Way("no frameworks", options=["--frameworks=none"], asked=True),
    Way("no cluster", options=["--cluster=none"], asked=True),
    Way("scope allocation", options=["--scope=allocation"]),
    Way("scope node", options=["--scope=node"]),
    Way("lenient", options=["--lenient"]),
]


class Case:
    """One process of a cluster."""

    def __init__(self, name, env, files, options, hostname):
        self.name, self.env, self.files, self.hostname = name, env, files, hostname or vectors.NOWHERE
        self.options = [option for option in options if not option.startswith(("--frameworks", "--ranks"))]

    def run(self, binary, folder, env, options, words, sub=()):
        with tempfile.TemporaryDirectory() as root:
            for path, text in self.files.items():
                file = pathlib.Path(root, path.lstrip("/"))
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(vectors.to_bytes(text, root))
            given = [f"--root={root}", f"--hostname={self.hostname}", *(o.replace("@ROOT@", root) for o in self.options)]
            told = {n.encode(): vectors.to_bytes(v, root) for n, v in env.items()}
            return subprocess.run([binary, *sub, *given, *options, *(["--", *words] if words else [])],
                                  env=told | {b"PATH": folder.encode() + b":/bin:/usr/bin"}, stdin=subprocess.DEVNULL,
                                  capture_output=True, timeout=60)

    def explain(self, binary, folder, env, options, words=()):
        done = self.run(binary, folder, env, [*options, "--format=json"], words, ["explain"])
        return json.loads(done.stdout) if done.returncode == 0 else None


def is_several(said):
    """Whether an answer of "explain" names another node. A number above 0 does, too."""
    seen = (said or {}).get("cluster")
    if not seen or seen["nnodes"] == 1:
        return False
    if said["scope"] == "task" and seen["local_size"] == seen["world_size"]:
        return False
    if seen["nnodes"] is None and seen["master_addr"] is None and said["scope"] != "task":
        return bool(seen["node_rank"])
    return True


def is_told(printed, nnodes):
    """Whether torchrun's variables say all that it needs."""
    told = dict(line.split("=", 1) for line in printed.splitlines() if "=" in line)
    low, _, high = told.get("PET_NNODES", "").partition(":")
    number = int(low) if low.isdigit() and high in ("", low) else 0
    known = number == nnodes if nnodes else number > 1
    return known and told["PET_NODE_RANK"].isdigit() and bool(told["PET_MASTER_ADDR"])


def has_rendezvous(env, words):
    """Whether the variables give torchrun a rendezvous of its own, with a number of nodes above 1 in them or in its @words."""
    told = re.search(r"--nnodes[ =](\S+)", " ".join(words))
    high = (told[1] if told else env.get("PET_NNODES", "")).rpartition(":")[2]
    return env.get("PET_RDZV_BACKEND", "static") != "static" and high.isdigit() and int(high) > 1


def directs(options):
    """Whether a directive among @options changes what torchrun reads of the nodes."""
    named = re.findall(r"--(?:set|unset|add|append|prepend)[ =]([^ =]+)", " ".join(options))
    return any(fnmatch.fnmatchcase(name, pattern) for name in READ for pattern in named)


class Net:
    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder
        self.counts = collections.Counter()

    def judge(self, case, way, env):
        """("told", "said", ... or "silent", what was seen) of one run."""
        done = case.run(self.binary, self.folder, env | way.env, way.options, way.words)
        if done.returncode or done.stderr.strip():
            return "said", done.stderr.decode()
        if way.asked:
            return "asked", ""
        said = case.explain(self.binary, self.folder, env | way.env, way.options)
        if not is_several(said):
            return "one", ""
        if is_told(done.stdout.decode(), said["cluster"]["nnodes"]) and not {"--standalone", "--nnodes=1"} & {*way.words}:
            return "told", ""
        if way.told:
            return "told", "by options"
        if has_rendezvous(env | way.env, way.words):
            return "elastic", ""
        if directs(case.options):
            return "asked", ""
        return "silent", done.stdout.decode().replace("\n", " ") + str(said["cluster"])[:300]

    def explains(self, case, way, env):
        """Whether "explain", without the command, says why what is left out is."""
        done = case.run(self.binary, self.folder, env | way.env, way.options, [], ["explain"])
        text = done.stdout.decode(errors="replace")
        return done.returncode or re.search(r"^torchrun  |^warning:|^lacks  |left-out +PET_NNODES", text, re.M)

    def attempt(self, case, way, env, what):
        verdict, seen = self.judge(case, way, env)
        line = None
        if verdict == "silent":
            line = f"{case.name}, {way.name}, {what}: {seen}"
        elif "torchrun will not train" in seen and way.words is TORCHRUN and not self.explains(case, way, env):
            line = f"{case.name}, {way.name}, {what}: explain does not say why"
        self.counts[verdict] += 1
        if verdict == "one" and os.environ.get("ALONE_SHOW"):
            print(f"# one: {case.name}, {way.name}, {what}")
        return line


def read_cases(folder):
    for path in sorted(folder.glob("*.txt")):
        if path.stem != "hostlist":
            for case in vectors.read_cases(path.read_text(encoding="utf-8")).values():
                yield Case(f"{path.stem} [{case.name}]", case.env, case.files, case.options, case.hostname)


def make_cases(seed):
    for name, env, member in one_of_each(seed):
        yield Case(name, env, member.files, member.options, member.hostname)


def attempts(cases, net, everything, rng):
    """Each way with each case of several nodes; and each variable of it taken away. Cases in turn, a way each."""
    drawn = []
    for case in cases:
        said = case.explain(net.binary, net.folder, case.env, [])
        if said is not None and not is_several(said):
            continue
        some = [(case, way, case.env, "whole") for way in WAYS]
        for name in case.env:
            some.append((case, WAYS[0], {k: v for k, v in case.env.items() if k != name}, f"without {name}"))
            some.append((case, WAYS[0], {**case.env, name: ""}, f"{name} empty"))
        drawn.append(some if everything else rng.sample(some, len(some)))
    while any(drawn):
        for some in drawn:
            if some:
                yield some.pop(0)


def check_laptop(net):
    """Complaints about a word where nothing says that there are several nodes."""
    lines = []
    for name, env in ("a laptop", {}), ("a single container", {"BACKENDAI_CLUSTER_SIZE": "1", "BACKENDAI_CLUSTER_HOST": "main1"}), \
            ("a pod, number 0", {"NOMAD_ALLOC_INDEX": "0"}), ("Kubernetes", {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}):
        case = Case(name, env, {}, [], None)
        for way in WAYS:
            options = [o for o in way.options if not o.startswith("--scope")]
            done = case.run(net.binary, net.folder, env | way.env, [*options, "--wait=1s"], way.words)
            hint = "--rdzv" in way.name
            if done.returncode or (done.stderr and not hint):
                lines.append(f"{name}, {way.name}: {done.returncode} {done.stderr.decode()}")
    return lines


def main():
    binary, folder = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
    seed, everything = os.environ.get("ALONE_SEED", "1"), bool(os.environ.get("ALL"))
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as programs:
        for name in "torchrun", "srun", "python3":
            program = pathlib.Path(programs, name)
            program.write_text(PRINTS)
            program.chmod(0o755)
        net = Net(binary, programs)
        laptop = check_laptop(net)
        only = re.compile(os.environ.get("ALONE_ONLY", "") if everything else "")
        cases = [case for case in [*make_cases(seed), *read_cases(folder)] if only.search(case.name)]
        if not everything:
            rng.shuffle(cases)
        bad, began = [], sum(os.times()[:4])
        for case, way, env, what in attempts(cases if everything else cases[:150], net, everything, rng):
            line = net.attempt(case, way, env, what)
            bad += [line] if line else []
            if not everything and sum(os.times()[:4]) - began > SECONDS:
                break
    tried = sum(net.counts[v] for v in ("told", "elastic", "said", "one", "asked", "silent"))
    print("1..2")
    print(f"{'not ok' if laptop else 'ok'} 1 - where there is one node, nothing is said")
    for line in laptop:
        print("# " + line.replace("\n", " "))
    print(f"{'not ok' if bad or not tried else 'ok'} 2 - {tried} tried: " + ", ".join(f"{n} {v}" for v, n in sorted(net.counts.items())))
    for line in bad[:200]:
        print("# " + line.replace("\n", " "))
    return bool(bad or laptop) or not tried


if __name__ == "__main__":
    sys.exit(main())
