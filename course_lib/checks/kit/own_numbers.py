"""Planted answers with the numbers of a student's answer in the place of their own.

An author plants a mistake once, with one number: log(p + 1e-12), say. Who adds 1e-8 makes the same mistake. A number of
a planted answer is its own if the solution does not have it; and none may be in its sentence, which would be false then.
"""

import functools
import re
import types

import numpy as np

SMALL = {0, 1, 2}  # they stand for too much: an axis, an exponent, half of something
NUMBER = re.compile(r"(?<![\w.])((?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)(?=f?(?![\w.]))")
LIMITS = [np.finfo(kind) for kind in (np.float32, np.float64)]
TINY = {float(x) for at in LIMITS for x in (at.eps, at.tiny, at.smallest_subnormal)}
# for an answer in another process, whose code is not to be seen
USUAL = {*TINY, *(10.0**-k for k in range(1, 39)), 5, 10, 20, 30, 50, 80, 85, 88, 100, 500, 700}


def with_other_numbers(task, numbers):
    """(what the mistake is, the cell's source) of planted answers of a `Task`, one of these numbers in each."""
    known, found = numbers_in(task.solution), dict[str, str]()
    for says, source in task.planted:
        named = numbers_in(says.replace(",", "")) - known - SMALL  # 1,000
        for own in sorted(numbers_in(source) - known - SMALL) if not named else ():
            for other in sorted(numbers - {own}):
                if is_whole(other) == is_whole(own):
                    found.setdefault(_exchanged(source, own, other), says)
    return [(says, source) for source, says in found.items()]


def is_whole(number):
    """Is it 88 or 1e30, and not 1e-12? A whole number may be an index or a size; the others are none."""
    return number % 1 == 0


def _exchanged(source, own, other):
    def written(found):
        if float(found[1]) != own:
            return found[0]
        return str(int(other)) if found[1].isdigit() else repr(float(other))

    return NUMBER.sub(written, source)


def numbers_in(text):
    """The numbers that stand in a text: in Python, CUDA C or English."""
    return {float(number) for number in NUMBER.findall(text)}


def numbers_of(answer):
    """The numbers that a student's function uses: in its code, as defaults, by a name of the notebook, of np.finfo."""
    answer = answer.args[0] if isinstance(answer, functools.partial) else answer
    if not isinstance(answer, types.FunctionType):
        return USUAL
    codes = list(_codes(answer.__code__))
    names = {name for code in codes for name in code.co_names}
    held = [answer.__globals__.get(name) for name in names] + [code.co_consts for code in codes]
    found = set(_numbers([held, answer.__defaults__, list((answer.__kwdefaults__ or {}).values())]))
    return (found - SMALL) | (TINY if "finfo" in names else set())


def _codes(code):
    """A function's code, and that of the functions inside of it."""
    yield code
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            yield from _codes(part)


def _numbers(value):
    """All numbers in a tree of lists and tuples, without their signs."""
    if isinstance(value, list | tuple):
        for part in value:
            yield from _numbers(part)
    elif isinstance(value, int | float) and not isinstance(value, bool) and np.isfinite(value):
        yield abs(value)
