"""A shared array, act by act: which thread writes or reads which word, and what it finds there."""

import math
from collections.abc import Sequence
from typing import Any

from course_lib.errors import BadInput, check_choice
from course_lib.plots.stepper.model import Frame, Stepper
from course_lib.plots.stepper.shapes import Shape, arrow, box, words
from course_lib.plots.style import number

LEFT, CELL, THREADS_Y, WORDS_Y, HIGH = 62, 54, 16, 104, 34
WRITES, READS, WAITS = ACTS = ("writes", "reads", "waits")
MOST = 16  # threads or words side by side
Act = tuple[int, str, int, float]


def step_shared(acts: Sequence[Any], title: str = "A shared array, act by act") -> Stepper:
    """A frame for each act: the threads above, the words of the array below, and an arrow between the two.

    acts: in the order of the run, (thread, "writes" or "reads", word, value), or (thread, "waits", 0, 0) at a barrier.
    A word holds garbage until some thread has written it. The last sentence counts the reads that came too early.

    Raises BadInput for no acts, acts of another form, and more than 16 threads or words.
    """
    told = _checked(acts)
    across = 1 + max(max(thread, word) for thread, _, word, _ in told)
    if across > MOST:
        raise BadInput(f"thread or word {across - 1}: a stepper shows 0 to {MOST - 1}")
    frames = [_frame(n, told, across) for n in range(1, len(told) + 1)]
    frames[-1] = Frame(f"{frames[-1].says} {_all(told)}", frames[-1].shapes)
    return Stepper(title, frames, (LEFT + CELL * across + 8, WORDS_Y + HIGH + 16))


def _checked(acts: Sequence[Any]) -> list[Act]:
    try:
        told = [(int(t), str(what), int(word), float(value)) for t, what, word, value in acts]
    except (TypeError, ValueError):
        raise BadInput("an act is (thread, what it does, word, value)") from None
    if not told:
        raise BadInput("no acts: there is nothing to step through")
    for _, what, _, _ in told:
        check_choice("an act", what, ACTS)
    return told


def _early(told: Sequence[Act], n: int) -> bool:
    """Does act n read a word that nobody has written yet?"""
    _, what, word, _ = told[n]
    return what == READS and (WRITES, word) not in {(act[1], act[2]) for act in told[:n]}


def _frame(n: int, told: Sequence[Act], across: int) -> Frame:
    """What is there after n acts."""
    last = {thread: (what, m) for m, (thread, what, _, _) in enumerate(told[:n])}
    held = {word: value for _, what, word, value in told[:n] if what == WRITES}
    thread, what, word, _ = told[n - 1]
    shapes = [words(4, THREADS_Y + 22, "thread", at="start", size=12)]
    shapes += [words(4, WORDS_Y + 22, "s[...]", at="start", size=12)]
    for at in range(1 + max(act[0] for act in told)):
        done, m = last.get(at, ("", 0))
        look = "plain" if not done else "orange" if _early(told, m) else "blue"
        text = f"{at} {done}" if done else str(at)
        shapes.append(_box(at, THREADS_Y, look + " bold" * (at == thread), text, f"t{at}"))
    for at in range(1 + max(act[2] for act in told)):
        look, text = ("green", number(held[at])) if at in held else ("grey", "?")
        bold = " bold" * (what != WAITS and at == word)
        shapes.append(_box(at, WORDS_Y, look + bold, text, f"s{at}"))
    return Frame(_says(n, told), shapes + _arrow(n, told))


def _box(at: int, y: float, look: str, text: str, key: str) -> Shape:
    return box(LEFT + CELL * at, y, CELL - 6, HIGH, look, text, key, 11)


def _arrow(n: int, told: Sequence[Act]) -> list[Shape]:
    thread, what, word, _ = told[n - 1]
    above, below = (LEFT + CELL * at + CELL / 2 - 3 for at in (thread, word))
    top, bottom = THREADS_Y + HIGH + 2, WORDS_Y - 3
    if what == WAITS:
        return []
    if what == WRITES:
        return [arrow(above, top, below, bottom, "green")]
    return [arrow(below, bottom, above, top + 1, "orange" if _early(told, n - 1) else "blue")]


def _says(n: int, told: Sequence[Act]) -> str:
    thread, what, word, value = told[n - 1]
    if what == WAITS:
        return f"Thread {thread} waits at the barrier."
    if what == WRITES:
        return f"Thread {thread} writes {number(value)} to s[{word}]."
    if _early(told, n - 1):
        return f"Thread {thread} reads s[{word}] before any thread has written it."
    found = "garbage" if math.isnan(value) else number(value)
    return f"Thread {thread} reads s[{word}] and finds {found}."


def _all(told: Sequence[Act]) -> str:
    reads = [_early(told, n) for n, act in enumerate(told) if act[1] == READS]
    return f"Of {len(reads)} reads {sum(reads)} came before the write."
