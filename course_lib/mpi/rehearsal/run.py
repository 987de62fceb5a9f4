"""Run a function on pretend ranks, one at a time, and say what happened."""


def rehearse(fn, n, *args, eager=None, schedule=None, alpha=0.0, beta=0.0, timeout=5.0, show=True):
    """Call fn(comm, *args) on n pretend ranks, and return a `Report`. Never raises what fn raises, and never hangs.

    fn: written for mpi4py; comm is used like an mpi4py communicator of size n, with the constants of `mpi4py.MPI`
    (also MPI.COMM_WORLD, MPI.Request.Waitall and MPI.Status, while it runs). Each rank gets its own copies of
    args, of fn
    and of the names that fn uses, as real ranks do (those defined in the notebook, not those of imported modules).
    eager: messages of at most so many bytes are sent without waiting for their receiver. None: no message is, so that
    every program that rests on buffering deadlocks, as the MPI standard allows it to; MPICH's own limit depends
    on how
    its ranks are connected.
    schedule: None runs the rank that is furthest behind on the model's clock; a seed draws another order,
    and so another winner for ANY_SOURCE. The same seed gives the same run.
    alpha, beta: seconds a message, seconds a byte of the model's clock, which starts at 0. A message moves when both
    sides are there (an eager one at once) and each rank sends one and receives one at a time; collectives begin when
    their last rank has come, and take what the formulas of `model.py` say. Work takes what comm.compute(s) says.
    timeout: seconds of real time for all ranks together. show: print what the ranks print, in rank order, as %%px
    does.

    What its silence does not prove: other numbers of ranks, other orders of arrival (ANY_SOURCE), other inputs; that
    buffers are not *read* too early (an Irecv's buffer holds NaN until its Wait, which shows in the result only);
    rounding (collectives add in rank order here, real ones may not); and the speed of anything.
    """
    raise NotImplementedError


def compute(comm, seconds):
    """Work of so many seconds on the model's clock; nothing at all on a real communicator."""
    work = getattr(comm, "compute", None)
    if work is not None:
        work(seconds)
