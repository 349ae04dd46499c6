# SPDX-License-Identifier: Apache-2.0
"""
The scenarios: one row each, at the end. To add one, add a row.

A row runs in an empty folder of its own, in a room with its own network, where h0 to h9 are addresses of the machine.
"""

import os
import signal
import subprocess
import time
from dataclasses import dataclass, field
from typing import Callable, Optional

# Prints what a workload gets: its ids, capabilities and signals, and its environment.
SHOW = ["grep", "-aE", "^(Uid|Gid|Groups|Cap...|NoNewPrivs|Sig(Blk|Ign)):|=", "/proc/self/status", "/proc/self/environ"]
SESSION = {"BACKENDAI_CLUSTER_SIZE": "2", "BACKENDAI_CLUSTER_HOSTS": "h0,h1", "BACKENDAI_CLUSTER_HOST": "h1",
           "BACKENDAI_CLUSTER_LOCAL_RANK": "1"}
# A line of the report with this job id does not fit in the memory that a line has at first.
LONG = {"AZ_BATCH_HOST_LIST": "h0,h1", "AZ_BATCH_MASTER_NODE": "h0:6000", "AZ_BATCH_IS_CURRENT_NODE_MASTER": "true",
        "AZ_BATCH_JOB_ID": "x" * 4000}
ROLL = ["--hosts=h0,h1", "--for=all", "--wait=4s"]


@dataclass
class Scenario:
    name: str
    words: list[str]
    environment: dict[str, str] = field(default_factory=dict)
    program: str = "distinit"
    # Files to make: name, content.
    files: dict[str, str] = field(default_factory=dict)
    # Another process of the same program, which runs beside: its words.
    peer: list[str] = field(default_factory=list)
    # A server that listens on this port.
    port: int = 0
    # Statuses that may also come out with an error line, where nothing was started.
    statuses: tuple[int, ...] = ()
    # It stays while the workload runs: signals are sent to it, too. The statuses that may come out then.
    signals: tuple[int, ...] = ()
    # It writes files or has children, so a kill at any moment may leave something.
    kills: bool = False
    # What a killed run may leave behind.
    may_leave: tuple[str, ...] = ()
    # Leave what does not stand still out of its output.
    tidy: Callable[[str], str] = lambda text: text
    # Files that have times in them.
    logs: tuple[str, ...] = ()
    seconds: float = 30


PASSWD = {"etc/passwd": "root:x:0:0::/root:/bin/sh\napp:x:1234:1234::/home/app:/bin/sh\n",
          "etc/group": "root:x:0:\napp:x:1234:\nvideo:x:44:app\n"}
SRUN = "#!/bin/sh\nwhile [ \"${1#-}\" != \"$1\" ]; do shift; done\nSLURM_STEP_ID=7 \"$@\"\necho $? >step.status\n"
SITE = {"site.conf": "SINGULARITY_IMAGE=image.sif\nDEF_NODES=2\nDEF_TASKS_PER_NODE=3\nDEF_CPUS_PER_TASK=2\n", "image.sif": "",
        "bin/srun": "#!/bin/sh\necho srun; echo step >step\n", "bin/sinfo": "#!/bin/sh\necho 'test*|4|8'\n",
        "bin/squeue": "#!/bin/sh\nexit 1\n", "bin/singularity": "#!/bin/sh\necho singularity\n"}
PROBE = ('#!/bin/sh\nsay() { echo "distrun-probe $1 rank=0 $2 node=n1"; }\nsay ready memory_total=10737418240\n'
         'read -r order || exit 1\nsay tick count=5\n'
         'say result "cpus=40 memory_total=10737418240 span_ms=1000 looks=10 rate=20000 cpu_ms=900 memory=1048576"\ncat >/dev/null\n')

