# SPDX-License-Identifier: Apache-2.0
"""What holds for every cluster, tried on generated ones of every manager and launcher; prints TAP.

    run.sh BINARY [NAME]...

With NAMEs, of these managers and launchers alone.

A maker knows a cluster from outside: its hosts, where each of its processes runs, and which is the first; it
writes what its manager tells each of them. distinit is then asked in each process (of a large cluster, in
some), and

 - all agree on the hosts, the master, the port and TF_CONFIG's cluster, which are those that the maker knows;
 - they differ in their numbers, which are the maker's;
 - the first rank, also as torchrun and JAX number them, is on the master; TF_CONFIG's task is where it says;
 - roles share out the same tasks;
 - what "hosts --compress" makes expands to the same hosts;
 - every output of "env" is valid in its format, and says the same;
 - what --fill puts into words is what "explain" says, and one process has the words of the master.

A manager or launcher that "distinit managers" lists and nobody makes is a failed test; one that this binary does
not know is left out. PROPERTIES_SEED=N makes other clusters, PROPERTIES_RUNS=N more of them.
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
from cluster import LAUNCHERS, MANAGERS

SIZES = [1, 2, 3, 2000]
EXPLAIN = ["explain", "--format=json", "--show-secrets", "--frameworks=default,jax"]


class Complaints(list):
    def same(self, what, want, have):
        if want != have:
            self.append(f"{what}: want {show(want)}, got {show(have)}")


def show(value):
    text = repr(value)
    return text if len(text) <= 300 else text[:300] + f"... ({len(text)} characters)"


# --- asking -----------------------------------------------------------------------------------------


class Asker:
    """Runs the binary as one process of a cluster."""

    def __init__(self, binary, member, root):
        self.binary = binary
        self.env = {name.encode(): str(value).encode() for name, value in member.env.items()}
        self.options = [f"--root={root}", f"--hostname={member.hostname}"]
        self.options += [option.replace("@ROOT@", root) for option in member.options]
        for path, text in member.files.items():
            file = pathlib.Path(root, path.lstrip("/"))
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text.encode())

    def ask(self, word, *words):
        done = subprocess.run([self.binary, word, *self.options, *words], env=self.env, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=60)
        if done.returncode != 0:
            raise Refused(f"{word} {' '.join(words)}: exit status {done.returncode}: {done.stderr.decode()[:500]}")
        return done.stdout

    def explain(self, *words):
        return json.loads(self.ask(*EXPLAIN, *words))


class Refused(Exception):
    pass


def picked(cluster, rng):
    """The processes to ask: all of a small cluster."""
    if cluster.n <= 8:
        return list(range(cluster.n))
    return sorted({0, 1, cluster.n - 1, *rng.sample(range(cluster.n), 4)})


# --- checks -----------------------------------------------------------------------------------------


def is_single(cluster):
    alone = cluster.nnodes == 1 and cluster.scope != "allocation"
    return cluster.n == 1 and (alone or cluster.launcher is not None)


def values_of(said):
    return {v["name"]: v["value"] for v in said["variables"] if v["action"] in ("set", "kept")}


def set_by_us(said):
    return {v["name"] for v in said["variables"] if v["action"] == "set"}


def check_picture(cluster, member, said, complain):
    """What one process sees is what the maker knows."""
    seen = said["cluster"]
    complain.same("source", cluster.source, said["source"])
    complain.same("launcher", cluster.launcher, said["launcher"])
    complain.same("scope", cluster.scope, said["scope"])
    complain.same("hosts", cluster.hosts, seen["hosts"])
    complain.same("nnodes", cluster.nnodes, seen["nnodes"])
    if cluster.scope != "allocation":
        complain.same("number", member.rank, seen["rank"] if cluster.scope == "task" else seen["node_rank"])
    if is_single(cluster):
        complain.same("variables of a cluster of one", set(), set_by_us(said))
    elif cluster.nnodes != 1:
        complain.same("master", cluster.master_of(member), seen["master_addr"])
        port = seen["master_port"]
        if cluster.nnodes and (port is None or not 0 < port < 65536):
            complain.append(f"port {port}")


def check_numbers(cluster, member, said, complain):
    """Numbers that frameworks read: the first is at the master, those of the ranks are the maker's."""
    values, ours = values_of(said), set_by_us(said)
    if "RANK" in ours:
        complain.same("RANK", str(member.rank), values["RANK"])
        complain.same("WORLD_SIZE", str(cluster.n), values["WORLD_SIZE"])
    for name in "PET_NODE_RANK", "JAX_PROCESS_ID":
        # 127.0.0.1 stands for the one host that all ranks share, whose name nobody tells.
        if values.get(name) == "0" and values.get("MASTER_ADDR", "127.0.0.1") != "127.0.0.1":
            complain.same(f"the host of {name}=0", values["MASTER_ADDR"], member.host)
    if values.get("TF_CONFIG") and "TF_CONFIG" in ours and member.host:
        config = json.loads(values["TF_CONFIG"])
        task = config["task"]
        host, _, port = config["cluster"]["worker"][task["index"]].rpartition(":")
        complain.same("the host of TF_CONFIG's task", member.host, host.strip("[]"))
        complain.same("the port of TF_CONFIG's task", int(values["MASTER_PORT"]) + task["index"], int(port))
        complain.same("TF_CONFIG's index", member.rank, task["index"])


