#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
PID 1 waits for nothing but its loop: what supervise() and the observers beside it reach makes no system call that may wait.
A process that waits elsewhere is deaf to TERM, reaps nobody, and keeps no time limit.

It reads the sources, which clang-format has laid out: what a function mentions, it may call. A call through a field of a
struct may be any function that is assigned to a field of this name. Each function of the C library that is reached has to be
in one of the lists below: a new one fails until somebody has said whether it waits. Prints TAP.

    loop.py [TREE]
"""

import os
import re
import sys
from collections import defaultdict, namedtuple
from pathlib import Path

# Where it begins: the loop. The observers are found: whatever is assigned to a field `event`.
LOOP = ("src/system/init/supervise.c", "supervise")

# What runs in a child process of its own, which may wait as long as it likes: nobody waits for it.
CHILDREN = {
    "src/meet/together/look.c:child",
}

# Without these it would see nothing, so they have to be reached.
REACHED = [
    "src/system/init/leftovers.c:send_to",
    "src/system/init/why.c:read_kills",
    "src/system/init/say.c:put_line",
    "src/system/report/report.c:append",
    "src/system/access/place.c:walk_step",
    "src/meet/together/progress.c:progress_step",
    "src/meet/together/look.c:look_begin",
    "src/system/net/listen.c:stream_send",
    "src/meet/wire/key.c:key_seal",
    "cmd/distinit/together.c:report_first",
    "cmd/names/dumb_init.c:stop_too",
]

# Calls that may wait, and what in their arguments makes them return at once; "": nothing does.
WAITS = {
    "open": "O_PATH",
    "openat": "O_PATH",
    "stat": "",
    "lstat": "",
    "fstatat": "",
    "statx": "",
    "statfs": "",
    "statvfs": "",
    "access": "",
    "faccessat": "",
    "readlink": "",
    "readlinkat": "",
    "realpath": "",
    "opendir": "",
    "chdir": "",
    "unlink": "",
    "unlinkat": "",
    "rename": "",
    "renameat": "",
    "mkdir": "",
    "read": "",
    "pread": "",
    "readv": "",
    "getline": "",
    "fgets": "",
    "write": "",
    "pwrite": "",
    "writev": "",
    "fwrite": "",
    "printf": "",
    "fprintf": "",
    "puts": "",
    "fflush": "",
    "fsync": "",
    "ftruncate": "",
    "SYS_getdents64": "",
    "flock": "LOCK_NB",
    "lockf": "",
    "recv": "MSG_DONTWAIT",
    "send": "MSG_DONTWAIT",
    "sendto": "MSG_DONTWAIT",
    "recvmsg": "MSG_DONTWAIT",
    "sendmsg": "MSG_DONTWAIT",
    "connect": "",
    "accept4": "",
    "getaddrinfo": "",
    "getnameinfo": "",
    "getpwnam": "",
    "getrandom": "GRND_NONBLOCK",
    "wait": "",
    "waitpid": "WNOHANG",
    "waitid": "WNOHANG",
    "SYS_wait4": "",
    "reap_child": "WNOHANG",
    "poll": ", 0)",
    "SYS_ppoll": "",
    "poll_one": ", 0)",
    "epoll_wait": ", 0)",
    "select": "",
    "sleep": "",
    "usleep": "",
    "nanosleep": "",
    "clock_nanosleep": "",
    "pause": "",
    "sigsuspend": "",
    "SYS_rt_sigtimedwait": "at_once",
    "take_signal": "{0})",
    "vfork": "",
    "posix_spawnp": "",
    "system": "",
    "popen": "",
    # Of a file that is open. No file system that we know of asks a server for it, but some could.
    "fstat": "",
    "fstatfs": "",
    # Functions of ours whose path decides,
    "file_read_small": "",
    "entries_open": "",
    "access_append": "",
    "access_append_constant": "",
    # or whose descriptor.
    "write_all": "",
    "say_line": "",
    "say_status": "",
}

# Calls that return at once. Of close(): a file that has unwritten data on a server, SO_LINGER, or a terminal could make it
# wait; what the loop closes is none of these, but for what it has opened to append to it, which is in EXCEPTIONS.
NEVER_WAIT = set(
    """
    S_ISDIR S_ISFIFO S_ISLNK S_ISREG S_ISSOCK UINT64_C WCOREDUMP WEXITSTATUS WIFEXITED WIFSIGNALED WIFSTOPPED WSTOPSIG WTERMSIG
    _IOWR __builtin_add_overflow __builtin_mul_overflow _exit abort br_hmac_init br_hmac_out br_hmac_update br_poly1305_ctmul_run
    br_sha256_init br_sha256_out br_sha256_update bsearch cap_free cap_get_ambient cap_get_bound cap_get_flag cap_get_proc
    cap_init cap_set_flag cap_set_proc clock_gettime close dup3 epoll_create1 epoll_ctl fcntl fork free getauxval getgroups
    getpeername getpgrp getpid getresgid getresuid getsid getsockname getsockopt gmtime_r ioctl kill lseek malloc memchr memcmp
    memcpy memmove mempcpy memset mmap munmap pipe2 posix_spawn_file_actions_adddup2 posix_spawn_file_actions_addopen
    posix_spawn_file_actions_destroy
    posix_spawn_file_actions_init posix_spawnattr_destroy posix_spawnattr_init posix_spawnattr_setflags
    posix_spawnattr_setsigdefault posix_spawnattr_setsigmask prctl prlimit setfsgid setfsuid setgroups setsid setsockopt
    getenv isatty
    shutdown sigaction sigaddset sigemptyset sigfillset sigismember signalfd sigpending snprintf strchr strcmp strcspn strerror
    strlen strncmp strpbrk strspn strstr strtoul syscall tcgetpgrp tcsetpgrp umask uname va_copy va_end va_start vsnprintf
    SYS_clone SYS_close_range SYS_ioctl SYS_kill SYS_pidfd_open SYS_pidfd_send_signal SYS_rt_sigpending SYS_rt_sigprocmask
    SYS_rt_sigqueueinfo SYS_signalfd4
    """.split()
)

# Pointers that are not assigned to a field by name.
POINTERS = {
    "full": "ends the process: no memory is left",
}

# FILE:FUNCTION (or FILE:*) CALLS: why it does not wait, or why it may.
EXCEPTIONS = """
src/system/init/supervise.c:wait_until take_signal: the loop's own sleep
src/system/init/observer.c:observer_wait_until SYS_ppoll: the loop's own sleep
src/system/init/kernel.h:take_signal SYS_rt_sigtimedwait: its callers are looked at
src/system/init/kernel.h:reap_child SYS_wait4: its callers are looked at
src/system/init/kernel.h:poll_one SYS_ppoll: its callers are looked at
src/system/init/reap.c:reap reap_child: its options have WNOHANG
src/system/init/forward.c:send_to_workload poll_one: a millisecond, for at most a second, if the program's queue of signals is full
src/system/init/places.c:leave_places chdir: of "/", which we run in
src/system/init/leftovers.c:has_own_proc readlink: /proc/self
src/system/init/leftovers.c:map_family file_read_small: /proc/sys
src/system/init/leftovers.c:leave_streams fstat: of our stdout and stderr, which only a file of a server that does not answer could hold
src/system/init/say.c:put_line open write: our stderr once more, by /proc, with O_NONBLOCK
src/system/init/why.c:read_after file_read_small: the kernel's files of cgroups; below DISTINIT_ROOT, of regular files
src/base/base/file.c:file_read_small open fstat read: with O_NONBLOCK, and regular files only; its callers are looked at
src/base/base/file.c:write_all write: its callers are looked at
src/base/base/file.c:write_at_once write: poll() has said that there is room
src/base/base/entries.c:* open SYS_getdents64: its callers are looked at
src/base/base/proc.c:proc_stat_read file_read_small: /proc/PID/stat, which takes no lock of the process
src/base/base/proc.c:proc_numbers open read: /proc/PID/task/TID/children
src/base/base/proc.c:proc_children entries_open: /proc/PID/task
src/base/base/proc.c:proc_began_with open read: /proc/PID/environ, of an orphan with a session of its own, once, before a restart as PID 1
src/meet/together/workers.c:* entries_open file_read_small: /proc, /proc/PID/wchan
src/meet/together/look.c:look_read read: a pipe with O_NONBLOCK
src/meet/rollcall/line.c:line_take read: what stream_peek() has just seen, of a socket with SOCK_NONBLOCK
src/system/net/listen.c:stream_peek recv: of a socket with SOCK_NONBLOCK
src/system/net/listen.c:stream_send send: to a socket with SOCK_NONBLOCK
src/system/report/report.c:append access_append: the file of --report is looked up for each line, so that it can be rotated: on a server that does not answer it holds us, as the page says
src/system/report/report.c:write_line write: with O_NONBLOCK, to a pipe or a device
src/system/report/termination.c:termination_log access_append access_append_constant fstat write_all: the kubelet's file, a regular one, once
src/system/report/termination.c:is_apart file_read_small: /proc
src/system/access/place.c:* open openat fstat fstatfs readlinkat: the files of --report and of the termination log, with O_NONBLOCK
src/system/access/write.c:* open stat lstat fstat: the same files
cmd/common/say.c:put write_all: before a loop only: in it, `at_once` is set
cmd/distinit/report.c:session_report_end say_line: `at_once` is set
cmd/distrun/workload.c:print_line say_line: `at_once` is set
cmd/names/names.c:alias_log write_all: errors, before the loop only
src/slurm/srun/budget.c:* nanosleep fstat read ftruncate write_all: distrun, never PID 1: a lock for at most 10 s, at the start and the end
src/slurm/srun/step.c:step_send_status write: a pipe with O_NONBLOCK
src/slurm/srun/tool.c:tool_read read: a pipe with O_NONBLOCK
src/system/exec/spawn.c:spawn posix_spawnp: distrun: srun or squeue, until execve() has succeeded
src/slurm/srun/tool.c:tool_end waitpid: in the loop its child has been reaped, so there is none
"""

KEYWORDS = set("if for while switch return sizeof do else case default goto defined offsetof __attribute__ const static".split())

# What a file defines: a function, a macro, or a variable with a value. @head: a function's text before its body.
Part = namedtuple("Part", "file name head body own")


def without_comments(text):
    """@text without comments and the contents of strings, with the same lines."""

    def blank(match):
        part = match.group(0)
        return '""' if part[0] == '"' else "0" if part[0] == "'" else "\n" * part.count("\n") + " "

    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|' r"'(?:\\.|[^'\\\n])+'", blank, text, flags=re.S)


def statement(lines, i):
    """What begins at line @i, at file scope, to its end: the text, and its last line."""
    text, depth = lines[i], lines[i].count("{") - lines[i].count("}")
    while i + 1 < len(lines) and (depth > 0 or not re.search(r"[;}]\s*$", text)):
        i += 1
        text += "\n" + lines[i]
        depth += lines[i].count("{") - lines[i].count("}")
    return text, i


def parts_of(file, text):
    """All that the text of @file defines."""
    lines = without_comments(text).split("\n")
    i = 0
    while i < len(lines):
        begin = i
        if lines[i].startswith("#"):
            while lines[i].endswith("\\"):
                i += 1
            if macro := re.match(r"#\s*define\s+(\w+)(.*)", "\n".join(lines[begin : i + 1]), re.S):
                yield Part(file, macro[1], None, macro[2], file.endswith(".c"))
        elif re.match(r"\w", lines[i]):
            whole, i = statement(lines, i)
            before = re.sub(r"__attribute__\s*\(\(.*?\)\)|_Static_assert\(.*", "", whole.split("{", 1)[0], flags=re.S)
            own = bool(re.match(r"static\b|INLINE\b", before))
            if "=" in before:
                if variable := re.search(r"(\w+)\s*(?:\[[^\]]*\]\s*)*=", before):
                    yield Part(file, variable[1], None, whole.split("=", 1)[1], own)
            elif "{" in whole and (function := re.search(r"(\w+)\s*\(", before)):
                yield Part(file, function[1], before, "{" + whole.split("{", 1)[1], own)
        i += 1


class Tree:
    """All parts, and what each of them may call."""

    def __init__(self, texts):
        self.parts = [part for file, text in sorted(texts.items()) for part in parts_of(file, text)]
        self.by_name = defaultdict(list)
        for part in self.parts:
            self.by_name[part.name].append(part)
        # The functions that are assigned to a field.
        self.fields = defaultdict(set)
        for part in self.parts:
            for field, name in re.findall(r"(?:\.|->)(\w+)\s*=\s*(\w+)\b(?!\s*\()", part.body):
                self.fields[field] |= {one for one in self.find(part.file, name) if one.head is not None}

    def find(self, file, name):
        """The parts that @name may be in @file."""
        found = self.by_name.get(name, [])
        here = [part for part in found if part.file == file]
        return here or [part for part in found if not part.own or part.file.endswith(".h")]

    @staticmethod
    def is_local(part, name):
        """Whether @name is a variable or a parameter of @part."""
        declared = rf"(\w+)(?:\s+|\s*\*+\s*(?:const\s+)?){name}\s*(?:[,;=)\[{{:]|$)|\(\*{name}\)"
        return any(m[1] not in KEYWORDS for m in re.finditer(declared, (part.head or "") + part.body))

    def reach(self, roots):
        """What @roots reach: by whom; and the calls of what is not defined here: {(part, name, arguments)}."""
        reached, calls, todo = {}, set(), [(root, None) for root in roots]
        while todo:
            part, by = todo.pop(0)
            if part in reached or f"{part.file}:{part.name}" in CHILDREN:
                continue
            reached[part] = by
            words = r"((?:->|\.)\s*)?(?<!\w)(?<!struct )(?<!enum )([A-Za-z_]\w*)\b(\s*\()?"
            for match in re.finditer(words, part.body):
                field, name, call = match.groups()
                local = not field and self.is_local(part, name)
                targets = self.fields[name] if field else [] if local else self.find(part.file, name)
                if targets and (call or not field):
                    todo += [(target, part) for target in targets]
                # A static function of this file may have the name of another that waits.
                waits = name in WAITS and not any(target.own and target.file == part.file for target in targets)
                if (call and not local and (not targets or waits) and name not in KEYWORDS) or name.startswith("SYS_"):
                    calls.add((part, name, arguments(part.body, match.end())))
        return reached, calls


def arguments(text, at):
    """The arguments of the call whose bracket ends before @at, with that which closes it."""
    depth, end = 1, at
    while end < len(text) and depth:
        depth += (text[end] == "(") - (text[end] == ")")
        end += 1
    return text[at:end]


def exceptions():
    """{(place, call): reason}"""
    found = {}
    for line in EXCEPTIONS.strip().split("\n"):
        head, why = line.split(": ", 1)
        place, *names = head.split()
        found.update({(place, name): why for name in names})
    return found


def look(texts):
    """What is wrong: calls that may wait, unknown calls, exceptions that nobody needs; and what is reached."""
    tree = Tree(texts)
    roots = [part for part in tree.parts if (part.file, part.name) == LOOP] + sorted(tree.fields["event"])
    reached, calls = tree.reach(roots)
    allowed, used = exceptions(), set()
    waits, unknown = [], []
    for part, name, words in sorted(calls):
        place = f"{part.file}:{part.name}"
        keys = {(place, name), (part.file + ":*", name)} & set(allowed)
        used |= keys
        if keys or name in NEVER_WAIT or name in POINTERS:
            continue
        way, by = [], part
        while by:
            way.append(by.name)
            by = reached[by]
        line = f"{place}: {name}({' '.join(words.split())}, by {' <- '.join(way)}"
        if name not in WAITS:
            unknown.append(line)
        elif not WAITS[name] or WAITS[name] not in words:
            waits.append(line)
    stale = [f"{place} {name}" for place, name in sorted(set(allowed) - used)]
    return waits, unknown, stale, {f"{part.file}:{part.name}" for part in reached}


def with_call(texts, file, function, call):
    """@texts, where @function begins with @call."""
    text, n = re.subn(rf"(\n(?:\w[^\n;]*)?\b{function}\([^;{{]*\{{\n)", lambda m: m[1] + f"\t{call};\n", texts[file], count=1)
    assert n == 1, (file, function)
    return {**texts, file: text}


# Calls that nobody has made yet: each has to be found.
DEFECTS = [
    ("src/system/init/supervise.c", "supervise", "stat(path, &info)"),
    ("src/system/init/supervise.c", "do_requests", "nanosleep(&pause, NULL)"),
    ("src/meet/together/progress.c", "progress_step", "stat(path, &info)"),
    ("src/meet/together/progress.c", "interval", "open(path, O_RDONLY)"),
    ("src/system/init/reap.c", "reap", "waitpid(pid, NULL, 0)"),
    ("src/meet/together/workers.c", "workers_next", "getaddrinfo(name, NULL, NULL, &list)"),
    ("src/base/base/duration.c", "duration_text", "stat(path, &info)"),
    ("src/meet/wire/key.c", "key_seal", "write(fd, text, 1)"),
    ("src/system/net/listen.c", "stream_is_silent", "recv(fd, text, 1, 0)"),
    ("src/system/init/leftovers.c", "take_child", "call_of_tomorrow(pid)"),
    ("cmd/distinit/together.c", "report_first", "file_read_small(path, text, sizeof(text))"),
    ("cmd/names/tini.c", "event", "access(path, R_OK)"),
]


def report(number, name, wrong):
    """One TAP line, and what is wrong, if anything. Returns whether something is."""
    print(f"{'not ok' if wrong else 'ok'} {number} - {name}")
    for line in wrong:
        print("# " + " ".join(line.split()))
    return bool(wrong)


def main():
    os.chdir(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2])
    texts = {str(path): path.read_text() for top in ("src", "cmd") for path in Path(top).rglob("*.[ch]")}
    waits, unknown, stale, reached = look(texts)
    defective = texts
    for defect in DEFECTS:
        defective = with_call(defective, *defect)
    found = "\n".join(line.split(", by ")[0] for lines in look(defective)[:2] for line in lines)
    missed = [f"{file}:{function}: {call}" for file, function, call in DEFECTS if f"{file}:{function}: {call}" not in found]
    failed = [
        report(1, "nothing that the loop reaches waits", waits),
        report(2, "each call that the loop reaches is known", unknown),
        report(3, "each exception is needed", stale),
        report(4, "the loop reaches what it should", [place for place in REACHED if place not in reached]),
        report(5, "a call that waits is found, wherever it is put", missed),
    ]
    print("1..5")
    return int(any(failed))


if __name__ == "__main__":
    sys.exit(main())
