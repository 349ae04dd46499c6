# SPDX-License-Identifier: Apache-2.0

"""Reads the program's own tables: managers and frameworks as it prints them, options from the source."""

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


@dataclasses.dataclass
class Option:
    """A row of a table of options: the heading that it is below, and its other names."""

    name: str
    letter: str
    id: str
    commands: set[str]
    argument: str
    help: str
    group: str
    variable: bool = False
    is_optional: bool = False
    is_verb: bool = False
    others: list[str] = dataclasses.field(default_factory=list)


TEXT = r'(NULL|(?:"(?:[^"\\]|\\.)*"\s*)+)'
ROW = re.compile(
    rf"""OPTION_HEAD\(\w+, "(?P<head>[^"]+)"\)"""
    rf"""|\{{"(?P<name>[a-z-]+)", (?:0|'(?P<letter>\w)'), (?P<id>\w+)[^,]*, (?P<takes>TAKES_\w+),\s*(?P<commands>[^,]+), """
    rf"""(?P<variable>true|false),\s*(?P<argument>{TEXT}),\s*(?P<help>{TEXT})(?:,\s*{TEXT})?\}}"""
    rf"""|VERB\("(?P<verb>[a-z-]+)", (?:0|'(?P<verb_letter>\w)'), \w+, (?P<takes_verb>{TEXT}),\s*(?P<about>{TEXT})\)"""
)


def c_text(text: str) -> str:
    """The value of C's string literals, which may be several."""
    return "" if text == "NULL" else "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', text)).replace('\\"', '"')


def options(path: pathlib.Path) -> list[Option]:
    """The options of the table in @path. Rows without a help are other names of the row before them."""
    text = path.read_text(encoding="utf-8")
    sets = dict(re.findall(r"^#define (\w+)\s+\(([A-Z_| ]+)\)", text, flags=re.MULTILINE))

    def flags(words: str) -> set[str]:
        found = (flags(sets[word]) if word in sets else {word} for word in re.findall(r"\w+", words))
        return set().union(*found)

    found: list[Option] = []
    group = ""
    for row in ROW.finditer(text):
        letter = row["letter"] or row["verb_letter"] or ""
        if row["head"]:
            group = row["head"]
        elif row["verb"]:
            found.append(Option(row["verb"], letter, "", flags("DERIVE"), c_text(row["takes_verb"]), c_text(row["about"]),
                                group, is_verb=True))
        elif row["help"] != "NULL":
            found.append(Option(row["name"], letter, row["id"], flags(row["commands"]), c_text(row["argument"]),
                                c_text(row["help"]), group, row["variable"] == "true", row["takes"] == "TAKES_OPTIONAL"))
        elif found and found[-1].id == row["id"]:
            found[-1].others.append(row["name"])
    return found


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
