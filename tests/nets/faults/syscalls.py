# SPDX-License-Identifier: Apache-2.0
"""The names of system calls, and the errors that their manual pages allow for calls that are correct."""

import errno
import re
from pathlib import Path

HEADER = Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")
NAMES = {int(number): name for name, number in re.findall(r"#define __NR_(\w+) (\d+)", HEADER.read_text(encoding="ascii"))
         } if HEADER.exists() else {}

# A call that is not here has none but those for wrong arguments (EFAULT, EINVAL, EBADF).
TABLE = """
open openat             EACCES ENOENT EMFILE ENFILE ENOMEM EIO EINTR ELOOP
read                    EIO EINTR EISDIR
pread64                 EIO EINTR
write writev            EIO EINTR ENOSPC EPIPE
close                   EIO EINTR
fstat newfstatat stat lstat statx    EACCES ENOMEM
access faccessat faccessat2          EACCES EIO
fsync fdatasync         EIO ENOSPC
rename renameat renameat2            EACCES ENOSPC EROFS EXDEV
link linkat             EPERM EACCES EMLINK
unlink unlinkat         EACCES EIO
mkdir mkdirat           EACCES ENOSPC EROFS
chmod fchmod fchmodat   EPERM EROFS EIO
ftruncate               EIO EINTR EPERM
copy_file_range sendfile    EIO EINVAL ENOSYS EXDEV ENOSPC
readlink readlinkat     EACCES ENOENT EIO
getdents64              EIO ENOENT
chdir fchdir            EACCES EIO
mmap mremap             ENOMEM
brk                     ENOMEM
munmap mprotect madvise ENOMEM
execve                  ENOENT EACCES ENOMEM E2BIG EIO ENOEXEC ETXTBSY EMFILE
fork vfork clone clone3 EAGAIN ENOMEM
wait4 waitid            EINTR
socket socketpair       EMFILE ENFILE ENOBUFS EACCES EAFNOSUPPORT
bind                    EADDRINUSE EACCES
listen                  EADDRINUSE
accept accept4          ECONNABORTED EMFILE EINTR ENOBUFS EAGAIN
connect                 ECONNREFUSED ETIMEDOUT ENETUNREACH EINTR EAGAIN
poll ppoll epoll_wait epoll_pwait select pselect6    EINTR ENOMEM
epoll_ctl               ENOMEM ENOSPC
sendto sendmsg          ECONNRESET EPIPE EINTR ENOBUFS ENOMEM
recvfrom recvmsg        ECONNRESET EINTR ENOMEM
getsockopt setsockopt   ENOBUFS ENOPROTOOPT
getsockname getpeername ENOBUFS ENOTCONN
shutdown                ENOTCONN
setuid setgid setreuid setregid setresuid setresgid    EPERM EAGAIN
setgroups               EPERM ENOMEM
setpgid setsid          EPERM EACCES
capset                  EPERM
prctl                   EPERM EINVAL
setrlimit prlimit64     EPERM
ioctl                   ENOTTY EIO
kill tkill tgkill       EPERM ESRCH
pipe pipe2 eventfd2     EMFILE ENFILE
dup dup2 dup3           EMFILE EINTR
signalfd4 timerfd_create epoll_create1 inotify_init1 memfd_create    EMFILE ENFILE ENOMEM
pidfd_open              EMFILE ENOSYS
pidfd_send_signal       EPERM ESRCH ENOSYS
inotify_add_watch       ENOSPC EACCES
getrandom               EINTR ENOSYS
nanosleep clock_nanosleep    EINTR
rt_sigtimedwait         EINTR
futex                   EINTR EAGAIN
flock                   EINTR EWOULDBLOCK
statfs fstatfs          EIO
getcwd                  ENOENT EACCES
"""


def read_table() -> dict[str, list[int]]:
    out: dict[str, list[int]] = {}
    for line in TABLE.strip().splitlines():
        words = line.split()
        numbers = [getattr(errno, word) for word in words if hasattr(errno, word)]
        out.update({word: numbers for word in words if not hasattr(errno, word)})
    return out


ERRORS = read_table()

# What reading and writing can say depends on what is behind the descriptor. Reading a disk's file is never interrupted, up to
# PIPE_BUF bytes go into a pipe at once, and what never waits is not interrupted, but may have been woken for nothing.
READ, WRITE = ("read", "pread64", "recvfrom", "recvmsg"), ("write", "writev", "sendto", "sendmsg")
READING = {"pipe": [errno.EINTR], "socket": [errno.EINTR, errno.ECONNRESET], "file": [errno.EIO, errno.EISDIR],
           "pipe!": [errno.EAGAIN], "socket!": [errno.EAGAIN, errno.ECONNRESET], "other": [errno.EAGAIN]}
WRITING = {"pipe": [errno.EPIPE], "socket": [errno.EINTR, errno.EPIPE, errno.ENOBUFS], "file": [errno.EIO, errno.ENOSPC],
           "pipe!": [errno.EAGAIN, errno.EPIPE], "socket!": [errno.EAGAIN, errno.EPIPE, errno.ECONNRESET, errno.ENOBUFS],
           "other": [errno.EAGAIN]}

# The third argument is a number of bytes. With less, the kernel itself does less.
COUNTED = ("read", "write", "sendto", "recvfrom", "pread64", "getdents64")

# prctl() has its errors by its first argument: PR_SET_KEEPCAPS, PR_CAPBSET_READ, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS,
# PR_CAP_AMBIENT. All others cannot fail.
PRCTL = {8: [errno.EPERM], 23: [errno.EINVAL], 24: [errno.EPERM], 38: [errno.EINVAL], 47: [errno.EPERM, errno.EINVAL]}
WNOHANG = 1


def errors_of(name: str, arguments: tuple[int, ...], on: str = "") -> list[int]:
    """The errors that this call may have."""
    if on:
        return (READING if name in READ else WRITING)[on]
    if name == "prlimit64" and arguments[2] == 0:
        return []  # it asks for a limit of its own
    if name == "fcntl":
        return {0: [errno.EMFILE], 7: [errno.EINTR, errno.ENOLCK], 1030: [errno.EMFILE]}.get(arguments[1], [])
    if name == "prctl":
        return PRCTL.get(arguments[0], [])
    if (name == "wait4" and arguments[2] & WNOHANG) or (name == "waitid" and arguments[3] & WNOHANG):
        return []
    if name in ("poll", "ppoll") and arguments[1] == 0:
        return [errno.EINTR]
    return ERRORS.get(name, [])
