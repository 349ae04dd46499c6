# SPDX-License-Identifier: Apache-2.0
"""A report becomes a test: tools/vector makes a case of each of these cases' reports, and it holds. Prints TAP.

    reports.sh BINARY FOLDER
"""

import os
import pathlib
import subprocess
import sys
import tempfile

import run

VECTOR = pathlib.Path(__file__).resolve().parents[2] / "tools" / "vector"
FILES = ("backendai", "lws", "sagemaker", "pytorchjob", "mpijob", "plain", "slurm")


def check(binary, case):
    with tempfile.TemporaryDirectory() as root:
        done = run.Runner(binary, case, root).run("explain", "--format=json")
        if done.status != 0:
            return [f"explain ends with {done.status}"]
        if run.json.loads(done.stdout)["warnings"]:
            return []
        variables, said = pathlib.Path(root, "variables"), pathlib.Path(root, "said.json")
        variables.write_text("".join(f"{name}={value}\n" for name, value in case.env.items()), encoding="utf-8")
        said.write_bytes(done.stdout)
        words = [f"--option={word}" for word in case.options]
        made = subprocess.run([VECTOR, *words, variables, said], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        return made.stderr.splitlines()
    again = next(iter(run.read_cases(made.stdout).values()))
    complaints = run.run_case(binary, again)[0]
    return complaints and [*complaints, *made.stdout.splitlines()]


def main():
    binary, folder = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
    tap = run.Tap()
    for name in FILES:
        for case in run.read_cases((folder / f"{name}.txt").read_text()).values():
            # "explain" warns of more than a run does, and so does the case that is made of it.
            plain = not (case.messages or case.files or case.refused or case.hostname) and not any("\\" in value or "{" in value or "@" in value for value in case.env.values())
            if plain:
                tap.result(f"{name}: {case.name}", check(binary, case))
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
