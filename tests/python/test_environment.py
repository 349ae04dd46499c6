# SPDX-License-Identifier: Apache-2.0
"""distinit.environment: the drop-in for os.environ, together with the real "distinit bundle" and a real worker.

C1 to C13 are the cases of Cerebras' appliance_environ, whose interface it has.
"""

import collections.abc
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import typing
import unittest
import unittest.mock

from distinit import environment
from distinit.environment import ApplianceEnviron, appliance_environ

DISTINIT = os.environ["DISTINIT"]
PYTHON = str(pathlib.Path(environment.__file__).parent.parent)


class Case(unittest.TestCase):
    """An environment of its own for each test, and a folder for its jobs."""

    def setUp(self) -> None:
        patch = unittest.mock.patch.dict(os.environ, {"PATH": os.environ["PATH"], "OTHER": "other"}, clear=True)
        patch.start()
        self.addCleanup(patch.stop)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def start_job(self, name: str = "job", *options: str) -> str:
        """What a job's start does: a child takes the variables, and says on stderr what it does not take."""
        command = [DISTINIT, "bundle", f"--output={self.folder / name}", *options]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        return run.stderr

    def worker(self, name: str = "job", **own: str) -> typing.Dict[str, str]:
        """The environment of a process that a worker of that job starts on a host with the variables @own."""
        command = [DISTINIT, f"--env-file={self.folder / name}", "--", "cat", "/proc/self/environ"]
        run = subprocess.run(command, env=own, capture_output=True, check=True)
        return dict(os.fsdecode(entry).split("=", 1) for entry in run.stdout.split(b"\0")[:-1])


