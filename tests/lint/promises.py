#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Each sentence of a page or a manual with one of the WORDS has a row in promises.txt, which names the test that tries to
break it. Prints TAP.

    promises.py [TREE]     promises.py --missing: print the sentences that have no row
"""

import os
import re
import sys
from pathlib import Path

TABLE = "tests/lint/promises.txt"
WORDS = re.compile(r"\b(never|only|nobody|no (node|process|program|file))\b", re.I)
PAGES = ("SECURITY.md", "README.md", "docs/*.md", "cmd/*/*.1")
# Of a row without a test: why there is none.
NO_TEST = ("no promise: ", "of others: ")


def pieces_of_page(text):
    """The paragraphs, items and rows of a page in Markdown, without blocks of code."""
    text = re.sub(r"^( *)```.*?^ *```$", "\n", text, flags=re.S | re.M)
    for line in re.split(r"\n\s*\n|\n(?=\s*(?:[-*#>|]|\d+\.) ?)", text):
        if not line.startswith("    "):
            yield re.sub(r"^\s*(?:[-*#>]+|\d+\.)\s", "", line)


def pieces_of_manual(text):
    """The paragraphs of a manual in mdoc(7)."""
    piece = []
    for line in text.split("\n") + [".Pp"]:
        if re.match(r"\.(Pp|It|Sh|Ss|Bl|El|Bd|Ed|\\\")", line):
            yield " ".join(piece)
            piece = []
        else:
            piece.append(re.sub(r"^\.", "", line))
            if re.search(r"[.:]$", line) or re.match(r"^\.[A-Z][a-z] .* \.$", line):
                yield " ".join(piece)
                piece = []
    yield " ".join(piece)


def sentences(file):
    """The sentences of @file with one of the words, as plain text on one line."""
    text = Path(file).read_text()
    for piece in pieces_of_manual(text) if file.endswith(".1") else pieces_of_page(text):
        plain = re.sub(r"[`*]|\\&|\\[fF].|\]\([^)]*\)|\[", "", " ".join(piece.split()))
        for sentence in re.split(r"(?<=[.:;?!]) (?=[A-Z(\"'-])| \| ", plain):
            if WORDS.search(sentence):
                yield sentence.strip()


def rows():
    """The rows of the table: page, words of the sentence, test."""
    for number, line in enumerate(Path(TABLE).read_text().split("\n"), 1):
        if line and not line.startswith("#"):
            parts = [part.strip() for part in line.split(" | ")]
            yield (number, *parts) if len(parts) == 3 else (number, line, "", "")


def has_test(test):
    """Whether @test exists: "FILE" or "FILE: WORDS OF IT"."""
    file, _, words = test.partition(": ")
    path = Path("tests") / file
    return path.is_file() and words in path.read_text()


def report(number, name, wrong):
    """One TAP line, and what is wrong, if anything. Returns whether something is."""
    print(f"{'not ok' if wrong else 'ok'} {number} - {name}")
    for line in wrong:
        print("# " + line)
    return bool(wrong)


def main():
    missing_only = sys.argv[1:] == ["--missing"]
    os.chdir(Path(__file__).parents[2] if missing_only or not sys.argv[1:] else sys.argv[1])
    files = sorted(str(path) for pattern in PAGES for path in Path(".").glob(pattern))
    found = [(file, sentence) for file in files for sentence in sentences(file)]
    table = list(rows())
    missing = [
        (file, sentence)
        for file, sentence in found
        if not any(page == file and (words == "*" or words in sentence) for _, page, words, _ in table)
    ]
    if missing_only:
        for file, sentence in missing:
            print(f"{file} | {sentence} | ")
        return 0
    stale = [
        f"line {number}: {page}: {words}"
        for number, page, words, _ in table
        if not any(page == file and (words == "*" or words in sentence) for file, sentence in found)
    ]
    absent = [
        f"line {number}: {test or 'three parts are wanted, joined by a bar between blanks'}"
        for number, _, _, test in table
        if not (test.startswith(NO_TEST) or all(has_test(one) for one in test.split("; ")))
    ]
    failed = [
        report(1, "each sentence with one of the words has a row", [f"{file}: {text}" for file, text in missing]),
        report(2, "the sentence of each row is on its page", stale),
        report(3, "the test of each row exists", absent),
    ]
    print("1..3")
    return int(any(failed))


if __name__ == "__main__":
    sys.exit(main())
