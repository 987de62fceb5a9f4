"""The check of a CUDA kernel: its numbers, what the engine's four tools find, and limits on what it moves.

An author writes, in ch05.py for instance:

    def _cases(rng):
        n = 1000
        args = {"n": np.int32(n), "a": np.float32(2.5), "x": normal(rng, n + 24), "y": normal(rng, n + 24)}
        return [Launch(4, 256, args, inout=("y",), label="a ragged end", owner=x_across)]

    check_saxpy = KernelCheck("SAXPY", "saxpy", _cases, lambda n, a, x, y: (a * x + y)[:n],
                              limits=[at_most_sectors("x", "load", 4)])

and the check cell calls `ch05.check_saxpy(SAXPY)`. The reference gives what y must hold; the elements of y behind
that (24 here), and all inputs, must stay as they were. Arrays in `out` arrive full of NaN, those in `inout` as given.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from course_lib.checks.kit.case import drawn
from course_lib.checks.kit.inputs import choose_seed
from course_lib.checks.kit.kernels.compiling import does_not_compile
from course_lib.checks.kit.kernels.explain import proved
from course_lib.checks.kit.kernels.limits import (
    at_least,
    at_most,
    at_most_sectors,
    exactly,
    limit,
    loads_each_once,
    looked_at,
    mentions,
    no_bank_conflicts,
    no_promise,
    uses_shared,
    without,
)
from course_lib.checks.kit.kernels.notices import notices
from course_lib.checks.kit.kernels.reporting import (
    fault_report,
    is_fatal,
    limit_report,
    numbers_report,
)
from course_lib.checks.kit.kernels.running import (
    Launch,
    gpu_at_hand,
    on_engine,
    on_gpu,
    padded,
    x_across,
)
from course_lib.checks.kit.kernels.source import check_source
from course_lib.checks.kit.kernels.unmoved import loads_behind_the_guard
from course_lib.checks.kit.kernels.values import wanted, wrongs
from course_lib.checks.kit.kinds import CLOCK, WRONG, kind_of
from course_lib.checks.kit.messages import (
    CheckBroken,
    CheckFailed,
    Report,
    cannot_check,
    say_passed,
)
from course_lib.checks.kit.probe import short_error
from course_lib.checks.kit.runs import is_late_alone, unkept
from course_lib.checks.kit.words import again
from course_lib.errors import BadInput
from course_lib.machines.cpu_engine import CompileError, LaunchFailed

__all__ = [
    "KernelCheck",
    "Launch",
    "at_least",
    "at_most",
    "at_most_sectors",
    "exactly",
    "limit",
    "loads_each_once",
    "mentions",
    "no_bank_conflicts",
    "no_promise",
    "padded",
    "uses_shared",
    "without",
    "x_across",
]
ON_GPU = (
    "it depends on the order in which threads run, or on what memory held before: the CPU engine does not "
    "see every such fault"
)
SILENT = "memcheck, racecheck, initcheck and synccheck silent"


@dataclass(frozen=True)
class KernelCheck:
    """A check of a kernel against a reference on fresh random launches. Call it with the string of CUDA C.

    name: of the student's string. kernel: the name in it. cases: rng -> list of Launch. reference: called with the
    launch's arguments by name, floats in float64; gives what the output must hold (several: a tuple in the order of
    out and inout, or a dict by name). It may be smaller than the output: what lies beyond must stay as it was.
    limits: functions (report, launch) -> None or (what, cause), looked at when all else is right
    (kernels_limits.py). causes: (function of an error of the engine's Report (a dict, with the launch's `args`) ->
    bool, "likely cause"): told in the place of the engine's own sentence. c: rounding steps per term, in |got -
    wanted| <= c * K * eps(dtype) * largest |wanted|. axes: names for the axes of the output, ("row", "column"), or
    a dict by output.
    """

    name: str
    kernel: str
    cases: Callable
    reference: Callable
    limits: Sequence = ()
    causes: Sequence = ()
    c: float = 4.0
    axes: tuple | dict = ()

    def __call__(self, source, seed=None):
        """Check the kernel in `source`: print one green line, or raise CheckFailed. seed: replays an earlier run."""
        seed = choose_seed(seed)
        launches = self.draw(seed)
        source = self.whole(source) if isinstance(source, str) else source
        check_source(self.name, self.kernel, source, launches[0])
        report, kind = self.found(source, launches, seed)
        if report:
            raise CheckFailed(report.add("again", again(seed)), kind)
        kept = looked_at(self.limits)
        too = ", and the GPU agrees" if gpu_at_hand() else ""
        launched = f"{len(launches)} launch{'es' * (len(launches) != 1)} right{too}; {SILENT}"
        said = launched + (f"; within limits: {kept}" if kept else "")
        say_passed(self.name, said, seed, notices(source))

    def whole(self, source):
        """What is compiled: the student's source, and whatever a check adds to it."""
        return source

    def draw(self, seed):
        """The launches of a seed, always the same ones."""
        return drawn(self, Launch, seed, np.random.default_rng(seed))

    def found(self, source, launches, seed):
        """(the Report on what is wrong, or None; the kind of failure that it is)."""
        try:
            runs = self.run(source, launches, seed)
        except CompileError as error:
            return does_not_compile(self.name, source, error), kind_of(error)
        except (BadInput, LaunchFailed) as error:
            return self.cannot_launch(error), kind_of(error)
        if report := self.faults(runs):
            return report, CLOCK if is_late_alone(runs) else WRONG
        return self.over_limits(runs, seed) or self.on_gpu(source, runs, seed), WRONG

    def cannot_launch(self, error):
        """The Report on a launch that was refused."""
        types = "keep the parameter types of the task" if "pass np." in str(error) else ""
        report = Report(f"{self.name} cannot be launched").add("what", str(error))
        return report.add("cause", types)

    def run(self, source, launches, seed):
        """Every launch on the engine, what is not right in `wrong`; nothing after a crash or an endless loop."""
        runs: list = []
        for launch in launches:
            runs.append(run := on_engine(source, self.kernel, launch))
            if is_fatal(run):
                break
            run.wrong = wrongs(self, launch, run.before, run.after, self.want(run, seed))
        return runs

    def want(self, run, seed):
        """What the reference gives for a launch."""
        try:
            want = wanted(self.reference, run.launch, run.before)
        except Exception as error:
            raise cannot_check(self.name, "its reference raises", error, seed) from error
        for name, array in want.items():
            own = run.before.get(name)
            if (
                name not in run.launch.outs
                or array.ndim != own.ndim
                or any(np.less(own.shape, array.shape))
            ):
                raise CheckBroken(
                    self.name, f"its reference gives {name} {array.shape}, which is no output", seed
                )
            if array.dtype.kind == "f" and np.isnan(array).any():
                raise CheckBroken(
                    self.name,
                    f"its reference gives NaN in {name}: does it read what is in out?",
                    seed,
                )
        return want

    def faults(self, runs):
        """The Report on the worst launch: crash, a tool's finding, wrong numbers; None where all are right."""
        bad = [run for run in runs if run.amiss]
        if not bad:
            return None
        fatal, found = filter(is_fatal, bad), (run for run in bad if run.report.errors)
        cause = proved(self, runs)
        if worst := next(fatal, None) or next(found, None):
            return fault_report(self, worst, runs, cause)
        return numbers_report(self, bad[0], runs, cause)

    def over_limits(self, runs, seed):
        """The Report on the first limit that is not kept, or None."""
        limits = [*self.limits, loads_behind_the_guard(self.kernel)]
        found = unkept(
            self.name, limits, runs, seed, lambda limit, run: limit(run.report, run.launch)
        )
        return limit_report(self, found[0], *found[1]) if found else None

    def on_gpu(self, source, runs, seed):
        """The Report on a GPU that disagrees, or None; also None where there is no GPU."""
        for run in runs if gpu_at_hand() else ():
            try:
                run.after = on_gpu(source, self.kernel, run.launch)
            except CompileError as error:
                return does_not_compile(self.name, source, error, " for the GPU")
            except Exception as error:  # LaunchFailed, Unavailable, what PyCUDA raises afterwards
                title = f"{self.name}: right on the CPU engine, but the launch fails on the GPU"
                report = Report(title).add("what", short_error(error))
                if (kind := kind_of(error)) != WRONG:
                    raise CheckFailed(report, kind) from None
                return report
            run.wrong = wrongs(self, run.launch, run.before, run.after, self.want(run, seed))
            if run.wrong:
                return numbers_report(
                    self, run, [run], ON_GPU, " on the GPU, and right on the CPU engine"
                )
        return None
