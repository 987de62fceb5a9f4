"""Run a function on pretend ranks, one at a time, and say what happened."""

from dataclasses import replace
from typing import Any

from course_lib.errors import BadInput, check_count
from course_lib.machines.rehearsal import apart
from course_lib.machines.rehearsal.arrival import search
from course_lib.machines.rehearsal.memory import early
from course_lib.machines.rehearsal.once import How, Outcome, copies_of, file_of, play
from course_lib.machines.rehearsal.places import in_words
from course_lib.machines.rehearsal.report import Report, empty
from course_lib.machines.rehearsal.turns import alone
from course_lib.machines.rehearsal.verdict import error

MOST = 64  # ranks


def rehearse(fn, n, *args, eager=None, schedule=None, alpha=0.0, beta=0.0, timeout=5.0, show=True):
    """Call fn(comm, *args) on n pretend ranks, and return a `Report`. Never raises what fn raises, and never hangs.

    fn: written for mpi4py; comm is used like an mpi4py communicator of size n, with the constants of `mpi4py.MPI`
    (also MPI.COMM_WORLD, MPI.Request.Waitall and MPI.Status, while it runs). Each rank gets its own copies of
    args, of fn and of the names that fn uses, as real ranks do (those of the notebook, not those inside imported
    modules; of args alone where fn uses something that cannot be copied). On Linux all ranks run in a process of
    their own: a crash, os._exit or a signal ends that one alone, and what it changes in modules is gone afterwards.
    eager: messages of at most so many bytes are sent without waiting for their receiver. None: no message is, so that
    every program that rests on buffering deadlocks, as the MPI standard allows it to; MPICH's own limit depends
    on how its ranks are connected.
    schedule: None runs the rank that is furthest behind on the model's clock, and then searches for orders of arrival
    (of messages that a receive from ANY_SOURCE takes, of requests in a Waitany) in which something goes wrong:
    report.orders says how many were tried. "one": no search. A seed draws one other order, and so another winner for
    ANY_SOURCE. The same seed gives the same run.
    alpha, beta: seconds a message, seconds a byte of the model's clock, which starts at 0: see `model.py`. Work takes
    what comm.compute(seconds) says; where alpha or beta is not 0, MPI.Wtime() is this clock.
    timeout: seconds of computing for all ranks together (of waiting, sleep and the like, five times as long).
    show: print what the ranks print, in rank order, as %%px does.
    Raises BadInput unless n is 1 to 64.

    What its silence does not prove: other numbers of ranks, other inputs, orders that the search had no time for (1,000
    of them, or a second of computing); the last bits of a sum (collectives add in rank order here, real ones may
    not); and the speed of anything.
    """
    given, single = [args] * check_count("n", n), isinstance(schedule, str)
    if single and schedule != "one":
        raise BadInput(f'schedule must be None, "one" or a seed, not {schedule!r}')
    seed = None if single else schedule
    searched = schedule is None
    report, _ = rehearse_each(fn, given, eager, seed, alpha, beta, timeout, searched)
    for rank, text in enumerate(report.printed if show else ()):
        for line in text.splitlines():
            print(f"[rank {rank}] {line}")
    return report


def rehearse_each(
    fn, args, eager=None, schedule=None, alpha=0.0, beta=0.0, timeout=5.0, searched=False
):
    """As rehearse, with args[r] for rank r; returns (Report, the arguments of each rank as they are afterwards).

    searched: try other orders of arrival too.
    """
    if len(args) > MOST:
        raise BadInput(f"n must be at most {MOST} pretend ranks, not {len(args)}")
    with alone():
        stage = _Stage(fn, args)
        try:
            return _rehearsed(stage, How(eager, schedule, alpha, beta, timeout), searched)
        finally:
            stage.end()


def _rehearsed(stage, how, searched):
    first = stage.play(how)
    report = first.report
    if early.worth_it(first):
        found = early.look(stage, how, first, stage.apart)
        report = replace(report, errors=early.merged(report.errors, found))
    if searched and first.open and not report.errors and first.computed < search.LONG:
        report = _searched(stage, how, report)
    return report, first.after


def compute(comm, seconds):
    """Work of so many seconds on the model's clock; nothing at all on a real communicator."""
    work = getattr(comm, "compute", None)
    if work is not None:
        work(seconds)


