# SPDX-License-Identifier: Apache-2.0
"""
The scenarios: one row each, at the end. To add one, add a row.

A row runs in an empty folder of its own, in a room with its own network, where h0 to h9 are addresses of the machine.
"""

import ctypes
import fcntl
import os
import re
import signal
import socket
import stat
import subprocess
import termios
import time
from dataclasses import dataclass, field
from typing import Any, Callable, Mapping, Optional

from crew import NEW_MOUNTS, libc

Files = dict[str, tuple[int, bytes]]

# Prints what a workload gets: its ids, capabilities and signals, and its environment.
SHOW = ["grep", "-aE", "^(Uid|Gid|Groups|Cap...|NoNewPrivs|Sig(Blk|Ign)):|=", "/proc/self/status", "/proc/self/environ"]
SESSION = {"BACKENDAI_CLUSTER_SIZE": "2", "BACKENDAI_CLUSTER_HOSTS": "h0,h1", "BACKENDAI_CLUSTER_HOST": "h1",
           "BACKENDAI_CLUSTER_LOCAL_RANK": "1"}
# A line of the report with this job id does not fit in the memory that a line has at first.
LONG = {"AZ_BATCH_HOST_LIST": "h0,h1", "AZ_BATCH_MASTER_NODE": "h0:6000", "AZ_BATCH_IS_CURRENT_NODE_MASTER": "true",
        "AZ_BATCH_JOB_ID": "x" * 4000}
ROLL = ["--hosts=h0,h1", "--for=all", "--wait=3s"]
MEET = ["wait", "--hosts=h0,h1", "--for=all", "--timeout=3s"]
TOGETHER = ["--hosts=h0,h1", "--together", "--wait=3s", "--grace=1s", "--linger=2s"]
# A launcher whose worker fails. It sees that at once, or not at all, and ends late, with the same status.
WORKERS = [*TOGETHER, "--together=workers"]
LAUNCHER = ["perl", "-e", '$| = 1; print "started\\n"; unless (fork) { select(undef, undef, undef, 0.4); exit 3 } '
            'wait if shift; select(undef, undef, undef, 2); exit 3']
BESIDE: dict[str, Any] = {"statuses": (124,), "peer_ends": (0, 123, 124, 125)}
ENDINGS = (signal.SIGTERM, signal.SIGCHLD)
TRAP = "echo started; trap 'exit 9' TERM; sleep 0.3; exit 7"
# Its first start fails, the second one succeeds.
ONCE = "echo started; trap 'exit 9' TERM; sleep 0.1; [ $DISTINIT_RESTART_COUNT = 1 ] || exit 3"

HANGS = ["sh", "-c", "echo started; exec sleep 20"]


@dataclass
class Scenario:
    name: str
    words: list[str]
    environment: dict[str, str] = field(default_factory=dict)
    program: str = "distinit"
    # Files to make: name, content.
    files: dict[str, str] = field(default_factory=dict)
    # Symlinks to make: name, target. Nothing outside of the folder may be written to.
    links: dict[str, str] = field(default_factory=dict)
    # A FIFO to make, which somebody reads.
    fifo: str = ""
    # stdin is the controlling terminal.
    terminal: bool = False
    # Another process of the same program, which runs beside: its words.
    peer: list[str] = field(default_factory=list)
    # Whatever happens here, the peer ends within so many seconds, with one of these statuses.
    peer_ends: tuple[int, ...] = ()
    peer_seconds: float = 10
    # The peer's failure ends the command, which may have printed nothing by then.
    ended: bool = False
    # A server that listens on this port.
    port: int = 0
    # Statuses that may also come out with an error line, where nothing was started.
    statuses: tuple[int, ...] = ()
    # It is PID 1, of a namespace with a /proc.
    as_pid_1: bool = False
    # Signals that it gets before each call. They must not be lost: it ends by the signal itself, or with one of these statuses.
    # But SIGCHLD from nobody changes nothing.
    signals: tuple[int, ...] = ()
    ends: tuple[int, ...] = ()
    # It writes files or has children, so a kill at any moment may leave something.
    kills: bool = False
    # Nothing at all remains after a kill.
    dies: bool = False
    # What a killed run may leave behind.
    may_leave: tuple[str, ...] = ()
    # Leave what does not stand still out of its output.
    tidy: Callable[[str], str] = lambda text: text
    # Files that have times in them, and what they look like at any moment.
    logs: dict[str, str] = field(default_factory=dict)
    # A fact that cannot be read is unknown: "?".
    facts: bool = False
    # How often the command starts without any fault. Before the last start no signal is too late.
    starts: int = 1
    # Only the calls from this one on, or before that one: name, and how many of that name came before. Another scenario has the rest.
    since: Optional[tuple[str, int]] = None
    until: Optional[tuple[str, int]] = None
    seconds: float = 30

    # Words of a process that is in the namespace of PID 1, but comes from outside.
    outsider: list[str] = field(default_factory=list)

    # What follows is for situations.py.
    def furnish(self, folder: str, program: str) -> None:
        """What else is in its folder."""

    def enter(self, folder: str) -> None:
        """In the child, before it becomes the program."""

    def environment_of(self, environment: dict[str, str]) -> Mapping[str, str]:
        return environment

    def is_right(self, got: Any, fails: bool) -> bool:
        """Whether this may come out without any fault. fails: there is an error line."""
        return got.status is not None and not fails

    def is_lost_to_anybody(self, calls: list[Any], call: Any) -> bool:
        """Whether a signal before this call cannot reach it."""
        return False


