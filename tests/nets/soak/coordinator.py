# SPDX-License-Identifier: Apache-2.0
"""
The scenario "coordinator": a roll call of thousands.

One coordinator is called for the whole time: members come, stay, go, and come back with the same rank, also while their older
connection is open; and others speak rubbish. It counts each HELLO of a rank that was there before: its report has to have that number.
At the end all come, and the job starts, and ends by a failure.

Beside it, rounds: whole jobs, from the first member to the last exit status.
"""

import json
import os
import re
import signal
import subprocess
import threading
import time
from pathlib import Path
from statistics import median

from room import Room
from watch import Result, Watch, children_of, fields, until

LONG_PORT, ROUND_PORT = 29500, 29600
RUBBISH = ("half", "idle", "silent", "slow", "torch", "http", "tls", "noise", "replay", "flip", "version")
LIMIT_S = 60
FAILED_BY_ANOTHER = 123
# Ranks that come only at the end, so that the job does not start before.
LATE = 10


class Wrong(Exception):
    """A count or a status is another."""


class Rolls:
    def __init__(self, programs: dict[str, str], room: Room, size: int) -> None:
        self.programs, self.room, self.size = programs, room, size
        self.source = 0
        self.running: list["subprocess.Popen[str]"] = []

    def start(self, name: str, port: int, words: list[str], program: list[str], rank: int = 0) -> "subprocess.Popen[str]":
        with open(Path(self.room.folder, f"{name}.err"), "w", encoding="utf-8") as err:
            process = subprocess.Popen(self.room.command(
                self.programs["distinit"], f"--hosts=h[0-{self.size}]", f"--node-rank={rank}", f"--hostname=h{rank}", "--for=all",
                f"--master-port={port}", "--job=room", *words, "--", *program), stdout=subprocess.DEVNULL, stderr=err, text=True)
        self.running.append(process)
        return process

    def crowd(self, n: int, port: int, *words: str) -> "subprocess.Popen[str]":
        # Closed connections keep their ports for a minute.
        self.source = self.source % 100 + 1
        process = subprocess.Popen(["nice", "-n", "5", *self.room.command(
            self.programs["crowd"], "call", str(n), str(port), f"--size={self.size + 1}", f"--from=127.1.{self.source}", "--node=a-node-called-%u", *words)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.running.append(process)
        return process

    def here(self, n: int, port: int, *words: str) -> "subprocess.Popen[str]":
        """A crowd of which all are greeted; and which stays until it is heard."""
        crowd = self.crowd(n, port, "--hold", f"--wait={LIMIT_S * 1000}", *words)
        assert crowd.stdout
        if crowd.stdout.readline() != "here\n":
            raise Wrong(f"not all of {n} members were greeted")
        return crowd

    def heard(self, crowd: "subprocess.Popen[str]") -> dict[str, float]:
        """What a crowd says at its end."""
        text = crowd.communicate(timeout=LIMIT_S + 60)[0]
        self.running.remove(crowd)
        if crowd.returncode not in (0, 1):
            raise Wrong(f"the crowd failed: {text}")
        return {name: float(number) for name, number in re.findall(r"(\w+)=([0-9.]+)", text)}

    def digests(self, port: int, words: list[str], program: list[str]) -> str:
        """What a member says that has this command."""
        with subprocess.Popen(self.room.command(self.programs["crowd"], "hear", str(port)), stdout=subprocess.PIPE, text=True) as crowd:
            member = self.start("member", port, [*words, "--wait=20s"], program, rank=1)
            text = crowd.communicate(timeout=LIMIT_S)[0].strip()
            member.kill()
            member.wait()
        if not text:
            raise Wrong("a member says nothing")
        return f"--digests={text}"

    def close(self) -> None:
        for process in self.running:
            if process.poll() is None:
                process.kill()
                process.wait()


class LongCall:
    """One coordinator, and who comes to it."""

    WORDS = ["--together", "--report=long.report"]
    PROGRAM = ["sleep", "infinity"]

    def __init__(self, rolls: Rolls, result: Result, seconds: float) -> None:
        self.rolls, self.result, self.seconds = rolls, result, seconds
        self.joins, self.rubbish, self.cycles = 0, 0, 0
        self.ranks: set[int] = set()
        self.said = rolls.digests(LONG_PORT, self.WORDS, self.PROGRAM)
        self.process = rolls.start("long", LONG_PORT, [*self.WORDS, "--wait=24h"], self.PROGRAM)
        if not until(lambda: "29500" in self.listeners() or self.process.poll() is not None, LIMIT_S):
            raise Wrong("the coordinator does not listen")

    def listeners(self) -> str:
        return subprocess.run(self.rolls.room.command("ss", "-Hltn"), stdout=subprocess.PIPE, text=True, check=True).stdout

    def warm(self) -> None:
        """
        Twice as many connections at a time as come later: what so many need, it has got then. A busy machine reads the ends of the last ones
        late, when the next ones have come. Half of them are of ranks that the job does not have.
        """
        most = self.rolls.size - LATE
        crowds = [self.rolls.here(most, LONG_PORT, f"--first={first}") for first in (1, self.rolls.size + 1)]
        got = [self.rolls.heard(crowd) for crowd in crowds]
        self.came(1, most, got[0])
        self.cycle(0.1)

    def came(self, first: int, n: int, got: dict[str, float], *, gone: int = 0) -> None:
        """All were greeted, and nobody but @gone was sent away."""
        if got["hellos"] != n or got["gone"] != gone or got["go"] or got["no"]:
            raise Wrong(f"{n} members called, {got['hellos']:.0f} of them were greeted, and {got['gone']:.0f} sent away, not {gone}; "
                        f"{got['go']:.0f} were told to start, {got['no']:.0f} to end")
        self.joins += n
        self.ranks |= set(range(first, first + n))

    def cycle(self, stay: float) -> None:
        """Almost all come and stay; some of them come again meanwhile; some only look in; some speak rubbish. Then all go."""
        most = self.rolls.size - LATE
        again, n = most // 3, max(20, most // 50)
        act = RUBBISH[self.cycles % len(RUBBISH)]
        call, heard = self.rolls.crowd, self.rolls.heard
        first = self.rolls.here(most, LONG_PORT, "--first=1")
        second = self.rolls.here(again, LONG_PORT, "--first=1")
        heard(call(n, LONG_PORT, f"--first={most + 1}", f"--act={act}", "--wait=2000"))
        self.rubbish += n
        time.sleep(stay)
        self.came(1, again, heard(second))
        self.came(1, most, heard(first), gone=again)
        self.came(most - again + 1, again, heard(call(again, LONG_PORT, f"--first={most - again + 1}", "--act=leave", "--wait=30000")))
        if act == "replay":
            # The first of them is a member, whose HELLO the others repeat.
            self.joins += 1
            self.ranks.add(most + 1)
        self.cycles += 1

    def run(self) -> None:
        end = time.monotonic() + self.seconds
        stay = 6.0 if self.seconds >= 300 else 0.3
        while time.monotonic() < end:
            self.cycle(stay)
            if self.process.poll() is not None:
                raise Wrong(f"the coordinator has ended: {self.told()}")
            # All have gone for a while.
            time.sleep(stay * (1 if self.seconds < 600 else 1.5))

    def told(self) -> str:
        return Path(self.rolls.room.folder, "long.err").read_text(encoding="utf-8")[-500:]

    def end(self) -> None:
        """All come at last, and the program of one fails."""
        size, result = self.rolls.size, self.result
        got = self.rolls.heard(self.rolls.crowd(size, LONG_PORT, "--act=stay", "--fail=300", self.said, "--wait=30000"))
        self.joins += size
        self.ranks |= set(range(1, size + 1))
        result.expect("the number of members that were told to start", size, int(got["go"]))
        result.expect("the number of members that were told of the end", size, int(got.get("end", 0)))
        result.expect("the exit status of the coordinator", FAILED_BY_ANOTHER, self.process.wait(LIMIT_S))
        lines = [json.loads(line) for line in Path(self.rolls.room.folder, "long.report").read_text(encoding="utf-8").splitlines() if line]
        call: dict[str, object] = next((line["roll_call"] for line in lines if "roll_call" in line), {})
        result.expect("the number of members in the report", size + 1, call.get("present"))
        result.expect("the number of returns in the report", self.joins - len(self.ranks), call.get("restarts"))
        result.figures.update({"cycles": self.cycles, "members that came": self.joins, "returns with the same rank": self.joins - len(self.ranks),
                               "connections that spoke rubbish": self.rubbish})


class Rounds(threading.Thread):
    """Whole jobs, one after the other."""

    KINDS = ("failed", "started", "told", "refused")

    def __init__(self, rolls: Rolls, seconds: float, pause: float) -> None:
        super().__init__(daemon=True)
        self.rolls, self.seconds, self.pause = rolls, seconds, pause
        self.done, self.wrong = 0, ""
        # Of each round's coordinator: kind, most memory in KiB, descriptors.
        self.peaks: list[tuple[str, int, int]] = []
        self.over = threading.Event()
        self.said = {kind: rolls.digests(ROUND_PORT, *self.command(kind)) for kind in self.KINDS}

    @staticmethod
    def command(kind: str) -> tuple[list[str], list[str]]:
        return ([], ["true"]) if kind == "started" else (["--together"], ["sleep", "infinity"])

    def round(self, kind: str) -> None:
        words, program = self.command(kind)
        size = self.rolls.size
        process = self.rolls.start("round", ROUND_PORT, [*words, "--wait=50s"], program)
        act = [] if kind == "started" else ["--act=stay", *(["--fail=300"] if kind == "failed" else [])]
        crowd = self.rolls.crowd(size - (kind == "refused"), ROUND_PORT, *act, self.said[kind], "--wait=30000")
        self.observe(kind, process, crowd)
        got = self.rolls.heard(crowd)
        status = process.wait(LIMIT_S)
        self.rolls.running.remove(process)
        all_told = {"go": size, "end": size if words else 0}
        wanted: dict[str, tuple[int, dict[str, int]]] = {
            "failed": (FAILED_BY_ANOTHER, all_told), "started": (0, all_told), "told": (128 + signal.SIGTERM, all_told),
            "refused": (-signal.SIGTERM, {"go": 0, "no": size - 1})}
        for name, number in wanted[kind][1].items():
            if got.get(name, 0) != number:
                raise Wrong(f"round '{kind}': '{name}' came to {got.get(name, 0):.0f} members, and should come to {number}")
        if status != wanted[kind][0]:
            raise Wrong(f"round '{kind}': status {status}, and should be {wanted[kind][0]}: "
                        + Path(self.rolls.room.folder, "round.err").read_text(encoding="utf-8")[-300:])

    @staticmethod
    def runs_program(pid: int) -> bool:
        """Whether it has started its program: a look-up is a child, too."""
        try:
            return any(Path(f"/proc/{child}/comm").read_text(encoding="utf-8") == "sleep\n" for child in children_of(pid))
        except OSError:
            return False

    def observe(self, kind: str, process: "subprocess.Popen[str]", crowd: "subprocess.Popen[str]") -> None:
        """Look at the coordinator while all are there; and end it, if that is its kind."""
        peak, files = 0, 0

        def look() -> bool:
            nonlocal peak, files
            try:
                peak = fields(f"/proc/{process.pid}/status")["VmHWM"]
                files = max(files, len(os.listdir(f"/proc/{process.pid}/fd")))
            except (OSError, KeyError):
                pass
            return crowd.poll() is not None or process.poll() is not None or (
                files >= self.rolls.size and (kind == "refused" or (kind == "told" and self.runs_program(process.pid))))
        until(look, LIMIT_S, 0.05)
        if kind in ("told", "refused") and process.poll() is None:
            time.sleep(0.5)
            process.send_signal(signal.SIGTERM)
        self.peaks.append((kind, peak, files))

    def run(self) -> None:
        end = time.monotonic() + self.seconds
        try:
            while time.monotonic() < end and not self.over.is_set():
                self.round(self.KINDS[self.done % len(self.KINDS)])
                self.done += 1
                self.over.wait(self.pause)
        except (Wrong, OSError, subprocess.SubprocessError) as err:
            self.wrong = str(err)

    def judge(self, result: Result) -> None:
        """A coordinator of the last rounds is no larger than one of the first."""
        if self.wrong:
            result.wrong.append(self.wrong)
        result.figures["rounds of a whole job"] = self.done
        peaks = [peak for kind, peak, _ in self.peaks if kind == "failed"]
        if len(peaks) > 3:
            result.figures["memory of a coordinator in the first and in the last round, KiB"] = f"{peaks[0]}, {peaks[-1]}"
            if median(peaks[-3:]) > median(peaks[:3]) + 64:
                result.wrong.append(f"a round's coordinator needs more memory than one of the first: {peaks}")


def soak(programs: dict[str, str], seconds: float, folder: str) -> Result:
    result = Result("coordinator", "a roll call: members that come, go, come back, and others; and rounds of whole jobs")
    size = 5000 if seconds >= 300 else 300
    # For an hour, most names do not resolve, and each look-up of the absent takes its time.
    room = Room(folder, [f"h{i}" for i in range(1 if seconds >= 300 else size)])
    rolls = Rolls(programs, room, size)
    result.figures["members"] = size
    try:
        long = LongCall(rolls, result, seconds)
        long.warm()
        watch = Watch(long.process.pid, min(5.0, seconds / 200))
        rounds = Rounds(rolls, seconds - 2, 25 if seconds >= 300 else 0.2)
        rounds.start()
        try:
            long.run()
            result.judge("the coordinator", watch)
            long.end()
        finally:
            watch.stop()
            rounds.over.set()
            rounds.join(2 * LIMIT_S)
        rounds.judge(result)
    except (Wrong, OSError, subprocess.SubprocessError, KeyError) as err:
        result.wrong.append(str(err))
    finally:
        rolls.close()
        room.close()
    return result
