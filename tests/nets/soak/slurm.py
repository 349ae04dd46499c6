# SPDX-License-Identifier: Apache-2.0
"""
The scenario "slurm": surrogate steps in a real Slurm, whose slurmctld is restarted each minute. One step lives for the whole time, and
ends by its time limit; its distrun is the process that is watched. Each step's exit status and time limit has to be right, and
accounting has to have each step that Slurm made.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, Optional

from watch import Result, Watch, until

CLUSTER = Path(__file__).parents[2] / "programs" / "slurm-cluster"
LIMIT_S = 100
# How late a time limit may be, with the start of distrun, on a busy machine.
LATE_S = 3
# After that, distrun says that Slurm has not ended the step.
GIVEN_UP = "distrun stops waiting for it"


def missing() -> str:
    for program in ("slurmctld", "slurmd", "slurmdbd", "srun", "mariadbd", "munged"):
        if not shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin"):
            return f"{program} is not installed"
    return ""


class Cluster:
    def __init__(self) -> None:
        self.folder = tempfile.mkdtemp(prefix="soak.", dir="/dev/shm")
        self.slurmctld: Optional["subprocess.Popen[bytes]"] = None
        subprocess.run([CLUSTER, "up", self.folder, "--nodes=1"], check=True, stdin=subprocess.DEVNULL)

    def words(self, *words: str) -> list[str]:
        return [str(CLUSTER), "on", self.folder, "login", *words]

    def on(self, *words: str) -> str:
        return subprocess.run(self.words(*words), stdout=subprocess.PIPE, text=True, check=True, timeout=LIMIT_S).stdout

    def processes(self, pattern: str) -> list[int]:
        """Those of this cluster whose command line matches."""
        out = []
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                words = Path("/proc", name, "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                if re.search(pattern, words) and self.folder.encode() in Path("/proc", name, "environ").read_bytes():
                    out.append(int(name))
            except OSError:
                pass
        return out

    def restart(self) -> None:
        """End slurmctld as an administrator does, and start another one a little later."""
        if self.slurmctld:
            self.slurmctld.terminate()
            self.slurmctld.wait(LIMIT_S)
        else:
            for pid in self.processes("^slurmctld -D"):
                os.kill(pid, signal.SIGTERM)
            if not until(lambda: not self.processes("^slurmctld -D"), LIMIT_S, 0.2):
                raise OSError("slurmctld does not end")
        time.sleep(2)
        self.slurmctld = subprocess.Popen(self.words("slurmctld", "-D"), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                          stderr=subprocess.DEVNULL)

    def close(self) -> None:
        if self.slurmctld:
            self.slurmctld.kill()
            self.slurmctld.wait()
        subprocess.run([CLUSTER, "down", self.folder], check=False)


class Job:
    """The job, and its long step."""

    def __init__(self, cluster: Cluster, distrun: str, seconds: float, folder: str) -> None:
        self.cluster, self.folder, self.seconds = cluster, folder, seconds
        steps = Path(__file__).parent / "steps.py"
        pause = 12.0 if seconds >= 300 else 0.5
        script = Path(folder, "script")
        script.write_text(f"""#!/bin/sh
