# SPDX-License-Identifier: Apache-2.0
"""Lists of cards: what --frameworks=rdma adds to a start, on the files of a node with ten cards (tests/programs/cards)."""

import sys

from measure import BUILD, ROOT, Case, output_of
from report import micros, table, times

TREES = {"ten of InfiniBand": "dgx", "eight, and two of Ethernet": "dgx-storage-near"}
MOST_US = 1000


def section_cards(bench, rows, result, _quick):
    figures, lines = {}, []
    env = {"PATH": "/usr/bin:/bin", "DISTINIT_HOSTS": "n1,n2", "DISTINIT_NODE_RANK": "1"}
    for name, tree in TREES.items():
        root = bench.scratch / tree
        output_of([sys.executable, ROOT / "tests/programs/cards", tree, root], "cards")
        words = [rows["distinit"][0], f"--root={root}"]
        timing = bench.time({"without": Case([*words, "--frameworks=default", "--", BUILD / "bare"], env),
                             "with": Case([*words, "--frameworks=default,rdma", "--", BUILD / "bare"], env)})
        without, added = timing["without"].median, timing["with"].median - timing["without"].median
        figures[tree] = {"without": without, "added": added}
        lines.append([name, micros(without), micros(without + added), times((without + added) / without), micros(added)])
    table("Lists of cards: wall time of a start, us", ["cards", "without rdma", "with", "ratio", "adds"], lines,
          ["Medians. The files are on a disk or in memory here, not in sysfs."])
    result["cards"] = figures


def targets_cards(figures, targets):
    name, limit = "What rdma adds to a start with ten cards", f"at most {MOST_US / 1000:g} ms"
    if not figures:
        targets.missing(name, limit)
        return
    most = max(figure["added"] for figure in figures.values())
    targets.add(name, limit, f"{most:.0f} us", most <= MOST_US)
