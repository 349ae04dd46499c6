#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run the tests of the Python side with unittest, and print TAP.

    run.py [FILE]...        by default all test_*.py beside this one

DISTINIT is the program that they start; by default the one of ./dev build.
"""

import os
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parent.parent


class Tap(unittest.TestResult):
    """A line for each test; what failed in it, also in a subtest, stands below as comments."""

    def __init__(self):
        super().__init__()
        self.number = 0
        self.traces = []

    def say(self, held, test, directive=""):
        self.number += 1
        name = f"{test.id()}: {test.shortDescription() or ''}".rstrip(": ").replace("#", "")
        print(f"{'ok' if held else 'not ok'} {self.number} - {name}{directive}")
        for trace in self.traces:
            print("\n".join("# " + line for line in trace.rstrip().splitlines()))
        self.traces = []
        sys.stdout.flush()

    def addSuccess(self, test):
        self.say(True, test)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.say(True, test, f" # SKIP {reason}")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.traces.append(self._exc_info_to_string(err, test))
        self.say(False, test)

    def addError(self, test, err):
        super().addError(test, err)
        self.traces.append(self._exc_info_to_string(err, test))
        self.say(False, test)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.traces.append(subtest.id() + "\n" + self._exc_info_to_string(err, test))

    def stopTest(self, test):
        # A test in which only subtests failed is told by nothing else.
        if self.traces:
            self.say(False, test)
        super().stopTest(test)


def main(files):
    sys.dont_write_bytecode = True
    sys.path[:0] = [str(TREE / "python"), str(HERE)]
    os.environ.setdefault("DISTINIT", str(TREE / "build" / "distinit"))
    loader = unittest.TestLoader()
    names = [pathlib.Path(file).stem for file in files] or sorted(path.stem for path in HERE.glob("test_*.py"))
    result = Tap()
    loader.loadTestsFromNames(names).run(result)
    print(f"1..{result.number}")
    return 0 if result.wasSuccessful() and result.number else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
