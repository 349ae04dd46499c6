# SPDX-License-Identifier: Apache-2.0
"""A report is a test: what "explain --format=vector" prints of each case is a case that run.py takes; print TAP.

    reports.sh BINARY FOLDER

The report's answer has to be the case's own, as far as no names are in it, and no name of the case may be in the report.
"""

import os
import pathlib
import sys
import tempfile

import run

SAME = ("source", "launcher", "scope", "nnodes", "node_rank")


def report_of(binary, case, root):
    runner = run.Runner(binary, case, root)
    done = runner.run("explain", "--format=vector")
    return done, runner


def of_explain(runner):
    """What has to be alike: the manager, and this process's place; or that it is refused."""
    done = runner.run("explain", "--format=json")
    if done.status != 0:
        return "refused"
    said = run.json.loads(done.stdout)
    cluster = said["cluster"] or {}
    return {key: said[key] if key in run.TOP_KEYS else cluster.get(key) for key in SAME if cluster}


def of_report(case):
    if case.refused:
        return "refused"
    wanted = {key: (case.cluster or {}).get(key) for key in SAME if case.cluster}
    return {key: None if value == "-" else int(value) if value.isdigit() else value for key, value in wanted.items()}


def check(binary, case):
    with tempfile.TemporaryDirectory() as root:
        run.write_files(case, root)
        done, runner = report_of(binary, case, root)
        want = of_explain(runner)
    text = done.stdout.decode()
    if done.status != 0:
        # What is no cluster's fault, such as a wrong word, is refused as everywhere.
        return [] if case.refused and done.messages == runner.messages else [f"status {done.status}: {done.messages}"]
    again = next(iter(run.read_cases(text).values()))
    complaints = run.run_case(binary, again)[0]
    have = of_report(again)
    if case.refused or want == "refused":
        # Directives and privileges are left out, and so are their mistakes.
        have = want
    if have != want:
        complaints.append(f"explain says {want}, the report {have}")
    return complaints and [*complaints, *text.splitlines()]


def main():
    binary, folder = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
    tap = run.Tap()
    for path in sorted(folder.glob("*.txt")):
        if path.stem == "hostlist" or len(sys.argv) > 3 and path.stem not in sys.argv[3:]:
            continue
        for case in run.read_cases(path.read_text()).values():
            try:
                complaints = check(binary, case)
            except (run.BadFile, UnicodeDecodeError) as error:
                complaints = [str(error)]
            tap.result(f"{path.stem}: {case.name}", complaints)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
