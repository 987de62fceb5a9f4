"""The check of a function for MPI ranks: rehearsed with 1 to 6 ranks; results, manners, and limits on messages.

An author writes, in ch10.py for instance:

    def _cases(rng, n):
        return [RankCase([(normal(rng, 3 * n + 2),) for _ in range(n)], label="3 p + 2 numbers", K=n)]

    check_total = RankCheck("total", _cases, lambda ranks: sum(x for x, in ranks),
                            limits=[at_most_messages(lambda n, case: 2 * (n - 1)), no_collectives()])

and the check cell calls `ch10.check_total(total)`, where the student has written `def total(comm, x): ...`.

- RankCase.args: a tuple, the same for every rank (each gets a copy), or a list of n tuples, rank r's own.
- The reference gets the list of n tuples, all floats in float64, and gives the list of n results, or one array, number
  or tuple that all ranks return; `...` in the place of a rank's result: not looked at.
- What is looked at, in this order: blank; exceptions, truncation, mismatch, deadlock, timeout; wrong results, with rank
  and index; type, buffer and leftover ("the numbers are right, but ..."); changed arguments; limits.

No mpiexec is needed, and nothing can hang: `course_lib.mpi.rehearse` runs the ranks.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.checks.kit.compare import SLIGHT, Rules, compare, dtypes
from course_lib.checks.kit.inputs import choose_seed
from course_lib.checks.kit.kernels.limits import looked_at
from course_lib.checks.kit.kinds import CLOCK, WRONG
from course_lib.checks.kit.messages import (
    CheckBroken,
    CheckFailed,
    cannot_check,
    not_written,
    say_passed,
)
from course_lib.checks.kit.ranks.explain import Known, proved
from course_lib.checks.kit.ranks.limits import (
    at_most_bytes,
    at_most_messages,
    at_most_seconds,
    at_most_total_messages,
    exactly_collectives,
    no_collectives,
    no_messages,
    same_bits_on_all_ranks,
)
from course_lib.checks.kit.ranks.reporting import (
    changed_report,
    fault_report,
    limit_report,
    numbers_report,
)
from course_lib.checks.kit.ranks.running import RankCase, run_case
from course_lib.checks.kit.runs import is_late_alone, unkept
from course_lib.checks.kit.trees import upcast
from course_lib.checks.kit.words import again, count, not_a_function
from course_lib.errors import BadInput
from course_lib.machines.rehearsal.apart import one_process

__all__ = [
    "RankCase",
    "RankCheck",
    "at_most_bytes",
    "at_most_messages",
    "at_most_seconds",
    "at_most_total_messages",
    "exactly_collectives",
    "no_collectives",
    "no_messages",
    "same_bits_on_all_ranks",
]
EXPLAINS = ("buffer", "type", "layout")  # findings that explain wrong numbers


@dataclass(frozen=True)
class RankCheck:
    """A check of a function `f(comm, ...)` against a reference. Call it with the student's function.

    name: of the student's function. cases: (rng, n) -> list of RankCase for n ranks. reference: list of n argument
    tuples -> list of n results, or one for all. limits: functions (report, n, case) -> None or (what, cause), looked at
    last (ranks_limits.py).
    causes: (function of an entry of Report.errors -> bool, "likely cause"), told in the place of the rehearsal's own.
    ranks: numbers of ranks to try. eager: as in rehearse. schedules: seeds of other orders, tried as well.
    inplace: position (after comm, from 0) of the argument that takes the result. out: positions of arguments that
    arrive full of NaN. may_change: positions of arguments that may change. dtype: of float arrays in the result:
    "input", a NumPy dtype or None. c: rounding steps per term. axes: names for the axes of the result.
    """

    name: str
    cases: Callable
    reference: Callable
    limits: Sequence = ()
    causes: Sequence = ()
    ranks: tuple = (1, 2, 3, 4, 5, 6)
    eager: int | None = None
    schedules: tuple = ()
    inplace: int | None = None
    out: tuple = ()
    may_change: tuple = ()
    dtype: Any = "input"
    c: float = 4.0
    axes: tuple = ()

    @property
    def network(self):
        """alpha and beta of the model: those that its limit on seconds names."""
        named = {check.network for check in self.limits if hasattr(check, "network")}
        if len(named) > 1:
            raise BadInput(
                f"RankCheck({self.name!r}): limits on seconds with several networks, {sorted(named)}"
            )
        return named.pop() if named else (0.0, 0.0)

    def __call__(self, fn, seed=None):
        """Check `fn`: print one green line, or raise CheckFailed. seed: replays the inputs of an earlier run."""
        if not callable(fn):
            raise CheckFailed(not_a_function(self.name, fn))
        _require_mpi(self.name)
        with one_process():
            self._judge(fn, choose_seed(seed))

    def _judge(self, fn, seed):
        runs = self.run(fn, seed)
        blank = next((name for run in runs if (name := _blank(run, fn)) is not None), None)
        if blank is not None:
            raise not_written(self.name, blank)
        report = self.faults(fn, runs, seed) or self.over_limits(fn, runs, seed)
        if report:
            kind = CLOCK if is_late_alone(runs) else WRONG
            raise CheckFailed(report.add("again", again(seed)), kind)
        kept = looked_at(self.limits)
        least, most = min(self.ranks), max(self.ranks)
        told = f"{count(len(runs), 'rehearsal')} with {f'{least} to ' * (least < most)}{count(most, 'rank')} right"
        say_passed(self.name, told + (f"; within limits: {kept}" if kept else ""), seed)

    def run(self, fn, seed):
        """Every case with every number of ranks; nothing after a timeout."""
        rng, runs = np.random.default_rng(seed), []
        for n, case in [
            (ranks, case) for ranks in self.ranks for case in self.draw(rng, ranks, seed)
        ]:
            for schedule in (None, *self.schedules):
                runs.append(run := run_case(fn, n, case, self, schedule))
                if run.fatal and run.fatal["tool"] in ("timeout", "exception"):
                    return runs
                run.want = self.wanted(self.reference, run)
                if isinstance(run.want, Exception):
                    what = "its reference raises"
                    raise cannot_check(self.name, what, run.want, seed) from run.want
                run.wrong = [] if run.fatal else self.misses(run)
        return runs

    def draw(self, rng, n, seed):
        """The cases for n ranks."""
        try:
            cases = list(self.cases(rng, n))
            for case in cases:
                case.for_ranks(n)
        except Exception as error:
            raise cannot_check(self.name, "its cases raise", error, seed) from error
        if not cases:
            raise CheckBroken(self.name, f"it has no case for {n} ranks", seed)
        return cases

    def wanted(self, reference, run):
        """What a reference gives for each rank, in float64; or the exception it raises."""
        try:
            with np.errstate(all="ignore"):
                value = reference([upcast(given) for given in run.args])
        except Exception as error:
            return error
        if not isinstance(value, list):
            return [value] * run.n
        return value if len(value) == run.n else BadInput(f"{len(value)} results for {run.n} ranks")

    def misses(self, run):
        """(rank, Mismatch) of all that is not as wanted; a wrong dtype last."""
        found = [
            (rank, miss)
            for rank, (got, want) in enumerate(zip(run.values, run.want, strict=True))
            if want is not ...
            for miss in compare(got, want, self.rules(run))
        ]
        return sorted(found, key=lambda pair: pair[1].kind in SLIGHT)

    def rules(self, run, dtype="as told"):
        """The rules of comparison for a run."""
        told = self.dtype if isinstance(dtype, str) else dtype
        working, wanted = dtypes(told, run.args)
        return Rules(self.c, int(run.case.K), working, wanted, scale=run.case.scale)

    def faults(self, fn, runs, seed):
        """The Report on the worst run, or None where all are right."""
        plain = [run for run in runs if run.wrong]
        amiss = any(run.amiss for run in runs)
        cause = (amiss and proved(self, fn, runs, seed)) or Known()
        fatal = next((run for run in runs if run.fatal), None)
        if fatal and not (cause.planted and plain):
            return fault_report(self, fn, fatal, runs, fatal.fatal, cause)
        explained = next(
            (run for run in runs if run.finding and run.finding["tool"] in EXPLAINS), None
        )
        if explained and not cause.planted:
            return fault_report(self, fn, explained, runs, explained.finding, cause)
        if plain:
            return numbers_report(self, fn, plain, runs, cause)
        found = next((run for run in runs if run.finding), None)
        if found:
            return fault_report(self, fn, found, runs, found.finding, cause)
        allowed = {*self.out, *self.may_change, self.inplace}
        changed = next((run for run in runs if run.changed(allowed)), None)
        return changed_report(self, fn, changed, changed.changed(allowed)) if changed else None

    def over_limits(self, fn, runs, seed):
        """The Report on the first limit that is not kept, or None."""

        def ask(limit, run):
            return limit(run.report, run.n, run.case)

        found = unkept(self.name, self.limits, runs, seed, ask)
        return limit_report(self, fn, found[0], *found[1]) if found else None


def _require_mpi(name):
    try:
        import mpi4py  # noqa: F401
    except ModuleNotFoundError as error:
        raise cannot_check(name, "it raises", error) from None


def _blank(run, fn):
    """The function that is not written yet: "" the student's own, else the name of one that it calls; None: no."""
    error = run.fatal
    if not error or not isinstance(error.get("exception"), NotImplementedError):
        return None
    name = error["ranks"][error["rank"]]["function"]
    return "" if name == getattr(fn, "__name__", name) else name
