"""Runs of all ways in turn, round after round, so that a slow moment of the machine meets all of them alike."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from course_lib.bench.processes import WorkerError

SETTLE = 0.15  # seconds of rest between two runs: OpenBLAS's idle threads spin for 2^28 ticks, 0.1 s at 2.6 GHz


def interleave(
    runs: Mapping[str, Callable[[int], Any]],
    rounds: int,
    seldom: Sequence[str] = (),
    settle: float = SETTLE,
) -> dict[str, list[Any]]:
    """Call each run once in each round, given the round's number; {name: one answer, or None, for each round}.

    Each round starts with another one, so that none always comes first. Those named in `seldom` run in the first,
    the middle and the last round only; of three rounds or fewer, in the first. A run that raises WorkerError is left
    out from then on: its answers so far are dropped, and the error stands in their place.
    """
    names, few = list(runs), {0, rounds // 2, rounds - 1} if rounds > 3 else {0}
    answers: dict[str, list[Any]] = {name: [] for name in names}
    errors: dict[str, WorkerError] = {}
    for i in range(rounds if names else 0):
        first = i % len(names)
        for name in names[first:] + names[:first]:
            if name in errors or (name in seldom and i not in few):
                answers[name].append(None)
                continue
            time.sleep(settle)
            try:
                answers[name].append(runs[name](i))
            except WorkerError as error:
                errors[name] = error
    return {name: errors.get(name, answers[name]) for name in names}  # type: ignore[misc]
