# SPDX-License-Identifier: Apache-2.0
"""Run the cases of a vector file against a distinit binary, from outside; print TAP.

    run.sh BINARY FILE

A case is what goes in, a line "--", and what must come out:

    [name of the case]
    # where the values come from, or why it is decided so
    like NAME                begin with the input of that case of this file
    group NAME               one member of a cluster, see below
    NAME=VALUE               a variable of the environment
    -NAME                    not in the environment after all (behind "like")
    $ OPTION...              options to pass, quoted as for a shell
    hostname NAME            this machine's name; without it the answer must not depend on one
    file PATH                a file under the root directory, which is @ROOT@ in values; its lines
            follow, indented by a tab
    --
    NAME=VALUE               a variable that is added or changed
    -NAME                    one that is removed
    unchanged                none is added, changed or removed
    cluster.KEY VALUE...     what "explain --format=json" says; "-" is null, or no hosts
    cluster none             that it has no cluster
    distinit: warning: TEXT  a line on stderr
    wrote PATH               a file that is written under the root directory by "env" and by the run, not by
            "explain"; its lines follow, indented by a tab

    distinit: error: TEXT    instead of variables: it is refused, and the command does not run

All of stderr and all of the workload's environment must be as told: whatever no line names reaches the
workload as it was, but for the DISTINIT_* variables, which do not reach it. Besides, "env" and "explain" must say
the same as what happened. DISTINIT_DERIVED, which a job script gets, is not told: it must name what the frameworks
have set there, and be nowhere else.

In values, \\xNN is a byte, and a piece between commas or blanks with {1..9} or {01..09} in it stands for all
of those. Cases of one group must agree on hosts, MASTER_ADDR, MASTER_PORT and the workers of TF_CONFIG, and differ
in their rank.

hostlist.txt has lines of its own form, "LIST -> NAMES" or "LIST -> error: TEXT".

EMULATOR in the environment: a program that runs binaries of another processor.
"""

import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

EMULATOR = os.environ.get("EMULATOR", "").split()
MARK = b"DISTINIT_DERIVED"
FRAMEWORKS = ("torch", "torchrun", "tensorflow", "jax", "xgboost", "paddle", "mpi", "mpich", "horovod", "deepspeed", "nccl", "gloo")
TOP_KEYS = ("source", "launcher", "scope", "recognised_by")

# No host of any case: an answer that depends on the name of a machine fails everywhere alike.
NOWHERE = "no-host-of-a-cluster"


class BadFile(Exception):
    pass


class Case:
    def __init__(self, name):
        self.name = name
        self.group = None
        self.env = {}
        self.options = []
        self.hostname = None
        self.files = {}
        self.variables = {}
        self.unchanged = False
        self.cluster = {}
        self.messages = []
        self.written = {}

    @property
    def refused(self):
        return any(m.startswith("distinit: error: ") for m in self.messages)


# --- reading ----------------------------------------------------------------------------------------


def expand_piece(piece):
    match = re.search(r"\{(\d+)\.\.(\d+)\}", piece)
    if not match:
        return [piece]
    width = len(match[1]) if match[1].startswith("0") else 1
    head, tail = piece[: match.start()], piece[match.end() :]
    return [f"{head}{i:0{width}}{tail}" for i in range(int(match[1]), int(match[2]) + 1)]


def expand(text, joiner=","):
    """Write out the {1..9} of a value. @joiner is for a value of one piece; others have theirs behind the piece."""
    if not re.search(r"\{\d+\.\.\d+\}", text):
        return text
    out = ""
    joiner = next((c for c in text if c in ", "), joiner)
    for piece, separator in re.findall(r"([^, ]*)([, ]|$)", text):
        out += (separator or joiner).join(expand_piece(piece)) + separator
    return out


def to_bytes(value, root=""):
    value = expand(value).replace("@ROOT@", root)
    parts = re.split(r"\\x([0-9a-f]{2})", value)
    return b"".join(bytes([int(p, 16)]) if i % 2 else p.encode() for i, p in enumerate(parts))


