"""Slips in sizes: one size for another, a size by heart, arguments of a call exchanged, a wrong number."""

from course_lib.checks.kit.slips.cuda_code import TYPES
from course_lib.checks.kit.slips.cuda_segments import COMPARE, other_counters, segments

COUNTED = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
HEART = ("16", "32", "64", "256")


def another_size(code):
    """`rows` for `columns` in an index or as an argument; at one place, or wherever it stands."""
    for name, at in _unguarded(code):
        for other in (n for n in code.sizes if n != name):
            for i in at:
                yield code.instead(i, other, ", and not in a guard")
            if len(at) > 1:
                says = f"`{other}` is used for `{name}` in all indices"
                yield says, *code.exchange(at, {name: other})


def _unguarded(code):
    """(a size, where it stands in no comparison)."""
    for name in code.sizes:
        yield name, [i for i in code.all(name) if not {code[i - 1], code[i + 1]} & COMPARE]


def by_heart(code):
    """A size taken for 16, 32, 64 or 256, one of the numbers of the kernel."""
    for name, at in _unguarded(code):
        for number in HEART if at else ():
            yield f"`{name}` is assumed to be {number}", *code.exchange(at, {name: number})


def arguments_exchanged(code):
    """f(b, a) for f(a, b), in a call of a function of the task."""
    for at in code.all("("):
        called = code[at - 1]
        mine = called.isidentifier() and called in code.functions
        parts = (
            code.parts(at + 1, code.partner[at], ",") if mine and code[at - 2] not in TYPES else []
        )
        for k, ((a, b), (c, d)) in enumerate(zip(parts, parts[1:], strict=False)):
            if _is_whole(code, a, b) and _is_whole(code, c, d):
                says = (
                    f"in the call of `{called}` with `{code[parts[0][0]]}`, the {COUNTED[k]} and the "
                    f"{COUNTED[k + 1]} argument are swapped"
                )
                yield says, (a, d, f"{code.text(c, d)}, {code.text(a, b)}")


def _is_whole(code, a, b):
    """Are these tokens a whole number?"""
    return (
        all(text in code.ints or not text.isidentifier() for text in code.texts(a, b))
        and code[a] != "&"
    )


def constants(code):
    """A number twice, four times, half or a quarter as large, or one beside."""
    found = _groups(code)
    changed = [(n // 4, 4 * n, n // 2, 2 * n, n - 1, n + 1) for n, _ in found]
    for news in zip(*changed, strict=True):
        for new, (number, at) in zip(news, found, strict=True):
            if new > 1:
                says = f"{new} is used where {number} belongs{_where(code, at[0])}"
                yield says, *[(i, i + 1, str(new)) for i in at]


def _where(code, at):
    """What a number is, as far as a student sees it."""
    if code[at - 1] in COMPARE:
        return ", as the bound of a loop or guard"
    if code[at - 1] in ("+=", "-="):
        return ", as the step of a loop"
    beside = {-2: code[at - 1], 2: code[at + 1]}
    near = [code[at + k] for k, operator in beside.items() if operator in ("*", "/", "%")]
    told = [text for text in near if "." in text or text in code.told]
    return f", beside `{told[0]}`" if told else ""


def _groups(code):
    """(a number, its tokens): each by itself, and those together that stand in one term, as 16 in 16 * r and 16 * r."""
    each = _numbers(code)
    alike: dict = {}
    for at in each:
        alike.setdefault((code[at - 1], code[at], code[at + 1], code[at + 2]), []).append(at)
    together = [at for at in alike.values() if len(at) > 1]
    return [(int(code[at[0]]), at) for at in [*together, *([at] for at in each)]]


def _numbers(code):
    declared = {i for at in code.all("__shared__") for i in range(at, code.until(at, ";"))}
    numbers = []
    declared |= {at + 2 for _, _, at in code.locals() if code[at + 1] == "["}
    for body in code.bodies:
        for at in range(body, code.partner[body]):
            if code[at].isdigit() and int(code[at]) > 2 and at not in declared:
                numbers.append(at)
    return numbers


def guard_variable(code):
    """One integer variable for another in a comparison: i > 0 for t > 0."""
    for segment in segments(code):
        for at, other in other_counters(code, segment, "blockIdx.x") if segment.compared else ():
            says = f"a comparison uses {code.named(other)}, not {code.named(code[at])}"
            yield says, (at, at + 1, other)
