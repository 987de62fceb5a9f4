"""What programs may ask of the system while they are graded, by Linux' filters of system calls.

In every sandbox a few calls are refused: they hold memory that lies in no process and no file, or reach deep into the
kernel, and no exercise needs them. A student's compiled CUDA C may ask for memory, time, threads and what it has open
alone: it runs beside the process of the checks and as the same user, and so can neither change a file (the compiled
programs and parts of the engine that the next check uses), nor start a process, nor talk to one.
"""

import ctypes
import errno
import os
import struct
import sys

PR_GET_SECCOMP, PR_SET_SECCOMP, FILTER, PR_SET_NO_NEW_PRIVS = 21, 22, 2, 38
ALLOW, REFUSE, UNKNOWN = 0x7FFF0000, 0x50000 | errno.EPERM, 0x50000 | errno.ENOSYS
# operations of the kernel's filter machine
LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
# offsets in what it looks at: the call, the machine, the first argument
NUMBER, ARCH, FIRST = 0, 4, 16
WRITES = (
    os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND | getattr(os, "O_TMPFILE", 0)
)
THREAD = 0x10000  # of clone: no new process
# fcntl: duplicates and flags; what stands between sends signals to whoever it names
PLAIN_BELOW, DUPLICATE = 5, 1030
OWN = 0xFFFFFFFF  # stands for the number of the process, which nobody knows before it has started
# machine: its number; calls; those with flags that matter: (number, which argument); tgkill, prlimit64, fcntl; clone;
# clone3
CALLS = {
    "x86_64": (
        0xC000003E,
        (
            0, 1, 3, 5, 8, 9, 10, 11, 12, 13, 14, 15, 17, 18, 19, 20, 21, 24, 25, 28, 32, 33,
            35, 37, 38, 39, 59, 60, 63, 96, 99, 131, 158, 186, 201, 202, 204, 217, 218,
            219, 228, 230, 231, 262, 269, 273, 292, 318, 324, 332, 334, 436,
        ),
        ((2, 1), (257, 2)), (234, 302, 72), 56, 435,
    ),
    "aarch64": (
        0xC00000B7,
        (
            23, 24, 48, 57, 61, 62, 63, 64, 65, 66, 67, 68, 79, 80, 93, 94, 96, 98, 99,
            101, 103, 113, 115, 123, 124, 128, 132, 134, 135, 139, 160, 169, 172, 178,
            179, 214, 215, 216, 221, 222, 226, 233, 278, 283, 291, 293, 436,
        ),
        ((56, 2),), (131, 261, 25), 220, 435,
    ),
}  # fmt: skip
# In words: read, write, close, stat, seek, mmap and its kin, signals of its own, sleep, alarm, clocks, execve (its own
# start), exit, fcntl, dup, futex, robust lists, affinity, random numbers. To open is allowed for reading.

# shmget, msgget, mq_open, add_key, request_key, keyctl, perf_event_open, bpf, userfaultfd, io_uring_setup; then what
# tells one sandbox of another by way of a file that both can read: flock, inotify_init, inotify_init1, fanotify_init;
# then what makes a process wait for a processor, and its grader believe that the machine is busy: setpriority,
# sched_setattr
REFUSED = {
    "x86_64": (29, 68, 240, 248, 249, 250, 298, 321, 323, 425, 73, 253, 294, 300, 141, 314),
    "aarch64": (194, 186, 180, 217, 218, 219, 241, 280, 282, 425, 32, 26, 262, 140, 274),
}
# sched_setscheduler, for the same reason, but to what is usual: ZeroMQ asks for that, and ends where it is refused
SCHEDULER = {"x86_64": 144, "aarch64": 119}
USUAL = (0,)
# fcntl and its operations that two sandboxes could see of each other: locks, leases, notifications
FCNTL = {"x86_64": 72, "aarch64": 25}
SEEN_OUTSIDE = (5, 6, 7, 36, 37, 38, 1024, 1025, 1026)
# socket, and the families that end at the sandbox's own network: UNIX, INET, INET6, NETLINK. Others, such as VSOCK,
# know of no such networks, and lead to the machine around this one
SOCKET = {"x86_64": 41, "aarch64": 198}
FAMILIES = (1, 2, 10, 16)


def available():
    """Does this system have such filters, and do we know its numbers?"""
    known = sys.platform == "linux" and os.uname().machine in CALLS and sys.maxsize > 2**32
    return known and ctypes.CDLL(None).prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0


