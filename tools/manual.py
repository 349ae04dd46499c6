# SPDX-License-Identifier: Apache-2.0

"""Writes what the manuals say of managers, launchers and options, from the program's own tables.

The tables have the short text, which the program prints, too. What a manual says beyond it is in a file of notes beside
the manual: plain lines, in which names get their markup as in the tables, and lines of mdoc. "@manager lsf" begins the note of a manager, "@manager slurm 2" that of its second row; "@launcher
flux", "@option grace", "@option env format" (of a subcommand) and "@section Privileges" are alike. The words behind a
colon, "@option scope: auto node", are set as literal words in the short text.
"""

import dataclasses
import pathlib
import re
import textwrap

import tables

WIDTH = 80
LONG = 40
# A token of a text, with the brackets and the punctuation around it.
TOKEN = re.compile(r"(?P<open>\(?)(?P<core>(?<!\w)'[^']+'(?!\w)|[^\s(]\S*?)(?P<close>[.,;:)]*)(?=\s|$)\s*")
VARIABLE = re.compile(r"_?[A-Z][A-Z0-9]*_[A-Za-z0-9_*]*|RANK|INDEX|NNODES|NHOSTS|ARC|HOME|USER|LOGNAME")
DELIMITERS = set(".,:;()[]?!|")


class Notes:
    """The notes of a file: the lines of each, and the literal words of its short text."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self.own = path.parent.name
        self.found: dict[str, tuple[list[str], list[str]]] = {}
        self.used: set[str] = set()
        key = ""
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("@"):
                key, _, words = line[1:].partition(": ")
                self.found[key] = ([], words.split())
            elif key and line:
                self.found[key][0].append(line)

    def take(self, *keys: str) -> tuple[list[str], list[str]]:
        """The note of the first of @keys that there is."""
        key = next((key for key in keys if key in self.found), "")
        self.used.add(key)
        return self.found.get(key, ([], []))

    def unused(self) -> list[str]:
        return [f"{self.path}: nothing has the name '{key}'" for key in self.found if key not in self.used]


@dataclasses.dataclass
class Style:
    """How the words of a text are set: the manual's program, the literal words, and the names of arguments."""

    own: str
    literal: list[str] = dataclasses.field(default_factory=list)
    arguments: list[str] = dataclasses.field(default_factory=list)
    keeps_case: bool = False


def macro(core: str, style: Style) -> str:
    """The mdoc macro for a token; "" if it is an ordinary word."""
    core = core.replace("\\", "\\e")
    option = re.fullmatch(r"-(-[a-z-]+)(?:=(.+))?", core)
    if core in style.arguments:
        return f"Ar {core if style.keeps_case and core != 'COMMAND' else core.lower()}"
    if core in style.literal:
        return f"Cm {core}"
    if option:
        return f"Fl {option[1]}" + (f" Ns = Ns Cm {option[2]}" if option[2] else "")
    if core in ("distinit", "distrun"):
        return "Nm" if core == style.own else f"Xr {core} 1"
    if core.startswith("'"):
        return "Ql " + " ".join("\\&" * (word in DELIMITERS) + word for word in core.strip("'").split())
    if VARIABLE.fullmatch(core):
        return f"Ev {core}"
    if re.fullmatch(r"/[\w./-]+\w", core):
        return f"Pa {core}"
    return f"Ql {core}" if re.search(r"[=*{}]|\[.+\]", core) and len(core) > 1 else ""


def as_mdoc(text: str, style: Style) -> list[str]:
    """@text as lines of mdoc: a sentence begins a line, and so does a macro."""
    lines: list[str] = []
    plain: list[str] = []

    def flush() -> None:
        lines.extend(textwrap.wrap(" ".join(plain), WIDTH, break_on_hyphens=False, break_long_words=False))
        plain.clear()

    for token in TOKEN.finditer(text):
        name = macro(token["core"], style)
        if len(name) > LONG:
            name = re.sub(r"(?<=[-.])(?=\{)", r"\\:", name)  # a line may end there
        if name:
            flush()
            kind, _, rest = name.partition(" ")
            words = [kind, *token["open"], *([rest] if rest else []), *token["close"]]
            lines.append("." + " ".join(words))
        else:
            plain.append(token[0].strip().replace("\\", "\\e"))
            if token["close"].endswith("."):
                flush()
    flush()
    return lines


