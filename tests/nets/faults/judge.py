# SPDX-License-Identifier: Apache-2.0
"""
What may come out of a fault: what comes out without it; or one error line, with nothing started and nothing left; or a warning
that something is left out.
"""

import re
import signal
from errno import EINTR, errorcode
from pathlib import Path
from typing import NamedTuple, Optional

import syscalls
from scenarios import Files, Scenario
from tracer import Call, Fault, Traced

# After EINTR, these are called again.
RETRIED = (*syscalls.COUNTED, "wait4", "waitid", "poll", "ppoll", "nanosleep", "clock_nanosleep", "rt_sigtimedwait", "accept", "accept4")
WAITS = ("rt_sigtimedwait", "poll", "ppoll")


class Outcome(NamedTuple):
    status: Optional[int]
    out: str
    err: str
    before: Files
    after: Files
    traced: Traced
    # What the process beside printed.
    peer: str = ""
    # The status and the files of another start, after a kill.
    again: Optional[tuple[int, Files]] = None
    # Who owns the files.
    owners: dict[str, int] = {}


def same_files(a: Files, b: Files, scenario: Scenario) -> bool:
    return {name: a[name] for name in a if name not in scenario.logs} == {name: b[name] for name in b if name not in scenario.logs}


def leaves_out(plain: Outcome, got: Outcome) -> bool:
    """Something that is not needed is left out, and a warning says so."""
    lines = plain.out.replace("\0", "\n").splitlines()
    return got.status == plain.status and " left out" in got.err and ": warning: " in got.err and all(
        line in lines for line in got.out.replace("\0", "\n").splitlines())


def is_unknown(scenario: Scenario, plain: Outcome, got: Outcome) -> bool:
    """A fact that could not be read is said to be unknown, and all others are the same."""
    lines, others = plain.out.splitlines(), got.out.splitlines()
    return scenario.facts and got.status == plain.status and len(lines) == len(others) and all(
        a == b or (b.endswith(" ?") and a.startswith(b[:-1])) or " not known" in b or "could not be asked" in b for a, b in zip(lines, others))


def error_lines(text: str) -> list[str]:
    """That another node failed first is no error of this one."""
    return [line for line in text.splitlines() if (": error: " in line and "error: ended because" not in line) or
            line.startswith(("error:", "gosu:"))]


def is_sound(scenario: Scenario, files: Files) -> bool:
    """Each log is whole."""
    return all(re.fullmatch(pattern, files[name][1].decode(errors="replace")) for name, pattern in scenario.logs.items() if name in files)


def judge_kill(scenario: Scenario, plain: Outcome, got: Outcome) -> str:
    """Killed at any point, files are whole: as before, or as after. A new one beside, not yet renamed, may stay."""
    for name, content in got.after.items():
        known = name in got.before or name in plain.after
        beside = any(name.startswith(f"{other}.") for other in plain.after) or name.endswith(scenario.may_leave or ("//",))
        if not known and not beside:
            return "after a kill, there is a file that should not be"
        if known and name not in scenario.logs and content not in (got.before.get(name), plain.after.get(name)):
            return f"after a kill, the file {name} is neither as before nor as after"
    lost = [name for name in got.before if name not in got.after]
    if lost:
        return f"after a kill, the file {lost[0]} is gone"
    if scenario.dies and got.traced.left:
        return f"after a kill, there are processes: {got.traced.left}"
    if got.again and (got.again[0] != plain.status or any(
            got.again[1].get(name) != content for name, content in plain.after.items() if name not in scenario.logs)):
        return f"after a kill, another start ends with {got.again[0]}, or with other files"
    return ""


def is_late(scenario: Scenario, plain: Outcome, fault: Fault) -> bool:
    """Whether the command may have ended before this call: it comes after the wait in which it did."""
    calls = [call for call in plain.traced.calls if call.process == "0"]
    reaped = [i for i, call in enumerate(calls) if call.name in ("wait4", "waitid") and call.result > 0]
    last = reaped[scenario.starts - 1] if len(reaped) >= scenario.starts else 0
    slept = [i for i, call in enumerate(calls[:last]) if call.name in WAITS]
    if not slept:
        return False

    def matches(call: Call) -> bool:
        return (call.name, call.nth) == (fault.name, fault.nth)

    asked_after = calls[slept[-1] - 1].name in ("poll", "ppoll")  # it slept there, and then asked which signal it was
    return not any(matches(call) for call in calls[:slept[-1] + (0 if asked_after else 1)])


