"""Runs of all ways in turn, round after round, so that a slow moment of the machine meets all of them alike."""

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from course_tools.bench.frame.processes import WorkerError

SETTLE = 0.15  # seconds of rest between two runs: OpenBLAS's idle threads spin for 2^28 ticks, 0.1 s at 2.6 GHz
REFUSALS = {"BadInput", "VGREError"}  # of a library that cannot do this one thing, and says so


class Progress:
    """On standard error: one line that overwrites itself in a terminal; elsewhere one line for each part."""

    def __init__(self, command: str, parts: int = 0):
        self.command, self.parts, self.done, self.start = command, parts, 0, time.monotonic()
        self.live, self.width = sys.stderr.isatty(), 0

    def part(self, what: str) -> None:
        """The next part begins."""
        self.done += 1
        line = f"{self.command}: part {self.done} of {self.parts}, {time.monotonic() - self.start:.0f} s: {what}"
        over = {"end": "", "flush": True} if self.live else {"flush": True}
        shown = "\r" + line.ljust(self.width) if self.live else line
        print(shown, file=sys.stderr, **over)
        self.width = len(line)

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *exc: object) -> None:
        if self.live:
            print(file=sys.stderr, flush=True)


class Series:
    """Ways that are made, then run in rounds. rows: {way: its row of the JSON}; "seconds" or "error" come last."""

    def __init__(self) -> None:
        self.rows: dict[str, dict[str, Any]] = {}
        self.runs: dict[str, Callable[[int], Any]] = {}
        self.seldom: list[str] = []

    def make(
        self, name: str, row: dict[str, Any], worker: Any, slow: bool = False, **how: Any
    ) -> None:
        """Let a worker make a way ready; a worker that is a text says why there is none. slow: few rounds."""
        self.rows[name], key = row, how.setdefault("key", name)
        if isinstance(worker, str):
            row["error"] = worker
            return
        try:
            row |= worker.ask("build", **how)
        except WorkerError as error:
            row["error"] = why(error)
            return
        self.runs[name] = lambda i: worker.ask("time", key=key, seed=i)
        self.seldom += [name] if slow else []

    def add(self, name: str, worker: Any, do: str, **how: Any) -> None:
        """Something more to run in each round, by a command."""
        self.runs[name] = lambda i: worker.ask(do, **how)

    def run(self, rounds: int, settle: float = SETTLE) -> dict[str, Any]:
        """Run the rounds; fill the rows; the answers of what is no way: a list, or the WorkerError."""
        answers = interleave(self.runs, rounds, self.seldom, settle)
        for name in self.rows.keys() & answers.keys():
            self.rows[name] |= kept(answers.pop(name))
        return answers


def kept(found: Any) -> dict[str, Any]:
    """What the rounds gave, as a row has it."""
    failed = isinstance(found, WorkerError)
    return {"error": f"failed: {found}"} if failed else {"seconds": found}


def answered(answers: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Those without an error."""
    return {name: found for name, found in answers.items() if isinstance(found, list)}


def by_name(found: Any) -> dict[str, list[Any]]:
    """{part: its numbers, round by round} of answers that have several; nothing of a WorkerError."""
    if isinstance(found, WorkerError):
        return {}
    return {part: [one[part] for one in found] for part in found[0]}


def why(error: WorkerError) -> str:
    """What stands in a row without numbers. More threads than examples, for one, is nobody's failure."""
    if error.kind in REFUSALS:
        return f"not possible: {str(error).removeprefix('BadInput: ')}"
    return f"failed: {error}"


def interleave(
    runs: Mapping[str, Callable[[int], Any]],
    rounds: int,
    seldom: Sequence[str] = (),
    settle: float = SETTLE,
) -> dict[str, Any]:
    """Call each run once in each round, given the round's number; {name: one answer, or None, for each round}.

    Each round starts with another one, so that none always comes first. Those named in `seldom` run in the first,
    the middle and the last round only; of three rounds or fewer, in the first. A run that raises WorkerError is left
    out from then on: its answers so far are dropped, and the error stands in their place.
    """
    names, few = list(runs), {0, rounds // 2, rounds - 1} if rounds > 3 else {0}
    answers: dict[str, Any] = {name: [] for name in names}
    for i in range(rounds if names else 0):
        first = i % len(names)
        for name in names[first:] + names[:first]:
            if isinstance(answers[name], WorkerError):
                continue
            if name in seldom and i not in few:
                answers[name].append(None)
                continue
            time.sleep(settle)
            try:
                answers[name].append(runs[name](i))
            except WorkerError as error:
                answers[name] = error
    return answers
