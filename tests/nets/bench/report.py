# SPDX-License-Identifier: Apache-2.0
"""The benchmark's tables, in plain text of 100 columns, and its targets."""

import textwrap

WIDTH = 100


def number(value, digits=0):
    return "-" if value is None else f"{value:,.{digits}f}"


def times(ratio):
    """A ratio as it is read best: 1.46x, 12x, 9,876x."""
    return "-" if ratio is None else f"{ratio:,.2f}x" if abs(ratio) < 10 else f"{ratio:,.0f}x"


def micros(value):
    return "-" if value is None else f"{value / 1000:,.0f} ms" if value >= 99999.5 else f"{value:,.0f}"


def table(title, header, rows, notes=()):
    """Print a table: the first column is flush left, the others right."""
    rows = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    gap = max(1, min(3, (WIDTH - sum(widths)) // max(1, len(widths) - 1)))
    print(f"\n{title}\n" + "-" * len(title))
    for row in [header, *rows]:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))]
        print((" " * gap).join(cells).rstrip())
    for note in notes:
        print(textwrap.fill(note, WIDTH, initial_indent="  ", subsequent_indent="  "))


class Targets:
    """What distinit should reach. A target whose figure was not taken says so."""

    def __init__(self):
        self.rows = []

    def add(self, name, limit, figure, met):
        self.rows.append({"target": name, "limit": limit, "figure": figure, "met": met})

    def missing(self, name, limit):
        self.add(name, limit, "not measured", None)

    def show(self, all_of_them):
        words = {True: "met", False: "NOT met", None: "?"}
        print("\nTargets\n-------")
        for row in self.rows:
            if row["met"] is None and not all_of_them:
                continue
            print(f"{words[row['met']]:<8}{row['target']}: {row['limit']}")
            print(textwrap.fill(row["figure"], WIDTH, initial_indent=" " * 10, subsequent_indent=" " * 10))