def check_roles(asker, said, complain):
    """The same tasks, shared out among roles."""
    values = values_of(said)
    if "TF_CONFIG" not in set_by_us(said):
        return
    plain = json.loads(values["TF_CONFIG"])
    tasks = plain["cluster"]["worker"]
    roles = {"chief": 1, "ps": (len(tasks) - 1) // 2}
    text = ",".join(f"{role}:{n}" for role, n in roles.items() if n)
    told = asker.explain(f"--tf-roles={text}")
    config = json.loads(values_of(told)["TF_CONFIG"])
    complain.same("the tasks of all roles", tasks, sum(config["cluster"].values(), []))
    own = config["cluster"][config["task"]["type"]][config["task"]["index"]]
    complain.same("the task with a role", tasks[plain["task"]["index"]], own)


def picture_of(said):
    values = values_of(said)
    config = json.loads(values["TF_CONFIG"])["cluster"] if values.get("TF_CONFIG") else None
    return {"hosts": said["cluster"]["hosts"], "MASTER_PORT": said["cluster"]["master_port"], "TF_CONFIG": config}


def check_agreement(cluster, told, complain):
    first = picture_of(told[0][1])
    for member, said in told[1:]:
        for key, value in picture_of(said).items():
            complain.same(f"{key}, as number {member.rank} sees it", first[key], value)
    for name in "RANK", "PET_NODE_RANK", "JAX_PROCESS_ID":
        numbers = [values_of(said).get(name) for _, said in told if name in set_by_us(said)]
        if len(numbers) != len(set(numbers)):
            complain.append(f"{name} is there twice: {numbers}")


def check_compressed(cluster, asker, complain):
    if not cluster.hosts:
        return
    plain = asker.ask("hosts").decode().split()
    complain.same("hosts", cluster.hosts, plain)
    listed = asker.ask("hosts", "--compress").decode().rstrip("\n")
    if len(listed) >= 128 << 10:
        return  # more than the kernel takes as one argument
    again = subprocess.run([asker.binary, "hosts", "--", listed], env={}, capture_output=True, check=True).stdout
    complain.same(f"{show(listed)}, expanded", plain, again.decode().split())


def read_null(data):
    return dict(entry.split(b"=", 1) for entry in data.split(b"\0") if entry)


def read_shell(text, root):
    file = pathlib.Path(root, "variables.sh")
    file.write_bytes(text)
    script = 'set -a; . "$0"; unset PWD OLDPWD SHLVL _; exec /usr/bin/env -0'
    done = subprocess.run(["/bin/sh", "-euc", script, file], env={}, capture_output=True, check=True)
    return {name: value for name, value in read_null(done.stdout).items() if name not in (b"PWD", b"_", b"SHLVL")}


# docker's own limit of a line.
DOCKER_LINE = 65536


def check_formats(asker, root, complain):
    def ask(name):
        return asker.ask("env", f"--format={name}", "--frameworks=default,jax,xgboost,paddle")

    want = read_null(ask("null"))
    complain.same("json", {n.decode(): v.decode() for n, v in want.items()}, json.loads(ask("json")))
    shell = ask("shell")
    complain.same("shell", want, read_shell(shell, root))
    if max((len(n) + len(v) for n, v in want.items()), default=0) < DOCKER_LINE - 2:
        complain.same("docker", want, dict(line.split(b"=", 1) for line in ask("docker").splitlines()))
    for line in shell.splitlines():
        if not re.fullmatch(rb"\w+='[^']*'", line):
            complain.append(f"shell: {show(line)} is not NAME='value'")


def filled(asker, *words):
    return json.loads(asker.ask("explain", "--format=json", "--fill", "--", *words))["command"]["words"]


def words_of(said, member):
    """Each placeholder, and what it is; None: not known. The numbers of nodes and the hosts are checked apart."""
    seen, values = said["cluster"], values_of(said)
    # A cluster of one has no port of its own, but a number of nodes.
    single = seen["master_port"] is None and seen["nnodes"] is not None
    keys = {"rank": "rank", "world-size": "world_size", "local-rank": "local_rank", "local-world-size": "local_size"}
    words = {"{%s}" % name: int("size" in name) if single else seen[key] for name, key in keys.items()}
    words["{nnodes}"] = 1 if single else seen["nnodes"]
    words["{nnodes*3}"] = words["{nnodes}"] and 3 * words["{nnodes}"]
    master = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": 29500} if single else {
        "MASTER_ADDR": seen["master_addr"], "MASTER_PORT": seen["master_port"]}
    addr, port = (values.get(name) or member.env.get(name) or value for name, value in master.items())
    words["{master-addr}"] = addr
    words["{master}"] = addr and (f"[{addr}]:{port}" if ":" in addr else f"{addr}:{port}")
    script = not single and said["scope"] == "allocation" and seen["nnodes"] != 1
    node_known = not script and (single or seen["nnodes"] == 1 or seen["node_rank"] is not None)
    words["{node-rank}"] = "?" if node_known else None
    # The kernel takes no longer word.
    hosts = [] if single or len(",".join(seen["hosts"] or [])) >= 128 << 10 else seen["hosts"] or []
    words["{hosts}"] = "127.0.0.1" if single else "?" if hosts else None
    words["{workers}"] = "?" if len(hosts) > 1 else None
    role_known = node_known or (said["scope"] == "task" and seen["rank"] is not None)
    words[":master:"] = "?" if role_known else None
    return words


