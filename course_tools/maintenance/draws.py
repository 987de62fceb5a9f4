"""Does any verdict hang on the draw? Each solution must pass on many draws, each planted wrong answer fail on many.

python -m course_tools.maintenance.draws [NN ...] [--task NAME] [--solutions 1000] [--planted 100] [--budget SECONDS]
"""

import argparse
import contextlib
import importlib
import io
import os
import sys
import time
import warnings
from dataclasses import dataclass, field

import numpy as np

from course_lib.checks.kit.kinds import WRONG
from course_lib.checks.kit.known.planted import task_named
from course_lib.checks.kit.messages import CheckFailed
from course_lib.errors import BadInput
from course_tools.build import source
from course_tools.build.files import clone
from course_tools.build.mutants import SOLUTION

FIRST = 1000  # the first seed
SHOWN = 5  # seeds that are named


@dataclass(frozen=True)
class Answer:
    """A solution or a planted wrong answer. cell: the source of the task's cell with it; draws: how many are wanted."""

    chapter: str
    task: str
    name: str
    cell: str
    draws: int

    @property
    def is_right(self):
        """Must it pass?"""
        return self.name == SOLUTION


@dataclass
class Outcome:
    """How often it was tried; the seeds of the verdicts that are not as they should be; how often nobody could tell."""

    draws: int = 0
    amiss: list = field(default_factory=list)
    untold: int = 0


def answers(read, solutions, planted):
    """Every `Answer` of an exercise's source, a task's solution first."""
    for cell in read.tasks:
        region = source.split(cell.source)
        place = read.chapter[:2], cell.name
        yield Answer(*place, SOLUTION, region.filled(region.text), solutions)
        for mutant in cell.task.mutants:
            yield Answer(*place, mutant.name, region.filled(mutant.apply(region.text)), planted)


def tried(answer, seconds, clock=time.monotonic):
    """The `Outcome` of an answer, tried for so many seconds at the most."""
    with _quiet():
        try:
            check, value = _check_and_value(answer)
        except Exception:
            if answer.is_right:
                raise
            return Outcome()  # the cell itself stops, whatever is drawn
        end, outcome = clock() + seconds, Outcome()
        for seed in range(FIRST, FIRST + answer.draws):
            if clock() > end:
                break
            _try(check, value, seed, answer.is_right, outcome)
    return outcome


def _check_and_value(answer):
    task = task_named(f"ch{answer.chapter}", answer.task)
    checks = importlib.import_module(f"course_lib.checks.ch{answer.chapter}")
    return getattr(checks, task.check), task.value_of(answer.cell)


def _try(check, value, seed, is_right, outcome):
    outcome.draws += 1
    passed, told = True, True
    try:
        check(value, seed=seed)
    except CheckFailed as failure:
        passed, told = False, failure.kind == WRONG or not is_right  # late is no verdict
    except Exception:
        passed = False
    if not told:
        outcome.untold += 1
    elif passed != is_right:
        outcome.amiss.append(seed)


@contextlib.contextmanager
def _quiet():
    """Without prints, warnings and the search for causes, which nobody reads here."""
    before = os.environ.get("COURSE_CAUSES")
    os.environ["COURSE_CAUSES"] = "0"
    try:
        with contextlib.ExitStack() as stack:
            stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
            stack.enter_context(contextlib.redirect_stderr(io.StringIO()))
            stack.enter_context(warnings.catch_warnings())
            stack.enter_context(np.errstate(all="ignore"))
            warnings.simplefilter("ignore")
            yield
    finally:
        os.environ.pop("COURSE_CAUSES")
        if before is not None:
            os.environ["COURSE_CAUSES"] = before


def rows(found, budget, clock=time.monotonic):
    """(Answer, Outcome) of each. Of what is left of the budget, an answer gets its share of the draws that are left."""
    end, left = clock() + budget, sum(answer.draws for answer in found)
    for answer in found:
        seconds = max(0.0, end - clock()) * answer.draws / left
        left -= answer.draws
        yield answer, tried(answer, seconds, clock)


def line(answer, outcome):
    """A row of the table."""
    must = "refused" if answer.is_right else "accepted"
    seeds = ", ".join(map(str, outcome.amiss[:SHOWN]))
    told = f", {must} {len(outcome.amiss)}: {seeds}" if outcome.amiss else ""
    told += f", no verdict {outcome.untold}" if outcome.untold else ""
    few = "" if outcome.draws == answer.draws else f" of {answer.draws}"
    mark = "WRONG" if outcome.amiss else "ok   "
    return f"{mark} {answer.chapter} {answer.task} {answer.name}: {outcome.draws}{few} draws{told}"


def main(argv=None):
    """Print a line for each task and for each verdict that hangs on the draw; exit status 1 if there is one."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("chapters", nargs="*", metavar="NN", help="chapters by number; all if none")
    parser.add_argument("--task", help="this one alone")
    parser.add_argument("--solutions", type=int, default=1000, help="draws (%(default)s)")
    parser.add_argument("--planted", type=int, default=100, help="draws of each (%(default)s)")
    parser.add_argument("--budget", type=float, default=3600.0, help="seconds (%(default)s)")
    args = parser.parse_args(argv)
    try:
        paths = [p for p in source.find(clone(), args.chapters) if p.stem == "exercise"]
        reads = [source.read(path) for path in paths]
    except BadInput as error:
        print(error, file=sys.stderr)
        return 2
    found = [answer for read in reads for answer in answers(read, args.solutions, args.planted)]
    return _printed(rows([a for a in found if args.task in (None, a.task)], args.budget))


def _printed(pairs):
    draws = amiss = 0
    for answer, outcome in pairs:
        draws, amiss = draws + outcome.draws, amiss + bool(outcome.amiss)
        if answer.is_right or outcome.amiss:
            print(line(answer, outcome), flush=True)
    print(f"{draws:,} draws; verdicts that hang on the draw: {amiss}")
    return int(amiss > 0)


if __name__ == "__main__":
    sys.exit(main())
