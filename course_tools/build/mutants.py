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
from course_tools.build import planted, source
from course_tools.build.files import clone
from course_tools.notebooks import kernels

BLANK, SOLUTION = "blank", "solution"
NOT_WRITTEN = "not written yet"
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


# The checks know the planted answers of the source as it is now, built or not; and a cause that raises is a fault.
TAKE = """import json, os
os.environ["COURSE_CAUSES"] = "raise"
from course_lib.checks.kit.known import planted
planted.take({chapter!r}, json.loads({cells!r}))"""


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
    folder = folder if folder.is_dir() else root
    env = kernels.environment(root, first, COURSE_SEED=str(seed))
    verdicts: list = []
    with kernels.Session(new_notebook(), folder, env, timeout) as session:
        try:
            _run_cells(read, session, verdicts, only)
        except kernels.KernelLost as lost:
            verdicts += _unknown(answers(read, only)[len(verdicts) :], lost)
    return verdicts


def _unknown(left, lost):
    """Verdicts on the answers that were left when the kernel was lost, at the first of them."""
    for task, answer in left:
        first = (task, answer) == left[0]
        why = "the kernel was lost" if first else f"not run, {' '.join(left[0])} came first"
        yield Verdict(task, answer, False, "", f"{why}: {lost}", 0.0)


def _run_cells(read, session, verdicts, only):
    """The cells in order, up to the last check; each task in all its forms, the solution last."""
    session.run_code(TAKE.format(chapter=f"ch{read.chapter[:2]}", cells=planted.text_of(read)))
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
    message = _message(checked if written["status"] == "ok" else written)
    ok = _as_meant(name, written, checked, message, expect)
    return Verdict(cell.name, name, ok, expect or "", message, seconds, cell.task.points)


def _as_meant(name, written, checked, message, expect):
    """Did the replies of a task's cell and of its check come as they should?"""
    if expect is None:
        return written["status"] == checked["status"] == "ok"
    if checked["status"] != "error":
        return False
    if name == BLANK and written["status"] == "error":  # a task of variables stops the run itself
        return written["ename"] == "NotImplementedError"
    return checked["ename"] != "CheckBroken" and _plain(expect) in _plain(message)


def _message(reply):
    if reply["status"] == "ok":
        return "passed"
    text = f"{reply.get('ename', '?')}: {reply.get('evalue', '')}"
    return " ".join(COLOUR.sub("", text).split())


def _plain(text):
    return " ".join(text.lower().split())


# For authors ----------------------------------------------------------------------------------------------------


def main(argv=None):
    """Print the table of a chapter; exit status 1 if an answer does not fare as meant."""
    words = __doc__.split("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m course_tools.build.mutants", description=words)
    words = "chapters by number or name; all if none is given"
    parser.add_argument("chapters", nargs="*", metavar="NN", help=words)
    words = "try N different seeds of the checks"
    parser.add_argument("--seeds", type=int, default=1, metavar="N", help=words)
    words = "show the messages of the answers that fare as meant, too"
    parser.add_argument("--all", action="store_true", help=words)
    args = parser.parse_args(argv)
    first = int(os.environ.get("COURSE_SEED", kernels.DEFAULT_SEED))
    seeds = range(first, first + max(1, args.seeds))
    try:
        root = clone()
        paths = [path for path in source.find(root, args.chapters) if path.stem == "exercise"]
        reads = [source.read(path) for path in paths]
    except BadInput as error:
        print(error, file=sys.stderr)
        return 2
    return max([_print(read, root, seed, args.all) for read in reads for seed in seeds], default=0)


def _print(read, root, seed, everything):
    began = time.perf_counter()
    verdicts = run(read, root, seed)
    width = max(len(f"{v.task} {v.answer}") for v in verdicts)
    for v in verdicts:
        note = f"  {v.message}" if everything else ""
        if not v.ok:
            note = f"  expected {v.expect or 'a pass'!r}, got: {v.message}"
        name = f"{v.task} {v.answer}"
        print(f"{'ok   ' if v.ok else 'WRONG'} {name:{width}}  {v.seconds:5.2f} s{note}")
    good = sum(v.ok for v in verdicts)
    points = sum(v.points for v in verdicts if v.answer == SOLUTION and v.ok)
    total = sum(cell.task.points for cell in read.tasks)
    earned = f"the solution earns {points} of {total} points"
    seconds = f"{time.perf_counter() - began:.1f} s"
    print(f"{read.chapter}, seed {seed}: {good} of {len(verdicts)} as meant; {earned}; {seconds}")
    return int(good < len(verdicts))


if __name__ == "__main__":
    sys.exit(main())
