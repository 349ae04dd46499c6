# SPDX-License-Identifier: Apache-2.0
"""A launcher like torchrun, for together.bats: launcher.py RANK FIRST-TO-DIE WORKERS.

Its workers run until somebody kills them, or until one of another node has died: then they fail, a little later. All launchers
wait for each other before they end with 1, and that of the first goes last.
"""

import os
import signal
import subprocess
import sys
import time

RANK, CULPRIT, WORKERS = sys.argv[1], sys.argv[2], sys.argv[3]


def work():
    open(f"worker.{RANK}.{os.getpid()}", "w", encoding="ascii").close()
    while not os.path.exists("broken"):
        time.sleep(0.01)
    time.sleep(0.15)
    sys.exit(1)


def launch():
    signal.signal(signal.SIGTERM, lambda *_: [worker.terminate() for worker in workers] and sys.exit(1))
    workers = [subprocess.Popen([sys.executable, __file__, RANK, CULPRIT, "work"]) for _ in range(int(WORKERS))]
    while all(worker.poll() is None for worker in workers):
        time.sleep(0.02)
    if RANK == CULPRIT:
        open("broken", "w", encoding="ascii").close()
    time.sleep(2 if RANK == CULPRIT else 0.5)
    sys.exit(1)


if __name__ == "__main__":
    if WORKERS == "work":
        work()
    launch()
