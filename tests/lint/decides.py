#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What decides makes no system call, prints nothing, and reads no clock: it calls its own functions, and those below. Prints TAP.

    decides.py [TREE]
"""

import pathlib
import re
import sys

FILES = {
    "src/meet/rollcall/agree.c": "the coordinator's comparison",
    "src/meet/rollcall/decide.c": "the coordinator",
    "src/meet/rollcall/member_decide.c": "a member",
    "src/meet/together/decide.c": "together",
}

# What they may call beside the functions of these files: text, numbers and memory.
ALLOWED = re.compile(
    r"(?:arena|buf|str)_\w+|BUF|STR|err_set|mem(?:cmp|cpy|set)|str(?:cmp|error|len|ncmp)|snprintf"
    r"|clock_(?:after|earlier|left)|duration_text|signal_name|WIFSIGNALED|WTERMSIG|WEXITSTATUS"
    r"|address_(?:same|text)|lookup_fault|facts_find|compare_(?:group|choose_speakers)|difference_text|roll_(?:clock_off|host|put_absent)|guest_name"
    r"|absent_(?:report|text)|(?:go|greeting|no|proof|wait)_decode|backoff_(?:begin|next_ms)"
)
WORDS = {"if", "while", "for", "switch", "return", "sizeof", "defined"}
HEADERS = {"errno.h", "signal.h", "stdio.h", "sys/wait.h"}


def bare(text):
    """@text without comments and strings."""
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"', " ", text, flags=re.S)


def defined(text):
    return set(re.findall(r"^(?:static )?(?:const )?[\w ]+[ *]+(\w+)\(", text, re.M)) - WORDS


def wrong_calls(text, known):
    """The functions that @text calls and may not."""
    return sorted(name for name in set(re.findall(r"\b(\w+)\(", text)) - WORDS - known if not ALLOWED.fullmatch(name))


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2])
    texts = {name: bare((root / name).read_text(encoding="utf-8")) for name in FILES}
    known = set().union(*map(defined, texts.values()))
    wrong = []
    for name, text in texts.items():
        wrong += [f"{name} calls {call}()" for call in wrong_calls(text, known)]
        wrong += [f"{name} includes <{header}>" for header in re.findall(r"#include <([\w/.]+)>", text) if header not in HEADERS]
    sample = bare("static void f(void) {\n\tclock_now_ms(); /* poll() */ arena_alloc(a, 1); roll_say(c); f();\n}\n")
    print("1..2")
    print("ok 1 - a clock and a print are found" if wrong_calls(sample, defined(sample)) == ["clock_now_ms", "roll_say"]
          else "not ok 1 - a clock and a print are found")
    for line in wrong:
        print("#", line)
    print(f"{'not ' if wrong else ''}ok 2 - what decides makes no system call, prints nothing and reads no clock")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