def check_words(member, asker, said, refusals, complain):
    """Placeholders are what "explain" says; returns whether this process gets the words of the master."""
    seen, words = said["cluster"], words_of(said, member)
    known = [word for word, value in words.items() if value is not None and word != ":master:"]
    marks = [":master:", "master", ":workers:", "worker"] if words[":master:"] else []
    have = dict(zip(known + ["role"], filled(asker, *known, *marks)))
    for word in known:
        if words[word] != "?":
            complain.same(word, str(words[word]), have[word])
    if words["{hosts}"] == "?":
        hosts = have["{hosts}"].split(",")
        complain.same("{hosts}, sorted", sorted(seen["hosts"]), sorted(hosts))
        complain.same("{workers}", ",".join(hosts[1:]), have.get("{workers}", ""))
        if "{node-rank}" in have and seen["node_rank"] is not None:
            own = hosts[int(have["{node-rank}"])]
            complain.same("the host at {node-rank}", seen["hosts"][seen["node_rank"]], own)
    if "{node-rank}" in have:
        torchrun = values_of(said).get("PET_NODE_RANK")
        complain.same("{node-rank}", torchrun or have["{node-rank}"], have["{node-rank}"])
        node = "master" if have["{node-rank}"] == "0" else "worker"
        complain.same("the role", node if said["scope"] != "task" else have["role"], have["role"])
    if said["scope"] == "task" and marks:
        complain.same("the role of a rank", "worker" if seen["rank"] else "master", have["role"])
    for word in (w for w, value in words.items() if refusals and value is None):
        try:
            complain.append(f"{word} is not known, but comes out as {filled(asker, word, ':all:', 'x')}")
        except Refused as refused:
            if not re.search("is not known here|becomes longer", str(refused)):
                complain.append(f"{word}: {refused}")
    return have.get("role") == "master"


