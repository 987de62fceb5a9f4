"""Ranks that end by themselves, or never."""

import ctypes
import os
import signal
import sys

import numpy as np
from rank_faults import fault


@fault("exception", "exception", words="KeyError")
def a_rank_raises(comm):
    if comm.rank == 1:
        raise KeyError("shard")
    comm.Barrier()


@fault("exception", "exception")
def a_rank_exits(comm):
    if comm.rank == 0:
        sys.exit("no data")
    comm.recv(source=0)


@fault("exception", "exception")
def a_rank_aborts(comm):
    if comm.rank == 1:
        comm.Abort(2)
    comm.Barrier()


@fault("end of the process", "exception", words="os._exit(3)")
def leaves_without_a_word(comm):
    if comm.rank == 1:
        os._exit(3)
    comm.Barrier()


@fault("end of the process", "exception", words="SIGKILL")
def is_killed(comm):
    if comm.rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    comm.Barrier()


@fault("end of the process", "exception", words="SIGTERM")
def is_asked_to_end(comm):
    if comm.rank == 0:
        signal.raise_signal(signal.SIGTERM)
    comm.Barrier()


@fault("end of the process", "exception", words="SIGSEGV")
def reads_at_address_zero(comm):
    if comm.rank == 1:
        ctypes.string_at(0)
    comm.Barrier()


@fault("never ends", "timeout", timeout=0.3)
def a_loop_without_end(comm):
    while comm.rank == 1:
        pass
    comm.Barrier()


@fault("never ends", "timeout", timeout=0.3)
def lets_nobody_else_go_on(comm):
    if comm.rank == 1:
        sum(range(10**12))  # compiled code that keeps the interpreter to itself
    comm.Barrier()


@fault("never ends", "timeout", timeout=0.3)
def catches_all_and_goes_on(comm):
    while comm.rank == 0:
        try:
            np.dot(np.ones(3), np.ones(3))
        except BaseException:
            continue
    comm.Barrier()
