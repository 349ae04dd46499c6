# SPDX-License-Identifier: Apache-2.0
"""
Tests in namespaces of their own: a mutant may kill every process that it can see, or write any file.

    room.py BUILD SECONDS [cover] <TESTS     SECONDS: for all of them; TESTS: lines of JSON, see tests.py

Prints "killed TEST: WHY", or "survived", or "time is over". A mutant is killed by a test that fails twice with it, and not
without it: BUILD/plain has the programs as they are. With "cover": a line of JSON for each test, with what it reached.
"""

import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

SEEN = Path("/run/cover")


def clean_up() -> None:
    """End whatever a test left behind."""
    try:
        os.kill(-1, signal.SIGKILL)
        while True:
            os.waitpid(-1, 0)
    except (ChildProcessError, ProcessLookupError):
        pass


def why_it_failed(command: list[str], environment: dict[str, str], limit: float) -> str:
    """The first name of TAP that fails, or a signal or a status; '' if all is well."""
    process = subprocess.Popen(command, env={**os.environ, **environment, "BATS_TEST_TIMEOUT": "60"}, text=True,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               errors="replace", start_new_session=True)
    assert process.stdout
    # All of them: a process in a session of its own would keep the pipe open.
    signal.signal(signal.SIGALRM, lambda *_: os.kill(-1, signal.SIGKILL))
    signal.setitimer(signal.ITIMER_REAL, limit)
    failed, lines = "", 0
    for line in process.stdout:
        lines += 1
        if line.startswith("not ok") and "# TODO" not in line:
            failed = re.sub(r"^not ok [0-9]+ (- )?|( #)? in [0-9]+ ?ms$", "", line.strip())
            os.kill(-1, signal.SIGKILL)
            break
        if lines == 1 << 16:
            failed = "it prints without end"
            os.kill(-1, signal.SIGKILL)
            break
    status = process.wait()
    signal.setitimer(signal.ITIMER_REAL, 0)
    if failed or (status == 0 and lines):
        return failed
    return "it hangs" if status == -9 else f"status {status}"


def plain(build: str, words: list[str]) -> list[str]:
    """The same command with the programs as they are."""
    return [re.sub(f"^{re.escape(build)}/(distinit|distrun|tests/crowd)$", rf"{build}/plain/\1", word) for word in words]


def run(build: str, test: dict, limit: float) -> str:
    """Why this test fails with the mutant, and only with it."""
    why = why_it_failed(test["cmd"], test["env"], limit)
    if not why or test["name"].startswith(("unit/", "replay/")):
        return why
    clean_up()
    environment = dict(zip(test["env"], plain(build, list(test["env"].values()))))
    if why_it_failed(plain(build, test["cmd"]), environment, limit):
        return ""
    clean_up()
    return why_it_failed(test["cmd"], test["env"], limit)


def judge(build: str, seconds: float, tests: list[dict]) -> str:
    deadline = time.monotonic() + seconds
    for test in tests:
        if time.monotonic() > deadline:
            return "time is over"
        why = run(build, test, 10 + 5 * test["seconds"])
        clean_up()
        if why:
            return f"killed {test['name']}: {why}"
    return "survived"


def reached() -> dict[str, list[int]]:
    """The addresses that were reached, by program, and forget them."""
    out = {}
    for file in SEEN.iterdir():
        out[file.name] = [match.start() for match in re.finditer(b"\1", file.read_bytes())]
        file.unlink()
    return out


def cover(tests: list[dict]) -> None:
    SEEN.mkdir()
    SEEN.chmod(0o1777)
    for test in tests:
        begin = time.monotonic()
        why = why_it_failed(test["cmd"], test["env"], 120)
        seconds = round(time.monotonic() - begin, 2)
        clean_up()
        print(json.dumps({"name": test["name"], "seconds": seconds, "why": why, "reached": reached()}), flush=True)


def main() -> int:
    if os.getpid() != 1:
        sys.exit("room: this has to be process 1 of its own room: it kills all others")
    build, seconds = sys.argv[1], float(sys.argv[2])
    tests = [json.loads(line) for line in sys.stdin]
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 28, 1 << 28))
    subprocess.run(["ip", "link", "set", "lo", "up"], check=False)
    if sys.argv[3:] == ["cover"]:
        cover(tests)
    else:
        print(judge(build, seconds, tests))
    return 0


if __name__ == "__main__":
    sys.exit(main())