PASSWD = {"etc/passwd": "root:x:0:0::/root:/bin/sh\napp:x:1234:1234::/home/app:/bin/sh\n",
          "etc/group": "root:x:0:\napp:x:1234:\nvideo:x:44:app\n"}
SRUN = "#!/bin/sh\nwhile [ \"${1#-}\" != \"$1\" ]; do shift; done\nSLURM_STEP_ID=7 \"$@\"\necho $? >step.status\n"
SITE = {"site.conf": "SINGULARITY_IMAGE=image.sif\nDEF_NODES=2\nDEF_TASKS_PER_NODE=3\nDEF_CPUS_PER_TASK=2\n", "image.sif": "",
        "bin/srun": "#!/bin/sh\necho srun; echo step >step\n", "bin/sinfo": "#!/bin/sh\necho 'test*|4|8'\n",
        "bin/squeue": "#!/bin/sh\nexit 1\n", "bin/singularity": "#!/bin/sh\necho singularity\n"}
PROBE = ('#!/bin/sh\nsay() { echo "distrun-probe $1 rank=0 $2 node=n1"; }\nsay ready memory_total=10737418240\n'
         'read -r order || exit 1\nsay tick count=5\n'
         'say result "cpus=40 memory_total=10737418240 span_ms=1000 looks=10 rate=20000 cpu_ms=900 memory=1048576"\ncat >/dev/null\n')

