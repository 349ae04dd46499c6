#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0

"""Checks .github/workflows/*.yml, which cannot run here. Prints TAP, a test for each file.

    workflow.py TREE

Each job says where it runs and has steps, or uses a workflow of the tree; a step runs something or uses an action, pinned by its
commit's hash, with the version behind it; what a job needs is a job; what a matrix gives is used, and the other way round; a script of
the tree that is run is there; a workflow that is called names the secrets that it reads, and who calls it passes them.
"""

import pathlib
import re
import sys

try:
    import yaml
except ImportError:
    print("1..0 # SKIP python3-yaml is not installed")
    sys.exit()


def bad_steps(tree: pathlib.Path, steps: list) -> list[str]:
    bad = []
    for step in steps:
        if not isinstance(step, dict) or len({"run", "uses"} & step.keys()) != 1:
            bad.append(f"a step has either 'run' or 'uses': {step}")
        elif not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", step.get("uses", "any/action@" + "0" * 40)):
            bad.append(f"not pinned by a commit's hash: {step['uses']}")
        else:
            scripts = re.findall(r"^(\.[\w./-]+)", step.get("run", ""), re.MULTILINE)
            bad += [f"{name} is not there" for name in scripts if not (tree / name).is_file()]
    return bad


def bad_matrix(job: dict) -> list[str]:
    rows = job.get("strategy", {}).get("matrix", {}).get("include", [])
    given = {name for row in rows for name in row}
    used = set(re.findall(r"matrix\.(\w+)", str(job)))
    return [f"of the matrix, given or used alone: {name}" for name in sorted(given ^ used)]


def secrets_of(called: dict) -> set[str]:
    return set((called.get(True, {}).get("workflow_call") or {}).get("secrets", {}))


def bad_call(tree: pathlib.Path, name: str, job: dict) -> list[str]:
    if not re.fullmatch(r"\./[\w./-]+", job["uses"]) or not (tree / job["uses"]).is_file():
        return [f"{name}: no workflow: {job['uses']}"]
    called = yaml.safe_load((tree / job["uses"]).read_text(encoding="utf-8"))
    return [f"{name} does not pass the secret {secret}" for secret in sorted(secrets_of(called) - set(job.get("secrets", {})))]


def bad_secrets(text: str, flow: dict) -> list[str]:
    # A workflow that is called has no secret but those that it names.
    calls = "workflow_call" in (flow.get(True) or {})
    return [f"reads the secret {secret}, and does not name it" for secret in sorted(set(re.findall(r"secrets\.(\w+)", text)) - secrets_of(flow))] if calls else []


def bad_jobs(tree: pathlib.Path, flow: dict) -> list[str]:
    # YAML 1.1 reads "on" as true.
    bad = [] if {"name", True, "jobs"} <= flow.keys() else ["'name', 'on' and 'jobs' are expected"]
    jobs = flow.get("jobs", {})
    for name, job in jobs.items():
        needs = job.get("needs", [])
        bad += [f"{name} needs {other}, which is no job" for other in ([needs] if isinstance(needs, str) else needs) if other not in jobs]
        if "uses" in job:
            bad += bad_call(tree, name, job)
            continue
        bad += [] if job.get("runs-on") and job.get("steps") else [f"{name} has no 'runs-on', or no 'steps'"]
        bad += [f"{name}: {text}" for text in bad_steps(tree, job.get("steps", [])) + bad_matrix(job)]
    return bad


def main() -> int:
    tree = pathlib.Path(sys.argv[1])
    files = sorted((tree / ".github/workflows").glob("*.yml"))
    failed = 0
    for number, path in enumerate(files, 1):
        text = path.read_text(encoding="utf-8")
        flow = yaml.safe_load(text)
        bad = bad_jobs(tree, flow) + bad_secrets(text, flow)
        # A hash tells a reader nothing.
        bad += [f"no version behind it: {line}" for line in text.splitlines() if "@" in line and re.search(r"uses: (?!.* # v\d)", line)]
        failed += bool(bad)
        print(f"{'not ok' if bad else 'ok'} {number} {path.name}")
        print("".join(f"# {text}\n" for text in bad), end="")
    print(f"1..{len(files)}")
    return 1 if failed or not files else 0


if __name__ == "__main__":
    sys.exit(main())