class Cases(Case):
    def test_c1(self) -> None:
        """C1: what is set is in this process's own environment too"""
        appliance_environ["foo"] = "1"
        self.assertEqual(os.environ["foo"], "1")
        self.assertEqual(subprocess.run(["printenv", "foo"], capture_output=True, check=True).stdout, b"1\n")
        self.start_job()
        self.assertEqual(self.worker(), {"foo": "1"})

    def test_c2(self) -> None:
        """C2: what os.environ sets is readable, and not carried"""
        os.environ["bar"] = "2"
        self.assertEqual(appliance_environ["bar"], "2")
        self.start_job()
        self.assertEqual(self.worker(), {})

    def test_c3(self) -> None:
        """C3: the worker sees the value at the job's start, whoever set it"""
        appliance_environ["foo"] = "1"
        os.environ["foo"] = "2"
        self.start_job()
        self.assertEqual(self.worker(), {"foo": "2"})

    def test_c4(self) -> None:
        """C4: a job keeps what it got, for its late workers too; the next one has the new values"""
        appliance_environ["foo"] = "1"
        self.start_job("job1")
        self.assertEqual(self.worker("job1"), {"foo": "1"})
        appliance_environ["foo"] = "2"
        appliance_environ["more"] = "3"
        self.assertEqual(self.worker("job1"), {"foo": "1"})
        self.start_job("job2")
        self.assertEqual(self.worker("job1"), {"foo": "1"})
        self.assertEqual(self.worker("job2"), {"foo": "2", "more": "3"})

    def test_c5(self) -> None:
        """C5: to list is to see what is tracked; to look up is to see everything"""
        appliance_environ["b"] = "2"
        appliance_environ["a"] = "1"
        self.assertEqual(list(appliance_environ), ["b", "a"])
        self.assertEqual(len(appliance_environ), 2)
        self.assertEqual(list(appliance_environ.keys()), ["b", "a"])
        self.assertEqual(list(appliance_environ.values()), ["2", "1"])
        self.assertEqual(list(appliance_environ.items()), [("b", "2"), ("a", "1")])
        self.assertEqual(appliance_environ.copy(), {"a": "1", "b": "2"})
        self.assertIs(type(appliance_environ.copy()), dict)
        self.assertIn("OTHER", appliance_environ)
        self.assertNotIn("NOPE", appliance_environ)
        self.assertEqual(appliance_environ["OTHER"], "other")
        self.assertEqual(appliance_environ.get("OTHER"), "other")
        self.assertIsNone(appliance_environ.get("NOPE"))
        self.assertEqual(appliance_environ.get("NOPE", "x"), "x")
        with self.assertRaises(KeyError):
            appliance_environ["NOPE"]

    def test_c6(self) -> None:
        """C6: what is deleted is gone and tracked no more"""
        appliance_environ["foo"] = "1"
        appliance_environ["bar"] = "2"
        del appliance_environ["foo"]
        self.assertNotIn("foo", os.environ)
        os.environ["foo"] = "again"
        self.assertEqual(self.start_job(), "")
        self.assertEqual(self.worker(), {"bar": "2"})
        with self.assertRaises(KeyError):
            del appliance_environ["NOPE"]

    def test_c7(self) -> None:
        """C7: setdefault keeps what is there, and tracks it"""
        os.environ["foo"] = "mine"
        self.assertEqual(appliance_environ.setdefault("foo", "default"), "mine")
        self.assertEqual(appliance_environ.setdefault("new", "default"), "default")
        self.assertEqual(appliance_environ.copy(), {"foo": "mine", "new": "default"})
        self.start_job()
        self.assertEqual(self.worker(), {"foo": "mine", "new": "default"})

    def test_c8(self) -> None:
        """C8: pop, popitem, update and clear follow the same rules; clear deletes from os.environ too"""
        appliance_environ.update({"a": "1", "b": "2"}, c="3")
        appliance_environ.update([("d", "4")])
        self.assertEqual(appliance_environ.pop("a"), "1")
        self.assertNotIn("a", os.environ)
        self.assertEqual(appliance_environ.pop("OTHER"), "other")
        self.assertNotIn("OTHER", os.environ)
        self.assertEqual(appliance_environ.pop("NOPE", "x"), "x")
        with self.assertRaises(KeyError):
            appliance_environ.pop("NOPE")
        self.assertEqual(appliance_environ.popitem(), ("b", "2"))
        self.assertEqual(appliance_environ.copy(), {"c": "3", "d": "4"})
        appliance_environ["gone"] = "5"
        del os.environ["gone"]
        os.environ["DISTINIT_TRACK"] += ":X_*"
        appliance_environ.clear()
        self.assertEqual(set(os.environ), {"PATH"})
        self.assertEqual(len(appliance_environ), 0)
        with self.assertRaises(KeyError):
            appliance_environ.popitem()
        self.start_job()
        self.assertEqual(self.worker(), {})

    def test_c9(self) -> None:
        """C9: one that is removed behind its back is not carried, with a warning, and the job starts"""
        appliance_environ["foo"] = "1"
        appliance_environ["gone"] = "2"
        del os.environ["gone"]
        self.assertEqual(appliance_environ.copy(), {"foo": "1"})
        self.assertEqual(
            self.start_job(),
            "distinit: warning: DISTINIT_TRACK: 'gone': not carried, as it is not set; "
            "--carry-unset removes it in the workers\n",
        )
        self.assertEqual(self.worker(gone="here"), {"foo": "1", "gone": "here"})
        self.assertEqual(self.start_job("job", "--carry-unset"), "")
        self.assertEqual(self.worker(gone="here"), {"foo": "1"})
        with self.assertRaises(KeyError):
            del appliance_environ["gone"]
        self.assertEqual(self.start_job(), "")

    def test_c10(self) -> None:
        """C10: what is no text is refused, and not tracked"""
        for key, value in ("foo", 1), ("foo", None), ("foo", b"1"), (1, "foo"), (b"foo", "1"):
            with self.subTest(key=key, value=value), self.assertRaises(TypeError):
                appliance_environ[key] = value  # type: ignore[index, assignment]
        with self.assertRaises(TypeError):
            appliance_environ.setdefault("foo", 1)  # type: ignore[arg-type]
        with self.assertRaises(TypeError):
            appliance_environ.update(foo=1)  # type: ignore[call-overload]
        self.assertNotIn("foo", os.environ)
        self.assertNotIn("DISTINIT_TRACK", os.environ)

    def test_c11(self) -> None:
        """C11: every job is given the variables"""
        appliance_environ["foo"] = "1"
        for name in "compile", "execute":
            self.start_job(name)
            self.assertEqual(self.worker(name), {"foo": "1"})

    def test_c12(self) -> None:
        """C12: variables that count before the interpreter starts count: PYTHONPATH, PYTHONHASHSEED"""
        (self.folder / "only_here.py").write_text("print('found')\n")
        appliance_environ["PYTHONPATH"] = str(self.folder)
        appliance_environ["PYTHONHASHSEED"] = "4711"
        self.start_job()
        command = [DISTINIT, f"--env-file={self.folder / 'job'}", "--", sys.executable, "-c"]
        program = "import only_here, sys; print(sys.flags.hash_randomization, hash('distinit'))"
        bare: typing.Dict[str, str] = {}
        seen = {
            subprocess.run([*command, program], env=bare, capture_output=True, text=True, check=True).stdout
            for _ in range(2)
        }
        self.assertEqual(len(seen), 1, "all workers hash alike")
        self.assertTrue(seen.pop().startswith("found\n1 "))

    def test_c13(self) -> None:
        """C13: what belongs to a worker's host or rank is never overwritten, unless forced"""
        own = {"HOSTNAME": "here", "CUDA_VISIBLE_DEVICES": "7", "SLURM_JOB_ID": "1", "RANK": "3"}
        appliance_environ.update(own, foo="1")
        said = self.start_job()
        for name in own:
            self.assertIn(f"'{name}'", said)
        there = {"HOSTNAME": "there", "CUDA_VISIBLE_DEVICES": "0", "SLURM_JOB_ID": "2", "RANK": "0"}
        self.assertEqual(self.worker(**there), {**there, "foo": "1"})
        self.assertEqual(self.start_job("job", "--force"), "")
        self.assertEqual(self.worker(**there), {**own, "foo": "1"})