class _Stage:
    """A function and its arguments, ready to be run as often as needed; `end` ends the process that does it."""

    def __init__(self, fn, args):
        self.args = args
        self.copies, self.file = copies_of(fn, args), file_of(fn)
        self.apart = apart.possible()
        self._child: Any = None

    def play(self, how):
        """An Outcome, of a process that has ended too."""
        try:
            return self.done(play, how, how.timeout)
        except apart.Ended as end:
            return _ended(end, self.args)

    def play_again(self, how):
        """The same; None where the process has ended."""
        try:
            return self.done(play, how, how.timeout)
        except apart.Ended:
            return None

    def done(self, job, how, seconds):
        """job(copies, file, how, watcher), in a process of its own if that can be. Raises Ended."""
        if self.apart:
            try:
                return self._apart(job, how, seconds)
            except (OSError, apart.NoAnswer):
                self.apart = False
        return job(self.copies, self.file, how, None)

    def _apart(self, job, how, seconds):
        """A process that is late is tried once more: a machine that stood still for seconds makes any process late."""
        try:
            return self._once(job, how, seconds)
        except apart.Ended as end:
            if not end.late:
                raise
        return self._once(job, how, seconds)

    def _once(self, job, how, seconds):
        if self._child is None:
            self._child = apart.child_for(self.copies, self.file)
        try:
            return self._child.run(job, self.copies, how, seconds)
        finally:
            if self._child.spent:
                self.end()

    def end(self):
        """The process is left: it ends, unless it is kept for the next rehearsal."""
        if self._child is not None:
            apart.leave(self._child)
        self._child = None


def _ended(end, args):
    """The Outcome of a process that is gone."""
    who = "a rank" if end.rank is None else f"rank {end.rank}"
    if end.late:
        tool, what = "timeout", f"{end.how} {who} was still running and blocked all other ranks"
        cause = "compiled code that never finishes, or too much work for a rehearsal"
    else:
        tool, what = "exception", f"{who} ended the process: {end.how}"
        cause = "on real ranks the rank dies, and MPI ends all others"
    ranks = {end.rank: {"op": "", **end.at}}
    made = error(tool, f"{tool}: {what}\n    {in_words(end.at)}", cause, end.rank, ranks)
    return Outcome(empty(len(args), [made]), list(args))


def _searched(stage, how, report):
    """The report with what other orders of arrival give."""
    seconds = how.timeout + search.LONG
    try:
        found = stage.done(search.explore, how, seconds)
    except apart.Ended:
        return report
    report = replace(report, orders=max(found.tried, 1), outcomes=max(found.results, 1))
    if found.decisions is None:
        return report
    there = how.but(eager=found.eager, decisions=found.decisions, watch=False)
    outcome = stage.play_again(there)
    if found.race is not None:
        return _raced(stage, there, found, outcome, report)
    if outcome is None or not search.failed(outcome):
        return report
    rows = "".join(f"\n    {row}" for row in search.in_words(outcome))
    errors = [
        e | {"message": e["message"] + rows, "order": found.decisions}
        for e in outcome.report.errors
    ]
    return replace(report, errors=errors)


def _raced(stage, there, found, outcome, report):
    """The report where a result depends on the order of arrival, and on nothing else."""
    here = there.but(eager=there.eager, decisions=())
    runs = [outcome, stage.play_again(there), stage.play_again(here), stage.play_again(here)]
    if None in runs or any(search.failed(run) for run in runs):
        return report
    there_1, there_2, here_1, here_2 = (run.report.results[found.race] for run in runs)
    steady = search.alike(there_1, there_2) and search.alike(here_1, here_2)
    if not steady or search.alike(here_1, there_1):
        return report
    at = next(fork.place for fork in outcome.forks if fork.taken[1] == found.race)
    rows = [in_words(at), *search.in_words(outcome)]
    text = (
        f"race: what rank {found.race} returns depends on the order in which messages arrive: "
        f"{here_1!r:.60} or {there_1!r:.60}"
    )
    cause = "receive from one rank after the other, or place each message by its status.source"
    ranks = {found.race: {"op": "", **at}}
    made = error("race", "\n    ".join([text, *rows]), cause, found.race, ranks)
    return replace(report, errors=[made | {"order": found.decisions}])


__all__ = ["Report", "compute", "rehearse", "rehearse_each"]