def read_input(case, line, cases):
    word, _, rest = line.partition(" ")
    if word == "like":
        if rest not in cases:
            raise BadFile(f"[{case.name}]: no case [{rest}] above it")
        base = cases[rest]
        case.env, case.options = dict(base.env), list(base.options)
        case.hostname, case.files = base.hostname, dict(base.files)
    elif word == "group":
        case.group = rest
    elif word == "hostname":
        case.hostname = rest
    elif word == "file":
        case.files[rest] = ""
    elif word == "$":
        # The frameworks of the case that this one is like do not count, and distinit would say so.
        if "--frameworks=" in rest:
            case.options = [o for o in case.options if not o.startswith("--frameworks=")]
        case.options += shlex.split(rest)
    elif line.startswith("\t") and case.files:
        case.files[list(case.files)[-1]] += line[1:] + "\n"
    elif re.match(r"-[^ =]+$", line):
        if case.env.pop(line[1:], None) is None:
            raise BadFile(f"[{case.name}]: {line}: it is not there")
    elif re.match(r"[^ =]+=", line):
        name, _, value = line.partition("=")
        case.env[name] = value
    else:
        raise BadFile(f"[{case.name}]: {line!r} is no input")


def read_expected(case, line):
    if line == "unchanged":
        case.unchanged = True
    elif line == "cluster none":
        case.cluster = None
    elif line.startswith("wrote "):
        case.written[line.removeprefix("wrote ")] = ""
    elif line.startswith("\t") and case.written:
        case.written[list(case.written)[-1]] += line[1:] + "\n"
    elif match := re.match(r"cluster\.(\w+) (.*)", line):
        case.cluster[match[1]] = match[2]
    elif line.startswith("distinit: "):
        case.messages.append(line)
    elif re.match(r"-[^ =]+$", line):
        case.variables[line[1:]] = None
    elif re.match(r"[^ =]+=", line):
        name, _, value = line.partition("=")
        case.variables[name] = value
    else:
        raise BadFile(f"[{case.name}]: {line!r} is nothing to expect")


def check_case(case):
    told = sum([case.refused, case.unchanged, bool(case.variables)])
    if told != 1:
        raise BadFile(f"[{case.name}]: expected are variables, or unchanged, or an error: one of them")


def read_cases(text):
    cases, case, expected = {}, None, False
    for line in text.split("\n"):
        if re.match(r"\s*(#|$)", line):
            continue
        if match := re.match(r"\[(.*)\]$", line):
            if match[1] in cases:
                raise BadFile(f"[{match[1]}] is there twice")
            case = cases[match[1]] = Case(match[1])
            expected = False
        elif case is None:
            raise BadFile(f"{line!r} stands in front of the first [case]")
        elif line == "--":
            expected = True
        elif expected:
            read_expected(case, line)
        else:
            read_input(case, line, cases)
    for case in cases.values():
        check_case(case)
    return cases


# --- running ----------------------------------------------------------------------------------------