def judge_signal(scenario: Scenario, fault: Fault, plain: Outcome, got: Outcome) -> str:
    if got.status in (*scenario.ends, 128 + fault.value, -fault.value):
        return ""
    if scenario.is_lost_to_anybody([call for call in plain.traced.calls if call.process == "0"], fault):
        return ""
    return "" if got.status == plain.status and is_late(scenario, plain, fault) else f"after a signal, the status is {got.status}"


def judge_peer(scenario: Scenario, got: Outcome) -> str:
    if scenario.peer_ends and got.traced.beside is None:
        return "the other node hangs"
    if scenario.peer_ends and got.traced.beside not in scenario.peer_ends:
        return f"the other node ends with {got.traced.beside}"
    if "nothing was started" in got.err and "started" in got.peer.splitlines():
        return "it says that nothing was started, but the other node has"
    return ""


def judge_error(scenario: Scenario, fault: Fault, plain: Outcome, got: Outcome) -> str:
    """It did not do what it should: whether it says so, and did nothing by halves."""
    statuses = (125, *scenario.statuses, *((126, 127) if fault.name == "execve" else ()))
    if got.status not in statuses:
        return f"status {got.status}; {'the same' if got.out == plain.out else 'another'} output"
    # What could not be written cannot be taken back.
    writes_out = fault.name in ("write", "writev") and plain.out.startswith(got.out)
    # Another start may fail: the output of those before it stays.
    again = scenario.starts > 1 and got.out != plain.out and plain.out.startswith(got.out)
    if got.out and not writes_out and not again:
        return f"status {got.status}, but something was started or printed"
    if len(error_lines(got.err)) != 1 and not (fault.name in ("write", "writev") and not got.err):
        return f"status {got.status}, and {len(error_lines(got.err))} error lines"
    if not same_files(got.after, got.before, scenario):
        return f"status {got.status}, but files have changed"
    return ""


def judge(scenario: Scenario, fault: Fault, plain: Outcome, got: Outcome) -> str:
    """What is wrong; '' if nothing is."""
    if got.status is None:
        return "it hangs"
    wrong = judge_peer(scenario, got)
    cut = fault.kind == "short" and "cannot be written" in got.err  # a line of the report, which says that it was cut
    if not wrong and not cut and not is_sound(scenario, got.after):
        wrong = "a log is not whole"
    if wrong:
        return wrong
    if fault.kind.startswith("kill") and fault.process == "0":
        return judge_kill(scenario, plain, got)
    if got.traced.left != plain.traced.left and "they are left running" not in got.err:
        return f"it leaves processes behind: {got.traced.left}"
    same = got.out == plain.out or (scenario.ended and not got.out)
    if got.status == plain.status and same and same_files(got.after, plain.after, scenario):
        if fault.kind == "signal" and fault.value != signal.SIGCHLD:
            return judge_signal(scenario, fault, plain, got)
        return "it says an error, and goes on" if error_lines(got.err) and not error_lines(plain.err) else ""
    if fault.kind.startswith("kill"):
        # A child: it may have been the command.
        return judge_kill(scenario, plain, got) if got.status == 137 else judge_error(scenario, fault, plain, got)
    if leaves_out(plain, got) or is_unknown(scenario, plain, got):
        return ""
    if fault.kind == "short" or (fault.kind == "error" and fault.value == EINTR and fault.name in RETRIED):
        return f"it must go on, but: status {got.status}"
    if fault.kind == "signal":
        return judge_signal(scenario, fault, plain, got)
    return judge_error(scenario, fault, plain, got)


def told(fault: Fault) -> str:
    what = errorcode.get(fault.value, str(fault.value)) if fault.kind == "error" else f"{fault.kind}" + (
        f"={fault.value}" if fault.value else "")
    return f"{fault.name}#{fault.nth}:{what}"


def accepted() -> list[tuple[str, str, str]]:
    """(scenario or *, call and kind, what is judged), each with its reason in the file."""
    out = []
    for line in (Path(__file__).parent / "accepted.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith(("#", "\t")):
            scenario, call, verdict = line.split(None, 2)
            out.append((scenario, call, verdict))
    return out


def is_accepted(scenario: Scenario, fault: Fault, verdict: str, known: list[tuple[str, str, str]]) -> bool:
    call = told(fault)
    for whose, pattern, says in known:
        name, _, kind = pattern.partition(":")
        if whose in ("*", scenario.name) and verdict.startswith(says) and name in (fault.name, call.split(":")[0]) and (
                kind in ("", call.split(":")[1])):
            return True
    return False
