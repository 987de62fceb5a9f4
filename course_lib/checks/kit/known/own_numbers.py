"""Planted answers with the numbers of a student's answer in the place of their own.

An author plants a mistake once, with one number: log(p + 1e-12), say. Who adds 1e-8 makes the same mistake. So a
planted answer says in a comment that another number would do: "any number: 1e-12".
"""

import functools
import re
import types

import numpy as np

ANY = re.compile(r"any number: ([\d.e-]+)")
NUMBER = re.compile(r"(?<![\w.])((?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)(?=f?(?![\w.]))")
LIMITS = [np.finfo(kind) for kind in (np.float32, np.float64)]
TINY = {float(x) for at in LIMITS for x in (at.eps, at.tiny, at.smallest_subnormal)}
# for an answer in another process, whose code is not to be seen
USUAL = {*TINY, *(10.0**-k for k in range(39)), 0.05, 0.02, 0.99, 0.95}
USUAL |= {10, 20, 30, 50, 80, 85, 88, 100, 500, 700}


def with_other_numbers(task, numbers):
    """(what the mistake is, the cell's source) of planted answers of a `Task`, one of these numbers in each."""
    found: dict[str, str] = {}
    for says, source in task.planted:
        for own in map(float, ANY.findall(source)):
            for other in sorted(numbers - {own}):
                found.setdefault(_exchanged(source, own, other), says)
    return [(says, source) for source, says in found.items()]


def _exchanged(source, own, other):
    text = str(int(other)) if other % 1 == 0 and own % 1 == 0 else repr(float(other))
    return NUMBER.sub(lambda found: text if float(found[1]) == own else found[0], source)


def numbers_in(text):
    """The numbers that stand in a source, of Python or of CUDA C."""
    return {float(number) for number in NUMBER.findall(text)}


def numbers_of(answer):
    """The numbers that a student's function uses, and the functions of the notebook that it calls: in their code, as
    defaults, by a name of the notebook, of np.finfo."""
    answer = answer.args[0] if isinstance(answer, functools.partial) else answer
    if not isinstance(answer, types.FunctionType):
        return USUAL
    functions, found = [answer], set[float]()
    for fn in functions:
        codes = list(_codes(fn.__code__))
        names = {name for code in codes for name in code.co_names}
        held = _held(fn, names)
        found |= {*_numbers([held, [code.co_consts for code in codes]])}
        found |= TINY if "finfo" in names else set()
        own = (x for x in held if isinstance(x, types.FunctionType))
        functions += [x for x in own if x.__globals__ is fn.__globals__ and x not in functions]
    return found


def with_float32(answer):
    """(the word, the same function with float32 in its place) where it names float64, double or float; or None."""
    if not isinstance(answer, types.FunctionType):
        return None
    codes = list(_codes(answer.__code__))
    there = {
        *(
            name
            for code in codes
            for name in code.co_names + code.co_consts
            if isinstance(name, str)
        )
    }
    word = next((word for word in ("float64", "double", "float") if word in there), None)
    held = {**answer.__globals__, "float": np.float32}
    code = _in_float32(answer.__code__)
    parts = code, held, answer.__name__, answer.__defaults__, answer.__closure__
    return word and (word, types.FunctionType(*parts))


def _in_float32(code):
    def new(x):
        return "float32" if x in ("float64", "double") else x

    parts = (_in_float32(x) if isinstance(x, types.CodeType) else new(x) for x in code.co_consts)
    return code.replace(co_names=(*map(new, code.co_names),), co_consts=(*parts,))


def _held(fn, names):
    """What a function uses besides its own code: by name, from the function around it, as defaults."""
    around = [cell.cell_contents for cell in fn.__closure__ or ()]
    given = [*(fn.__defaults__ or ()), *(fn.__kwdefaults__ or {}).values()]
    return [*(fn.__globals__.get(name) for name in names), *around, *given]


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
