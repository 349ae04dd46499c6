# SPDX-License-Identifier: Apache-2.0
"""
The tests of one mutant, in namespaces of their own: a mutant may kill every process that it can see, or write any file.

    room.py BUILD SECONDS TEST...     SECONDS: for all of them; TEST: a name in BUILD/tests.json, as "unit/num"

Prints "killed TEST: WHY", or "survived", or "time is over". A mutant is killed by what does not fail without it:
BUILD/plain has the programs as they are.
"""

import json
import os
import re
import resource
import signal
import subprocess
import sys
import time

# Of one test, on a busy machine. It is a hang then.
LIMIT = 120.0


def why_it_failed(command: list[str], environment: dict[str, str], known: list[str], seconds: float) -> str:
    """The first name of TAP that fails and is not known to, or a signal or a status; '' if all is well."""
    process = subprocess.Popen(command, env={**os.environ, **environment, "BATS_TEST_TIMEOUT": "60"}, text=True,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               errors="replace", start_new_session=True)
    assert process.stdout
    signal.signal(signal.SIGALRM, lambda *_: os.killpg(process.pid, signal.SIGKILL))
    signal.alarm(max(1, int(seconds)))
    failed, lines = "", 0
    for line in process.stdout:
        lines += 1
        name = re.sub(r"^not ok [0-9]+ (- )?", "", line.strip())
        if line.startswith("not ok") and name not in known and "# TODO" not in line:
            failed = name
            os.killpg(process.pid, signal.SIGKILL)
            break
    status = process.wait()
    signal.alarm(0)
    if failed or (status == 0 and lines) or (known and status == 1):
        return failed
    return "it hangs" if status == -9 else f"status {status}"


def plain(build: str, words: list[str]) -> list[str]:
    """The same command with the programs as they are."""
    return [re.sub(f"^{re.escape(build)}/(distinit|distrun|tests/test-.*)$", rf"{build}/plain/\1", word) for word in words]


def fails_without(build: str, test: dict, why: str) -> bool:
    environment = dict(zip(test["env"], plain(build, list(test["env"].values()))))
    known: list[str] = []
    while True:
        found = why_it_failed(plain(build, test["cmd"]), environment, known, LIMIT)
        if not found or found == why:
            return found == why
        known.append(found)


def run(build: str, name: str, known: dict[str, list[str]], left: float) -> str:
    """Why this test fails with the mutant, and only with it."""
    with open(os.path.join(build, "tests.json"), encoding="utf-8") as file:
        test = json.load(file)[name]
    while True:
        why = why_it_failed(test["cmd"], test["env"], known.get(name, []), min(left, LIMIT))
        if not why or name.startswith("unit/") or not fails_without(build, test, why):
            return why
        known.setdefault(name, []).append(why)


def main() -> int:
    build, seconds, names = sys.argv[1], float(sys.argv[2]), sys.argv[3:]
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 28, 1 << 28))
    subprocess.run(["ip", "link", "set", "lo", "up"], check=False)
    learned = os.path.join(build, "known.json")
    known: dict[str, list[str]] = {}
    if os.path.exists(learned):
        with open(learned, encoding="utf-8") as file:
            known = json.load(file)
    deadline = time.monotonic() + seconds
    result = "survived"
    for name in names:
        left = deadline - time.monotonic()
        why = run(build, name, known, left) if left > 1 else "it hangs"
        if why == "it hangs" and left < LIMIT:
            result = f"time is over in {name}"
        elif why:
            result = f"killed {name}: {why}"
        if why:
            break
    with open(learned, "w", encoding="utf-8") as file:
        json.dump(known, file, indent=1)
    print(result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
