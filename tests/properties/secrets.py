# SPDX-License-Identifier: Apache-2.0
"""A secret, told in every place; prints TAP.

    secrets.py DISTINIT DISTRUN VECTORS

Its name, or the word in front of it, or its form says that it is secret. Then neither a message nor "explain", "check" or
the report shows it, whichever option, variable, file or word of the command holds it.
"""

import functools
import os
import pathlib
import subprocess
import sys
import tempfile

import foreign

vectors = foreign.vectors
options_of = functools.cache(lambda program, *word: foreign.options_of(program, word))

SECRET = "hunter2hunter"
NAMED = f"API_TOKEN={SECRET}"
TEXTS = [NAMED, f"x://u:{SECRET}@h", f"hf_{SECRET}hunter2@", f"a --password {SECRET}", f"mysql -p{SECRET}"]
NAMES = ["API_TOKEN", "DB_PW", "SLACK_WEBHOOK_URL", "KUBECONFIG_DATA", "NETRC", "VAULT"]

# The words of a command.
COMMANDS = [
    ["sshpass", "-p", SECRET, "ssh", "host"],
    ["sshpass", f"-p{SECRET}", "ssh", "host"],
    ["run", "mysql", f"-p{SECRET}"],
    ["sh", "-c", f"sshpass -p {SECRET} ssh host; mysql -p{SECRET}"],
    ["train", "--password", SECRET],
    ["train", "--db.password", SECRET],
    ["train", f"--db.password={SECRET}"],
    ["train", "--smtp-pw", SECRET],
    ["train", "--webhook", SECRET],
    ["train", "--token", "{WORD}"],
    ["train", "--token=a{WORD}"],
    ["train", "--url=x://u:{WORD}@h"],
    ["train", "-p{WORD}"],
    ["env", NAMED, "train"],
    ["train", "--set", "API_TOKEN", SECRET],
    ["curl", "-H", f"Authorization: Bearer {SECRET}"],
    ["curl", f"x://u:{SECRET}@h"],
    [f"/nosuch/hf_{SECRET}hunter2"],
    [NAMED, "train"],
    ["/bin/true", f"hf_{SECRET}hunter2"],
]

# What else is told beside the secret. Some refuse it in a pair only.
BESIDE = [["--hosts=127.0.0.1,127.0.0.2", "--node-rank=0"], ["--cluster=manual"], ["--read=hosts=H"], ["--nnodes=2"], ["--scope=node"],
          ["--set=MASTER_ADDR=a", "--lenient"], ["--for=all", "--wait=20ms", "--hosts=127.0.0.1,127.0.0.2", "--node-rank=0"]]

# Subcommands that show what they found, and those whose output is for a program.
SHOWN = [["explain"], ["explain", "--format=json"], ["check"], ["check", "--format=json"]]
OTHERS = [[], ["env"], ["wait", "--timeout=10ms"], ["hosts"], ["bundle"]]


class Teller:
    def __init__(self, root):
        self.root = root
        self.runs = 0
        self.bad = []

    def run(self, argv, env, shown=False):
        self.runs += 1
        done = subprocess.run(argv, env={"PATH": "/usr/bin:/bin", **env}, stdin=subprocess.DEVNULL, capture_output=True,
                              cwd=self.root, timeout=60, check=False)
        report = pathlib.Path(self.root, "report")
        said = done.stderr + (done.stdout if shown else b"") + (report.read_bytes() if report.exists() else b"")
        report.unlink(missing_ok=True)
        if SECRET.encode() in said:
            lines = [line for line in said.decode(errors="replace").splitlines() if SECRET in line]
            told = {name: value for name, value in env.items() if SECRET in str(value)}
            self.bad.append(f"{argv[1:]} {told}: {lines[0]}"[:600])


def tell_options(teller, distinit):
    for words in SHOWN + OTHERS:
        shown, known = words in SHOWN, options_of(distinit, *words[:1])
        tail = [] if words else ["--report=report", "-vv", "--", "/bin/true"]
        for name, takes in known:
            variable = "DISTINIT_" + name.upper().replace("-", "_")
            for text in TEXTS if takes and words in ([], ["explain"]) else [NAMED]:
                teller.run([distinit, *words, f"--{name}={text}", *tail], {}, shown)
                teller.run([distinit, *words, *tail], {variable: text}, shown)
            teller.run([distinit, *words, f"--{name}", "API_TOKEN", SECRET, *tail], {}, shown)
            for beside in BESIDE if words in ([], ["explain"]) else []:
                if all(word[2:].partition("=")[0] in dict(known) for word in beside):
                    teller.run([distinit, *words, *beside, f"--{name}={NAMED}", *tail], {}, shown)
        for variable in ("ENV", "BUNDLE", "SECRET", "DERIVED", "NOSUCH", "API_TOKEN"):
            for text in TEXTS:
                teller.run([distinit, *words, *tail], {f"DISTINIT_{variable}": text}, shown)


def tell_distrun(teller, distrun):
    for word in ("where", "surrogate", "exec", "launch", "analyze"):
        for name, takes in options_of(distrun, word):
            for text in TEXTS if takes else [NAMED]:
                tail = [] if word == "where" else ["--", "/bin/true"]
                teller.run([distrun, word, f"--{name}={text}", *tail], {}, word == "where")
                teller.run([distrun, word, *tail], {"DISTRUN_" + name.upper().replace("-", "_"): text}, word == "where")
        for command in COMMANDS:
            teller.run([distrun, word, *command], {}, word == "where")
            teller.run([distrun, word, "--", *command], {}, word == "where")


