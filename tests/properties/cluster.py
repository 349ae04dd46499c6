# SPDX-License-Identifier: Apache-2.0
"""What a generated cluster is, and what makers of clusters need: names, counts, and the texts that managers write."""

import dataclasses
from random import Random


@dataclasses.dataclass
class Member:
    """One process of a cluster: what it is told, and what is so."""

    env: dict
    # Where it runs, as the manager calls that node; None: nobody tells names.
    host: str = None
    # Its number, of ranks in scope "task", else of nodes; None: it has none, or is not told.
    rank: int = None
    # Number of its node for torchrun and the like, where that is not `rank`.
    options: list = dataclasses.field(default_factory=list)
    files: dict = dataclasses.field(default_factory=dict)
    hostname: str = "no-host-of-a-cluster"


@dataclasses.dataclass
class Cluster:
    # What "explain" has to recognise; None: only a launcher.
    source: str
    # Number of processes, and a function that makes member i of them.
    n: int
    member: object
    scope: str = "node"
    launcher: str = None
    # In node-rank order; None: not told.
    hosts: list = None
    nnodes: int = None
    # The host of the first rank; None: not told. Or a function of a member.
    master: object = None
    # Nothing is derived: a cluster of one, or one that only its manager knows.
    silent: bool = False
    # Why, for the name of the test.
    about: str = ""
    # Variables that managers set themselves, so that they are kept, not derived.
    kept: tuple = ()

    def master_of(self, member):
        return self.master(member) if callable(self.master) else self.master


# {manager's name: [function of (random, nodes) that makes a Cluster]}
MANAGERS = {}
LAUNCHERS = {}


def manager(*names):
    def register(function):
        for name in names:
            MANAGERS.setdefault(name, []).append(function)
        return function

    return register


def launcher(*names):
    def register(function):
        for name in names:
            LAUNCHERS.setdefault(name, []).append(function)
        return function

    return register


# --- names ------------------------------------------------------------------------------------------


def one_of_each(seed):
    """(name, environment, member): process 3 of a cluster of 5 nodes, of every maker."""
    for makers in MANAGERS, LAUNCHERS:
        for name, functions in makers.items():
            for number, make in enumerate(functions):
                cluster = make(Random(f"{seed} {name} {number}"), 5)
                member = cluster.member(min(3, cluster.n - 1))
                yield f"{name}, made {number}", {key: str(value) for key, value in member.env.items()}, member


def numbered(random, n):
    """(names, the same as a host list): one numbered family, perhaps padded, from any number on."""
    prefix = random.choice(["n", "gpu", "node-a", "rack2-c", "cn0x", "ip-10-0-1-"])
    width = random.choice([1, 1, 3, 5])
    first = random.choice([0, 1, 7, 95, 998])
    numbers = [f"{i:0{width}}" for i in range(first, first + n)]
    listed = f"{prefix}{numbers[0]}" if n == 1 else f"{prefix}[{numbers[0]}-{numbers[-1]}]"
    return [prefix + number for number in numbers], listed


def scattered(random, n):
    """(names, the same as a host list): several families, with gaps, in no order."""
    names = []
    for family in range(random.randint(1, 4)):
        names += [f"{'abxz'[family]}{i}" for i in random.sample(range(4 * n), n)]
    names = random.sample(names, n)
    return names, ",".join(names)


def listed_names(random, n):
    return random.choice([numbered, scattered])(random, n)


def domain_names(random, n):
    tail = random.choice(["", "", ".local", ".cluster.example.org"])
    return [name + tail for name in listed_names(random, n)[0]]


def addresses(random, n):
    base = random.randint(0, 200)
    numbers = random.sample(range(256 * 250), n)
    return [f"10.{base}.{i // 250}.{i % 250 + 1}" for i in numbers]


def any_names(random, n):
    return random.choice([domain_names, addresses])(random, n)


def pod_name(random):
    return random.choice(["job", "train-7", "a", "llm-ft-2024", "x-master", "node-0"])


# --- counts -----------------------------------------------------------------------------------------


def tasks_on(random, n):
    """Ranks on each of n nodes: mostly the same number."""
    if random.random() < 0.6:
        return [random.choice([1, 1, 2, 4, 8])] * n
    return [random.randint(1, 4) for _ in range(n)]


def counts_text(counts):
    """Slurm's 2(x3),1."""
    pieces, i = [], 0
    while i < len(counts):
        k = i
        while k < len(counts) and counts[k] == counts[i]:
            k += 1
        pieces.append(str(counts[i]) if k == i + 1 else f"{counts[i]}(x{k - i})")
        i = k
    return ",".join(pieces)


def deal(counts, cyclic):
    """[(node, number on that node)] by rank."""
    if not cyclic:
        return [(node, local) for node, count in enumerate(counts) for local in range(count)]
    return [(node, turn) for turn in range(max(counts)) for node, count in enumerate(counts) if turn < count]
