#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Words that comments, messages and names do not use any more: docs/glossary.md has the word for each thing. Prints TAP.

    words.py [TREE]

It looks at the comments and the string literals of src and cmd, and at the names of functions. A comment is looked at as a whole,
so that a phrase may go over the end of a line.
"""

import pathlib
import re
import sys

# A pattern for comments and string literals: the word to use.
PHRASES = {
    r"\bdesk\b": "coordinator",
    r"\bgood ?bye\b": "name the frame or the signal that is sent",
    r"\bwho (?:leaves|quits|parts)\b": "a member that is gone",
    r"\b(?:is|was|are|were|be|been|being|gets?) told\b": "given, if the user sets it; sent or reported, if another process does",
    r"\btold (?:to end|the (?:workload|program|command) to end)\b": "asked to end",
    r"\bthe last word\b": "name the one that decides",
    r"\bin peace\b": "is not ended",
    r"\bwithout a word\b": "without a message; it sent nothing",
    r"\bsa(?:ys?|id) (?:a word|nothing|goodbye)\b": "print, warn, send or report",
    r"\bwhat (?:it|the workload|the program) (?:has )?left(?: behind)?\b": "leftovers",
    r"\bwhat is beside\b": "leftovers, or an observer",
    r"\bcounts? (?:as none|no more)\b": "is ignored, is dropped",
    r"\bhas? no place\b": "may be NULL",
    r"\bhears? of\b": "a report, an event",
    r"\bas good as gone\b": "is closed",
    r"\bgenerations?\b": "a start, counted from 0",
    r"\bholds? (?:the|a|its) port\b": "reserves",
}

# The beginning of a sentence of a comment that has no subject: the noun is missing.
RIDDLES = re.compile(
    r"(?:^|[.:] )(Who|Whose|Whom|Whoever|Those who|What is no|What is not|What came|What comes|One that|One who|One whose) ([\w' ]*)"
)

# Names of functions that say nothing of their object.
NAMES = re.compile(
    r"^(?:static |INLINE |_Noreturn |const )*\w[\w ]*[ *]+"
    r"(know|tell|take|hold|quit|lose|of|many|means|remember|obey|say_goodbye|told_to_end)\(",
    re.M,
)
FIELDS = re.compile(r"\b(told_to_end|say_goodbye|obey)\b")

# FILE and what is found there: why it may stay.
ALLOWED = {
    ("cmd/names/dumb_init.c", "Goodbye"): "dumb-init's own message",
    ("src/base/base/secret.c", "the last word"): "a word of a name",
    ("src/derive/framework/torchrun_words.c", "The last word"): "a word of the command",
    ("src/meet/wire/key.c", "desk"): "a label in the derivation of keys: part of the wire format",
    ("src/meet/wire/key.h", "desk"): "the same label",
}

# Each of these has to be found.
SAMPLES = [
    ("/** The desk closes. */", "desk"),
    ("/** Who leaves tells the others. */", "Who leaves"),
    ("// It is\n// told to end.", "told"),
    ('say("SIGTERM was told to end");', "was told"),
    ("/** What is no number is an error. */", "What is no"),
    ("/** Reads it. One that is malformed counts as none. */", "One that"),
    ("/** Of the others, execve() has the last word. */", "the last word"),
    ("/** who is not its own is left in peace */", "in peace"),
    ("static void know(struct decision *d) {\n}\n", "know("),
    ("struct x {\n\tbool told_to_end;\n};\n", "told_to_end"),
    ('puts("Goodbye");', "Goodbye"),
]

# And none of these: the words in their ordinary meaning.
PLAIN = [
    "/** The user tells it apart. */",
    "/** Whether one that ended is known. */",
    "int out_of(int n);\nint taken(void);\n",
    "/** The last words of the command. */",
]

PIECES = re.compile(r"/\*.*?\*/|(?://[^\n]*(?:\n[ \t]*|\Z))+|\"(?:\\.|[^\"\\\n])*\"(?:\s*\"(?:\\.|[^\"\\\n])*\")*", re.S)


def pieces(text):
    """LINE, KIND, TEXT of each comment ("//") and each string literal ('"') of @text, without its marks."""
    for match in PIECES.finditer(text):
        whole = match[0]
        kind = '"' if whole[0] == '"' else "//"
        if kind == '"':
            bare = re.sub(r'"\s*"', "", whole)[1:-1]
        else:
            bare = re.sub(r"^\s*(?:/\*+|\*+/?|//)|\*/", " ", whole, flags=re.M)
        yield text.count("\n", 0, match.start()) + 1, kind, " ".join(bare.split())


def look(text):
    """LINE, FOUND, INSTEAD for each retired word of @text."""
    for line, kind, piece in pieces(text):
        for pattern, instead in PHRASES.items():
            for match in re.finditer(pattern, piece, re.I):
                yield line, match[0], instead
        if kind == "//":
            for match in RIDDLES.finditer(piece):
                yield line, match[0].strip(" .:"), "name the subject"
    bare = PIECES.sub(lambda match: "\n" * match[0].count("\n") + " ", text)
    for pattern in (NAMES, FIELDS):
        for match in pattern.finditer(bare):
            yield bare.count("\n", 0, match.start(1)) + 1, match[0].split()[-1].lstrip("*"), "a verb with an object"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2])
    wrong, used = [], set()
    for path in sorted(path for top in ("src", "cmd") for path in (root / top).rglob("*.[ch]")):
        file = str(path.relative_to(root))
        for line, found, instead in look(path.read_text(encoding="utf-8")):
            keys = {key for key in ALLOWED if key[0] == file and key[1] in found}
            used |= keys
            if not keys:
                wrong.append(f"{file}:{line}: '{found}': {instead}")
    stale = [f"{file}: '{found}'" for file, found in ALLOWED.keys() - used]
    missed = [text for text, word in SAMPLES if not any(word in found for _, found, _ in look(text))]
    missed += [text for text in PLAIN if list(look(text))]
    tests = [
        ("each sample is found, and no plain sentence", missed),
        ("no retired word is in a comment, a message or a name", wrong),
        ("each exception is needed", stale),
    ]
    print(f"1..{len(tests)}")
    for number, (name, lines) in enumerate(tests, 1):
        for line in lines:
            print("#", " ".join(line.split()))
        print(f"{'not ' if lines else ''}ok {number} - {name}")
    return any(lines for _, lines in tests)


if __name__ == "__main__":
    sys.exit(main())