date +%s.%N >long.begin
{distrun} surrogate -v --name=long --job-time-sec={seconds:.0f} --grace=5 -- sleep infinity 2>long.err &
long=$!
python3 {steps} {distrun} {pause} &
wait $long
echo $? >long.status
wait
""", encoding="utf-8")
        self.began = time.time()
        self.id = cluster.on("sbatch", "--parsable", f"--chdir={folder}", "--output=output", "--ntasks=2", str(script)).strip()
        if not until(lambda: "mirrors the command" in self.read("long.err"), LIMIT_S, 0.1):
            raise OSError(f"the long step does not run: {self.read('long.err')}{self.read('output')}")
        self.long = cluster.processes(r"surrogate -v --name=long ")[0]

    def read(self, name: str) -> str:
        try:
            return Path(self.folder, name).read_text(encoding="utf-8")
        except OSError:
            return ""

    def touch(self, name: str) -> None:
        Path(self.folder, name).touch()

    def steps(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.read("steps").splitlines()]

    def accounted(self) -> dict[str, tuple[str, str]]:
        """Name: state and exit code of each step."""
        out = {}
        for line in self.cluster.on("sacct", "--parsable2", "--noheader", f"--jobs={self.id}", "--format=JobID,JobName%60,State,ExitCode").splitlines():
            step, name, state, code = line.split("|")
            if re.search(r"\.[0-9]+$", step):
                out[name] = (state, code)
        return out


def exit_code(status: int) -> tuple[str, str]:
    """What sacct says of a step with that status. It shows 128+N as signal N."""
    return ("COMPLETED", "0:0") if status == 0 else ("FAILED", f"0:{status - 128}" if status > 128 else f"{status}:0")


def judge_step(step: dict[str, Any], limit: float) -> str:
    """What is wrong with the step itself; '' if nothing."""
    if step["status"] != step["wanted"]:
        return f"status {step['status']}, and should be {step['wanted']}: {step['told'][-300:]}"
    if "it-was-started" in step["told"]:
        return "a command was started though its time limit was used up"
    if step["name"].startswith("limit") and not limit <= step["ran"] <= limit + LATE_S:
        return f"the time limit of {limit:.0f} s came after {step['ran']:.2f} s"
    return ""


def same_code(account: tuple[str, str], status: int) -> bool:
    state, code = exit_code(status)
    # 138 is told as 10:0 by some, and as 0:10 by others.
    return account[0] == state and account[1] in (code, ":".join(reversed(code.split(":"))))


def judge(job: Job, result: Result) -> None:
    steps = job.steps()
    result.wrong += [f"{step['name']}: {what}" for step in steps if (what := judge_step(step, 2))]
    made = {step["name"]: step for step in steps if step["mirrored"]}
    # Those of which distrun said that Slurm did not end them in time.
    given_up = {name for name, step in made.items() if GIVEN_UP in step["told"]}

    def pending() -> set[str]:
        known = job.accounted()
        return {name for name in made if name not in given_up and known.get(name, ("RUNNING", ""))[0] in ("RUNNING", "PENDING")}
    until(lambda: not pending(), LIMIT_S, 2)
    known = job.accounted()
    for name in sorted(pending()):
        result.wrong.append(f"{name}: Slurm made this step, and accounting does not have its end")
    for name, step in made.items():
        if name in known and name not in given_up and not same_code(known[name], step["wanted"]):
            result.wrong.append(f"{name}: accounting says {known[name]}, and the status is {step['wanted']}")
    limits = [step["ran"] for step in steps if step["name"].startswith("limit")]
    result.figures.update({
        "steps": len(steps),
        "steps that Slurm made and accounting has": len([name for name in made if name in known]),
        "steps that distrun stopped waiting for, and said so": len(given_up),
        "commands that had ended before there was a step, or were not started": len([s for s in steps if not s["mirrored"]]),
        "time limits of 2 s: least, most": f"{min(limits, default=0):.2f}, {max(limits, default=0):.2f}",
    })
    if not steps or not made:
        result.wrong.append("no steps were made")


def judge_long(job: Job, result: Result, ended: float) -> None:
    text = job.read("long.err")
    if f"the time limit of {job.seconds:.0f}s is reached" not in text:
        result.wrong.append(f"the long step did not end by its time limit: {text[-300:]}")
    until(lambda: job.read("long.status"), 10)
    result.expect("the exit status of the long step", "124", job.read("long.status").strip())
    ran = ended - float(job.read("long.begin"))
    result.figures["the long step's time limit, and how long it ran, s"] = f"{job.seconds:.0f}, {ran:.1f}"
    # Slurm gets 10 s to end the step.
    if not job.seconds - 1 <= ran <= job.seconds + 13:
        result.wrong.append(f"the long step's time limit of {job.seconds:.0f} s came after {ran:.1f} s")


class Restarts(threading.Thread):
    def __init__(self, cluster: Cluster, every: float) -> None:
        super().__init__(daemon=True)
        self.cluster, self.every, self.done, self.wrong = cluster, every, 0, ""
        self.over = threading.Event()

    def run(self) -> None:
        while not self.over.wait(self.every):
            try:
                self.cluster.restart()
                self.done += 1
            except (OSError, subprocess.SubprocessError) as err:
                self.wrong = f"slurmctld cannot be restarted: {err}"
                return


def soak(programs: dict[str, str], seconds: float, folder: str) -> Result:
    result = Result("slurm", "surrogate steps and time limits, while slurmctld is restarted each minute")
    if reason := missing():
        result.skipped = reason
        return result
    cluster = Cluster()
    restarts = Restarts(cluster, 60 if seconds >= 120 else 15)
    try:
        job = Job(cluster, programs["distrun"], seconds, folder)
        watch = Watch(job.long, min(5.0, seconds / 200))
        restarts.start()
        if not until(lambda: not os.path.exists(f"/proc/{job.long}"), seconds + 60, 0.1):
            result.wrong.append("the long step does not end")
        judge_long(job, result, time.time())
        restarts.over.set()
        restarts.join()
        result.judge("distrun of the long step", watch)
        job.touch("enough")
        if not until(lambda: Path(folder, "finished").exists(), 2 * LIMIT_S, 0.5):
            result.wrong.append("the steps do not end")
        # srun of a step that distrun did not wait for ends when slurmctld answers.
        until(lambda: not cluster.processes("surrogate -v|^srun --jobid="), LIMIT_S, 1)
        result.expect("the number of processes left of distrun and srun", 0, len(cluster.processes("surrogate -v|^srun --jobid=")))
        judge(job, result)
        job.touch("released")
        result.figures["restarts of slurmctld"] = restarts.done
        result.wrong += [restarts.wrong] if restarts.wrong else []
    except (OSError, ValueError, IndexError, subprocess.SubprocessError) as err:
        result.wrong.append(str(err))
    finally:
        restarts.over.set()
        cluster.close()
    return result