def tell_commands(teller, distinit):
    for command in COMMANDS:
        env = {"WORD": SECRET}
        teller.run([distinit, *command], env)
        teller.run([distinit, "run", *command], env)
        teller.run([distinit, "-vv", *command], env)
        for fill in ([], ["--fill"]):
            for words in SHOWN:
                teller.run([distinit, *words, *fill, "--", *command], env, True)
        for init in ([], ["--init"]):
            teller.run([distinit, "-vv", *init, "--report=report", "--", *command], env)
        for name in ("tini", "dumb-init", "catatonit", "gosu", "su-exec"):
            link = pathlib.Path(teller.root, name)
            if not link.is_symlink():
                link.symlink_to(distinit)
            for words in ([], ["--"], ["root"], ["-p"], ["-vvv"]):
                teller.run([str(link), *words, *command], {**env, "DISTINIT_REPORT": "report"})


def tell_names(teller, distinit):
    for name in NAMES:
        for words in SHOWN:
            teller.run([distinit, *words, "--set", f"{name}={SECRET}"], {name: SECRET}, True)
            teller.run([distinit, *words, "--prepend", f"{name}={SECRET}"], {name: SECRET}, True)
        teller.run([distinit, "-vv", "--set", f"{name}={SECRET}", "--", "/bin/true"], {})
        for read in ("nnodes", "node-rank", "hosts", "port", "job", "tasks"):
            teller.run([distinit, "explain", f"--read=hosts=HOSTS {read}={name}"], {"HOSTS": "127.0.0.1,127.0.0.2", name: SECRET}, True)


def tell_files(teller, distinit):
    lines = [NAMED, f"set API_TOKEN {SECRET}", f"sett {NAMED}", f"append API_TOKEN[ ]={SECRET}", f"export {NAMED}", f"[app {NAMED}]",
             f"[{NAMED}]", f"API_TOKEN[]={SECRET}", f"clean {NAMED}", f"A=x://u:{SECRET}@h", f"A\x01 hf_{SECRET}hunter2"]
    for line in lines:
        path = pathlib.Path(teller.root, "lines")
        path.write_text(line + "\n", encoding="ascii")
        for words in [*SHOWN, [], ["hosts"]]:
            tail = [] if words else ["-vv", "--report=report", "--", "/bin/true"]
            for option in ("env-file", "hostfile", "secret-file"):
                if option in dict(options_of(distinit, *words[:1])):
                    teller.run([distinit, *words, f"--{option}=lines", *tail], {}, words in SHOWN)
        teller.run([distinit, "-vv", "--", "/bin/true"], {"DISTINIT_ENV": line})


def tell_vectors(teller, distinit, folder):
    seen = set()
    for path in sorted(pathlib.Path(folder).glob("*.txt")):
        for case in vectors.read_cases(path.read_text(encoding="utf-8")).values() if path.name != "hostlist.txt" else []:
            fresh = [name for name in case.env if (path.name, name) not in seen]
            seen.update((path.name, name) for name in fresh)
            if not fresh and not case.files:
                continue
            with tempfile.TemporaryDirectory() as root:
                tell_case(teller, distinit, case, fresh, root)


def tell_case(teller, distinit, case, fresh, root):
    vectors.write_files(case, root)
    words = [f"--root={root}", "--hostname=" + (case.hostname or "nowhere")]
    words += [option.replace("@ROOT@", root) for option in case.options]
    env = {name: os.fsdecode(vectors.to_bytes(value, root)) for name, value in case.env.items()}

    def run_all(env):
        teller.run([distinit, *SHOWN[teller.runs % 2], *words], env, True)
        teller.run([distinit, "-vv", "--report=report", *words, "--", "/bin/true"], env)

    for name in fresh:
        run_all({**env, name: [*TEXTS, env[name] + "," + NAMED][teller.runs // 2 % 6]})
    for name in case.files:
        path = pathlib.Path(root, name.lstrip("/"))
        if path.is_file():
            path.chmod(0o644)
            before = path.read_text(encoding="utf-8")
            for text in (before.rstrip("\n") + NAMED, TEXTS[teller.runs // 2 % len(TEXTS)]):
                path.write_text(text, encoding="utf-8")
                run_all(env)
            path.write_text(before, encoding="utf-8")


def main():
    distinit, distrun, folder = sys.argv[1:4]
    parts = [
        ("options and variables of distinit", lambda t: tell_options(t, distinit)),
        ("options of distrun", lambda t: tell_distrun(t, distrun)),
        ("words of a command", lambda t: tell_commands(t, distinit)),
        ("names of variables", lambda t: tell_names(t, distinit)),
        ("files", lambda t: tell_files(t, distinit)),
        ("variables and files of the vectors", lambda t: tell_vectors(t, distinit, folder)),
    ]
    failed = False
    for number, (name, part) in enumerate(parts, 1):
        with tempfile.TemporaryDirectory() as root:
            teller = Teller(root)
            part(teller)
        failed |= bool(teller.bad)
        print(f"{'not ok' if teller.bad else 'ok'} {number} - {name}: {teller.runs} runs, {len(teller.bad)} show it", flush=True)
        for line in teller.bad[: 12]:
            print("# " + line)
    print(f"1..{len(parts)}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
