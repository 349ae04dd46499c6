# SPDX-License-Identifier: Apache-2.0

"""Reads the program's own tables, as "distinit managers" and "distinit frameworks" print them."""

import dataclasses
import pathlib
import re
import subprocess

LABELS = ("known by", "reads", "ignores", "lacks", "sets")


@dataclasses.dataclass
class Entry:
    """One manager, launcher or framework: its name, its description, and the text of each label."""

    name: str
    about: str
    parts: dict[str, str] = dataclasses.field(default_factory=dict)


def parse(text: str) -> list[list[Entry]]:
    """Split @text into groups of entries. A line that begins with a letter is a group's heading."""
    groups: list[list[Entry]] = []
    label = ""
    for line in text.splitlines():
        words = line.strip()
        depth = len(line) - len(line.lstrip())
        if depth == 0 and words:
            groups.append([])
        elif depth == 2:
            name, about = words.split(None, 1)
            groups[-1].append(Entry(name, about))
        elif words:
            part = next((one for one in LABELS if depth == 14 and words.startswith(one + " ")), "")
            label = part or label
            entry = groups[-1][-1]
            entry.parts[label] = (entry.parts.get(label, "") + " " + words.removeprefix(part).strip()).strip()
    return groups


def read(program: str, word: str) -> list[list[Entry]]:
    """Run the program, and read one of its tables."""
    shown = subprocess.run([program, word], env={}, capture_output=True, text=True, check=True)
    return parse(shown.stdout)


def update(path: pathlib.Path, text: str, check: bool) -> bool:
    """Write @text to @path. With @check only compare, and return false if they differ."""
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return True
    if check:
        print(f"{path}: out of date")
        return False
    path.write_text(text, encoding="utf-8")
    return True


def as_code(text: str) -> str:
    """Format the names of variables, options and files in @text as Markdown code."""
    option, path = r"--[a-z][a-z-]+(?:=[a-z]+)?", r"(?<![\w/])/[\w./-]+\w"
    variable = r"\b_?[A-Z][A-Z0-9]*_[A-Za-z0-9_*]*|\bJOB-[\w.-]+|\b(?:RANK|ARC|[A-Z]{5,})\b"
    form = r"(?<=of the form )\S+"
    return re.sub(f"{form}|{option}|{path}|{variable}", r"`\g<0>`", text).replace("|", "\\|")
