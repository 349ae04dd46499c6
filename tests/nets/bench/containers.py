# SPDX-License-Identifier: Apache-2.0
"""What distinit adds to a container: to the image, to the time until the workload, to memory.

An engine takes far longer than distinit and never twice the same; so runs with and without it take turns, and the
spread is told. Needs root, podman and runc; containers have no network.
"""

import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import tempfile
import time

from measure import ROOT, Failed
from report import number, table, times

PRIVATE = ROOT / "tests" / "programs" / "podman-private"
ROOM = ROOT / "tests" / "programs" / "private-room"
DISTINIT = ROOT / "build" / "distinit"
LIMIT_S = 60

# A session of two: there is something to derive.
TOLD = {"BACKENDAI_CLUSTER_SIZE": "2", "BACKENDAI_CLUSTER_HOSTS": "main1,sub1", "BACKENDAI_CLUSTER_HOST": "sub1",
        "BACKENDAI_CLUSTER_LOCAL_RANK": "1"}


def missing():
    """Why there is nothing to measure, or None."""
    if os.geteuid() != 0:
        return "only root can"
    absent = [tool for tool in ("podman", "runc", "busybox") if not shutil.which(tool, path="/usr/sbin:/usr/bin:/sbin:/bin")]
    return f"{absent[0]} is not installed" if absent else None


def call(*words, cwd=None):
    done = subprocess.run([str(word) for word in words], cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, errors="replace", timeout=LIMIT_S, check=False)
    if done.returncode != 0:
        raise Failed(f"containers: {' '.join(map(str, words[:6]))}: {(done.stderr.strip() or 'failed').splitlines()[-1]}")
    return done.stdout.strip()


class Engine:
    """A podman of its own, with the image localhost/without, and localhost/with, which has distinit too."""

    def __init__(self, folder):
        self.folder = folder
        call(PRIVATE, "up", folder)
        context = folder / "context"
        context.mkdir()
        shutil.copy(DISTINIT, context / "distinit")
        self.build("without", "FROM localhost/busybox\n", context)
        self.build("with", "FROM localhost/busybox\nCOPY distinit /distinit\n", context)
        self.build("alone", "FROM scratch\nCOPY distinit /distinit\n", context)

    def pod(self, *words):
        return call(PRIVATE, "on", self.folder, *words)

    def build(self, tag, containerfile, context):
        (context / "Containerfile").write_text(containerfile)
        self.pod("build", "--quiet", "--network", "none", "--tag", f"localhost/{tag}", context)

    def size(self, tag):
        return int(self.pod("image", "inspect", f"localhost/{tag}", "--format", "{{.Size}}"))

    def run(self, tag, *words, options=()):
        env = [word for name, value in TOLD.items() for word in ("--env", f"{name}={value}")]
        return self.pod("run", "--rm", "--network", "none", *env, *options, f"localhost/{tag}", *words)

    def memory(self, tag, *words, options=()):
        """What the container's first process has in memory, KiB: (all, its own)"""
        name = self.pod("run", "--detach", "--network", "none", *options, f"localhost/{tag}", *words)
        try:
            if self.pod("inspect", name, "--format", "{{.State.Running}}") != "true":
                raise Failed(f"containers: {' '.join(words)}: it ended at once")
            until = time.monotonic() + LIMIT_S
            while "sleep" not in self.pod("top", name, "args"):
                if time.monotonic() > until:
                    raise Failed("containers: the workload does not start")
            pid = self.pod("inspect", name, "--format", "{{.State.Pid}}")
            status = call(ROOM, "on", self.folder, "cat", f"/proc/{pid}/status")
            return tuple(int(re.search(rf"^{key}:\s*(\d+) kB", status, re.M)[1]) for key in ("VmRSS", "RssAnon"))
        finally:
            self.pod("rm", "--force", "--time", "0", name)

    def bundle(self, name, args):
        """The folder of an image's files for bare runc."""
        at = self.folder / name
        (at / "rootfs").mkdir(parents=True)
        created = self.pod("create", "localhost/with", "true")
        self.pod("export", "--output", at / "files.tar", created)
        self.pod("rm", created)
        call("tar", "-x", "-f", at / "files.tar", "-C", at / "rootfs")
        call("runc", "spec", cwd=at)
        config = json.loads((at / "config.json").read_text())
        config["process"] |= {"terminal": False, "args": args, "rlimits": [],
                              "env": ["PATH=/bin", *(f"{key}={value}" for key, value in TOLD.items())]}
        (at / "config.json").write_text(json.dumps(config))
        return at

    def run_bundle(self, at):
        call(ROOM, "on", self.folder, "runc", "run", "--bundle", at, f"bench-{at.name}")