def limiting():
    """A function that limits the process that calls it, for ever, and what it starts."""
    return _installing(_program(*CALLS[os.uname().machine]))


def refuse_some():
    """Refuse this process, and what it starts, the calls of REFUSED; nothing happens where there are no filters."""
    if available():
        machine = os.uname().machine
        steps = _beginning(CALLS[machine][0])
        for number in REFUSED[machine]:
            steps += [_step(EQUAL, number, 0, 1), _step(RETURN, REFUSE)]
        steps += _by_argument(SCHEDULER[machine], 1, USUAL, _step(RETURN, ALLOW), REFUSE)
        steps += _by_argument(FCNTL[machine], 1, SEEN_OUTSIDE, _step(RETURN, REFUSE), ALLOW)
        steps += _by_argument(SOCKET[machine], 0, FAMILIES, _step(RETURN, ALLOW), REFUSE)
        _installing(b"".join([*steps, _step(RETURN, ALLOW)]))()


def _by_argument(call, argument, values, these, others):
    """Steps for one call by one of its arguments: `these` for each of the values, and for others what is returned."""
    steps = [_step(EQUAL, call, 0, 2 * len(values) + 2), _step(LOAD, FIRST + 8 * argument)]
    for value in values:
        steps += [_step(EQUAL, value, 0, 1), these]
    return [*steps, _step(RETURN, others)]


def _installing(program):
    kept = ctypes.create_string_buffer(program)
    own = program.find(struct.pack("=I", OWN))  # -1: the program has none
    head = ctypes.create_string_buffer(
        struct.pack("@HP", len(program) // 8, ctypes.addressof(kept))
    )
    prctl, filter, one = ctypes.CDLL(None).prctl, ctypes.c_ulong(FILTER), ctypes.c_ulong(1)
    place = ctypes.c_void_p(ctypes.addressof(head))

    def install(_keep=(kept, head)):
        if own >= 0:
            struct.pack_into("=I", kept, own, os.getpid())
        if (
            prctl(PR_SET_NO_NEW_PRIVS, one, 0, 0, 0) != 0
            or prctl(PR_SET_SECCOMP, filter, place) != 0
        ):
            os._exit(71)

    return install


def _program(machine, allowed, opening, limited, clone, clone3):
    """The filter: each call that is none of these is refused with EPERM."""
    refused, allowing = _step(RETURN, REFUSE), _step(RETURN, ALLOW)
    steps = _beginning(machine)
    for number in allowed:
        steps += [_step(EQUAL, number, 0, 1), allowing]
    for number, argument in opening:
        steps += [_step(EQUAL, number, 0, 4), _step(LOAD, FIRST + 8 * argument)]
        steps += [_step(ANY_BIT, WRITES, 0, 1), refused, allowing]
    tgkill, prlimit, fcntl = limited
    for number, only in ((tgkill, OWN), (prlimit, 0)):  # of this process alone
        steps += [_step(EQUAL, number, 0, 4), _step(LOAD, FIRST)]
        steps += [_step(EQUAL, only, 1, 0), refused, allowing]
    steps += [_step(EQUAL, fcntl, 0, 5), _step(LOAD, FIRST + 8), _step(EQUAL, DUPLICATE, 1, 0)]
    steps += [_step(AT_LEAST, PLAIN_BELOW, 1, 0), allowing, refused]
    steps += [_step(EQUAL, clone, 0, 4), _step(LOAD, FIRST)]
    steps += [_step(ANY_BIT, THREAD, 1, 0), refused, allowing]
    # where there is no clone3, the C library clones
    steps += [_step(EQUAL, clone3, 0, 1), _step(RETURN, UNKNOWN), refused]
    return b"".join(steps)


def _beginning(machine):
    """Refuses what is asked in another machine's way; then the call's number is at hand."""
    return [
        _step(LOAD, ARCH),
        _step(EQUAL, machine, 1, 0),
        _step(RETURN, REFUSE),
        _step(LOAD, NUMBER),
        _step(AT_LEAST, 0x40000000, 0, 1),
        _step(RETURN, REFUSE),
    ]


def _step(operation, value, so=0, otherwise=0):
    """One operation; so, otherwise: how many steps are left out after a comparison."""
    return struct.pack("=HBBI", operation, so, otherwise, value)
