"""The sandbox of one process and what it starts: Linux namespaces, entered by a process that was forked for it.

What is inside: the system's programs and libraries, this Python with its packages and course_lib, all read-only; a
small home in memory; its own processes, its own network without a way out. What is not: the rest of the file system,
other processes, the user's variables. Everything that was started inside ends with the first process inside.
No program from outside is needed, and no right beyond making user namespaces, which Linux gives to ordinary users.
"""

import contextlib
import ctypes
import fcntl
import os
import resource
import signal
import socket
import struct
import sys
from dataclasses import dataclass
from pathlib import Path

from course_lib.errors import BadInput
from course_tools.grading.paths import BESIDE, LIBRARY
from course_tools.grading.sandbox import syscalls

NEWNS, NEWUTS, NEWIPC = 0x20000, 0x4000000, 0x8000000
NEWUSER, NEWPID, NEWNET = 0x10000000, 0x20000000, 0x40000000
RDONLY, NOSUID, NODEV, NOEXEC, REMOUNT, BIND, REC, PRIVATE = 1, 2, 4, 8, 32, 4096, 16384, 1 << 18
DETACH = 2
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS = 1, 4, 38
PR_SET_SECUREBITS, PR_CAPBSET_DROP = 28, 24
SIOCSIFFLAGS, IFF_UP, IFF_RUNNING = 0x8914, 1, 0x40
PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
NOBODY = 65534
PROGRAMS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
SYSTEM = (*PROGRAMS, "/etc/ld.so.cache", "/etc/alternatives", "/etc/fonts")
DEVICES = ("null", "zero", "full", "random", "urandom")
HOME = "/home/student"
INSTALLED = ("site-packages", "dist-packages")  # the course in one of these has no solutions
_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Limits:
    """What one submission may use. Bytes, seconds of processor time, counts."""

    memory: int = 2 << 30  # of all processes together, looked at from outside while they run
    # address space of one process; the CPU engine maps 2 GiB, most of them never used
    space: int = 8 << 30
    disk: int = 256 << 20  # all files in its home, /tmp and /dev/shm, each
    # one file; those on disks cannot get there, the CPU engine's nameless one may
    file: int = 4 << 30
    processes: int = 256  # threads count
    files: int = 512  # open at a time, in one process
    seconds: int = 600


class NoSandbox(BadInput):
    """This system lets nobody make a sandbox."""