REPORTED = {"log": r"(\{[^\n]*\}\n)*"}
BUDGET = {"budget": r"distrun budget 1\nlimit \d+\nused \d+\nat \d+\n"}
PORT = "sys/class/infiniband/mlx5_0/ports/1"
# A node with one HCA over Ethernet.
MACHINE = {"sys/class/net/eth0/flags": "0x1003\n", f"{PORT}/state": "4: ACTIVE\n", f"{PORT}/link_layer": "Ethernet\n",
           f"{PORT}/gids/3": "0000:0000:0000:0000:0000:ffff:0a00:0001\n", f"{PORT}/gid_attrs/types/3": "RoCE v2\n",
           f"{PORT}/gid_attrs/ndevs/3": "eth0\n", "dev/infiniband/uverbs0": ""}

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
    Scenario("report", ["--report=log", "--", *SHOW], SESSION, files={"log": "{}\n"}, logs=REPORTED, kills=True),
    Scenario("env", ["env"], SESSION),
    Scenario("env-output", ["env", "--output=out"], SESSION, files={"out": "as before\n"}, kills=True),
    Scenario("install", ["install", "to"], files={"to/other": ""}, may_leave=(".distinit.new",), kills=True),
    Scenario("install-again", ["install", "to"], files={"to/distinit": "old"}, may_leave=(".distinit.new",), kills=True),
    Scenario("bundle", ["bundle"], {"DISTINIT_TRACK": "A:HF_*", "A": "1", "HF_HOME": "/x"}),
    Scenario("hosts", ["hosts", "n[1-4]"]),
    Scenario("env-fifo", ["env", "--output=fifo"], SESSION, fifo="fifo"),
    Scenario("env-device", ["env", "--output=stdout"], SESSION, links={"stdout": "/proc/self/fd/1"}),
    Scenario("fill", ["--fill", "--hosts=m0,m1", "--node-rank=1", "--", "echo", "{node-addr}", "{master-ip}", "{nnodes*A}", "{B...}"],
             {"A": "8", "B": "b 'c d'"}, statuses=(124,)),
    Scenario("devices", ["check", "--root=."], {**SESSION, "NCCL_IB_HCA": "=mlx5_0", "NCCL_IB_GID_INDEX": "3", "NCCL_SOCKET_IFNAME": "eth0"}, facts=True, since=("open", 9), until=("signalfd4", 0),
             files=MACHINE),
    Scenario("explain", ["explain"], SESSION, facts=True, tidy=lambda text: re.sub("PID [0-9]+", "PID N", text)),
    Scenario("check", ["check"], {**SESSION, "BACKENDAI_CLUSTER_HOST": "h0", "BACKENDAI_CLUSTER_LOCAL_RANK": "0"}, facts=True),
    Scenario("expect", ["--expect=nofile>=1,path=FOLDER,path:ro=/", "--", *SHOW], signals=ENDINGS),
    Scenario("wait-dns", ["--wait=3s", "--for=dns", "--", *SHOW], SESSION, statuses=(124,), signals=ENDINGS),
    Scenario("wait-tcp", ["--wait=3s", "--", *SHOW], {**SESSION, "MASTER_PORT": "29501"}, port=29501, statuses=(124,), signals=ENDINGS),
    Scenario("wait-output", [*MEET, "--node-rank=1", "--output=out"], files={"out": "as before\n"}, peer=[*MEET, "--node-rank=0"], kills=True,
             signals=ENDINGS, since=("rt_sigprocmask", 3), **BESIDE),
    Scenario("coordinator", [*ROLL, "--node-rank=0", "--", *SHOW], peer=[*ROLL, "--node-rank=1", "--", "echo", "started"], kills=True,
             signals=ENDINGS, **BESIDE),
    Scenario("member", [*ROLL, "--node-rank=1", "--", *SHOW], peer=[*ROLL, "--node-rank=0", "--", "echo", "started"], kills=True,
             signals=ENDINGS, **BESIDE),
    # The member gives the port that is taken 2 s each time.
    Scenario("port-taken", [*ROLL, "--wait=8s", "--node-rank=0", "--", *SHOW], port=29500, until=("epoll_create1", 0),
             peer=[*ROLL, "--wait=8s", "--node-rank=1", "--", "echo", "started"], **BESIDE),
    Scenario("secret", [*ROLL, "--secret-file=secret", "--node-rank=1", "--", *SHOW], {"DISTINIT_SECRET": "0123456789abcdef"},
             files={"secret": "0123456789abcdef\n"}, peer=[*ROLL, "--node-rank=0", "--", "echo", "started"], **BESIDE),
    Scenario("together-coordinator", [*TOGETHER, "--node-rank=0", "--", "sh", "-c", "echo started; exec sleep 20"], kills=True,
             peer=[*TOGETHER, "--node-rank=1", "--", "sh", "-c", "sleep 0.1; exit 3"], statuses=(124,), peer_ends=(3, 123, 124, 125),
             ended=True),
    Scenario("together-member", [*TOGETHER, "--node-rank=1", "--", "sh", "-c", "echo started; exec sleep 20"], kills=True,
             peer=[*TOGETHER, "--node-rank=0", "--", "sh", "-c", "sleep 0.1; exit 3"], statuses=(124,), peer_ends=(3, 123, 124, 125),
             ended=True),
    Scenario("together-well-0", [*TOGETHER, "--node-rank=0", "--", "sh", "-c", TRAP.replace("7", "0")], signals=ENDINGS, ends=(9,),
             peer=[*TOGETHER, "--node-rank=1", "--", "sleep", "0.4"], since=("epoll_create1", 1), **BESIDE),
    Scenario("together-well-1", [*TOGETHER, "--node-rank=1", "--", "sh", "-c", TRAP.replace("7", "0")], signals=ENDINGS, ends=(9,),
             peer=[*TOGETHER, "--node-rank=0", "--", "sleep", "0.4"], since=("epoll_create1", 0), **BESIDE),
    Scenario("workers-0", [*WORKERS, "--node-rank=0", "--", *LAUNCHER, "0"], kills=True,
             peer=[*WORKERS, "--node-rank=1", "--", "sleep", "20"], statuses=(124,), peer_ends=(123,), since=("pidfd_open", 0)),
    Scenario("workers-1", [*WORKERS, "--node-rank=1", "--", *LAUNCHER, "1"], kills=True,
             peer=[*WORKERS, "--node-rank=0", "--", "sleep", "20"], statuses=(124,), peer_ends=(123,), since=("pidfd_open", 0)),
    Scenario("restarts", ["--max-restarts=1", "--report=log", "--", "sh", "-c", ONCE], files={"log": "{}\n"}, logs=REPORTED, signals=ENDINGS,
             ends=(3, 9), starts=2, kills=True),
    # A program that hangs, alone, and on a node of several, which its master asks. All processes are looked at, so there are few.
    Scenario("progress", ["--progress=FOLDER/log*:500ms", "--init", "--grace=1s", "--report=report", "--", *HANGS], files={"log.1": "", "report": "{}\n"},
             logs={"report": REPORTED["log"]}, as_pid_1=True, kills=True),
    Scenario("progress-0", [*TOGETHER, "--progress=FOLDER/log:500ms", "--node-rank=0", "--", *HANGS], files={"log": ""}, as_pid_1=True, kills=True,
             peer=[*TOGETHER, "--node-rank=1", "--", "sleep", "20"], statuses=(124,), peer_ends=(123,), since=("epoll_create1", 1)),
    Scenario("progress-1", [*TOGETHER, "--progress=FOLDER/log:500ms", "--node-rank=1", "--", *HANGS], files={"log": ""}, as_pid_1=True, kills=True,
             peer=[*TOGETHER, "--node-rank=0", "--", "sleep", "20"], statuses=(124,), peer_ends=(123,), since=("epoll_create1", 0)),
    Scenario("init", ["--init", "--", "sh", "-c", TRAP], signals=(*ENDINGS, signal.SIGUSR1), ends=(9,), kills=True),
    Scenario("init-pid-1", ["--init", "--", "sh", "-c", f"(sleep 100 &); {TRAP}"], as_pid_1=True, signals=ENDINGS, ends=(9,), kills=True,
             dies=True),
    Scenario("init-dies", ["--init", "--pdeathsig=KILL", "--", "sh", "-c", "echo started; exec sleep 1"], kills=True, dies=True),
    Scenario("init-terminal", ["--init", "--", "sh", "-c", "echo started; sleep 0.1; exit 7"], terminal=True),
    Scenario("init-words", ["--init", "--root=.", "--map-exit=9:7", "--", "sh", "-c", "echo started; exit 9"], files={"dev/termination-log": ""}, kills=True),
    Scenario("init-wait", ["--init", "--wait=3s", "--", "sh", "-c", TRAP], {**SESSION, "MASTER_PORT": "29501"}, port=29501, statuses=(124,),
             signals=ENDINGS, ends=(9,)),
    Scenario("init-leftovers", ["--init", "--leftovers=end", "--", "sh", "-c", "(sleep 100 &) ; echo started; exit 7"], kills=True),
    Scenario("init-limit", ["--time-limit=1s", "--grace=1s", "--report=log", "--", "sh", "-c", "echo started; exec sleep 100"], LONG,
             logs=REPORTED, kills=True),
    Scenario("init-user", ["--init", "--user=65534:65534", "--pdeathsig=KILL", "--", *SHOW]),
    Scenario("gosu", ["gosu", "65534:65534", *SHOW], statuses=(1,)),
    Scenario("tini", ["tini", "--", "sh", "-c", "exit 7"], statuses=(1,)),
    Scenario("dumb-init", ["dumb-init", "sh", "-c", "exit 7"], statuses=(1, 2)),
    Scenario("catatonit", ["catatonit", "--", "sh", "-c", "exit 7"], statuses=(1,)),
    Scenario("surrogate", ["surrogate", "--job-time-sec=60", "--", "sh", "-c", TRAP], {"SLURM_JOB_ID": "12"}, "distrun",
             files={"bin/srun": SRUN}, signals=ENDINGS, ends=(9,), kills=True),
    Scenario("budget", ["surrogate", "--job-time-sec=60", "--job-time-budget=budget", "--", "sh", "-c", "echo started; exit 7"], {}, "distrun",
             files={"budget": "distrun budget 1\nlimit 60000\nused 1234\nat 1795291200123\n"}, logs=BUDGET, kills=True),
    Scenario("where", ["where"], {"SLURM_JOB_ID": "12", "SLURM_STEP_ID": "3"}, "distrun",
             files={"bin/squeue": "#!/bin/sh\necho '12.3 python'\n"}, facts=True),
    Scenario("launch", ["launch", "true"], {"CSRUN_SITE": "site.conf"}, "distrun", files=SITE),
    Scenario("launch-in-job", ["launch", "--job-time-sec=60", "true"], {"CSRUN_SITE": "site.conf", "SLURM_JOB_ID": "12"}, "distrun",
             files={**SITE, "bin/squeue": "#!/bin/sh\necho 2\n"}),
    Scenario("run-here", ["exec", "--alloc-node=False", "true"], {"CSRUN_SITE": "site.conf"}, "distrun", files=SITE),
    Scenario("analyze", ["analyze", "--runtime=none", "--distinit=none", "--threads=1", "--workers-per-node=1", "--warmup=0",
                         "--seconds=1s", "--", "true"], {}, "distrun",
             files={**SITE, "bin/srun": PROBE}, tidy=lambda text: text and "some", seconds=30),
]


