# SPDX-License-Identifier: Apache-2.0

"""What the tests of the pages share: which pages there are, their blocks, links and headings; TAP."""

import dataclasses
import pathlib
import re
from collections.abc import Callable

ROOT = pathlib.Path(__file__).resolve().parents[2]


@dataclasses.dataclass
class Block:
    """A fenced block: its language, what stands behind that, its lines, and where it begins."""

    language: str
    about: str
    lines: list[str]
    line: int


def markdown() -> list[pathlib.Path]:
    """Every page of the tree, but for what is built or fetched."""
    skipped = re.compile(r"(\.[^/]*|build|build-[^/]*|subprojects)$")
    found = sorted(ROOT.glob("*.md"))
    for folder in sorted(ROOT.iterdir()):
        if folder.is_dir() and not skipped.match(folder.name):
            found += sorted(folder.rglob("*.md"))
    return found


def guide() -> list[pathlib.Path]:
    """The pages for users."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def name_of(path: pathlib.Path) -> str:
    return str(path.relative_to(ROOT))


def split(text: str) -> tuple[str, list[Block]]:
    """The page without its fenced blocks, whose lines are left empty; and the blocks."""
    prose: list[str] = []
    blocks: list[Block] = []
    open_block: Block | None = None
    for number, line in enumerate(text.splitlines(), 1):
        fence = re.match(r"\s*```(\S*)\s*(.*)$", line)
        if fence and open_block:
            blocks.append(open_block)
            open_block = None
        elif fence:
            open_block = Block(fence[1], fence[2].strip(), [], number)
        elif open_block:
            open_block.lines.append(line)
        prose.append("" if fence or open_block else line)
    return "\n".join(prose), blocks


def without_code(prose: str) -> str:
    return re.sub(r"`[^`]*`", "", prose)


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    found: set[str] = set()
    for heading in re.findall(r"^#+ +(.*?)\s*$", split(text)[0], flags=re.MULTILINE):
        slug = re.sub(r"[^\w\- ]", "", heading.lower().replace("`", "")).replace(" ", "-")
        again = (f"{slug}-{i}" for i in range(1, 1000))
        found.add(slug if slug not in found else next(one for one in again if one not in found))
    return found


def broken_links(path: pathlib.Path) -> list[str]:
    """The relative links of a page that lead to no file or heading."""
    bad = []
    prose = without_code(split(path.read_text(encoding="utf-8"))[0])
    for target in re.findall(r"\]\(\s*<?([^)\s>]+)", prose):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        to = (path.parent / file).resolve() if file else path
        if not to.exists():
            bad.append(f"{path.name}: {target}: there is no such file")
        elif anchor and to.suffix == ".md" and anchor not in anchors(to.read_text(encoding="utf-8")):
            bad.append(f"{path.name}: {target}: there is no such heading")
    return bad


class Tap:
    """Counts tests and prints a line for each. A test returns its complaints."""

    def __init__(self) -> None:
        self.count = 0
        self.failed = False

    def test(self, name: str, complaints: Callable[[], list[str]]) -> None:
        self.count += 1
        found = complaints()
        self.failed |= bool(found)
        print(f"{'not ok' if found else 'ok'} {self.count} {name}")
        for complaint in found:
            print("\n".join("# " + line for line in complaint.splitlines()))

    def end(self) -> int:
        print(f"1..{self.count}", flush=True)
        return 1 if self.failed else 0
