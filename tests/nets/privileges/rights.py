#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Whatever goes wrong, a file that a variable names is opened and made with no rights beyond those of the program to come. Each
option and variable of cmd/distinit/options.c is wrong in each way, with each variable that names a file, in states whose
command line fixes the privileges. Each system call on such a path is watched. As root, as TAP.

    rights.py DISTINIT [--seconds=N] [--seed=S] [--first]

Without --seconds: each error in each state and mode once, with files at random. --first: stop at the first finding.
"""

import argparse
import ctypes
import itertools
import math
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any, Mapping, NamedTuple, Optional, Sequence

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "faults"))

import syscalls  # noqa: E402
from model import KILL, NOROOT, Refused, State, Wish, opener  # noqa: E402
from privileges import ALL, Start, become, caps, libc, must  # noqa: E402
from tracer import CONT, EXEC, OPTIONS, Tracer, ptrace, registers  # noqa: E402

# Where the paths of a call are: (argument of the folder, or None; argument of the path).
PATHS: Mapping[str, Sequence[tuple[Optional[int], int]]] = {
    **dict.fromkeys(("open", "creat", "mkdir", "rmdir", "mknod", "unlink", "truncate", "chmod", "chown", "lchown", "utime", "utimes"), ((None, 0),)),
    **dict.fromkeys(("openat", "openat2", "mkdirat", "mknodat", "unlinkat", "fchmodat", "fchownat", "utimensat"), ((0, 1),)),
    **dict.fromkeys(("rename", "link"), ((None, 0), (None, 1))),
    **dict.fromkeys(("renameat", "renameat2", "linkat"), ((0, 1), (2, 3))),
    "symlink": ((None, 1),), "symlinkat": ((1, 2),),
    # These open nothing, but tell whether a file is there and what it is.
    **dict.fromkeys(("stat", "lstat", "readlink", "statfs", "chdir", "getxattr", "lgetxattr", "listxattr", "execve"), ((None, 0),)),
    **dict.fromkeys(("newfstatat", "statx", "readlinkat", "faccessat2", "execveat"), ((0, 1),)),
    "access": ((None, 0),), "faccessat": ((0, 1),),
}
# These ask with the real ids, which stay ours: with other rights than the program's they tell too much.
BY_REAL_IDS = ("access", "faccessat")
# It is no right on files, and --init keeps it to end programs of other users.
OF_NO_FILE = KILL

# Options that say who the program will be. Wrong on the command line, nobody knows it.
PRIVILEGES = ("user", "groups", "cap-drop", "cap-keep", "no-new-privs")
USER, NOBODY = 65534, frozenset[int]()


class Told(NamedTuple):
    """A state, and the options that fix the privileges in it."""

    start: Start
    words: list[str]
    wish: Optional[Wish]  # None: the user cannot be found


def start(ids: str = "root", bounding: int = -1, held: int = -1, securebits: int = 0, file: int = 0,
          groups: frozenset[int] = frozenset({0, 44})) -> Start:
    return Start(ids, groups, bounding, held, 0, 0, securebits, False, "none", file)


FILE_CAPS = caps("setuid", "setgid", "dac_override", "kill")
SET_IDS = caps("setuid", "setgid", "setpcap")
TO_USER = Wish(USER, USER, NOBODY, no_new_privs=True)
STATES = {
    "root": Told(start(), [f"--user={USER}:{USER}", "--no-new-privs"], TO_USER),
    "root that may only change ids": Told(start(bounding=SET_IDS, held=SET_IDS), [f"--user={USER}:{USER}", "--no-new-privs"], TO_USER),
    "root without capabilities": Told(start(bounding=0, held=0), [f"--user={USER}:{USER}", "--no-new-privs"], TO_USER),
    "root that drops all": Told(start(), ["--cap-drop=all"], Wish(drop=-1)),
    "root that keeps one": Told(start(), [f"--user={USER}:{USER}", "--cap-keep=net_raw"], Wish(USER, USER, NOBODY, keep=caps("net_raw"))),
    "root without what it should keep": Told(start(bounding=SET_IDS), [f"--user={USER}:{USER}", "--cap-keep=net_raw"],
                                             Wish(USER, USER, NOBODY, keep=caps("net_raw"))),
    "root, and a user who is not there": Told(start(), ["--user=nobody-of-this-name"], None),
    "file capabilities": Told(start("user", file=FILE_CAPS), ["--no-new-privs"], Wish(no_new_privs=True)),
    "file capabilities, and a user": Told(start("user", file=FILE_CAPS), [f"--user={USER}:{USER}"], Wish(USER, USER, NOBODY)),
    "file capabilities, and root that is none": Told(start(securebits=NOROOT, file=FILE_CAPS), ["--no-new-privs"], Wish(no_new_privs=True)),
}
BEFORE = {name: told.start.before() for name, told in STATES.items()}
COMMAND = ["--", "/bin/true"]
MODES = [["--init", *COMMAND], COMMAND, ["--wait=1ms", "--for=all", *COMMAND], ["wait", "--for=all", "--timeout=1ms"], ["env"],
         ["explain", "--format=json"], ["--check", *COMMAND], ["check", "--", "true"]]
# What is no word, number, duration, list, name or file of any option. None: it is right.
WRONG: list[Optional[str]] = [None, "", " y ", "no-such-word", "-1", "99999999999999999999", "=", "a,,b", "x" * 5000, "\x1b[1m\n", "{told}/not/there",
                              "{told}", "hosts!=", "TERM:"]
# Also those that "all" leaves out.
EVERY = ",".join(re.findall(r"^FRAMEWORK\((\w+)\)", (HERE.parents[2] / "src/derive/framework/list.h").read_text(encoding="utf-8"), re.M))
HOSTS = {"DISTINIT_HOSTS": "127.0.0.1,127.0.0.2", "DISTINIT_NODE_RANK": "0", "DISTINIT_FRAMEWORKS": EVERY}
# Variables of managers that name a file, and what it takes to be asked for it.
MANAGERS = {
    "PBS_NODEFILE": {"PBS_JOBID": "1.x"}, "PE_HOSTFILE": {"JOB_ID": "1", "SGE_ROOT": "/", "ARC": "x", "NHOSTS": "2"},
    "LSB_DJOB_HOSTFILE": {"LSB_JOBID": "1"}, "LSB_DJOB_RANKFILE": {"LSB_JOBID": "1"}, "COBALT_NODEFILE": {"COBALT_JOBID": "1"},
    "OAR_NODEFILE": {"OAR_JOB_ID": "1"}, "PJM_O_NODEINF": {"PJM_JOBID": "1"}, "LOADL_HOSTFILE": {"LOADL_STEP_ID": "1"},
    "HQ_HOST_FILE": {"HQ_JOB_ID": "1"}, "HQ_NODE_FILE": {"HQ_JOB_ID": "1"}, "_CONDOR_JOB_AD": {"_CONDOR_PROCNO": "0", "_CONDOR_NPROCS": "2"},
    "SLURM_HOSTFILE": {"SLURM_JOB_ID": "1", "SLURM_STEP_ID": "0", "SLURM_STEP_NODELIST": "localhost,n1", "SLURM_STEP_NUM_NODES": "2", "SLURM_NODEID": "0",
                       "SLURM_DISTRIBUTION": "arbitrary", "SLURM_PROCID": "0", "SLURM_NTASKS": "2", "SLURM_LOCALID": "0",
                       "SLURM_STEP_TASKS_PER_NODE": "1(x2)"},
}
CARD = "sys/class/infiniband/mlx5_0"
# Files of managers and of the machine below DISTINIT_ROOT.
BELOW = {
    f"{CARD}/ports/1/state": "4: ACTIVE\n", f"{CARD}/ports/1/link_layer": "Ethernet\n", f"{CARD}/ports/1/rate": "400 Gb/sec (4X NDR)\n",
    f"{CARD}/ports/1/gids/0": "0000:0000:0000:0000:0000:ffff:0a00:0001\n", f"{CARD}/ports/1/gid_attrs/types/0": "RoCE v2\n",
    f"{CARD}/ports/1/gid_attrs/ndevs/0": "eth0\n", f"{CARD}/device/infiniband_verbs/uverbs0/dev": "1:1\n", "sys/class/net/eth0/flags": "0x1003\n",
    "sys/class/infiniband/efa_0/ports/1/state": "4: ACTIVE\n", "sys/class/infiniband/efa_0/ports/1/link_layer": "Unspecified\n",
    "dev/infiniband/uverbs0": "", "dev/nvidia0": "", "proc/meminfo": "MemTotal: 1024 kB\n", "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "max\n",
    "sys/fs/cgroup/memory.events": "oom_kill 0\n", "etc/ld.so.cache": "", "opt/microsoft/ndv5-topo.xml": "", "usr/local/gib/scripts/set_nccl_env.sh": "",
    ".dockerenv": "",
    "opt/ml/input/config/resourceconfig.json": '{"current_host": "algo-1", "hosts": ["algo-1", "algo-2"]}', "etc/mpi/hostfile": "localhost\nn1\n",
    "etc/hosts": "127.0.0.1 localhost\n", "root/.ssh/id_rsa": "a key of some length\n", "home/config/ssh/id_cluster": "a key of some length\n",
    "dev/termination-log": "", "etc/passwd": "nobody-of-this-name:x:0:0::/:/bin/sh\n", "etc/group": "", "run/.containerenv": 'engine="x"\n',
}
BELOW_ROOT: dict[str, dict[str, str]] = {
    "a root": HOSTS,
    "a root, SageMaker": {"SM_HOSTS": '["algo-1", "algo-2"]', "SM_CURRENT_HOST": "algo-1"},
    "a root, MPIJob": {"OMPI_MCA_orte_default_hostfile": "/etc/mpi/hostfile", "K_MPI_JOB_ROLE": "launcher"},
    "a root, Backend.AI": {"BACKENDAI_CLUSTER_SIZE": "2", "BACKENDAI_CLUSTER_HOSTS": "127.0.0.1,127.0.0.2", "BACKENDAI_CLUSTER_HOST": "127.0.0.1",
                           "BACKENDAI_CLUSTER_LOCAL_RANK": "0"},
    "a root, an indexed job": {"JOB_COMPLETION_INDEX": "0", "DISTINIT_NNODES": "2"},
    # What findings look at: lists of devices, plugins, files that variables name.
    "a root, cards": {**HOSTS, "NCCL_IB_HCA": "=mlx5_0:1", "NCCL_IB_GID_INDEX": "0", "UCX_NET_DEVICES": "mlx5_0:1", "NCCL_SOCKET_IFNAME": "=eth0",
                      "NCCL_NET_PLUGIN": "x", "NCCL_TOPO_FILE": "/opt/topo.xml", "CUDA_VISIBLE_DEVICES": "0", "LD_LIBRARY_PATH": "/opt/lib"},
}
# Other variables with paths: where programs are searched for.
FOLDERS_OF = ("PATH", "LD_LIBRARY_PATH")
CONTENTS = {"HOSTFILE": "127.0.0.1\n127.0.0.2\n", "ENV_FILE": "set FROM_FILE=yes\n", "SECRET_FILE": "a secret of some length\n"}


class Option(NamedTuple):
    name: str
    variable: str  # "": none
    argument: str


def options() -> list[Option]:
    """From the table: a new option is here without a word."""
    text = (HERE.parents[2] / "cmd/distinit/options.c").read_text(encoding="utf-8")
    rows = re.findall(r'\{(NULL|"[a-z-]+"), (?:0|\'\w\'), (OPT_\w+)[^,]*, TAKES_\w+,\s*[^,]+, (true|false),\s*(NULL|"[^"]*")', text)
    out = []
    for name, number, variable, argument in rows:
        word = number[len("OPT_"):] if name == "NULL" else name.strip('"').replace("-", "_").upper()
        out.append(Option("" if name == "NULL" else name.strip('"'), "DISTINIT_" + word if variable == "true" else "", argument.strip('"')))
    assert len(out) > 50, "the table of options looks different now"
    return out + [Option(name, "", "") for name in re.findall(r'VERB\("(\w+)"', text)] + [Option("", "DISTINIT_ENV", "")]


TABLE = options()
NAMES_FILE = [option.variable for option in TABLE if option.variable and option.argument == "FILE"]
FILES = [*NAMES_FILE, *MANAGERS, *BELOW_ROOT, *FOLDERS_OF]
# (option, the way it is wrong, whether a variable says so)
ERRORS = [(option, value, by_variable) for option in TABLE for value in WRONG for by_variable in (True, False)
          if (option.variable if by_variable else option.name)]
PARTS: tuple[Sequence[Any], ...] = (list(STATES), MODES, ERRORS)
N_CASES = math.prod(map(len, PARTS))


class Case(NamedTuple):
    state: str
    mode: list[str]
    error: tuple[Option, Optional[str], bool]
    files: str  # "all": of distinit's own variables; else one of FILES
    private: bool  # the files belong to root alone

    def environment(self, told: str) -> dict[str, str]:
        out = {"PATH": "/usr/bin:/bin"}
        if self.files in MANAGERS:
            out |= {**MANAGERS[self.files], self.files: f"{told}/{self.files}", "DISTINIT_FRAMEWORKS": EVERY}
        elif self.files in BELOW_ROOT:
            out |= {**BELOW_ROOT[self.files], "DISTINIT_ROOT": f"{told}/root"}
        elif self.files == "all":
            out |= {**HOSTS, **{name: f"{told}/{name}" for name in NAMES_FILE if name != "DISTINIT_HOSTFILE"}}
        elif self.files in FOLDERS_OF:
            out |= {**HOSTS, "NCCL_NET_PLUGIN": "x", self.files: f"{told}/bin"}
        else:
            out |= {**HOSTS, self.files: f"{told}/{self.files}"}
        if self.files == "DISTINIT_HOSTFILE":
            out["DISTINIT_HOSTS"] = ""
        option, value, by_variable = self.error
        if by_variable and value is not None:
            out[option.variable] = value.format(told=told) if "told" in value else value
        return out

    def words(self, told: str) -> list[str]:
        option, value, by_variable = self.error
        words = list(STATES[self.state].words)
        if not by_variable and value is not None:
            # A path of the command line is the image's: it is none that a variable told.
            words.append(f"--{option.name}=" + value.replace("{told}", told[: told.rindex("/")] + "/image"))
        sub = [] if self.mode[0].startswith("-") else self.mode[:1]
        return [*sub, *words, *self.mode[len(sub):]]

    def changes_privileges(self) -> bool:
        """An empty option is not there: what it leaves is another state."""
        option, value, by_variable = self.error
        return option.name in PRIVILEGES and value == "" and not by_variable

    def __str__(self) -> str:
        option, value, by_variable = self.error
        name = option.variable if by_variable else f"--{option.name}"
        return f"{self.state}: {self.files}{' of root' * self.private}, {name}={(value or '')[:30]!r}, {' '.join(self.mode)}"


def case_of(number: int, choose: random.Random) -> Case:
    """A prime step mixes them, so a run that is cut short has seen some of each kind. The files are chosen at random."""
    at = number * 1000003 % N_CASES
    chosen: list[Any] = []
    for part in PARTS:
        at, index = divmod(at, len(part))
        chosen.append(part[index])
    return Case(*chosen, choose.choice(["all", choose.choice(FILES)]), choose.random() < 0.3)


def allowed(case: Case) -> list[State]:
    """Who may open a told file: nobody, if it is not known who the program will be. Our own user may, but not if it is root."""
    told = STATES[case.state]
    before = BEFORE[case.state]
    bare = replace(before, permitted=0, effective=0)
    out = [bare] if before.uid[1] else []
    option, value, by_variable = case.error
    wish = told.wish
    if wish is None or (option.name in PRIVILEGES and value is not None and not by_variable):
        return out
    try:
        return [*out, opener(before, wish, told.start.file)]
    except Refused:
        uid, gid = wish.user or bare.uid[1], wish.group or bare.gid[1]
        return [*out, replace(bare, uid=(uid,) * 3, gid=(gid,) * 3, groups=bare.groups if wish.groups is None else wish.groups)]


def beyond(pid: int, may: list[State], by_real_ids: bool) -> str:
    """Which rights of a process at this moment are too many; ''. by_real_ids: for a call that asks with the real ids."""
    text = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    words = {line.split(":")[0]: line.split(":")[1].split() for line in text.splitlines()}
    at = 0 if by_real_ids else 3
    uid, gid, groups = int(words["Uid"][at]), int(words["Gid"][at]), frozenset(map(int, words["Groups"]))
    has = int(words["CapPrm" if by_real_ids and uid == 0 else "CapEff"][0], 16) & ~OF_NO_FILE
    for state in may:
        if (uid, gid) == (state.uid[1], state.gid[1]) and groups <= state.groups | {gid} and not has & ~state.effective:
            return ""
    expected = " or ".join(f"uid {state.uid[1]} with {state.effective:#x}" for state in may) or "nobody"
    return f"by uid {uid}, gid {gid}, groups {sorted(groups)}, with the capabilities {has:#x}; it should be {expected}"


def stop_at_paths() -> None:
    """In the child: of all system calls, only those of PATHS stop it (seccomp(2), SECCOMP_RET_TRACE)."""
    numbers = [number for number, name in syscalls.NAMES.items() if name in PATHS]
    filters = [(0x20, 0, 0, 0), *((0x15, len(numbers) - i, 0, number) for i, number in enumerate(numbers)), (0x06, 0, 0, 0x7FFF0000), (0x06, 0, 0, 0x7FF00000)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("<HBBI", *each) for each in filters))
    program = ctypes.create_string_buffer(struct.pack("<HxxxxxxQ", len(filters), ctypes.addressof(code)))
    must(libc.prctl(22, ctypes.c_ulong(2), program))


class Watcher(Tracer):
    """Looks at each call on a path below a folder, before it is made."""

    options, SECCOMP = OPTIONS | 0x80, 7

    def __init__(self, program: str, folder: str, may: list[State]) -> None:
        super().__init__(program, None)
        self.records = False
        self.folder, self.may = folder, may
        self.seen = 0
        self.wrong: list[str] = []

    def stopped(self, pid: int, how: int) -> None:
        event = how >> 16
        if pid not in self.tasks or event not in (self.SECCOMP, EXEC):
            super().stopped(pid, how)
            return
        if event == EXEC:
            # It stays traced when it is another program: its calls would fail without us.
            self.tasks[pid].inside = os.path.realpath(f"/proc/{pid}/exe") == self.program
        elif self.tasks[pid].inside:
            self.look(pid)
        ptrace(CONT, pid)

    def look(self, pid: int) -> None:
        regs = registers(pid)
        if regs is None:
            return
        name = syscalls.NAMES.get(regs.orig_rax, "")
        for folder, path in PATHS.get(name, ()):
            arguments = (regs.rdi, regs.rsi, regs.rdx, regs.r10)
            whole = self.path(pid, None if folder is None else arguments[folder], arguments[path])
            if whole == self.folder or whole.startswith(self.folder + "/"):
                self.seen += 1
                why = beyond(pid, self.may, name in BY_REAL_IDS)
                if why:
                    self.wrong.append(f"{name}({whole[len(self.folder):] or '/'}) {why}")

    @staticmethod
    def path(pid: int, folder: Optional[int], address: int) -> str:
        with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
            text = os.pread(memory.fileno(), min(4096, 4096 - address % 4096) or 4096, address)
            if b"\0" not in text:
                text += os.pread(memory.fileno(), 4096, address + len(text))
        name = os.fsdecode(text.split(b"\0")[0])
        if name.startswith("/"):
            return os.path.normpath(name)
        number = None if folder is None else folder & 0xFFFFFFFF
        at = "cwd" if number is None or number == 0xFFFFFF9C else f"fd/{number}"
        return os.path.normpath(os.path.join(os.readlink(f"/proc/{pid}/{at}"), name))


def furnish(told: Path, private: bool) -> None:
    """The files that variables name."""
    told.mkdir()
    told.chmod(0o777)
    texts = {told / name: CONTENTS.get(name.partition("_")[2], "") for name in NAMES_FILE}
    texts.update({told / name: "localhost 1 x x\nn1 1 x x\n" if name == "PE_HOSTFILE" else "localhost\nn1\n" for name in MANAGERS})
    texts.update({told / "root" / name: text for name, text in BELOW.items()})
    texts.update({told / "bin" / name: "" for name in ("true", "libnccl-net-x.so")})
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o600 if private else 0o666)


def check(case: Case, room: str, counts: Counter[str]) -> list[str]:
    state = STATES[case.state]
    told = f"{room}/told-{'private' if case.private else 'public'}"
    program = f"{room}/distinit" + "-caps" * bool(state.start.file)
    watcher = Watcher(program, told, allowed(case))

    def prepare() -> None:
        null = os.open("/dev/null", os.O_RDWR)
        for number in range(3):
            os.dup2(null, number)
        os.setsid()
        stop_at_paths()
        become(BEFORE[case.state], True, ALL)

    watched = watcher.run(program, [program, *case.words(told)], case.environment(told), prepare, 10)
    counts["runs"] += 1
    counts["calls"] += watcher.seen
    counts["with a call"] += bool(watcher.seen)
    if watched.status == 99:
        return ["the state cannot be made"]
    if watched.status is None:
        return ["it did not end"]
    return watcher.wrong


def main() -> int:
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("distinit")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--first", action="store_true")
    asked = parser.parse_args()
    if os.geteuid() != 0 or not syscalls.NAMES or os.uname().machine != "x86_64" or libc.unshare(0x00020000) < 0:
        print("1..0 # SKIP it needs root, and an x86-64 processor")
        return 0
    libc.unshare(0x40000000)  # a network without a way out: nobody answers
    seed = asked.seed or random.randrange(1 << 30)
    choose = random.Random(seed)
    counts, kinds, began = Counter[str](), Counter[str](), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="rights-") as room:
        os.chmod(room, 0o755)
        program = os.path.realpath(asked.distinit)
        # An option that is a word is a file here.
        os.chdir(room)
        shutil.copy2(program, f"{room}/distinit")
        # struct vfs_cap_data, revision 2, with the effective bit.
        os.setxattr(shutil.copy2(program, f"{room}/distinit-caps"), "security.capability", struct.pack("<5I", 0x02000001, FILE_CAPS, 0, 0, 0))
        furnish(Path(room, "told-private"), True)
        furnish(Path(room, "told-public"), False)
        subprocess.run(["ip", "link", "set", "lo", "up"], check=False)
        for number in itertools.islice(itertools.count(seed), N_CASES):
            if time.monotonic() - began > asked.seconds or (asked.first and kinds):
                break
            case = case_of(number, choose)
            if case.changes_privileges():
                counts["left out"] += 1
                continue
            for why in dict.fromkeys(check(case, room, counts)):
                kinds[f"{case.state}: {case.files}: {why}"] += 1
                if kinds[f"{case.state}: {case.files}: {why}"] == 1:
                    print(f"# {case}: {why}", flush=True)
    print(f"# {counts['runs']} of {N_CASES} cases run, {counts['with a call']} with a call on a told file ({counts['calls']} calls), {counts['left out']} left out, seed {seed}; "
          f"{sum(kinds.values())} findings of {len(kinds)} kinds")
    print("1..1\n" + ("not ok" if kinds or not counts["calls"] else "ok") + " 1 - no told file is opened with rights beyond the program's")
    return bool(kinds) or not counts["calls"]


if __name__ == "__main__":
    sys.exit(main())
