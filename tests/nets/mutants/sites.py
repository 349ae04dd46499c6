# SPDX-License-Identifier: Apache-2.0
"""Where C code can be changed by one operator, bound, constant or branch, and into what."""

import re
from typing import Iterator, NamedTuple


class Mutant(NamedTuple):
    path: str
    line: int
    what: str
    before: str
    after: str


# Comments, strings and preprocessor lines are never changed. They become spaces, so that columns stay.
SKIPPED = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|^#(?:\\\n|[^\n])*|_Static_assert\([^;]*;',
                     re.S | re.M)

# What stands there, and what may stand there instead. clang-format puts spaces around binary operators only.
RULES: list[tuple[str, str, list[str]]] = [
    ("comparison", r" == ", [" != "]),
    ("comparison", r" != ", [" == "]),
    ("bound", r" < ", [" <= ", " >= "]),
    ("bound", r" <= ", [" < ", " > "]),
    ("bound", r" > ", [" >= ", " <= "]),
    ("bound", r" >= ", [" > ", " < "]),
    ("operator", r" && ", [" || "]),
    ("operator", r" \|\| ", [" && "]),
    ("operator", r" \+ ", [" - "]),
    ("operator", r" - ", [" + "]),
    ("operator", r" \| ", [" & "]),
    ("operator", r" \|= ", [" &= "]),
    ("operator", r" \+= ", [" -= "]),
    ("operator", r" -= ", [" += "]),
    ("operator", r" \* (?=[\w(])", [" + "]),
    ("operator", r" << ", [" >> "]),
    ("operator", r"(?<=\w)\+\+", ["--"]),
    ("operator", r"(?<=\w)--", ["++"]),
    ("operator", r"!(?=[\w(])", [""]),
    ("constant", r"\btrue\b", ["false"]),
    ("constant", r"\bfalse\b", ["true"]),
    # Not "return 0" or "? 0 :": whoever calls asks for less than 0, and 1 is as good.
    ("constant", r"(?<!return )(?<!\? )(?<![\w.])[0-9]+(?=[uUlL]*\b)(?![.\w]*x)", ["+1", "-1"]),
    ("branch", r"\bif \((?=.*\) \{$)", ["if (1 || ", "if (0 && "]),
    ("branch", r"\bwhile \((?=.*\) \{$)", ["while (0 && "]),
    ("branch", r"\bcontinue;", [";"]),
    ("branch", r"\bbreak;", [";"]),
    ("branch", r"\breturn (?=-E|err_set\()", ["return 0; return "]),
    ("branch", r"(?<=^\t)\t*[a-z_]+\([^={}]*\);$", [";"]),
]


def constant(text: str, change: str) -> str:
    number = int(text, 8 if re.fullmatch("0[0-7]+", text) else 10)
    changed = max(0, number + int(change))
    return f"0{changed:o}" if text.startswith("0") and len(text) > 1 else str(changed)


def blank(match: "re.Match[str]") -> str:
    return re.sub(r"[^\n]", " ", match[0])


def mutants_of(path: str, text: str) -> Iterator[Mutant]:
    """Each mutant of a file. A line outside of functions has none, but for tables."""
    code = SKIPPED.sub(blank, text)
    for number, (line, original) in enumerate(zip(code.split("\n"), text.split("\n"))):
        if not line.startswith("\t") or "case " in line:
            continue
        for what, pattern, changes in RULES:
            for match in re.finditer(pattern, line):
                for change in changes:
                    new = constant(match[0], change) if what == "constant" and change in ("+1", "-1") else change
                    after = original[: match.start()] + new + original[match.end() :]
                    if what == "branch" and change.startswith(("if", "while")):
                        # The added operator must not bind more weakly than what follows: "0 && a || b".
                        end = line.rindex(") {")
                        after = original[: match.start()] + new + "(" + original[match.end() : end] + ")" + original[end:]
                    if after != original:
                        yield Mutant(path, number, what, original, after)