class Original(Case):
    """Programs written for the original run as they stand, but for the module's name."""

    def test_example(self) -> None:
        """the example of its manual: the object sees what os.environ sets"""
        appliance_environ["a"] = "1"
        self.assertEqual(appliance_environ["a"], "1")
        os.environ["a"] = "2"
        self.assertEqual(appliance_environ["a"], "2")
        self.start_job()
        self.assertEqual(self.worker(), {"a": "2"})

    def test_program(self) -> None:
        """a whole program, in a process of its own: foo travels, bar does not"""
        program = (
            "import os, subprocess, sys\n"
            "from distinit.environment import appliance_environ\n"
            'appliance_environ["foo"] = "1"\n'
            'os.environ["bar"] = "2"\n'
            'assert os.environ["foo"] == "1" and appliance_environ["bar"] == "2"\n'
            "subprocess.run(sys.argv[1:], check=True)\n"
        )
        bundle = [DISTINIT, "bundle", f"--output={self.folder / 'job'}"]
        subprocess.run([sys.executable, "-c", program, *bundle], env={"PYTHONPATH": PYTHON}, check=True)
        self.assertEqual(self.worker(bar="own"), {"foo": "1", "bar": "own"})

    def test_page(self) -> None:
        """the example of docs/tracked-variables.md runs as it stands there; its srun is a stand-in that starts one task"""
        page = pathlib.Path(__file__).parents[2] / "docs/tracked-variables.md"
        example = page.read_text(encoding="utf-8").split("```python ")[1].split("\n", 1)[1].split("```")[0]
        (self.folder / "distinit").symlink_to(DISTINIT)
        (self.folder / "python").symlink_to(sys.executable)
        (self.folder / "srun").write_text('#!/bin/sh\nexec "$@"\n')
        (self.folder / "srun").chmod(0o755)
        (self.folder / "train.py").write_text("import os; print(os.environ['HF_HOME'], os.environ['DISTINIT_TRACK'])\n")
        own = {"PATH": f"{self.folder}:{os.environ['PATH']}", "PYTHONPATH": PYTHON}
        command = [sys.executable, "-c", example]
        run = subprocess.run(command, cwd=self.folder, env=own, capture_output=True, text=True, check=True)
        self.assertEqual((run.stdout, run.stderr), ("/scratch/hf HF_HOME\n", ""))
        self.assertEqual(self.worker("job.env"), {"HF_HOME": "/scratch/hf"})

    def test_hugging_face(self) -> None:
        """a trainer's set-up of caches and tokenizers"""
        appliance_environ["TOKENIZERS_PARALLELISM"] = "false"
        for name in "TRANSFORMERS_CACHE", "HF_HOME", "HF_DATASETS_CACHE":
            appliance_environ[name] = "/data/hf"
        self.start_job()
        self.assertEqual(
            self.worker(HF_HOME="/root/.cache"),
            {
                "TOKENIZERS_PARALLELISM": "false",
                "TRANSFORMERS_CACHE": "/data/hf",
                "HF_HOME": "/data/hf",
                "HF_DATASETS_CACHE": "/data/hf",
            },
        )