SCENARIOS = [
    Scenario("exec", ["--frameworks=all", "--", *SHOW], SESSION),
    Scenario("exec-root", ["--root=.", "--user=app", "--", *SHOW], SESSION, files=PASSWD),
    Scenario("user", ["--user=65534:65534", "--cap-drop=all", "--cap-keep=net_bind_service,kill", "--no-new-privs", "--", *SHOW]),
    Scenario("variable-file", ["--user=65534:65534", "--", *SHOW], {"DISTINIT_ENV_FILE": "vars.env"},
             files={"vars.env": "set A=1\nprepend PATH=/opt\n"}),
    Scenario("env-file", ["--env-file=vars.env", "--", *SHOW], files={"vars.env": "set A=1\n# no more\nunset B\n"}),
    Scenario("hostfile", ["--hostfile=hosts", "--node-rank=1", "--", *SHOW], files={"hosts": "h0 slots=2\nh1 slots=2\n"}),
    Scenario("nodefile", ["--hostname=h1", "--", *SHOW], {"PBS_NODEFILE": "nodes", "PBS_JOBID": "12.pbs", "PBS_ENVIRONMENT": "PBS_BATCH"},
             files={"nodes": "h0\nh1\n"}),
    Scenario("hostfile-output", ["--frameworks=mpi", "--hosts=h0,h1", "--node-rank=1", "--hostfile-output=FOLDER/out", "--", *SHOW], {}, files={"out": "as before\n"}, kills=True),
    Scenario("report", ["--report=log", "--", *SHOW], SESSION, files={"log": "{}\n"}, logs=("log",), kills=True),
    Scenario("env", ["env"], SESSION),
    Scenario("env-output", ["env", "--output=out"], SESSION, files={"out": "as before\n"}, kills=True),
    Scenario("install", ["install", "to"], files={"to/other": ""}, may_leave=(".distinit.new",), kills=True),
    Scenario("install-again", ["install", "to"], files={"to/distinit": "old"}, may_leave=(".distinit.new",), kills=True),
    Scenario("bundle", ["bundle"], {"DISTINIT_TRACK": "A:HF_*", "A": "1", "HF_HOME": "/x"}),
    Scenario("hosts", ["hosts", "n[1-4]"]),
    Scenario("wait-dns", ["--wait=3s", "--for=dns", "--", *SHOW], SESSION, statuses=(124,)),
    Scenario("wait-tcp", ["--wait=3s", "--", *SHOW], {**SESSION, "MASTER_PORT": "29501"}, port=29501, statuses=(124,)),
    Scenario("coordinator", [*ROLL, "--node-rank=0", "--", *SHOW], peer=[*ROLL, "--node-rank=1", "--", "true"], statuses=(124,), kills=True),
    Scenario("member", [*ROLL, "--node-rank=1", "--", *SHOW], peer=[*ROLL, "--node-rank=0", "--", "true"], statuses=(124,)),
    Scenario("init", ["--init", "--", "sh", "-c", "echo started; trap 'echo term; exit 9' TERM; sleep 0.1 & wait; exit 7"],
             signals=(9, 143, 7), kills=True),
    Scenario("init-leftovers", ["--init", "--leftovers=end", "--", "sh", "-c", "(sleep 100 &) ; echo started; exit 7"], kills=True),
    Scenario("init-limit", ["--time-limit=1s", "--grace=1s", "--report=log", "--", "sh", "-c", "echo started; exec sleep 100"], LONG,
             logs=("log",), kills=True),
    Scenario("init-user", ["--init", "--user=65534:65534", "--pdeathsig=KILL", "--", *SHOW]),
    Scenario("gosu", ["gosu", "65534:65534", *SHOW], statuses=(1,)),
    Scenario("tini", ["tini", "--", "sh", "-c", "exit 7"], statuses=(1,)),
    Scenario("surrogate", ["surrogate", "--job-time-sec=60", "--", "sh", "-c", "echo started; exit 7"], {"SLURM_JOB_ID": "12"}, "distrun",
             files={"bin/srun": SRUN}, seconds=30, kills=True),
    Scenario("launch", ["launch", "true"], {"CSRUN_SITE": "site.conf"}, "distrun", files=SITE),
    Scenario("analyze", ["analyze", "--runtime=none", "--distinit=none", "--threads=1", "--workers-per-node=1", "--warmup=0",
                         "--seconds=1s", "--", "true"], {}, "distrun",
             files={**SITE, "bin/srun": PROBE}, tidy=lambda text: text and "some", seconds=30),
]


class Stage:
    """The folder of one run, and what runs beside."""

    def __init__(self, scenario: Scenario, programs: dict[str, str], folder: str) -> None:
        self.scenario, self.folder = scenario, folder
        self.peer: Optional["subprocess.Popen[bytes]"] = None
        for name, content in scenario.files.items():
            path = os.path.join(folder, name)
            os.makedirs(os.path.dirname(path), mode=0o755, exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(content)
            os.chmod(path, 0o755 if content.startswith("#!") else 0o644)
        self.before = files_of(folder)
        if scenario.peer:
            self.peer = subprocess.Popen([programs[scenario.program], *scenario.peer], cwd=folder, env={"PATH": "/usr/bin:/bin"},
                                         stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def environment(self) -> dict[str, str]:
        return {"PATH": f"{self.folder}/bin:/usr/bin:/bin", "DISTRUN_ROOT": f"{self.folder}/nowhere",
                **self.scenario.environment} if self.scenario.program == "distrun" else {
                    "PATH": "/usr/bin:/bin", **self.scenario.environment}

    def prepare(self) -> None:
        """In the child, before it becomes the program."""
        os.setsid()
        os.chdir(self.folder)
        for number, name, flags in ((0, "/dev/null", os.O_RDONLY), (1, f"{self.folder}/.out", os.O_CREAT | os.O_RDWR | os.O_APPEND),
                                    (2, f"{self.folder}/.err", os.O_CREAT | os.O_RDWR | os.O_APPEND)):
            opened = os.open(name, flags, 0o644)
            os.dup2(opened, number)
            os.close(opened)
        for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGALRM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)

    def close(self) -> None:
        if self.peer:
            try:
                self.peer.kill()
            except ProcessLookupError:
                pass
            self.peer.wait()


def files_of(folder: str) -> dict[str, tuple[int, bytes]]:
    out = {}
    for parent, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(parent, name)
            short = os.path.relpath(path, folder)
            if short not in (".out", ".err"):
                with open(path, "rb") as file:
                    out[short] = (os.lstat(path).st_mode, file.read())
    return out