def note_lines(note: list[str], style: Style) -> list[str]:
    """The lines of a note, as mdoc. Its literal words are marked in it."""
    style = dataclasses.replace(style, literal=[])
    parts: list[list[str]] = []
    for line in note:
        if line.startswith(".") or not parts or parts[-1][0].startswith("."):
            parts.append([])
        parts[-1].append(line)
    return [line for part in parts for line in (part if part[0].startswith(".") else as_mdoc(" ".join(part), style))]


def sentence(text: str, names: list[str]) -> str:
    """@text with a capital at the start, unless it begins with one of @names, and a full stop."""
    first = re.match(r"[a-z']*", text)[0].removesuffix("'s")
    return (text if first in names else text[:1].upper() + text[1:]) + "."


def entries(kind: str, found: list[tables.Entry], notes: Notes) -> str:
    """Managers or launchers."""
    lines: list[str] = []
    seen: dict[str, int] = {}
    labels = {"known by": "Recognised by", "ignores": "Ignores", "lacks": "Lacks"}
    for e in found:
        seen[e.name] = seen.get(e.name, 0) + 1
        note, literal = notes.take(f"{kind} {e.name}" + (f" {seen[e.name]}" if seen[e.name] > 1 else ""))
        parts = [f"{word} {e.parts[label]}." for label, word in labels.items() if label in e.parts]
        if kind == "launcher":
            parts.append(f"Reads {', '.join(e.parts['reads'].split())}.")
        style = Style(notes.own, literal)
        lines += [f".It Cm {e.name}", *as_mdoc(" ".join([sentence(e.about, [e.name]), *parts]), style)]
        lines += note_lines(note, style)
    return "\n".join(lines) + "\n"


def head(o: tables.Option) -> str:
    """The line that begins an option's entry."""
    argument = ""
    for word in re.findall(r"[A-Za-z]+|[^A-Za-z]+", o.argument):
        kind = "Ar" if word.isupper() else "Cm"
        shown = f"{kind} {word if o.is_verb or kind == 'Cm' else word.lower()}" if word.isalpha() else word
        shown = shown if word.isalpha() or word == "=" else f"\\&{word}"
        argument += f" Ns {shown}" if argument else shown
    if o.is_optional:
        argument = f" Ns Op = Ns {argument}"
    elif argument:
        argument = f" {argument}" if o.is_verb else f" Ns = Ns {argument}"
    return ".It " + (f"Fl {o.letter} , " if o.letter else "") + f"Fl -{o.name}{argument}"


def option(o: tables.Option, notes: Notes, keys: list[str]) -> list[str]:
    """The entry of an option; its note has one of @keys."""
    note, literal = notes.take(*keys)
    arguments = [word for word in re.findall("[A-Z]+", o.argument) if not VARIABLE.fullmatch(word)]
    style = Style(notes.own, literal, ["COMMAND", *arguments], o.is_verb)
    star = " No *" if {"CMD_RUN", "CMD_HOSTS"} <= o.commands else ""
    lines = [head(o) + star, *as_mdoc(sentence(o.help, literal), style), *note_lines(note, style)]
    if o.others:
        names = " , ".join(f"Fl -{name}" for name in o.others)
        lines += ["Another name:" if len(o.others) == 1 else "Other names:", f".{names} ."]
    if o.variable:
        lines += ["Variable:", f".Ev {notes.own.upper()}_{o.name.upper().replace('-', '_')} ."]
    return lines


def options(sections: list[tuple[str, list[tables.Option]]], notes: Notes) -> str:
    """Sections of options, each with its title. Options that "hosts" has, too, get an asterisk."""
    lines: list[str] = []
    for title, found in sections:
        note = note_lines(notes.take(f"section {title}")[0], Style(notes.own, [], ["COMMAND"]))
        lines += [f".Ss {title}", *note, ".Bl -tag -width Ds"]
        for o in found:
            lines += option(o, notes, [f"option {title.split()[-1]} {o.name}", f"option {o.name}"])
        lines.append(".El")
    return "\n".join(lines) + "\n"