class Interface(Case):
    def test_same_as_os_environ(self) -> None:
        """it has every public attribute of os.environ's mapping interface"""
        codecs = {"encodekey", "encodevalue", "decodekey", "decodevalue"}
        public = {name for name in dir(os.environ) if not name.startswith("_")} - codecs
        operators = {"__or__", "__ror__", "__ior__", "__contains__", "__iter__", "__len__", "__eq__", "__repr__"}
        for name in public | operators:
            self.assertTrue(hasattr(appliance_environ, name), name)
        self.assertIsInstance(appliance_environ, collections.abc.MutableMapping)

    def test_operators(self) -> None:
        """| makes a dict of what is tracked, |= sets and tracks"""
        appliance_environ["a"] = "1"
        self.assertEqual(appliance_environ | {"b": "2"}, {"a": "1", "b": "2"})
        self.assertEqual({"a": "0", "b": "2"} | appliance_environ, {"a": "1", "b": "2"})
        same = appliance_environ
        same |= {"b": "2"}
        self.assertIs(same, appliance_environ)
        self.assertEqual(appliance_environ, {"a": "1", "b": "2"})
        with self.assertRaises(TypeError):
            appliance_environ | 1  # type: ignore[operator]
        with self.assertRaises(TypeError):
            1 | appliance_environ  # type: ignore[operator]

    def test_repr(self) -> None:
        """repr shows what is tracked"""
        appliance_environ["a"] = "1"
        self.assertEqual(repr(appliance_environ), "appliance_environ({'a': '1'})")

    def test_errors_of_os_environ(self) -> None:
        """what os.environ refuses is refused, and not tracked"""
        for key, value in ("a=b", "1"), ("", "1"), ("a", "x\0"):
            with self.subTest(key=key), self.assertRaises((ValueError, OSError)):
                appliance_environ[key] = value
        self.assertNotIn("DISTINIT_TRACK", os.environ)


