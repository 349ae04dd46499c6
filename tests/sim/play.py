#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Play jobs of the roll call and of --together over a simulated kernel. Prints TAP.

    play.py SIM [--time=SECONDS | --jobs=N] [--seed=N] [--cores=N] [OPTION OF SIM]...

Compares promises.txt with the pages and with the simulator; plays a seed twice, which has to go alike; plays the tapes of found/, and jobs
that come to all rows of rows.txt; then jobs from a random seed, which it prints, for --time seconds (10), or so many, on --cores
processors (1).

accepted.txt has promises that may be broken, with the reasons; known.txt has defects that are not mended yet.
"""

import pathlib
import re
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parent.parent

# Far enough from each other that no core plays a job of another one.
SEEDS_OF_A_CORE = 10**9


def lines_of(name):
    return [line for line in (HERE / name).read_text().splitlines() if line and not line.startswith("#")]


def flat(text):
    """A text without what a page or a comment adds at the ends of lines, and without Markdown's emphasis."""
    return re.sub(r"\s+", " ", re.sub(r"\n\s*(\*|//)?\s*", " ", text))


class Tap:
    def __init__(self):
        self.n = 0
        self.bad = 0

    def test(self, good, name, comments=()):
        self.n += 1
        self.bad += not good
        for line in comments:
            print(f"# {line}")
        print(f"{'ok' if good else 'not ok'} {self.n} - {name}", flush=True)


def check_promises(tap):
    listed = {}
    wrong = []
    for line in lines_of("promises.txt"):
        name, file, sentence = line.split(" | ", 2)
        listed[name] = sentence
        path = TREE / file
        if not path.is_file():
            wrong.append(f"{name}: there is no {file}")
        elif flat(sentence) not in flat(path.read_text()):
            wrong.append(f"{name}: {file} does not say: {sentence}")
    known = set()
    for source in HERE.glob("*.c"):
        known |= set(re.findall(r'(?:PROMISE|IN_TIME|broken|promise_is_on|check_all_know)\(\s*"([a-z-]+)"', source.read_text()))
    wrong += [f"{name} is not in promises.txt" for name in sorted(known - listed.keys())]
    wrong += [f"{name} is in promises.txt, and nobody looks at it" for name in sorted(listed.keys() - known)]
    tap.test(not wrong, "each promise is a sentence of a page, and is looked at", wrong)


def known_defects(kind):
    return [line.split(": ", 1)[1] for line in lines_of("known.txt") if line.startswith(kind + ": ")]


def run(words):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    return done.returncode, done.stdout.splitlines()


def check_tapes(tap, sim, accepted):
    unmended = set(known_defects("tape"))
    for tape in sorted((HERE / "found").glob("*.tape")):
        status, lines = run([sim, "--accept=" + accepted, str(tape)])
        if tape.stem in unmended:
            tap.test(status in (0, 1), f"found: {tape.stem} (known: {'holds by now' if status == 0 else 'broken'})")
        else:
            tap.test(status == 0, f"found: {tape.stem}", lines if status else ())


def check_rows(tap, sim):
    """Jobs from one seed on come to each row of the tables of states, some of them after a while."""
    wanted = {}
    for line in lines_of("rows.txt"):
        row, _, words = line.partition(" | ")
        wanted.setdefault(words, []).append(row)
    missing = []
    for words, rows in wanted.items():
        left = rows
        for seed in range(11, 20 * 5000, 5000):
            lines = run([sim, "--jobs=5000", f"--seed={seed}", "--no-shrink", "--reached", "--accept=" + ",".join(all_promises()), *words.split()])[1]
            came = {line.removeprefix("reached ") for line in lines}
            left = [row for row in left if row not in came]
            if not left:
                break
        missing += [f"{row} {words}".rstrip() for row in left]
    tap.test(not missing, "each row of the tables of states is reached", missing)


def play(tap, sim, options, words, accepted):
    running = []
    cores = options["cores"]
    how_long = f"--jobs={options['jobs'] // cores}" if options["jobs"] else f"--time={options['time']}"
    for core in range(cores):
        first = options["seed"] + core * SEEDS_OF_A_CORE
        command = [sim, how_long, f"--seed={first}", "--accept=" + accepted, *words]
        running.append((first, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")))
    for first, process in running:
        lines = process.communicate()[0].splitlines()
        figures = next((line[2:] for line in lines if " jobs in " in line), "no jobs")
        good = process.returncode == 0
        tap.test(good, f"from seed {first}: {figures}", () if good else [line.removeprefix("# ") for line in lines])


def main():
    sim, *words = sys.argv[1:]
    options = {"time": 10.0, "jobs": 0, "seed": int(time.time() * 1000) % 10**12, "cores": 1}
    others = []
    for word in words:
        match = re.fullmatch(r"--(time|jobs|seed|cores)=([\d.]+)", word)
        if match:
            options[match[1]] = type(options[match[1]])(match[2])
        else:
            others.append(word)
    tap = Tap()
    accepted = [line.split(":", 1)[0] for line in lines_of("accepted.txt")]
    check_promises(tap)
    status, lines = run([sim, "--jobs=200", f"--seed={options['seed']}", "--repeat", "--no-shrink", "--accept=" + ",".join(all_promises())])
    tap.test(status == 0, "a seed goes the same way twice", lines if status else ())
    check_tapes(tap, sim, ",".join(accepted))
    check_rows(tap, sim)
    play(tap, sim, options, others, ",".join(accepted + known_defects("promise")))
    print(f"1..{tap.n}")
    return tap.bad > 0


def all_promises():
    return [line.split(" | ")[0] for line in lines_of("promises.txt")]


if __name__ == "__main__":
    sys.exit(main())
