# SPDX-License-Identifier: Apache-2.0
"""
What distinit should make of a process and of its options, from capabilities(7), credentials(7) and docs/privileges.md. It
knows nothing of distinit's code.
"""

from dataclasses import dataclass, replace
from typing import Optional

NOROOT, NO_SETUID_FIXUP, KEEP_CAPS, KEEP_CAPS_LOCKED, NO_RAISE = 1, 4, 16, 32, 64
DAC_OVERRIDE, DAC_READ_SEARCH, KILL, SETGID, SETUID, SETPCAP = 1 << 1, 1 << 2, 1 << 5, 1 << 6, 1 << 7, 1 << 8


@dataclass(frozen=True)
class State:
    uid: tuple[int, int, int]  # real, effective, saved
    gid: tuple[int, int, int]
    groups: frozenset[int]
    inheritable: int
    permitted: int
    effective: int
    bounding: int
    ambient: int
    securebits: int
    no_new_privs: bool
    # The ids that exist in this user namespace; None: all.
    mapped: Optional[frozenset[int]] = None
    may_set_groups: bool = True


@dataclass(frozen=True)
class Wish:
    user: Optional[int] = None
    group: Optional[int] = None  # from --user, or of the user in /etc/passwd
    # Supplementary groups; None: they stay.
    groups: Optional[frozenset[int]] = None
    drop: int = 0
    keep: int = 0
    no_new_privs: bool = False


class Refused(Exception):
    """It cannot be done, so nothing may be started."""


def after_exec(s: State, file: int = 0) -> State:
    """
    capabilities(7), "Transformation of capabilities during execve()", for a program without a setuid bit. file: the permitted
    set of its file, whose effective bit is on; 0: it has no capabilities.
    """
    real, effective = s.uid[0], s.uid[1]
    differ = effective != real or s.gid[1] != s.gid[0]
    ambient = 0 if differ or file else s.ambient
    permitted = now_effective = (file & s.bounding) | ambient
    if not s.securebits & NOROOT and 0 in (real, effective):
        # "Capabilities and execution of programs by root": the file's sets are notionally all ones.
        permitted = s.inheritable | s.bounding | ambient
        now_effective = permitted if effective == 0 else ambient
    if s.no_new_privs:
        # prctl(2): execve() does not grant what could not have been done without it.
        permitted &= s.permitted
        now_effective &= permitted
    return replace(s, uid=(real, effective, effective), gid=(s.gid[0], s.gid[1], s.gid[1]), permitted=permitted,
                   effective=now_effective, ambient=ambient, securebits=s.securebits & ~KEEP_CAPS)


def check_ids(s: State, wish: Wish) -> tuple[bool, bool, bool]:
    """Which of uid, gid and groups have to change; if the kernel allows it."""
    uid = wish.user is not None and s.uid != (wish.user,) * 3
    gid = wish.group is not None and s.gid != (wish.group,) * 3
    is_user = (wish.user is None or not uid) and not gid
    # The list of a process may have its own group or not: that gives it nothing.
    own = {s.gid[1]} if is_user else set()
    groups = wish.groups is not None and wish.groups - own != s.groups - own
    if (uid and not s.permitted & SETUID) or ((gid or groups) and not s.permitted & SETGID):
        raise Refused("the right to change ids")
    if groups and not s.may_set_groups:
        raise Refused("setgroups is denied")
    new = {wish.user if uid else None, wish.group if gid else None, *(wish.groups or () if groups else ())} - {None}
    if s.mapped is not None and new - s.mapped:
        raise Refused("an id that is not mapped")
    return uid, gid, groups


def check_own_file(s: State) -> None:
    """docs/privileges.md: a copy with file capabilities refuses --user and --groups."""
    is_root = 0 in s.uid[:2] and not s.securebits & NOROOT
    if not is_root and s.permitted & ~s.ambient:
        raise Refused("this program's own file has capabilities")


def check_securebits(s: State, wish: Wish, drops: int, loses: bool, ambient: int) -> None:
    """loses: the change of user clears the ambient set, and the permitted one without KEEP_CAPS."""
    if loses and s.securebits & KEEP_CAPS_LOCKED and (wish.keep or drops):
        raise Refused("KEEP_CAPS is locked")
    if s.securebits & NO_RAISE and ambient & ~(0 if loses else s.ambient):
        raise Refused("ambient capabilities cannot be raised")


def after_distinit(s: State, wish: Wish) -> State:
    """What distinit changes itself into, before it becomes the program."""
    if s.uid[0] != s.uid[1] or s.gid[0] != s.gid[1]:
        raise Refused("ids that differ")
    uid, gid, groups = check_ids(s, wish)
    if uid or gid or groups:
        check_own_file(s)
    nnp = s.no_new_privs or wish.no_new_privs
    if wish.keep & ~(s.permitted & s.bounding):
        raise Refused("a capability that it does not have")
    drops = s.bounding & wish.drop & ~wish.keep
    if drops and not s.permitted & SETPCAP:
        if not nnp:
            raise Refused("the bounding set cannot change")
        drops = 0
    stays = 0 if uid and wish.user != 0 else ~(wish.drop & ~wish.keep)
    sets = {name: (getattr(s, name) & stays) | wish.keep for name in ("inheritable", "permitted", "effective", "ambient")}
    loses = uid and 0 in s.uid and wish.user != 0 and not s.securebits & NO_SETUID_FIXUP
    check_securebits(s, wish, drops, loses, sets["ambient"])
    return replace(s, **sets, uid=(wish.user,) * 3 if uid else s.uid, gid=(wish.group,) * 3 if gid else s.gid,
                   groups=wish.groups if groups else s.groups, bounding=s.bounding & ~drops, no_new_privs=nnp)


def supervisor(start: State, wish: Wish, file: int, asked: bool) -> State:
    """
    The process that --init leaves: as the program, but with cap_kill, to end programs of other users. asked: any of the options
    is there; else nothing changes.
    """
    s = after_exec(start, file)
    if 0 not in s.uid[:2] or s.securebits & NOROOT:
        s = replace(s, effective=s.ambient)  # those of its own file are not used by another user than root
    out = after_distinit(s, wish)
    loses_all = 0 in s.uid and 0 not in out.uid and s.securebits & KEEP_CAPS_LOCKED and not s.securebits & NO_SETUID_FIXUP
    kept = KILL & s.permitted if asked and not loses_all else 0
    return replace(out, permitted=out.permitted | kept, effective=out.effective | kept)


def may(s: State, owner: int, group: int, mode: int, bit: int) -> bool:
    """path_resolution(7). bit: 4 to read a file, 2 to write it, or to make files in a folder."""
    if s.effective & (DAC_OVERRIDE | (DAC_READ_SEARCH if bit == 4 else 0)):
        return True
    shift = 6 if s.uid[1] == owner else 3 if group in {s.gid[1], *s.groups} else 0
    return bool(mode >> shift & bit)


def opener(start: State, wish: Wish, file: int = 0) -> State:
    """Who opens the files that variables name: the program to come, as far as distinit has its capabilities yet."""
    program, now = workload(start, wish, file), after_exec(start, file)
    return replace(program, effective=program.effective & now.permitted)


def workload(start: State, wish: Wish, file: int = 0) -> State:
    """start: of who executes distinit. file: the capabilities of distinit's own file."""
    return after_exec(after_distinit(after_exec(start, file), wish))