class Tracking(Case):
    def test_in_the_environment(self) -> None:
        """what is tracked stands in DISTINIT_TRACK, so another object, and a child, sees the same"""
        appliance_environ["a"] = "1"
        appliance_environ["a"] = "2"
        appliance_environ["b"] = "2"
        self.assertEqual(os.environ["DISTINIT_TRACK"], "a:b")
        self.assertEqual(list(ApplianceEnviron()), ["a", "b"])
        program = "from distinit.environment import appliance_environ as e; print(e.copy())"
        child = subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONPATH": PYTHON},
            capture_output=True,
            text=True,
            check=True,
        )
        self.assertEqual(child.stdout, "{'a': '2', 'b': '2'}\n")

    def test_the_standard_library_alone(self) -> None:
        """it needs nothing that was installed beside Python"""
        program = "from distinit.environment import appliance_environ as e; e['a'] = '1'; print(e.copy())"
        child = subprocess.run(
            [sys.executable, "-S", "-c", program],
            env={**os.environ, "PYTHONPATH": PYTHON},
            capture_output=True,
            text=True,
            check=True,
        )
        self.assertEqual((child.stdout, child.stderr), ("{'a': '1'}\n", ""))

    def test_the_users(self) -> None:
        """names and patterns that the user tracks count as well, and stay"""
        os.environ.update(DISTINIT_TRACK="HF_*::NOPE:OTHER", HF_HOME="/h", HF_TOKEN="t")
        self.assertEqual(list(appliance_environ), ["HF_HOME", "HF_TOKEN", "OTHER"])
        appliance_environ["HF_HOME"] = "/other"
        appliance_environ["a"] = "1"
        self.assertEqual(os.environ["DISTINIT_TRACK"], "HF_*:NOPE:OTHER:a")
        del appliance_environ["HF_HOME"]
        self.assertEqual(list(appliance_environ), ["HF_TOKEN", "OTHER", "a"])
        self.start_job()
        self.assertEqual(self.worker(), {"HF_TOKEN": "t", "OTHER": "other", "a": "1"})

    def test_everything(self) -> None:
        """a pattern for everything lists each name once, and not the list itself"""
        os.environ["DISTINIT_TRACK"] = "OTHER:*"
        self.assertEqual(sorted(appliance_environ), ["OTHER", "PATH"])

    def test_through_the_entrypoint(self) -> None:
        """the list reaches a program that distinit itself has started"""
        os.environ["DISTINIT_TRACK"] = "OTHER"
        program = "from distinit.environment import appliance_environ as e; e['a'] = '1'; print(e.copy())"
        run = subprocess.run(
            [DISTINIT, "--", sys.executable, "-c", program],
            env={**os.environ, "PYTHONPATH": PYTHON},
            capture_output=True,
            text=True,
            check=True,
        )
        self.assertEqual((run.stdout, run.stderr), ("{'OTHER': 'other', 'a': '1'}\n", ""))

    def test_names_that_cannot_travel(self) -> None:
        """a name that no list or directive can tell is refused by name, and not set"""
        for key in "a:b", "a*", "a,b", "a b", "a\nb", "a[x]":
            with self.subTest(key=key):
                with self.assertRaisesRegex(ValueError, "^" + "'a"):
                    appliance_environ[key] = "1"
                self.assertNotIn(key, os.environ)
        appliance_environ["a.b-c%%"] = "1"
        self.start_job()
        self.assertEqual(self.worker(), {"a.b-c%%": "1"})

    def test_values(self) -> None:
        """newlines, quotes, odd bytes and 100 kB arrive as they were"""
        values = {
            "lines": "two\nlines\n",
            "quotes": "'\"it's\"'",
            "blanks": " \t ",
            "empty": "",
            "bytes": os.fsdecode(b"\xff\xfe\x01"),
            "unicode": "äöü€😀",
            "end": "\n[end crc32=00000000]",
            "large": "x" * 100_000,
        }
        appliance_environ.update(values)
        self.assertEqual(self.start_job(), "")
        self.assertEqual(self.worker(), values)

    def test_the_kernels_limit(self) -> None:
        """what the kernel does not take in a variable is refused by name; the old value stays"""
        most = "x" * (131072 - len("big") - 2)
        appliance_environ["big"] = most
        self.start_job()
        self.assertEqual(self.worker(), {"big": most})
        with self.assertRaisesRegex(ValueError, "^'big' would have 131073 bytes, .* the kernel takes 131072$"):
            appliance_environ["big"] = most + "x"
        self.assertEqual(os.environ["big"], most)
        with self.assertRaisesRegex(ValueError, "'new' would have"):
            appliance_environ["new"] = most + "x"
        self.assertNotIn("new", os.environ)

    def test_a_list_too_long(self) -> None:
        """a name for which the list has no room is neither set nor tracked"""
        os.environ["DISTINIT_TRACK"] = "x" * 131040
        os.environ["old" * 10] = "old"
        for key in "new" * 20, "old" * 10:
            before = os.environ.get(key)
            with self.assertRaisesRegex(ValueError, "^'DISTINIT_TRACK' would have"):
                appliance_environ[key] = "1"
            self.assertEqual(os.environ.get(key), before)

    def test_threads(self) -> None:
        """names that several threads track at once are all tracked"""
        # So often that without the lock some would be lost in nearly every run.
        self.addCleanup(sys.setswitchinterval, sys.getswitchinterval())
        sys.setswitchinterval(1e-6)

        def track(thread: int) -> None:
            for i in range(50):
                appliance_environ[f"V_{thread}_{i}"] = "1"

        threads = [threading.Thread(target=track, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(appliance_environ), 200)


if __name__ == "__main__":
    unittest.main()
