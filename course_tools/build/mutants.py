"""Test the tests: in one kernel a chapter, the blank and every planted wrong answer fail as meant, the solution passes.

For authors: `python -m course_tools.build.mutants 01` prints a table (`--seeds 5`: with five different inputs).
"""

import argparse
import os
import re
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from course_lib.errors import BadInput
from course_tools.build import source
from course_tools.notebooks import kernels

BLANK, SOLUTION = "blank", "solution"
NOT_WRITTEN = "not written yet"
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True)
class Verdict:
    """How one planted answer fared. ok: as meant; message: what the student would read, in one line."""

    task: str
    answer: str
    ok: bool
    expect: str
    message: str
    seconds: float
    points: int = 0


def answers(read, only=None):
    """(task, answer) of everything that `run` tries, in its order."""
    return [
        (cell.name, answer)
        for cell in read.tasks
        if only is None or cell.name in only
        for answer in (BLANK, *(m.name for m in cell.task.mutants), SOLUTION)
    ]


def run(read, root, seed=kernels.DEFAULT_SEED, first=(), timeout=60.0, only=None):
    """Try everything in one kernel, without restarts; return the list of `Verdict`, one for each of `answers`.

    only: the names of the tasks that are tried; of all others there is just the solution, for those that build on it.
    """
    from nbformat.v4 import new_notebook

    folder = Path(root) / "exercises"
    env = kernels.environment(root, first, COURSE_SEED=str(seed))
    verdicts: list = []
    with kernels.Session(
        new_notebook(), folder if folder.is_dir() else root, env, timeout
    ) as session:
        try:
            _run_cells(read, session, verdicts, only)
        except kernels.KernelLost as lost:
            left = answers(read, only)[len(verdicts) :]
            for task, answer in left:
                why = (
                    "the kernel was lost"
                    if (task, answer) == left[0]
                    else f"not run, {' '.join(left[0])} came first"
                )
                verdicts.append(Verdict(task, answer, False, "", f"{why}: {lost}", 0.0))
    return verdicts


def _run_cells(read, session, verdicts, only):
    """The cells in order, up to the last check; each task in all its forms, the solution last."""
    code = [cell for cell in read.cells if cell.kind == "code"]
    last = max(i for i, cell in enumerate(code) if cell.checks)
    for cell in code[: last + 1]:
        if cell.task and only is not None and cell.name not in only:
            region = source.split(cell.source)
            session.run_code(region.filled(region.text))
        elif cell.task:
            for verdict in _task(read, cell, session):
                verdicts.append(verdict)  # one by one: those before a lost kernel stay
        elif not cell.checks:
            reply, _ = session.run_code(cell.source)
            if reply["status"] != "ok" and "raises-exception" not in cell.tags:
                raise kernels.KernelLost(f"the cell {cell.name} raised {_message(reply)}")


def _task(read, cell, session):
    check, region = read.check_of(cell), source.split(cell.source)
    forms = [(BLANK, cell.task.blank, NOT_WRITTEN)]
    forms += [(m.name, m.apply(region.text), m.expect) for m in cell.task.mutants]
    for name, text, expect in forms:
        yield _try(session, cell, check, name, region.filled(text), expect)
    yield _try(session, cell, check, SOLUTION, region.filled(region.text), None)


def _try(session, cell, check, name, code, expect):
    """Run the task's cell and its check. expect: words of the failure, or None: it must pass."""
    began = time.perf_counter()
    written, _ = session.run_code(code)
    checked, _ = session.run_code(check.source)
    seconds = time.perf_counter() - began
    failed = written if written["status"] == "error" else checked
    message = _message(failed) if failed["status"] == "error" else "passed"
    if expect is None:
        ok = written["status"] == checked["status"] == "ok"
    elif (
        name == BLANK and written["status"] == "error"
    ):  # a task of variables: the blank itself stops the run
        ok = written["ename"] == "NotImplementedError" and checked["status"] == "error"
    else:
        ok = (
            checked["status"] == "error"
            and checked["ename"] != "CheckBroken"
            and _plain(expect) in _plain(message)
        )
    return Verdict(cell.name, name, ok, expect or "", message, seconds, cell.task.points)


def _message(reply):
    text = f"{reply.get('ename', '?')}: {reply.get('evalue', '')}"
    return " ".join(COLOUR.sub("", text).split())


def _plain(text):
    return " ".join(text.lower().split())


# For authors ----------------------------------------------------------------------------------------------------


def main(argv=None):
    """Print the table of a chapter; exit status 1 if an answer does not fare as meant."""
    parser = argparse.ArgumentParser(
        prog="python -m course_tools.build.mutants", description=__doc__.split("\n")[0]
    )
    parser.add_argument(
        "chapters", nargs="*", metavar="NN", help="chapters by number or name; all if none is given"
    )
    parser.add_argument(
        "--seeds", type=int, default=1, metavar="N", help="try N different seeds of the checks"
    )
    parser.add_argument(
        "--all",
        action="store_true",
        help="show the messages of the answers that fare as meant, too",
    )
    args = parser.parse_args(argv)
    from course_tools.build.command import clone

    try:
        root = clone()
        paths = [p for p in source.find(root, args.chapters) if p.stem == "exercise"]
        seeds = [
            int(os.environ.get("COURSE_SEED", kernels.DEFAULT_SEED)) + i
            for i in range(max(1, args.seeds))
        ]
        return max(
            [_print(source.read(path), root, seed, args.all) for path in paths for seed in seeds],
            default=0,
        )
    except BadInput as error:
        print(error, file=sys.stderr)
        return 2


def _print(read, root, seed, everything):
    began = time.perf_counter()
    verdicts = run(read, root, seed)
    width = max(len(f"{v.task} {v.answer}") for v in verdicts)
    for v in verdicts:
        note = "" if v.ok else f"  expected {v.expect or 'a pass'!r}, got: {v.message}"
        note = f"  {v.message}" if v.ok and everything else note
        print(
            f"{'ok   ' if v.ok else 'WRONG'} {f'{v.task} {v.answer}':{width}}  {v.seconds:5.2f} s{note}"
        )
    good, points = (
        sum(v.ok for v in verdicts),
        sum(v.points for v in verdicts if v.answer == SOLUTION and v.ok),
    )
    total = sum(cell.task.points for cell in read.tasks)
    print(
        f"{read.chapter}, seed {seed}: {good} of {len(verdicts)} as meant; the solution earns {points} of "
        f"{total} points; {time.perf_counter() - began:.1f} s"
    )
    return int(good < len(verdicts))


if __name__ == "__main__":
    sys.exit(main())
