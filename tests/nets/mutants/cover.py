# SPDX-License-Identifier: Apache-2.0
"""
Which test reaches which line. Each test runs once, alone, with programs that note which of their blocks run (cover.c). What it
reached is kept in build-mutants/cover.json until the sources or the test change.
"""

import hashlib
import json
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tree import WORK, Tree

KEPT = WORK / "cover.json"


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def digest_of_test(test: dict) -> str:
    """Of its file; of a bats file without the other tests."""
    file = Path(test["file"])
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    if file.suffix == ".bats":
        blocks_of = re.findall(r"^@test .*?^}\n", text, re.M | re.S)
        rest = re.sub(r"^@test .*?^}\n", "", text, flags=re.M | re.S)
        text = rest + "".join(block for block in blocks_of if test["title"] in block.split("\n")[0])
    return digest(text)


def program_name(program: Path) -> str:
    """What cover.c calls its file."""
    text = subprocess.run(["nm", str(program)], check=True, capture_output=True, text=True).stdout
    at = {match[2]: int(match[1], 16) for match in re.finditer(r"^(\w+) \w (etext|edata|__executable_start)$", text, re.M)}
    return f"{at['etext'] - at['__executable_start']:x}-{at['edata'] - at['etext']:x}"


def blocks(program: Path) -> dict[int, list[str]]:
    """'PATH:LINE' of all lines of the block that begins at this address."""
    out: dict[int, set[str]] = {}
    dump = subprocess.Popen(["objdump", "-dl", "--no-show-raw-insn", str(program)], stdout=subprocess.PIPE, text=True,
                            errors="replace")
    assert dump.stdout
    block, line, pending, called = 0, "", set(), False
    for text in dump.stdout:
        if text[0] == " ":
            if called:
                # What stands before the first block of a function belongs to it.
                block, called = int(text[: text.index(":")], 16), False
                out[block] = pending | {line} - {""}
                pending = set()
            called = text.endswith("<__sanitizer_cov_trace_pc>\n")
            if line and not called:
                (out[block] if block else pending).add(line)
        elif text[0] == "/":
            place = re.match(r".*/((?:src|cmd)/[\w/]+\.c):(\d+)", text)
            line = f"{place[1]}:{place[2]}" if place else ""
        elif text.endswith(">:\n"):
            block, line, pending = 0, "", set()
    dump.wait()
    return {block: sorted(lines) for block, lines in out.items() if lines}


def build(tests: list[dict]) -> Tree:
    runtime = WORK / "cover.o"
    subprocess.run(["gcc", "-O2", "-c", str(Path(__file__).parent / "cover.c"), "-o", str(runtime)], check=True)
    tree = Tree("cover", "-Ddebug=true", "-Dc_args=-fsanitize-coverage=trace-pc", f"-Dc_link_args={runtime}")
    if not tree.make("distinit", "distrun", *{test["target"] for test in tests if test["target"]}):
        raise SystemExit("mutants: the tree does not build with coverage")
    return tree


def with_lines(tree: Tree, result: dict, known: dict[str, dict[int, list[str]]]) -> dict:
    """Lines instead of addresses. Of programs that are not told apart by their sizes, the one of this test is meant."""
    lines: set[str] = set()
    for name, addresses in result.pop("reached").items():
        programs = [program for program in known if program.endswith(":" + name)]
        if len(programs) > 1:
            programs = [program for program in programs if program.startswith(result["name"].partition("/")[2] + ":")]
        for program in programs:
            lines.update(*(known[program].get(address, []) for address in addresses))
    return {**result, "lines": sorted(lines)}


def all_blocks(tree: Tree, tests: list[dict], pool: ThreadPoolExecutor) -> dict[str, dict[int, list[str]]]:
    """Of all programs that these tests run. By 'PROGRAM:NAME OF ITS FILE'."""
    programs = [tree.build / name for name in ["distinit", "distrun", *{test["target"] for test in tests} - {""}]]
    names = [f"{program.name.split('-', 1)[-1]}:{program_name(program)}" for program in programs]
    return dict(zip(names, pool.map(blocks, programs)))


def still_known(kept: dict, tests: list[dict], sources: dict[str, str]) -> dict[str, dict]:
    """What earlier runs found, without what reached a file that has changed."""
    changed = {path for path in kept["sources"] if sources.get(path) != kept["sources"][path]}
    digests = {test["name"]: digest_of_test(test) for test in tests}
    return {name: its for name, its in kept["tests"].items() if its["digest"] == digests.get(name)
            and not changed & {line.rsplit(":", 1)[0] for line in its["lines"]}}


def coverage(tests: list[dict], tree: Tree, jobs: int) -> dict[str, dict]:
    """By name of test: seconds, why (it fails even so), lines ('PATH:LINE')."""
    sources = {str(file.relative_to(tree.path)): digest(file.read_text(encoding="utf-8"))
               for part in ("src", "cmd") for file in tree.path.glob(f"{part}/**/*.c")}
    kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {"sources": {}, "tests": {}}
    kept = {"sources": sources, "tests": still_known(kept, tests, sources)}
    missing = {test["name"]: digest_of_test(test) for test in tests if test["name"] not in kept["tests"]}
    if not missing:
        return kept["tests"]
    print(f"mutants: which lines do {len(missing)} tests reach?", flush=True)
    covered = build(tests)
    its_tests = [test for test in covered.tests() if test["name"] in missing]
    with ThreadPoolExecutor(jobs) as pool:
        known = all_blocks(covered, its_tests, pool)
        pieces = [its_tests[n::jobs * 16] for n in range(min(jobs * 16, len(its_tests)))]
        for output in pool.map(lambda piece: covered.room(piece, "0", "cover"), pieces):
            for line in output.splitlines():
                result = with_lines(covered, json.loads(line), known)
                kept["tests"][result["name"]] = {**result, "digest": missing[result["name"]]}
            KEPT.write_text(json.dumps(kept), encoding="utf-8")
    return kept["tests"]