class Stage:
    """The folder of one run, and what runs beside."""

    def __init__(self, scenario: Scenario, programs: dict[str, str], folder: str) -> None:
        self.scenario, self.folder = scenario, folder
        self.peer: Optional["subprocess.Popen[bytes]"] = None
        self.fifo, self.terminal = -1, (-1, -1)
        self.server = socket.create_server(("", scenario.port)) if scenario.port else None
        for name, content in scenario.files.items():
            path = os.path.join(folder, name)
            os.makedirs(os.path.dirname(path), mode=0o755, exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(content)
            os.chmod(path, 0o755 if content.startswith("#!") else 0o644)
        for name, target in scenario.links.items():
            os.symlink(target, os.path.join(folder, name))
        if scenario.fifo:
            os.mkfifo(os.path.join(folder, scenario.fifo))
            self.fifo = os.open(os.path.join(folder, scenario.fifo), os.O_RDWR | os.O_NONBLOCK)
        if scenario.terminal:
            self.terminal = os.openpty()
        scenario.furnish(folder, programs[scenario.program])
        self.before = self.files()
        if scenario.peer:
            with open(f"{folder}/.peer", "wb") as file:
                self.peer = subprocess.Popen([programs[scenario.program], *scenario.peer], cwd=folder, stdin=subprocess.DEVNULL,
                                             stdout=file, stderr=file, env={"PATH": "/usr/bin:/bin", **{
                                                 name: value for name, value in scenario.environment.items() if "SECRET" in name}})

    def environment(self) -> Mapping[str, str]:
        return self.scenario.environment_of({"PATH": f"{self.folder}/bin:/usr/bin:/bin", "DISTRUN_ROOT": f"{self.folder}/nowhere",
                **self.scenario.environment} if self.scenario.program == "distrun" else {
                    "PATH": "/usr/bin:/bin", **self.scenario.environment})

    def prepare(self) -> None:
        """In the child, before it becomes the program."""
        os.setsid()
        if self.scenario.as_pid_1 and (libc.unshare(NEW_MOUNTS) or libc.mount(b"proc", b"/proc", b"proc", 0, None)):
            raise OSError(ctypes.get_errno(), "no /proc")
        os.chdir(self.folder)
        for number, name, flags in ((0, "/dev/null", os.O_RDONLY), (1, f"{self.folder}/.out", os.O_CREAT | os.O_RDWR | os.O_APPEND),
                                    (2, f"{self.folder}/.err", os.O_CREAT | os.O_RDWR | os.O_APPEND)):
            opened = os.open(name, flags, 0o644)
            os.dup2(opened, number)
            os.close(opened)
        if self.scenario.terminal:
            fcntl.ioctl(self.terminal[1], termios.TIOCSCTTY, 0)
            os.dup2(self.terminal[1], 0)
        for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGALRM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        self.scenario.enter(self.folder)

    def files(self) -> Files:
        """What is in the folder: the mode and the content of each file."""
        out = {}
        for parent, _, names in os.walk(self.folder):
            for name in names:
                path = os.path.join(parent, name)
                mode = os.lstat(path).st_mode
                if stat.S_ISLNK(mode):
                    out[os.path.relpath(path, self.folder)] = (mode, os.readlink(path).encode())
                if stat.S_ISREG(mode) and name not in (".out", ".err", ".peer"):
                    with open(path, "rb") as file:
                        out[os.path.relpath(path, self.folder)] = (mode, file.read())
        if self.fifo >= 0:
            try:
                out[self.scenario.fifo] = (0, os.read(self.fifo, 1 << 16))
            except BlockingIOError:
                pass
        return out

    def text(self, name: str) -> str:
        with open(os.path.join(self.folder, name), errors="replace", encoding="utf-8") as file:
            return file.read()

    def close(self) -> None:
        if self.peer:
            try:
                self.peer.kill()
            except ProcessLookupError:
                pass
            self.peer.wait()
        for number in (self.fifo, *self.terminal):
            if number >= 0:
                os.close(number)
        if self.server:
            self.server.close()
