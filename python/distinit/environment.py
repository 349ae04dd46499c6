# SPDX-License-Identifier: Apache-2.0
"""A drop-in for os.environ that tracks what is set through it, for the workers of the jobs that this process starts.

    import os
    import subprocess
    from distinit.environment import appliance_environ

    appliance_environ["HF_HOME"] = "/data/hf"   # as os.environ does, and tracked
    os.environ["HF_HOME"] = "/scratch/hf"       # still tracked: values are read when a job starts
    os.environ["EDITOR"] = "vi"                 # seen through appliance_environ, but not tracked

    subprocess.run(["distinit", "bundle", "--output=job.env"], check=True)
    subprocess.run(["srun", "distinit", "--env-file=job.env", "--", "python", "train.py"], check=True)

What is tracked is kept in the environment itself, in DISTINIT_TRACK: names joined by ':', of which a final '*' stands for
any rest. So whatever this process starts knows it, in any language, and names that the user put there count as well.

To look a variable up ("in", [], get) is to look into all of the environment. To count or list (len, iteration, items,
copy, |, ==) is to see what is tracked and set: what a job would get.
"""

from __future__ import annotations

import os
import re
import threading
from typing import Dict, Iterator, List, Mapping, MutableMapping

__all__ = ["ApplianceEnviron", "appliance_environ"]

TRACK = "DISTINIT_TRACK"

# One variable may hold this many bytes: NAME=VALUE and the NUL (the kernel's MAX_ARG_STRLEN).
VARIABLE_BYTES = 131072

# What os.environ takes in a name, but no list of names or no directive can tell.
NOT_IN_A_NAME = re.compile(r"[\x00-\x20\x7f:*,]|\[.*\]\Z", re.DOTALL)


def _check(key: str, value: str) -> None:
    """Refuse what could not travel, before anything is changed."""
    for text in (key, value):
        if not isinstance(text, str):
            raise TypeError(f"str expected, not {type(text).__name__}")
    found = NOT_IN_A_NAME.search(key)
    if found:
        raise ValueError(f"{key!r} cannot be tracked: {found[0]!r} cannot stand in a name that travels to workers")
    size = len(os.fsencode(key)) + len(os.fsencode(value)) + 2
    if size > VARIABLE_BYTES:
        raise ValueError(f"{key!r} would have {size} bytes, name and NUL included; the kernel takes {VARIABLE_BYTES}")


def _matches(pattern: str, key: str) -> bool:
    return key.startswith(pattern[:-1]) if pattern.endswith("*") else key == pattern


class ApplianceEnviron(MutableMapping[str, str]):
    """The environment, with a list of the names that are tracked. There is one for the process: appliance_environ."""

    def __init__(self) -> None:
        # A change of the list is a reading and a writing.
        self._lock = threading.RLock()

    @staticmethod
    def _names() -> List[str]:
        """What is tracked: names and patterns, in the order of tracking."""
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
                # The list would outgrow its variable. What cannot be tracked is not set either.
                if before is None:
                    del os.environ[key]
                else:
                    os.environ[key] = before
                raise

    def __delitem__(self, key: str) -> None:
        """Delete it from the environment, and track it no more. (A pattern that it matches stays.)"""
        with self._lock:
            names = self._names()
            if key in names:
                self._set_names([name for name in names if name != key])
            del os.environ[key]

    def __iter__(self) -> Iterator[str]:
        """The names that are tracked and set. One that was removed behind our back is no key: it has no value."""
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
        """Set it unless it is set; tracked it is in either case."""
        with self._lock:
            old = os.environ.get(key)
            self[key] = value if old is None else old
            return self[key]

    def clear(self) -> None:
        """Delete all that is tracked, from the environment too, and track nothing more, patterns included."""
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