def check_cluster(binary, cluster, rng):
    complain, told, masters = Complaints(), [], 0
    for i in picked(cluster, rng):
        member = cluster.member(i)
        with tempfile.TemporaryDirectory() as root:
            asker = Asker(binary, member, root)
            try:
                said = asker.explain()
                if cluster.silent:
                    complain.same("cluster", None, said["cluster"])
                    complain.same("variables", set(), set_by_us(said))
                    continue
                check_picture(cluster, member, said, complain)
                check_numbers(cluster, member, said, complain)
                masters += check_words(member, asker, said, i == 0, complain)
                if i in (0, cluster.n - 1):
                    check_roles(asker, said, complain)
                    check_compressed(cluster, asker, complain)
                    check_formats(asker, root, complain)
                told.append((member, said))
            except (Refused, ValueError, KeyError, TypeError, subprocess.SubprocessError) as error:
                complain.append(f"as process {i}: {type(error).__name__}: {error}")
    if told:
        check_agreement(cluster, told, complain)
    if masters > 1:
        complain.append(f"{masters} processes get the words of the master")
    return complain


# --- all of them ------------------------------------------------------------------------------------


def listed_names(binary):
    """(managers, launchers) that the binary has."""
    text = subprocess.run([binary, "sources"], env={}, capture_output=True, check=True).stdout.decode()
    managers, _, launchers = text.partition("\nLaunchers")
    names = re.compile(r"^  ([a-z0-9_]+)\*? ", re.M)
    return dict.fromkeys(names.findall(managers)), dict.fromkeys(names.findall(launchers))


class Tap:
    def __init__(self):
        self.n = self.failed = 0

    def result(self, name, complaints):
        self.n += 1
        self.failed += bool(complaints)
        print(f"{'not ok' if complaints else 'ok'} {self.n} - {name}")
        for line in complaints[:20]:
            print(f"# {line}")
        sys.stdout.flush()


def sizes(rng, runs):
    """Of the smallest, of the largest, and between, mostly small ones."""
    return [*SIZES, *(round(2000 ** rng.random()) for _ in range(runs))]


def try_makers(binary, kind, name, makers, known, tap):
    if not makers:
        tap.result(f"{kind} {name}: somebody makes clusters of it",
                   [f"no maker: write one beside those of tests/properties/makers_*.py, with @{kind}(\"{name}\")"])
        return
    runs, seed = int(os.environ.get("PROPERTIES_RUNS", "2")), os.environ.get("PROPERTIES_SEED", "1")
    for make in makers:
        rng = random.Random(f"{seed} {name} {make.__qualname__}")
        complaints, n = [], 0
        for nodes in sizes(rng, runs):
            cluster = make(rng, nodes)
            if cluster.source is not None and cluster.source not in known:
                continue  # as a launcher in a manager that this binary does not know
            n += 1
            found = check_cluster(binary, cluster, rng)
            complaints += [f"{nodes} nodes, {cluster.n} processes {cluster.about}: {line}" for line in found]
        if n:
            about = f" {cluster.about}" if cluster.about and not cluster.about.startswith("named") else ""
            tap.result(f"{kind} {name}: {n} clusters{about}", complaints)


def main():
    binary, names = os.path.abspath(sys.argv[1]), sys.argv[2:]
    managers, launchers = listed_names(binary)
    asked_for = names.__contains__ if names else None
    tap = Tap()
    if not managers or not launchers:
        print("Bail out! 'distinit managers' lists nothing that can be read")
        return 1
    for name in filter(asked_for, managers):
        try_makers(binary, "manager", name, MANAGERS.get(name), managers, tap)
    for name in filter(asked_for, launchers):
        try_makers(binary, "launcher", name, LAUNCHERS.get(name), managers, tap)
    print(f"1..{tap.n}")
    return 1 if tap.failed else 0


if __name__ == "__main__":
    sys.exit(main())