def enter(shown, limits=None, hidden=(), masks=None):
    """Called in a freshly forked process with one thread; returns in the process that is to run the student's code.

    shown: folders that are to be seen, read-only, at their own paths. hidden: folders below them that are to
    be empty. masks: {path of a file: the text that it is to have}. The calling process stays as the one that waits:
    it never returns, and ends with the exit status of the one inside. Raises NoSandbox.
    """
    limits, root = limits or Limits(), os.getuid() == 0
    _call("prctl", PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    _own_namespaces(0 if root else NEWUSER)
    _fork_and_wait()  # its child is the first process of the new process namespace
    _call("prctl", PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    _loopback_up()
    _new_root(_existing((*SYSTEM, *shown)), limits, _existing(hidden), masks or {})
    if root:  # a limit on processes does not hold for root, and its files are readable
        _become_nobody()
        _own_namespaces(NEWUSER, rest=0)
    with contextlib.suppress(OSError):
        Path("/proc/sys/user/max_user_namespaces").write_text("0")
    _no_rights()
    _fork_and_wait(first=True)
    limit(limits)
    syscalls.refuse_some()
    os.setsid()
    os.chdir(HOME)


def available():
    """Can a sandbox be made here? ("" or the reason why not)"""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(read)
            enter(())
            os.write(write, b"inside")
        except BaseException as error:
            os.write(write, str(error).encode()[:500])
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as stream:
        said = stream.read().decode()
    os.waitpid(child, 0)
    return "" if said == "inside" else said or "the process in the sandbox ended at once"


def python_folders(private=()):
    """The folders that this interpreter, its packages and course_lib need, also those that .pth files have added.

    Not shown: what holds this clone or another, with its solutions, the user's home, or one of the folders `private`.
    """
    interpreter = os.path.dirname(os.path.realpath(sys.executable))
    own = map(os.path.realpath, [sys.prefix, sys.base_prefix, str(LIBRARY), interpreter])
    added = [place for place in sys.path if os.path.isabs(place) and os.path.exists(place)]
    more = [place for place in map(os.path.realpath, added) if not _holds(Path(place), private)]
    return tuple(dict.fromkeys([*own, *more]))


def shows(folder):
    """The folder that every sandbox shows and that holds this one, or ""."""
    place = Path(os.path.realpath(folder))
    shown = [os.path.realpath(one) for one in (*PROGRAMS, *python_folders([folder]))]
    return next((one for one in shown if place.is_relative_to(one)), "")


def _holds(place, private):
    """Is this a folder above what students must not see, or one of a clone's own beside course_lib?"""
    if (place / "course_lib").is_dir() and place.name not in INSTALLED:
        return True
    if place.is_relative_to(BESIDE) and not place.is_relative_to(os.path.realpath(sys.prefix)):
        return True
    guarded = map(os.path.realpath, [BESIDE, *homes(), *private])
    return any(Path(one).is_relative_to(place) for one in guarded)


def homes():
    """The user's home folders: $HOME, and that of the password file; on many hubs they differ."""
    found = [Path.home()] if "HOME" in os.environ else []
    with contextlib.suppress(KeyError, ImportError):
        import pwd

        found.append(Path(pwd.getpwuid(os.getuid()).pw_dir))
    return found


def limit(limits, alone=True):
    """Limit this process and what it starts. alone: nothing else runs as this user, so its processes can be counted."""
    values = {"AS": limits.space, "FSIZE": limits.file, "CORE": 0, "NOFILE": limits.files}
    values["CPU"] = limits.seconds
    if alone:
        values["NPROC"] = limits.processes
    missing = () if alone else (OSError, ValueError)  # macOS has not all
    for name, value in values.items():
        number = getattr(resource, f"RLIMIT_{name}")
        hard = resource.getrlimit(number)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        with contextlib.suppress(*missing):
            resource.setrlimit(number, (value, value))


def unreadable():
    """No other process of this sandbox may look into this one, or take its handles."""
    if sys.platform == "linux":
        _call("prctl", PR_SET_DUMPABLE, 0, 0, 0, 0)


# Steps ----------------------------------------------------------------------------------------------------------


def _become_nobody():
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    # else /proc/self belongs to root, and the maps cannot be written
    _call("prctl", PR_SET_DUMPABLE, 1, 0, 0, 0)
    _call("prctl", PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _own_namespaces(user, rest=NEWNS | NEWPID | NEWNET | NEWIPC | NEWUTS):
    maps = {"uid_map": f"1000 {os.getuid()} 1", "gid_map": f"1000 {os.getgid()} 1"}
    try:
        _call("unshare", user | rest)
        for name, text in ({"setgroups": "deny"} | maps if user else {}).items():
            Path(f"/proc/self/{name}").write_text(text)
    except OSError as error:
        raise NoSandbox(f"this system gives no namespaces ({error})") from error


def _fork_and_wait(first=False):
    """Returns in the child alone; the parent ends as the child does. first: it also adopts orphans, and ends them."""
    child = os.fork()
    if child == 0:
        return
    for handle in range(3 if first else 0, 3):
        os.close(handle)
    _close_all()
    while True:
        pid, status = os.wait()
        if pid == child:
            os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def _close_all():
    """The waiting processes keep nothing open: the other ends must notice when the one inside has ended."""
    os.closerange(0, 4096)


def _loopback_up():
    """Ranks and kernels talk over 127.0.0.1, which begins switched off in a network of one's own."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        name_and_flags = struct.pack("16sh", b"lo", IFF_UP | IFF_RUNNING)
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, name_and_flags.ljust(40, b"\0"))


def _new_root(shown, limits, hidden, masks):
    _call("mount", b"none", b"/", None, REC | PRIVATE, None)
    _mount("tmpfs", "/tmp", "tmpfs", NOSUID | NODEV, "size=4m,mode=755")
    os.makedirs("/tmp/root")
    os.makedirs("/tmp/old")
    _pivot("/tmp", "/tmp/old")  # now no folder that is to be shown lies under the new root's own
    root, size = "/root", f"size={limits.disk},nr_inodes=20000,mode=777"
    _mount("/root", "/root", None, BIND)
    for place in ("/tmp", "/dev/shm", "/home"):
        os.makedirs(root + place, exist_ok=True)
        _mount("tmpfs", root + place, "tmpfs", NOSUID | NODEV, size)
    os.makedirs(root + HOME)
    os.chmod(root + HOME, 0o777)  # what root starts goes on as nobody
    for path in shown:
        _show(path, "/old" + path, root + path)
    for path in filter(lambda path: os.path.isdir(root + path), hidden):
        _mount("tmpfs", root + path, "tmpfs", NOSUID | NODEV | NOEXEC | RDONLY, "size=4k,mode=555")
    for number, (path, text) in enumerate(masks.items()):
        _mask(f"/mask{number}", root + path, text)
    _devices(root)
    _enter_root(root)


def _enter_root(root):
    """From now on nothing of the old root can be reached, and of the new one only homes can be written."""
    os.makedirs(f"{root}/proc")
    _mount("proc", f"{root}/proc", "proc", NOSUID | NODEV | NOEXEC)
    _mount(None, root, None, REMOUNT | BIND | RDONLY | NOSUID | NODEV)
    _call("umount2", b"/old", DETACH)
    _pivot(root, root)
    _call("umount2", b".", DETACH)
    os.chdir("/")


def _devices(root):
    for name in DEVICES:
        Path(root, "dev", name).touch()
        _mount(f"/old/dev/{name}", f"{root}/dev/{name}", None, BIND)
    for name, below in (("fd", ""), ("stdin", "/0"), ("stdout", "/1")):
        os.symlink(f"/proc/self/fd{below}", f"{root}/dev/{name}")


def _pivot(new, old):
    os.chdir(new)
    if _libc.syscall(PIVOT_ROOT[os.uname().machine], new.encode(), old.encode()) != 0:
        raise OSError(ctypes.get_errno(), f"pivot_root: {os.strerror(ctypes.get_errno())}")
    os.chdir("." if new == old else "/")


def _show(path, source, inside):
    if os.path.islink(source):  # /bin -> usr/bin
        if not os.path.lexists(inside):
            os.makedirs(os.path.dirname(inside), exist_ok=True)
            os.symlink(os.readlink(source), inside)
        return
    if os.path.isdir(source):
        os.makedirs(inside, exist_ok=True)
    elif not os.path.exists(inside):
        os.makedirs(os.path.dirname(inside), exist_ok=True)
        Path(inside).touch()
    _mount(source, inside, None, BIND | REC)
    _mount(None, inside, None, REMOUNT | BIND | RDONLY | _flags(inside))


def _mask(own, inside, text):
    """Show this text in the place of a file, if it is shown at all."""
    if os.path.isfile(inside):
        Path(own).write_text(text, encoding="utf-8")
        _mount(own, inside, None, BIND)
        _mount(None, inside, None, REMOUNT | BIND | RDONLY | _flags(inside))


def _flags(path):
    """The mount flags that are locked: a read-only remount must repeat them."""
    have = os.statvfs(path).f_flag
    flags = {os.ST_NOSUID: NOSUID, os.ST_NODEV: NODEV, os.ST_NOEXEC: NOEXEC}
    flags |= {os.ST_NOATIME: 1024, os.ST_NODIRATIME: 2048, os.ST_RELATIME: 1 << 21}
    return sum(flag for bit, flag in flags.items() if have & bit) | NOSUID


def _no_rights():
    """No capability is left, and none can be had again."""
    _call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    _call("prctl", PR_SET_SECUREBITS, 0x2F, 0, 0, 0)
    for number in range(64):
        if _libc.prctl(PR_CAPBSET_DROP, number, 0, 0, 0) != 0:
            break
    header, none = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    _call("capset", header, none)


def _existing(paths):
    return [path for path in dict.fromkeys(paths) if os.path.exists(path)]


def _mount(source, target, kind, flags, data=None):
    words = [word.encode() if word is not None else None for word in (source, target, kind)]
    if _libc.mount(*words, ctypes.c_ulong(flags), data.encode() if data else None) != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"mount {source} on {target}: {os.strerror(error)}")


def _call(name, *args):
    given = [ctypes.c_ulong(a) if isinstance(a, int) else a for a in args]
    if getattr(_libc, name)(*given) != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{name}: {os.strerror(error)}")
