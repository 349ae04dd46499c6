#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What somebody told reaches a message through quote() or base/secret.h only. Prints TAP.

    quoted.py [TREE]

A %s or %.*s of a message, whose argument is a told value as it is, is found by its name: a setting's value, a word of the
command line, a variable of the environment.
"""

import pathlib
import re
import sys

PRINTERS = re.compile(r"\b(?:err_set|notes_add|roll_say|alias_log|say|say_line|log_line)\(")
CONVERSION = re.compile(r"%(?:%|[-+ #0]*(\*|\d+)?(?:\.(\*|\d+))?(?:hh|h|ll|l|z|j)?([a-zA-Z]))")
TOLD = re.compile(r"(^|\.|->)(value|image)$|^argument$|(argv|words|arguments|value)\[[^\]]*\]$|^(env_\w+|getenv)\(")

# FILE: ARGUMENT and why it may be shown as it is.
ALLOWED = {
    ("cmd/distinit/main.c", "argv[1]"): "run, or exec",
    ("cmd/distinit/run.c", "words[0]"): "the name of a subcommand",
    ("cmd/distinit/options.c", "value"): "only the name before the '+='",
    ("cmd/distrun/exec.c", "c->value[SITE_ALLOC_NODE]"): "a word that was compared",
    ("src/derive/cluster/check.c", "in->scope.value"): "a word that was compared",
    ("src/derive/flow/recognise.c", "in->cluster.value"): "a word that was compared",
    ("src/derive/source/row_read.c", "found.value"): "a number, which was read",
    ("src/slurm/srun/budget.c", "words[i]"): "our own word, which was expected",
    ("src/slurm/srun/tool.c", "argv[0]"): "the name of a tool of Slurm",
}


def arguments(text, at):
    """The arguments of the call whose bracket ends before @at."""
    parts, depth, quote = [""], 1, False
    while depth:
        c = text[at]
        if c == "\\" and quote:
            c += text[at + 1]
        elif c == '"':
            quote = not quote
        elif not quote:
            depth += (c in "([{") - (c in ")]}")
        if c == "," and depth == 1 and not quote:
            parts.append("")
        elif depth:
            parts[-1] += c
        at += len(c)
    return [" ".join(part.split()) for part in parts]


def told(parts):
    """Those of @parts that a %s shows as somebody told them."""
    form = next((i for i, part in enumerate(parts) if part.startswith('"')), None)
    if form is None:
        return
    at = form + 1
    for width, precision, kind in CONVERSION.findall(parts[form]):
        at += (width == "*") + (precision == "*")
        # Of "condition ? this : that", the condition is not shown.
        if kind == "s" and at < len(parts) and any(map(TOLD.search, re.split(r" [?:] ", parts[at].split(" ? ", 1)[-1]))):
            yield parts[at]
        at += bool(kind)


def main():
    tree = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2])
    wrong, used = [], set()
    for path in sorted([*tree.glob("src/**/*.c"), *tree.glob("cmd/**/*.c")]):
        text, name = path.read_text(encoding="utf-8"), str(path.relative_to(tree))
        for call in PRINTERS.finditer(text):
            for argument in told(arguments(text, call.end())):
                used.add((name, argument))
                if (name, argument) not in ALLOWED:
                    wrong.append(f"{name}:{text.count(chr(10), 0, call.start()) + 1}: {argument}: quote() is missing")
    stale = [f"{name}: {argument}: is not shown" for name, argument in ALLOWED if (name, argument) not in used]
    for number, (what, list_) in enumerate([("messages quote what was told", wrong), ("who may show it does so", stale)], 1):
        print(f"{'not ok' if list_ else 'ok'} {number} - {what}")
        print("".join(f"# {line}\n" for line in list_), end="")
    print("1..2")
    return bool(wrong or stale)


if __name__ == "__main__":
    sys.exit(main())
