#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Start states of a process times options: what distinit starts has to be what model.py says, and what setpriv makes, where
setpriv can say the same. As root, as TAP.

    privileges.py DISTINIT [--count=N] [--seed=S] [--first]     N = 0: each start state once, with options at random

--first: stop at the first difference.
"""

import argparse
import ctypes
import itertools
import os
import random
import re
import shutil
import struct
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator, Optional

from model import KEEP_CAPS, KEEP_CAPS_LOCKED, NO_RAISE, NO_SETUID_FIXUP, NOROOT, Refused, State, Wish, after_exec, workload

libc = ctypes.CDLL(None, use_errno=True)
NAMES = ["chown", "dac_override", "dac_read_search", "fowner", "fsetid", "kill", "setgid", "setuid", "setpcap", "linux_immutable",
         "net_bind_service", "net_broadcast", "net_admin", "net_raw", "ipc_lock"]
SHOW = ["/bin/grep", "-E", "^(Uid|Gid|Groups|Cap...|NoNewPrivs):", "/proc/self/status"]
ALL = int(re.findall(r"CapBnd:\s*(\w+)", Path("/proc/self/status").read_text())[0], 16)


def caps(*names: str) -> int:
    return sum(1 << NAMES.index(name) for name in names)


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

    def wish(self, now: State) -> Wish:
        """With /etc/passwd and /etc/group of main()."""
        user, _, group = self.user.partition(":")
        number = 1234 if user == "app" else int(user) if user else None
        gid = int(group) if group else {1234: 1234}.get(number or 0) if user else None
        uid_later, gid_later = now.uid[1] if number is None else number, now.gid[1] if gid is None else gid
        is_now = now.uid == (uid_later,) * 3 and now.gid == (gid_later,) * 3
        how = self.groups
        if not how and self.user and not is_now:
            how = "none" if group or uid_later not in (0, 1234) else "init"
        groups = None
        if how == "none":
            groups = frozenset()
        elif how == "init":
            if uid_later not in (0, 1234):
                raise Refused("a user without a name has no groups to look up")
            groups = frozenset({gid_later} | ({44} if uid_later == 1234 else set()))
        drop = -1 if self.drop == "all" else caps(*self.drop.split(",")) if self.drop else 0
        keep = caps(*self.keep.split(",")) if self.keep else 0
        if self.drop not in ("", "all") and drop & keep:
            raise Refused("both dropped and kept")
        return Wish(number, gid, groups, drop, keep, self.no_new_privs)


def starts() -> Iterator[Start]:
    return (Start(*parts) for parts in itertools.product(IDS, GROUPS, BOUNDING, HELD, INHERITABLE, AMBIENT, SECUREBITS, (False, True),
                                                         NAMESPACES, FILE))


def likely_start(choose: random.Random) -> Start:
    """One of them. Most that are chosen evenly can only be refused, so the plain ones come more often."""
    parts = (list(IDS), GROUPS, BOUNDING, HELD, INHERITABLE, AMBIENT, SECUREBITS, (False, True), NAMESPACES, FILE)
    return Start(*(choose.choices(part, [3 * len(part), *[2] * (len(part) - 1)])[0] for part in parts))  # type: ignore[arg-type]


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


def become(state: State, own_ids: bool) -> None:
    """In the child: be that process. It has all capabilities of its namespace now."""
    every = int(re.findall(r"CapPrm:\s*(\w+)", Path("/proc/self/status").read_text())[0], 16)
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


def run(start: Start, argv: list[str], room: str) -> tuple[int, str, str]:
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
            os.execve(argv[0], argv, {"PATH": "/usr/bin:/bin"})
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
            show = "{:#x}".format if isinstance(value, int) and not isinstance(value, bool) else str
            return f"{name} is {show(value)}, and by the model {show(wanted)}"
    return ""


def check(start: Start, options: Options, programs: list[str], room: str, counts: Counter[str]) -> str:
    """What is wrong; ''."""
    if start.no_new_privs and "differ" in start.ids:
        counts["left out"] += 1  # execve() may make the ids equal then; that depends on the kernel's version
        return ""
    if start.file and start.namespace != "none":
        counts["left out"] += 1  # capabilities of a file belong to the namespace that set them
        return ""
    programs = [programs[0] + "-caps" * bool(start.file), *programs[1:]]
    status, out, err = run(start, [*programs, *options.words(), "--", *SHOW], room)
    if status == 99:
        counts["not made"] += 1
        return ""
    counts["compared"] += 1
    try:
        now = after_exec(start.before(), start.file)
        wanted: Optional[State] = workload(start.before(), options.wish(now), start.file)
    except Refused as why:
        counts["refused"] += 1
        clean = status == 125 and not out and len(re.findall("^distinit: error: ", err, re.M)) == 1
        return "" if clean else f"it should have been refused ({why}), but: status {status}, {out!r}, {err!r}"
    if status != 0:
        return f"status {status}: {err.strip()}"
    assert wanted
    return differs(read_state(out), wanted)


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
        ours, theirs = run(plain, [distinit, *options.words(), "--", *SHOW], room), run(plain, [*words, *SHOW], room)
        if theirs[0] == 0:
            counts["setpriv"] += 1
            if ours[:2] != theirs[:2]:
                wrong.append(f"{options}: {ours} and setpriv {theirs}")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("distinit")
    parser.add_argument("--count", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", action="store_true")
    asked = parser.parse_args()
    if os.geteuid() != 0 or libc.unshare(0x00020000) < 0:
        print("1..0 # SKIP it needs root, and namespaces")
        return 0
    seed = asked.seed or random.randrange(1 << 30)
    choose, counts, wrong = random.Random(seed), Counter[str](), []
    with tempfile.TemporaryDirectory(prefix="privileges-") as room:
        os.chmod(room, 0o777)
        program = shutil.copy2(asked.distinit, os.path.join(room, "distinit"))
        # struct vfs_cap_data, revision 2, with the effective bit.
        os.setxattr(shutil.copy2(program, program + "-caps"), "security.capability", struct.pack("<5I", 0x02000001, FILE[1], 0, 0, 0))
        os.makedirs(os.path.join(room, "root/etc"))
        Path(room, "root/etc/passwd").write_text("root:x:0:0::/root:/bin/sh\napp:x:1234:1234::/:/bin/sh\n")
        Path(room, "root/etc/group").write_text("root:x:0:\napp:x:1234:\nvideo:x:44:app\n")
        for start in (likely_start(choose) for _ in range(asked.count)) if asked.count else starts():
            options = some_options(choose)
            why = check(start, options, [program, f"--root={room}/root"], room, counts)
            if why:
                wrong.append(f"{start} {options}: {why}")
                print("# " + wrong[-1], flush=True)
                if asked.first:
                    break
        wrong += compare_with_setpriv(program, room, counts)
    print(f"# {counts['compared']} states compared with the model ({counts['refused']} of them refused), {counts['setpriv']} with setpriv; "
          f"{counts['left out']} left out, {counts['not made']} cannot be made; seed {seed}")
    print("1..1\n" + ("not ok" if wrong or not counts["compared"] else "ok") + " 1 - the program has the privileges of the model")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
