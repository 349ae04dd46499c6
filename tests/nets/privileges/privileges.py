#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Start states of a process times options, on the command line and in the environment: what distinit starts has to be what
model.py says, and what setpriv makes, where setpriv can say the same. So has what explain promises, what --init leaves, and
whose rights open the files that variables name. As root, as TAP.

    privileges.py DISTINIT [--count=N] [--seed=S] [--seconds=N] [--first]     N = 0: each start state once, with options at random

--seconds: stop after so many. --first: stop at the first difference.
"""

import argparse
import ctypes
import itertools
import json
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
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterator, Optional, Sequence

from model import KEEP_CAPS, KEEP_CAPS_LOCKED, NO_RAISE, NO_SETUID_FIXUP, NOROOT, Refused, State, Wish, after_exec, may, opener, supervisor, workload

libc = ctypes.CDLL(None, use_errno=True)
NAMES = ["chown", "dac_override", "dac_read_search", "fowner", "fsetid", "kill", "setgid", "setuid", "setpcap", "linux_immutable",
         "net_bind_service", "net_broadcast", "net_admin", "net_raw", "ipc_lock", "ipc_owner", "sys_module", "sys_rawio", "sys_chroot",
         "sys_ptrace", "sys_pacct", "sys_admin", "sys_boot", "sys_nice", "sys_resource", "sys_time", "sys_tty_config", "mknod", "lease",
         "audit_write", "audit_control", "setfcap", "mac_override", "mac_admin", "syslog", "wake_alarm", "block_suspend", "audit_read",
         "perfmon", "bpf", "checkpoint_restore"]
LINES = "^(Uid|Gid|Groups|Cap...|NoNewPrivs):"
SHOW = ["/bin/grep", "-E", LINES, "/proc/self/status"]
SHOW_PARENT = ["/bin/sh", "-c", f"grep -E '{LINES}' /proc/$PPID/status; exit 3"]
ALL = int(re.findall(r"CapBnd:\s*(\w+)", Path("/proc/self/status").read_text())[0], 16)


def caps(*names: str) -> int:
    return sum(1 << NAMES.index(name) for name in names)


def caps_of(names: list[str]) -> int:
    """As explain names them."""
    return sum(1 << (int(name[4:]) if name[4:].isdigit() else NAMES.index(name[4:])) for name in names)


IDS = {"root": ((0, 0, 0), (0, 0, 0)), "user": ((1234, 1234, 1234), (1234, 1234, 1234)), "saved root": ((1234, 1234, 0), (1234, 1234, 0)),
       "group": ((0, 0, 0), (44, 44, 44)), "differ": ((1234, 0, 0), (0, 0, 0)), "gids differ": ((0, 0, 0), (1234, 0, 0))}
GROUPS = [frozenset(), frozenset({0}), frozenset({44, 1234})]
SOME = caps("setuid", "setgid", "setpcap", "net_bind_service", "kill")
BOUNDING = [-1, SOME, SOME & ~caps("setpcap"), caps("kill")]
HELD = [-1, caps("setuid", "setgid", "kill"), 0]
INHERITABLE = [0, caps("kill", "net_bind_service"), -1]
AMBIENT = [0, caps("kill"), caps("kill", "net_bind_service", "setuid", "setgid")]
SECUREBITS = [0, NOROOT, NO_SETUID_FIXUP, KEEP_CAPS, KEEP_CAPS_LOCKED, NO_RAISE]
FILE = [0, caps("setuid", "setgid", "setpcap", "kill")]
NAMESPACES = ["none", "root alone", "many", "no mapping"]
# What is likely to be refused is rarer.
USERS = ["", "1234:1234", "app", "0:0", ":44", "4321:4321", "1234"]
KEEP = ["", "", "", "kill", "kill", "net_bind_service,kill", "net_admin"]
DROP = ["", "", "all", "all", "net_bind_service", "chown,net_raw"]
# passwd and group of the image, and those under DISTINIT_ROOT: name, uid, gid; other groups of app.
USERS_OF = {"image": ({"root": (0, 0), "app": (1234, 1234)}, frozenset({44})), "volume": ({"app": (0, 0)}, frozenset({27}))}
LOOKS = ["run", "run", "run", "explain", "init", "read", "hosts", "write"]
OF_FILES = ("read", "hosts", "write")
# What variables name: owner, group, mode.
FILES = [(0, 0, 0o600), (0, 44, 0o640), (1234, 1234, 0o600), (4321, 0, 0o660)]
FOLDERS = [(0, 0, 0o777), (0, 0, 0o755), (1234, 44, 0o775), (4321, 4321, 0o755)]
CLUSTER = {"DISTINIT_HOSTS": "n0,n1", "DISTINIT_NODE_RANK": "0", "DISTINIT_FRAMEWORKS": "mpi"}


@dataclass(frozen=True)
class Start:
    ids: str
    groups: frozenset[int]
    bounding: int
    held: int
    inheritable: int
    ambient: int
    securebits: int
    no_new_privs: bool
    namespace: str
    # The capabilities of distinit's file.
    file: int

    def before(self) -> State:
        """Of the process that executes distinit."""
        every = ALL if self.namespace == "none" else (1 << LAST) - 1
        uid, gid = IDS[self.ids]
        permitted, inheritable = self.held & every, self.inheritable & every
        ambient = self.ambient & permitted & inheritable
        mapped = {"none": None, "root alone": frozenset({0}), "many": frozenset(range(65536)), "no mapping": frozenset()}[self.namespace]
        groups = self.groups
        if self.namespace == "root alone":
            groups, uid, gid = frozenset({0} if 0 in os.getgroups() else ()), (0, 0, 0), (0, 0, 0)
        if self.namespace == "no mapping":
            groups, uid, gid = frozenset({65534} if os.getgroups() else ()), (65534,) * 3, (65534,) * 3
        return State(uid, gid, groups, inheritable, permitted, permitted, self.bounding & every, ambient, self.securebits,
                     self.no_new_privs, mapped, self.namespace in ("none", "many"))


LAST = int(Path("/proc/sys/kernel/cap_last_cap").read_text()) + 1


@dataclass(frozen=True)
class Options:
    user: str
    groups: str
    drop: str
    keep: str
    no_new_privs: bool

    def words(self) -> list[str]:
        out = [f"--{name}={value}" for name, value in (("user", self.user), ("groups", self.groups), ("cap-drop", self.drop),
                                                        ("cap-keep", self.keep)) if value]
        return out + ["--no-new-privs"] * self.no_new_privs

    def variables(self) -> dict[str, str]:
        return {"DISTINIT_" + word[2:].partition("=")[0].replace("-", "_").upper(): word.partition("=")[2] or "1" for word in self.words()}

    def wish(self, now: State, whose: str) -> Wish:
        """whose: the key in USERS_OF."""
        users, others = USERS_OF[whose]
        ids = dict(users.values())
        user, _, group = self.user.partition(":")
        number = users[user][0] if user in users else int(user) if user else None
        gid = int(group) if group else None if number is None else ids.get(number)
        uid_later, gid_later = now.uid[1] if number is None else number, now.gid[1] if gid is None else gid
        is_now = now.uid == (uid_later,) * 3 and now.gid == (gid_later,) * 3
        how = self.groups
        if not how and self.user and not is_now:
            how = "none" if group or uid_later not in ids else "init"
        groups = None
        if how == "none":
            groups = frozenset()
        elif how == "init":
            if uid_later not in ids:
                raise Refused("a user without a name has no groups to look up")
            groups = frozenset({gid_later} | (others if uid_later == users["app"][0] else set()))
        drop = -1 if self.drop == "all" else caps(*self.drop.split(",")) if self.drop else 0
        keep = caps(*self.keep.split(",")) if self.keep else 0
        if self.drop not in ("", "all") and drop & keep:
            raise Refused("both dropped and kept")
        return Wish(number, gid, groups, drop, keep, self.no_new_privs)


@dataclass(frozen=True)
class Told:
    """What is asked for, by whom, and what is looked at: one of LOOKS."""

    look: str
    options: Options  # on the command line
    variables: Optional[Options]  # in the environment, which names a folder for DISTINIT_ROOT, too
    closed: bool  # --options-from=command-line
    file: tuple[int, int, int]  # one of FILES or FOLDERS

    def decides(self) -> tuple[Options, str]:
        """SECURITY.md: a privilege on the command line is fixed, and a closed command line stays closed."""
        fixed = self.closed or not self.variables or self.options.words()
        return (self.options, "image") if fixed or not self.variables else (self.variables, "volume")

    def words(self, room: str) -> list[str]:
        closed = ["--options-from=command-line"] * self.closed
        if self.look == "explain":
            return ["explain", "--format=json", *closed, *self.options.words()]
        init = ["--init"] + [f"--root={room}/image"] * (not self.variables)
        command = {"init": SHOW_PARENT, "read": ["/usr/bin/printenv", "CANARY"]}.get(self.look, SHOW)
        return [*closed, *self.options.words(), *init * (self.look == "init"), "--", *command]

    def environment(self, room: str) -> dict[str, str]:
        out = {"PATH": "/usr/bin:/bin"}
        if self.variables:
            out |= {**self.variables.variables(), "DISTINIT_ROOT": f"{room}/volume"}
        if self.look == "read":
            out["DISTINIT_ENV_FILE"] = name_of(room, self.file)
        if self.look == "hosts":
            out |= {**CLUSTER, "DISTINIT_HOSTS": "", "DISTINIT_HOSTFILE": name_of(room, self.file)}
        if self.look == "write":
            out |= {**CLUSTER, "DISTINIT_HOSTFILE_OUTPUT": name_of(room, self.file) + "/hosts"}
        return out


def name_of(room: str, file: tuple[int, int, int]) -> str:
    return f"{room}/volume/at-{file[0]}-{file[1]}-{file[2]:o}"


PARTS: tuple[Sequence[Any], ...] = (list(IDS), GROUPS, BOUNDING, HELD, INHERITABLE, AMBIENT, SECUREBITS, (False, True), NAMESPACES, FILE)
N_STARTS = math.prod(map(len, PARTS))


def starts() -> Iterator[Start]:
    """Each once. A prime step mixes them, so a run that is cut short has seen some of each kind."""
    for number in range(N_STARTS):
        at = number * 1000003 % N_STARTS
        chosen: list[Any] = []
        for part in PARTS:
            at, index = divmod(at, len(part))
            chosen.append(part[index])
        yield Start(*chosen)


def likely_start(choose: random.Random) -> Start:
    """One of them. Most that are chosen evenly can only be refused, so the plain ones come more often."""
    return Start(*(choose.choices(part, [3 * len(part), *[2] * (len(part) - 1)])[0] for part in PARTS))


def some_told(choose: random.Random) -> Told:
    """Options at random; in the environment they are rarer than on the command line."""
    nothing = Options("", "", "", "", False)
    options, variables, how = some_options(choose), some_options(choose), choose.random()
    look = choose.choice(LOOKS)
    return Told(look, nothing if 0.5 < how < 0.7 else options, variables if how > 0.5 else None, how > 0.9,
                choose.choice(FOLDERS if look == "write" else FILES))


def some_options(choose: random.Random) -> Options:
    return Options(choose.choice(USERS), choose.choice(["", "", "", "", "keep", "keep", "none", "init"]), choose.choice(DROP), choose.choice(KEEP),
                   choose.random() < 0.3)


def must(result: int) -> None:
    if result < 0:
        raise OSError(ctypes.get_errno(), "a start state cannot be made")


def prctl(*numbers: int) -> None:
    must(libc.prctl(*(ctypes.c_ulong(number) for number in (*numbers, 0, 0, 0, 0)[:5])))


def set_caps(effective: int, permitted: int, inheritable: int) -> None:
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    data = (ctypes.c_uint32 * 6)(*(part >> shift & 0xFFFFFFFF for shift in (0, 32) for part in (effective, permitted, inheritable)))
    must(libc.capset(header, data))


def enter_namespace(start: Start, ready: int, mapped: int) -> None:
    must(libc.unshare(0x10000000))
    os.write(ready, b"x")
    os.read(mapped, 1)


def become(state: State, own_ids: bool, every: int = 0) -> None:
    """In the child: be that process. It has all capabilities of its namespace now; every: which these are, if that is known."""
    every = every or int(re.findall(r"CapPrm:\s*(\w+)", Path("/proc/self/status").read_text())[0], 16)
    # First: what is not in the bounding set cannot become inheritable.
    set_caps(every, every, state.inheritable | state.ambient)
    if own_ids:
        must(libc.setgroups(len(state.groups), (ctypes.c_uint32 * len(state.groups))(*state.groups)))
        must(libc.setresgid(*state.gid))
    for cap in range(LAST):
        if not state.bounding >> cap & 1:
            prctl(24, cap)
    prctl(8, 1)
    if own_ids:
        must(libc.setresuid(*state.uid))
    set_caps(every, every, state.inheritable | state.ambient)
    for cap in range(LAST):
        if state.ambient >> cap & 1:
            prctl(47, 2, cap)
    prctl(28, state.securebits)
    set_caps(state.permitted, state.permitted, state.inheritable)
    if state.no_new_privs:
        prctl(38, 1)


def map_ids(pid: int, namespace: str) -> None:
    if namespace == "root alone":
        Path(f"/proc/{pid}/setgroups").write_text("deny")
        Path(f"/proc/{pid}/uid_map").write_text("0 0 1")
        Path(f"/proc/{pid}/gid_map").write_text("0 0 1")
    elif namespace == "many":
        Path(f"/proc/{pid}/uid_map").write_text("0 0 65536")
        Path(f"/proc/{pid}/gid_map").write_text("0 0 65536")


def run(start: Start, argv: list[str], room: str, environment: dict[str, str]) -> tuple[int, str, str]:
    """Status, stdout and stderr of a program that starts in that state."""
    ready, mapped = os.pipe(), os.pipe()
    names = [os.path.join(room, name) for name in ("out", "err")]
    pid = os.fork()
    if pid == 0:
        try:
            for number, name in enumerate(names, 1):
                os.dup2(os.open(name, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o666), number)
            if start.namespace != "none":
                enter_namespace(start, ready[1], mapped[0])
            become(start.before(), start.namespace in ("none", "many"))
            os.execve(argv[0], argv, environment)
        except OSError as error:
            os.write(2, f"start: {error}\n".encode())
        finally:
            os._exit(99)
    if start.namespace != "none":
        os.read(ready[0], 1)
        map_ids(pid, start.namespace)
        os.write(mapped[1], b"x")
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    for end in (*ready, *mapped):
        os.close(end)
    return status, Path(names[0]).read_text(encoding="utf-8"), Path(names[1]).read_text(encoding="utf-8")


def read_state(text: str) -> dict[str, object]:
    """From /proc/self/status."""
    words = {line.split(":")[0]: line.split(":")[1].split() for line in text.splitlines()}
    return {"uid": tuple(map(int, words["Uid"][:3])), "gid": tuple(map(int, words["Gid"][:3])),
            "groups": frozenset(map(int, words["Groups"])), "inheritable": int(words["CapInh"][0], 16),
            "permitted": int(words["CapPrm"][0], 16), "effective": int(words["CapEff"][0], 16),
            "bounding": int(words["CapBnd"][0], 16), "ambient": int(words["CapAmb"][0], 16), "no_new_privs": words["NoNewPrivs"][0] == "1"}


def differs(found: dict[str, object], model: State) -> str:
    """Where; ''."""
    own = {model.gid[1]}
    for name, value in found.items():
        wanted = getattr(model, name)
        if name == "groups" and frozenset(wanted) - own == frozenset(value) - own:  # type: ignore[call-overload]
            continue
        if value != wanted:
            shown = [hex(each) if isinstance(each, int) and not isinstance(each, bool) else str(each) for each in (value, wanted)]
            return f"{name} is {shown[0]}, and by the model {shown[1]}"
    return ""


def is_refused(status: int, out: str, err: str) -> bool:
    return status == 125 and not out and len(re.findall("^distinit: error: ", err, re.M)) == 1 and "hunter2" not in err


def check_explain(out: str, model: Optional[State]) -> str:
    """Whether explain promises what the model says."""
    process = json.loads(out)["process"]
    promised = process["workload"]
    if not model or not promised:
        return "" if not model and process["workload_error"] else f"explain promises {process}"
    found = {"uid": (promised["uid"],) * 3, "gid": (promised["gid"],) * 3, "groups": frozenset(promised["groups"]),
             "effective": caps_of(promised["capabilities"]), "bounding": caps_of(promised["bounding"]),
             "no_new_privs": promised["no_new_privs"]}
    why = differs(found, model)
    return why and "explain: " + why


def check_file(told: Told, model: State, room: str, ran: tuple[int, str, str]) -> str:
    """Whether a file that a variable names was opened with the rights of the program, and with no others."""
    at, shown = name_of(room, told.file) + "/hosts", f"a file of {told.file} that a variable names: {ran}"
    if told.look == "hosts" and not told.closed:
        # It is no host file. The error shows it to those who may read it.
        return "" if ran[0] == 125 and ("hunter2" in ran[2]) == may(model, *told.file, 4) else shown
    if told.closed:
        return "" if ran[0] in (0, 1) and "hunter2" not in ran[1] and not os.path.exists(at) else shown
    if not may(model, *told.file, 4 if told.look == "read" else 2):
        return "" if is_refused(*ran) and not os.path.exists(at) else shown
    if told.look == "read":
        return "" if ran[:2] == (0, "hunter2\n") else shown
    info = os.stat(at) if os.path.exists(at) else None
    return "" if info and (info.st_uid, info.st_gid) == (model.uid[1], model.gid[1]) else shown


def check(start: Start, told: Told, program: str, room: str, counts: Counter[str]) -> str:
    """What is wrong; ''."""
    if start.no_new_privs and "differ" in start.ids:
        counts["left out"] += 1  # execve() may make the ids equal then; that depends on the kernel's version
        return ""
    if start.namespace != "none" and (start.file or (told.look in OF_FILES and start.namespace != "many")):
        counts["left out"] += 1  # capabilities of a file belong to the namespace that set them; and owners may be unmapped
        return ""
    ran = run(start, [program + "-caps" * bool(start.file), *told.words(room)], room, told.environment(room))
    if ran[0] == 99:
        counts["not made"] += 1
        return ""
    counts["compared"] += 1
    counts[told.look] += 1
    why = judge(start, told, room, ran, counts)
    for folder in FOLDERS:
        hosts = name_of(room, folder) + "/hosts"
        if os.path.exists(hosts):
            os.unlink(hosts)
    return why


def judge(start: Start, told: Told, room: str, ran: tuple[int, str, str], counts: Counter[str]) -> str:
    """What is wrong with its status, stdout and stderr; ''."""
    if os.path.getsize(f"{room}/target"):
        os.truncate(f"{room}/target", 0)
        return "the termination log was written through a symlink"
    before, (options, whose) = start.before(), told.decides()
    wanted: Optional[State] = None
    try:
        wish = options.wish(after_exec(before, start.file), whose)
        wanted = workload(before, wish, start.file)
    except Refused as cause:
        counts["refused"] += 1
        if is_refused(*ran):
            written = told.look == "write" and os.path.exists(name_of(room, told.file) + "/hosts")
            return "it is refused, but a host file was written" if written else ""
        if told.look != "explain":
            return f"it should have been refused ({cause}), but: {ran}"
    if told.look in OF_FILES:
        return check_file(told, opener(before, wish, start.file), room, ran)
    if ran[0] != (3 if told.look == "init" else 0):
        return f"status {ran[0]}: {ran[2].strip()}"
    if told.look == "explain":
        return check_explain(ran[1], wanted)
    if told.look == "init":
        wanted = supervisor(before, wish, start.file, bool(options.words()))
    assert wanted
    return differs(read_state(ran[1]), wanted)


def setpriv_words(options: Options) -> Optional[list[str]]:
    """The same for setpriv, where it can say it: a change from plain root."""
    if ":" not in options.user or options.user.startswith(":") or options.groups or options.drop != "all":
        return None
    uid, gid = options.user.split(":")
    some = ",".join("+" + name for name in options.keep.split(",") if name)
    only = "-all" + ("," + some if some else "")
    return ["/usr/bin/setpriv", f"--reuid={uid}", f"--regid={gid}", "--clear-groups", f"--inh-caps={only}", f"--ambient-caps={only}",
            f"--bounding-set={only}", *["--no-new-privs"] * options.no_new_privs]


def compare_with_setpriv(distinit: str, room: str, counts: Counter[str]) -> list[str]:
    plain = Start("root", frozenset(), -1, -1, 0, 0, 0, False, "none", 0)
    wrong = []
    for user, keep, nnp in itertools.product(USERS, sorted(set(KEEP)), (False, True)):
        options = Options(user, "", "all", keep, nnp)
        words = setpriv_words(options)
        if not words:
            continue
        ours, theirs = (run(plain, [*how, *SHOW], room, {"PATH": "/usr/bin:/bin"}) for how in ([distinit, *options.words(), "--"], words))
        if theirs[0] == 0:
            counts["setpriv"] += 1
            if ours[:2] != theirs[:2]:
                wrong.append(f"{options}: {ours} and setpriv {theirs}")
    return wrong


def furnish(room: str, distinit: str) -> str:
    """The programs, files and folders of all runs. Returns the copy of distinit."""
    os.chmod(room, 0o777)
    program = shutil.copy2(distinit, os.path.join(room, "distinit"))
    # struct vfs_cap_data, revision 2, with the effective bit.
    os.setxattr(shutil.copy2(program, program + "-caps"), "security.capability", struct.pack("<5I", 0x02000001, FILE[1], 0, 0, 0))
    Path(room, "target").touch(0o666)
    os.chmod(f"{room}/target", 0o666)
    for whose, (users, others) in USERS_OF.items():
        etc, dev = Path(room, whose, "etc"), Path(room, whose, "dev")
        etc.mkdir(parents=True)
        dev.mkdir()
        Path(etc, "passwd").write_text("".join(f"{name}:x:{uid}:{gid}::/:/bin/sh\n" for name, (uid, gid) in users.items()))
        Path(etc, "group").write_text("".join(f"g{gid}:x:{gid}:app\n" for gid in others))
        Path(dev, "termination-log").symlink_to(f"{room}/target")
    for place in (*FILES, *FOLDERS):
        path = Path(name_of(room, place))
        if place in FILES:
            path.write_text("CANARY=hunter2\n")
        else:
            path.mkdir()
        os.chown(path, *place[:2])
        os.chmod(path, place[2])
    for name in ("passwd", "group"):
        subprocess.run(["mount", "--bind", f"{room}/image/etc/{name}", f"/etc/{name}"], check=True)
    return program


def main() -> int:
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("distinit")
    parser.add_argument("--count", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--first", action="store_true")
    asked = parser.parse_args()
    if os.geteuid() != 0 or libc.unshare(0x00020000) < 0 or subprocess.run(["mount", "--make-rprivate", "/"], check=False).returncode:
        print("1..0 # SKIP it needs root, and namespaces")
        return 0
    seed = asked.seed or random.randrange(1 << 30)
    choose, counts, began = random.Random(seed), Counter[str](), time.monotonic()
    wrong: list[str] = []
    with tempfile.TemporaryDirectory(prefix="privileges-") as room:
        program = furnish(room, asked.distinit)
        for start in (likely_start(choose) for _ in range(asked.count)) if asked.count else starts():
            if time.monotonic() - began > asked.seconds or (asked.first and wrong):
                break
            told = some_told(choose)
            why = check(start, told, program, room, counts)
            if why:
                wrong.append(f"{start} {told}: {why}")
                print("# " + wrong[-1], flush=True)
        wrong += compare_with_setpriv(program, room, counts)
        subprocess.run(["umount", "/etc/passwd", "/etc/group"], check=False)
    looks = ", ".join(f"{counts[look]} {look}" for look in dict.fromkeys(LOOKS))
    print(f"# {counts['compared']} states compared with the model ({counts['refused']} of them refused; {looks}), {counts['setpriv']} with setpriv; "
          f"{counts['left out']} left out, {counts['not made']} cannot be made; seed {seed}")
    print("1..1\n" + ("not ok" if wrong or not counts["compared"] else "ok") + " 1 - the program has the privileges of the model")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