def in_turns(rounds, runs):
    """Milliseconds that each of {name: function} takes, in turns: {name: [ms]}"""
    spent = {name: [] for name in runs}
    for turn in range(rounds + 1):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            if turn:  # the first one warms up
                spent[name].append((time.perf_counter() - start) * 1000)
    return spent


def start_row(label, spent):
    """A line of the table of times: of "without" and "with"."""
    middle = {name: statistics.median(values) for name, values in spent.items()}
    ninths = {name: statistics.quantiles(values, n=10) for name, values in spent.items()}
    added = statistics.median(w - wo for w, wo in zip(spent["with"], spent["without"]))
    return ([label, number(middle["without"], 1), number(middle["with"], 1), number(added, 2),
             times(middle["with"] / middle["without"]),
             f"{number(ninths['without'][0], 1)}-{number(ninths['without'][-1], 1)}"],
            {"without_ms": middle["without"], "with_ms": middle["with"], "added_ms": added,
             "ratio": middle["with"] / middle["without"]})


def show_times(engine, result, quick):
    command = ["/bin/busybox", "true"]
    bare, ours = engine.bundle("bare", command), engine.bundle("ours", ["/distinit", "--", *command])
    measured = {
        "runc run": in_turns(20 if quick else 100, {
            "without": lambda: engine.run_bundle(bare), "with": lambda: engine.run_bundle(ours)}),
        "podman run": in_turns(6 if quick else 30, {
            "without": lambda: engine.run("without", *command), "with": lambda: engine.run("with", "/distinit", "--", *command)}),
    }
    rows = []
    for label, spent in measured.items():
        row, result["start"][label] = start_row(label, spent)
        rows.append(row)
    table("Containers: from the engine's start to its end, ms", ["", "without", "with", "adds", "ratio", "p10-p90 without"], rows,
          ["Medians; adds: of the differences between neighbours, less than the spread means nothing. The workload is true; "
           "two hosts of Backend.AI, no network."])


def section_containers(bench, rows, result, quick):
    """An image with and without distinit."""
    del bench, rows
    if why := missing():
        print(f"\nContainers: not measured: {why}")
        return
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    folder = pathlib.Path(tempfile.mkdtemp(prefix="bench.", dir=place))
    try:
        engine = Engine(folder)
        mine = result["containers"] = {"start": {}, "memory": {}}
        sizes = {tag: engine.size(tag) for tag in ("alone", "without", "with")}
        table("Containers: images, bytes", ["", "bytes"],
              [["distinit alone, FROM scratch", number(sizes["alone"])],
               ["busybox", number(sizes["without"])],
               ["busybox and distinit", number(sizes["with"])]],
              [f"COPY --from=distinit adds {number(sizes['with'] - sizes['without'])} bytes."])
        mine["image_bytes"] = sizes
        show_times(engine, mine, quick)
        sleep = ["busybox", "sleep", "1000"]
        kinds = {"the workload alone": ("without", sleep, ()), "distinit": ("with", ["/distinit", "--", *sleep], ()),
                 "distinit --init": ("with", ["/distinit", "--init", "--", *sleep], ()),
                 "podman's --init (catatonit)": ("without", sleep, ("--init",))}
        lines = []
        for label, (tag, words, options) in kinds.items():
            resident, own = mine["memory"][label] = engine.memory(tag, *words, options=options)
            lines.append([label, number(resident), number(own)])
        table("Containers: memory of the first process, KiB", ["", "resident", "of it its own"], lines,
              ["Without --init distinit has become the workload (busybox sleep), and nothing of it stays."])
    finally:
        subprocess.run([PRIVATE, "down", folder], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, timeout=LIMIT_S * 2, check=False)
