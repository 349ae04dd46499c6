# SPDX-License-Identifier: Apache-2.0
"""A drop-in for os.environ that tracks the variables set through it, for workers of later jobs.

    import os
    import subprocess
    from distinit.environment import appliance_environ

    appliance_environ["HF_HOME"] = "/data/hf"   # sets the variable, and tracks it
    os.environ["HF_HOME"] = "/scratch/hf"       # still tracked: values are read when a job starts
    os.environ["EDITOR"] = "vi"                 # visible in appliance_environ, but not tracked

    subprocess.run(["distinit", "bundle", "--output=job.env"], check=True)
    subprocess.run(["srun", "distinit", "--env-file=job.env", "--", "python", "train.py"], check=True)

The list of tracked names is in the environment itself, in DISTINIT_TRACK: names joined by ':', in
which a final '*' matches any rest. So every child process in any language can read the list, and
names that the user put there count too.

Looking up a variable ("in", [], get) searches the whole environment. Counting and listing (len,
iteration, items, copy, |, ==) cover only the variables that are tracked and set, which are those
that a job would get.
"""

from __future__ import annotations

import os
import re
import threading
from typing import Dict, Iterator, List, Mapping, MutableMapping

__all__ = ["ApplianceEnviron", "appliance_environ"]

TRACK = "DISTINIT_TRACK"

# The limit for NAME=VALUE with the NUL, in bytes: the kernel's MAX_ARG_STRLEN.
VARIABLE_BYTES = 131072

# os.environ accepts these in a name, but a list of names or a directive cannot represent them.
NOT_IN_A_NAME = re.compile(r"[\x00-\x20\x7f:*,]|\[.*\]\Z", re.DOTALL)


def _check(key: str, value: str) -> None:
    """Refuse what cannot be passed to workers, before anything is changed."""
    for text in (key, value):
        if not isinstance(text, str):
            raise TypeError(f"str expected, not {type(text).__name__}")
    found = NOT_IN_A_NAME.search(key)
    if found:
        raise ValueError(f"{key!r} cannot be tracked: names for workers cannot contain {found[0]!r}")
    size = len(os.fsencode(key)) + len(os.fsencode(value)) + 2
    if size > VARIABLE_BYTES:
        raise ValueError(f"{key!r} would have {size} bytes, name and NUL included; the kernel takes {VARIABLE_BYTES}")


def _matches(pattern: str, key: str) -> bool:
    return key.startswith(pattern[:-1]) if pattern.endswith("*") else key == pattern


class ApplianceEnviron(MutableMapping[str, str]):
    """The environment, with a list of tracked names. Each process has one: appliance_environ."""

    def __init__(self) -> None:
        # To change the list is to read it and to write it, which must not interleave.
        self._lock = threading.RLock()

    @staticmethod
    def _names() -> List[str]:
        """The tracked names and patterns, in the order in which they were added."""
        return [name for name in os.environ.get(TRACK, "").split(":") if name]

    @staticmethod
    def _set_names(names: List[str]) -> None:
        if names:
            text = ":".join(names)
            _check(TRACK, text)
            os.environ[TRACK] = text
        else:
            os.environ.pop(TRACK, None)

    def _track(self, key: str) -> None:
        names = self._names()
        if key != TRACK and not any(_matches(name, key) for name in names):
            self._set_names(names + [key])

    def __getitem__(self, key: str) -> str:
        return os.environ[key]

    def __setitem__(self, key: str, value: str) -> None:
        _check(key, value)
        with self._lock:
            before = os.environ.get(key)
            os.environ[key] = value
            try:
                self._track(key)
            except ValueError:
                # The list would exceed the limit. A variable that cannot be tracked is not set.
                if before is None:
                    del os.environ[key]
                else:
                    os.environ[key] = before
                raise

    def __delitem__(self, key: str) -> None:
        """Delete it from the environment, and stop tracking it. A pattern that matches it stays."""
        with self._lock:
            names = self._names()
            if key in names:
                self._set_names([name for name in names if name != key])
            del os.environ[key]

    def __iter__(self) -> Iterator[str]:
        """The names that are tracked and set, without those removed through os.environ."""
        keys: Dict[str, None] = {}
        for name in self._names():
            if not name.endswith("*"):
                keys.update({name: None} if name in os.environ else {})
            else:
                keys.update((key, None) for key in os.environ if _matches(name, key))
        keys.pop(TRACK, None)
        return iter(list(keys))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def setdefault(self, key: str, value: str) -> str:  # type: ignore[override] # as os.environ has it
        """Set it unless it is set already. Track it in both cases."""
        with self._lock:
            old = os.environ.get(key)
            self[key] = value if old is None else old
            return self[key]

    def clear(self) -> None:
        """Delete all tracked variables from the environment, and all names and patterns."""
        with self._lock:
            for key in self:
                del self[key]
            self._set_names([])

    def copy(self) -> Dict[str, str]:
        return dict(self)

    def __or__(self, other: Mapping[str, str]) -> Dict[str, str]:
        return {**self, **other} if isinstance(other, Mapping) else NotImplemented

    def __ror__(self, other: Mapping[str, str]) -> Dict[str, str]:
        return {**other, **self} if isinstance(other, Mapping) else NotImplemented

    def __ior__(self, other: Mapping[str, str]) -> ApplianceEnviron:
        self.update(other)
        return self

    def __repr__(self) -> str:
        return f"appliance_environ({self.copy()!r})"


appliance_environ = ApplianceEnviron()
