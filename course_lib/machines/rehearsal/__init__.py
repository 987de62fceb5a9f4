"""Rehearsal: an MPI program on pretend ranks in one process, with an exact account of what it did and what is wrong.

    def swap(comm):                            # as it will run on real ranks: nothing in it is changed
        other = np.empty(1)
        comm.Sendrecv(np.full(1, comm.rank), dest=1 - comm.rank, recvbuf=other, source=1 - comm.rank)
        return other

    report = mpi.rehearse(swap, 2)
    report.results, report.messages, report.errors

No mpiexec, no processes: it takes milliseconds, is the same every time, and never hangs. It is the counterpart of the
CPU engine for CUDA: it finds what real ranks may hide for years, and its silence is no proof (see `rehearse`).
"""

from course_lib.machines.rehearsal.report import Report
from course_lib.machines.rehearsal.run import compute, rehearse