class Run:
    """One run of the binary."""

    def __init__(self, argv, env):
        done = subprocess.run([*EMULATOR, *argv], env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
        self.status = done.returncode
        self.stdout = done.stdout
        self.messages = done.stderr.decode(errors="backslashreplace").splitlines()


def show(value):
    if value is None:
        return "not there"
    text = value.decode(errors="backslashreplace") if isinstance(value, bytes) else str(value)
    return repr(text if len(text) <= 400 else text[:400] + f"... ({len(text)} bytes)")


def read_environment(output, complain):
    entries = output.split(b"\0")[:-1]
    env = dict(entry.split(b"=", 1) for entry in entries)
    if len(env) != len(entries):
        complain("a variable is there twice")
    return env


def compare_environment(want, have, complain, where=""):
    for name in sorted(want.keys() | have.keys()):
        if want.get(name) != have.get(name):
            complain(f"{where}{name.decode()}: want {show(want.get(name))}, got {show(have.get(name))}")


def compare_messages(want, have, complain, where=""):
    if want != have:
        complain(f"{where}stderr: want")
        for line in want:
            complain("    " + line)
        complain("  got")
        for line in have:
            complain("    " + line)


def as_text(value):
    if value is None or value == []:
        return "-"
    if isinstance(value, list):
        return " ".join(str(v) for v in value)
    return str(value)


class Runner:
    def __init__(self, binary, case, root):
        self.binary = binary
        self.case = case
        self.root = root
        self.complaints = []
        self.explained = {}
        self.mark = None
        self.env = {n.encode(): to_bytes(v, root) for n, v in case.env.items()}
        self.given = [f"--root={root}"] if "DISTINIT_ROOT" not in case.env else []
        if "DISTINIT_HOSTNAME" not in case.env:
            self.given.append(f"--hostname={case.hostname or NOWHERE}")
        self.given += [o.replace("@ROOT@", root) for o in case.options]
        self.messages = [m.replace("@ROOT@", root) for m in case.messages]

    def complain(self, text):
        self.complaints.append(text)

    def run(self, *words):
        head = [w for w in words[:1] if not w.startswith("-")]
        return Run([self.binary, *head, *self.given, *words[len(head) :]], self.env)

    def check(self):
        run = self.run("--", "/usr/bin/env", "-0")
        if self.case.refused:
            self.check_refusal(run)
            return
        compare_messages(self.messages, run.messages, self.complain)
        if run.status != 0:
            self.complain(f"exit status {run.status}")
        else:
            self.check_success(run)

    def check_refusal(self, run):
        for what, r in ("the run", run), ("env", self.run("env")), ("explain", self.run("explain")):
            if r.status != 125:
                self.complain(f"{what}: want exit status 125, got {r.status}")
            if r.stdout:
                self.complain(f"{what}: wrote to stdout, or the command ran: {show(r.stdout)}")
            compare_messages(self.messages, r.messages, self.complain, f"{what}: ")

    def check_success(self, run):
        after = read_environment(run.stdout, self.complain)
        self.mark = after.pop(MARK, None)
        want = {n: v for n, v in self.env.items() if not n.startswith(b"DISTINIT_")}
        for name, value in self.case.variables.items():
            if value is None:
                want.pop(name.encode(), None)
            else:
                want[name.encode()] = to_bytes(value, self.root)
        compare_environment(want, after, self.complain)

        self.check_written("the run")
        self.check_env(after)
        self.check_written("env")
        self.check_explain({n: v for n, v in after.items() if self.env.get(n) != v})

    def check_written(self, what):
        """Take away what was written, so that the next one has to write it again."""
        for path, want in self.case.written.items():
            file = pathlib.Path(self.root, path.lstrip("/"))
            have = file.read_text() if file.is_file() else None
            if have != want:
                self.complain(f"{what}: {path}: want {show(want)}, got {show(have)}")
            file.unlink(missing_ok=True)

    def check_env(self, after):
        run = self.run("env", "--all", "--format=null")
        compare_messages(self.messages, run.messages, self.complain, "env: ")
        told = read_environment(run.stdout, self.complain)
        if told.pop(MARK, None) != self.mark:
            self.complain("env: DISTINIT_DERIVED is not what the run has")
        compare_environment(after, told, self.complain, "env: ")

    def check_explain(self, changed):
        run = self.run("explain", "--format=json", "--show-secrets")
        try:
            self.explained = json.loads(run.stdout)
        except ValueError as error:
            self.complain(f"explain: {error}: {show(run.stdout)} {run.messages}")
            return
        said = {v["name"].encode(): v["value"] for v in self.explained["variables"] if v["action"] == "set"}
        self.check_mark(said.pop(MARK, None))
        for name in sorted(said.keys() ^ changed.keys()):
            self.complain(f"explain: {name.decode()}: is it set or not?")
        for message in self.messages:
            text = message.partition(": warning: ")[2]
            if text not in self.explained["warnings"]:
                self.complain(f"explain: does not warn: {text}")
        for path in self.case.written:
            if pathlib.Path(self.root, path.lstrip("/")).exists():
                self.complain(f"explain: wrote {path}")
        self.check_cluster()

    def check_mark(self, said):
        """In a job script, what the frameworks have set is marked, unless it follows from the user's words."""
        mark = (self.mark or b"").decode()
        if said != (mark or None):
            self.complain(f"explain: DISTINIT_DERIVED: want {show(mark)}, got {show(said or '')}")
        if self.mark is not None and self.explained["scope"] != "allocation":
            self.complain("DISTINIT_DERIVED: only a job script needs it")
        told = {v["name"] for v in self.explained["variables"] if v["name"].startswith("MASTER_") and v["by"] == "user"}
        told |= {o for o in self.case.options if o.startswith("--master")} | {n for n in self.env if b"DISTINIT_MASTER" in n}
        ours = {v["name"] for v in self.explained["variables"] if v["action"] == "set" and v["by"] in FRAMEWORKS}
        marked = {piece.partition("=")[0] for piece in mark.split(":") if piece}
        if not marked <= ours or (self.explained["scope"] == "allocation" and not told and marked != ours):
            self.complain(f"DISTINIT_DERIVED names {sorted(marked)}, but the frameworks have set {sorted(ours)}")

    def check_cluster(self):
        told = self.explained["cluster"]
        if self.case.cluster is None:
            if told is not None:
                self.complain(f"explain: want no cluster, got {told}")
            return
        for key, want in self.case.cluster.items():
            want = expand(want, " ")
            holder = self.explained if key in TOP_KEYS else told or {}
            if key not in holder:
                self.complain(f"explain: has no {key}")
            elif as_text(holder[key]) != want:
                self.complain(f"explain: {key}: want {show(want)}, got {show(as_text(holder[key]))}")


def write_files(case, root):
    for path, text in case.files.items():
        file = pathlib.Path(root, path.lstrip("/"))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(to_bytes(text))


def run_case(binary, case):
    """Returns the complaints, and what explain said."""
    with tempfile.TemporaryDirectory() as root:
        write_files(case, root)
        runner = Runner(binary, case, root)
        try:
            runner.check()
        except subprocess.TimeoutExpired:
            runner.complain("no answer in 60 s")
        return runner.complaints, runner.explained


def check_group(members):
    """What the members of one cluster must have in common, and what they must not."""
    complaints = []
    names = list(members)
    pictures, ranks = {}, {}
    for name, said in members.items():
        cluster = said.get("cluster") or {}
        values = {v["name"]: v["value"] for v in said.get("variables", [])}
        workers = values.get("TF_CONFIG") and json.loads(values["TF_CONFIG"])["cluster"]
        pictures[name] = {
            "hosts": cluster.get("hosts"),
            "MASTER_ADDR": values.get("MASTER_ADDR"),
            "MASTER_PORT": values.get("MASTER_PORT"),
            "TF_CONFIG": workers,
        }
        ranks[name] = cluster.get("rank") if cluster.get("rank") is not None else cluster.get("node_rank")
    for name in names[1:]:
        for key, value in pictures[name].items():
            if value != pictures[names[0]][key]:
                complaints.append(f"[{names[0]}] and [{name}] differ in {key}")
    if len(set(ranks.values())) != len(ranks) or None in ranks.values():
        complaints.append(f"the ranks are {ranks}")
    if len(names) < 2:
        complaints.append("it has one member only")
    return complaints


class Tap:
    def __init__(self):
        self.n = 0
        self.failed = 0

    def result(self, name, complaints):
        self.n += 1
        self.failed += bool(complaints)
        # A '#' would begin a directive of TAP's.
        print(f"{'not ok' if complaints else 'ok'} {self.n} - {name.replace('#', 'no. ')}")
        for line in complaints:
            print(f"# {line}")

    def end(self):
        print(f"1..{self.n}")
        return 1 if self.failed or not self.n else 0


def run_cases(binary, text, tap):
    groups = {}
    for case in read_cases(text).values():
        complaints, explained = run_case(binary, case)
        tap.result(case.name, complaints)
        if case.group:
            groups.setdefault(case.group, {})[case.name] = explained
    for name, members in groups.items():
        tap.result(f"all members agree: {name}", check_group(members))


# --- hostlist.txt -----------------------------------------------------------------------------------


def check_hostlist(binary, text, want):
    complaints = []
    run = Run([binary, "hosts", "--", text], {})
    if want.startswith("error: "):
        said = "distinit: error: HOSTLIST="
        if run.status != 125 or run.stdout:
            complaints.append(f"want a refusal, got exit status {run.status} and {show(run.stdout)}")
        if len(run.messages) != 1 or not run.messages[0].startswith(said):
            complaints.append(f"want one line that names it, got {run.messages}")
        elif not run.messages[0].endswith(want.removeprefix("error: ")):
            complaints.append(f"want {want!r}, got {run.messages[0]!r}")
        return complaints
    names = expand(want, " ").split(" ")
    if run.status != 0 or run.messages:
        complaints.append(f"exit status {run.status}: {run.messages}")
    if run.stdout.decode().splitlines() != names:
        complaints.append(f"want {show(' '.join(names))}, got {show(run.stdout)}")
    again = Run([binary, "hosts", "--compress", "--", text], {}).stdout.decode().rstrip("\n")
    if Run([binary, "hosts", "--", again], {}).stdout != run.stdout:
        complaints.append(f"--compress makes it {again!r}, which are other names")
    return complaints


def run_hostlists(binary, text, tap):
    for line in text.split("\n"):
        if re.match(r"\s*(#|$)", line):
            continue
        listed, arrow, want = line.partition(" -> ")
        if not arrow:
            raise BadFile(f"{line!r} has no ' -> '")
        tap.result(listed, check_hostlist(binary, to_bytes(listed).decode(), want))


def main():
    binary, path = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
    tap = Tap()
    try:
        read = run_hostlists if path.stem == "hostlist" else run_cases
        read(binary, path.read_text(), tap)
    except BadFile as error:
        print(f"Bail out! {path}: {error}")
        return 1
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
