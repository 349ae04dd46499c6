# SPDX-License-Identifier: Apache-2.0
"""The bench of --init: what a parent that stays must not lose, what it costs, beside its peers, in one run.

Each section gets the same arguments as those of ./run, and leaves its figures in the result.
"""

import contextlib
import os
import pathlib
import resource
import signal
import statistics
import subprocess
import tempfile
import time

from measure import BUILD, Case, Failed, output_of, private
from report import micros, number, table, times

LOAD = BUILD / "load"
BARE = BUILD / "bare"
ENV = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
REALTIME = 40
READY_S = 30


def parents(rows):
    """Those of the peers that stay, distinit with --init; and nothing in front."""
    words = {row: rows[row] for row in ("tini", "dumb-init", "catatonit") if row in rows}
    return {"nothing": [], "distinit": [*rows["distinit"][:-1], "--init", "--"], **words}


class Running:
    """A parent around a workload, which ends with the block. `file` is what load's sides share."""

    def __init__(self, bench, words, mode, *rest, cpu=None):
        self.file = pathlib.Path(tempfile.mkdtemp(dir=bench.scratch)) / "shared"
        argv = [*words, LOAD, mode, self.file, *rest] if mode else [*words, *rest]
        self.process = subprocess.Popen([str(word) for word in argv], env=ENV, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        if cpu is not None:
            os.sched_setaffinity(self.process.pid, {cpu})

    def __enter__(self):
        return self

    def __exit__(self, *error):
        for pid in self.children():
            os.kill(pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()

    def children(self):
        try:
            text = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        except OSError:
            text = ""
        return [int(word) for word in text.split()]

    def until_ready(self):
        until = time.monotonic() + READY_S
        while not self.file.exists() or not self.file.read_bytes()[:1].strip(b"\0"):
            if time.monotonic() > until or self.process.poll() is not None:
                raise Failed("the workload does not start")
            time.sleep(0.005)

    def send(self, number_of, count, window, *cpu):
        """(arrived, out of order, median ns, p99 ns)"""
        words = [LOAD, "send", self.file, self.process.pid, number_of, count, window, *cpu]
        return [int(word) for word in output_of([str(word) for word in words], "load send").split()]

    def status(self, key):
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith(key):
                return int(line.split()[1])
        raise Failed(f"no {key}")

    def cpu_ms(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def latencies(bench, words_of, count):
    """{row: (arrived, median ns, p99 ns)} of single signals: in turns, so that what disturbs the machine meets all alike."""
    cpus, batches = sorted(os.sched_getaffinity(0)), 20
    figures = {row: [] for row in words_of}
    with contextlib.ExitStack() as stack:
        running = {row: stack.enter_context(Running(bench, words, "receive", signal.SIGUSR1.value, cpus[0], cpu=cpus[0]))
                   for row, words in words_of.items()}
        for at in running.values():
            at.until_ready()
        for _ in range(batches):
            for row, at in running.items():
                figures[row].append(at.send(signal.SIGUSR1.value, count // batches, 1, cpus[-1]))
    return {row: (sum(f[0] for f in all_of), statistics.median(f[2] for f in all_of),
                  statistics.median(f[3] for f in all_of)) for row, all_of in figures.items()}


def section_signals(bench, rows, result, quick):
    """Signals that are forwarded: none lost, in order, how fast."""
    count = 10000 if quick else 100000
    lines, result["signals"] = [], {}
    # As many as may wait for one process, with room for others of this user.
    window = max(1, min(256, resource.getrlimit(resource.RLIMIT_SIGPENDING)[0] // 4))
    words_of = parents(rows)
    single = latencies(bench, words_of, count)
    for row, words in words_of.items():
        with Running(bench, words, "receive", REALTIME) as at:
            at.until_ready()
            ordered = at.send(REALTIME, count, window)
        arrived, median, p99 = single[row]
        result["signals"][row] = {"sent": count, "queued": ordered[0], "disordered": ordered[1], "single": arrived,
                                  "median_ns": median, "p99_ns": p99}
        lines.append([row, number(ordered[0]), number(ordered[1]), number(arrived), number(median / 1000, 1),
                      number(p99 / 1000, 1)])
    table(f"{count:,} signals forwarded", ["", "queued, arrived", "out of order", "single, arrived", "median, us",
                                           "p99, us"], lines,
          [f"Queued: signal {REALTIME}, each with its number, up to {window} under way. (The others drop the number, so "
           "that of theirs no order can be told.) Single: USR1, one at a time, with the time from kill() to the workload's "
           "sigwaitinfo(); in 20 turns, of whose medians and 99th percentiles the median. The sender is on one "
           "processor, the others on another. nothing: sent to the workload directly."])


def section_orphans(bench, rows, result, quick):
    """Orphans, while signals arrive."""
    count = 10000 if quick else 100000
    lines, result["orphans"] = [], {}
    for row, words in parents(rows).items():
        if not words:
            continue
        if row == "dumb-init":
            continue  # it is no subreaper: outside of a PID namespace it gets no orphans
        with Running(bench, words, "orphan", count) as at:
            at.until_ready()
            started, sent, spent = time.monotonic(), 0, 0.0
            while at.process.poll() is None:
                spent = at.cpu_ms() or spent
                at.process.send_signal(signal.SIGUSR1)
                sent += 1
                time.sleep(0.002)
            took = time.monotonic() - started
            arrived = int.from_bytes(at.file.read_bytes()[8:16], "little")
            left = "none" if at.process.returncode == 0 else "some"
        result["orphans"][row] = {"count": count, "seconds": took, "own_cpu_ms": spent, "left": left, "signals": sent}
        lines.append([row, number(count), left, number(took, 2), number(spent), number(sent), number(arrived)])
    table("Orphans, while USR1 arrives every 2 ms", ["", "orphans", "left", "s", "own CPU, ms", "signals", "seen"],
          lines, ["Seen: the workload looks for a signal once in 500 orphans, and the kernel keeps one. dumb-init is no "
                  "subreaper and gets none here."])


def section_staying(bench, rows, result, quick):
    """Memory and wake-ups while the workload sleeps."""
    seconds = 3 if quick else 10
    lines, result["staying"] = [], {}
    for row, words in parents(rows).items():
        if not words:
            continue
        with Running(bench, words, None, "sleep", "1000") as at:
            time.sleep(1)
            before = at.status("voluntary_ctxt_switches")
            time.sleep(seconds)
            woken, own, rss = at.status("voluntary_ctxt_switches") - before, private(at.process.pid), at.status("VmRSS")
        result["staying"][row] = {"private_kib": own, "rss_kib": rss, "wakeups": woken}
        lines.append([row, number(own), number(rss), number(woken / seconds, 1)])
    table("Staying", ["", "private, KiB", "RSS, KiB", "wake-ups a second"], lines,
          [f"With sleep as the workload; wake-ups over {seconds} s."])


def section_init_start(bench, rows, result, quick):
    """Start to end around the smallest workload."""
    del quick
    words = parents(rows)
    words["floor-wait"] = [BUILD / "floor-wait"]
    timing = bench.time({row: Case([*words[row], BARE], ENV) for row in words})
    floor = timing["floor-wait"].median
    table("Start and end: wall time around a workload of one system call, us",
          ["", "median", "p10-p90", "of floor-wait"],
          [[row, micros(t.median), f"{micros(t.p10)}-{micros(t.p90)}", times(t.median / floor)]
           for row, t in timing.items()],
          [f"Medians of {bench.rounds:,} rounds, in turns, on processor {bench.cpu}. floor-wait: a static program that "
           "only calls vfork(), execve() and waitpid()."])
    result["init_start"] = {row: t._asdict() for row, t in timing.items()}


SECTIONS = {"signals": section_signals, "orphans": section_orphans, "staying": section_staying,
            "init_start": section_init_start}


def add_targets(result, targets):
    signals, orphans = result.get("signals", {}).get("distinit"), result.get("orphans", {}).get("distinit")
    staying, start = result.get("staying", {}).get("distinit"), result.get("init_start")
    if signals:
        lost = 2 * signals["sent"] - signals["queued"] - signals["single"]
        targets.add("Forwarded signals", "none lost, none out of order", f"of {2 * signals['sent']:,} {lost} lost, "
                    f"{signals['disordered']} out of order", lost == 0 and signals["disordered"] == 0)
    if orphans:
        targets.add("Orphans reaped while signals arrive", "none left", f"of {orphans['count']:,}: {orphans['left']}",
                    orphans["left"] == "none")
    if staying:
        targets.add("Private memory while supervising", "at most 48 KiB", f"{staying['private_kib']} KiB",
                    0 < staying["private_kib"] <= 48)
        targets.add("Wake-ups while idle", "none", str(staying["wakeups"]), staying["wakeups"] == 0)
    if start:
        ratio = start["distinit"]["median"] / start["floor-wait"]["median"]
        targets.add("Start with --init", "at most 1.4 x a bare vfork, exec and wait", times(ratio), ratio <= 1.4)
