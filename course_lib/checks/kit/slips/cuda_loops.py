"""Slips in loops: begin, end, step, one round too few or too many, none at all."""

from course_lib.checks.kit.slips.cuda_guards import BESIDE
from course_lib.checks.kit.slips.cuda_segments import COMPARE, sums, without


def _loops(code):
    """(Statement, its three parts) of each for: (start, end) of begin, condition and step."""
    for s in code.statements:
        ends = [i for i in range(s.start, s.body - 1) if code[i] == ";"]
        if code[s.start] == "for" and len(ends) == 2:
            first, second = ends
            yield s, (s.start + 2, first), (first + 1, second), (second + 1, s.body - 1)


def _told(code, cond):
    """Which loop is meant."""
    bound = code[cond[1] - 1]
    told = f"up to `{bound}`" if bound in code.params else ""
    told = told or (f"of {bound} rounds" if bound.isdigit() and bound != "0" else "")
    return (
        f"the loop {told}"
        if told
        else f"the loop with the condition `... {code.text(cond[1] - 2, cond[1])}`"
    )


def end_of_loop(code):
    """One round more or less, another bound."""
    for name, at, _ in _ends(code):
        if code[at] in BESIDE:
            many = "many" if len(code[at]) == 1 else "few"
            says = f"{name} has one round too {many}: `{BESIDE[code[at]]}` for `{code[at]}`"
            yield says, (at, at + 1, BESIDE[code[at]])
    for name, at, b in _ends(code):
        less = "+ 1" if code[at][0] == ">" else "- 1"
        text = f"{code.text(at + 1, b)} {less}"
        yield f"{name} ends one step early", (at + 1, b, text)
    for name, at, b in _ends(code):
        for other in code.sizes if code.text(at + 1, b) in code.sizes else ():
            if other != code.text(at + 1, b):
                yield f"{name} ends at `{other}`", (at + 1, b, other)


def ends_at_an_address(code):
    """A walk down a column that ends at an address: not the same row in every column."""
    for s, _, (a, b), _ in _loops(code):
        size = code.text(a + 2, b)
        for segment, terms in sums(code) if code[a + 1] == "<" and size in code.sizes else ():
            rows = (code.parts(*term, "*") for term in terms if code[term[0]] == code[a])
            row: list = next(rows, [])
            if len(row) == 2 and segment.array and s.body <= segment.a < s.end:
                at, width = code.text(segment.a, segment.b), code.text(*row[1])
                name = "the loop down a column"
                says = (
                    f"{name} ends where the last row begins: only the first column has its last row"
                )
                yield says, (a, b, f"{at} <= ({size} - 1) * {width}")
                says = f"{name} ends before the last element of all: the last column lacks it"
                yield says, (a, b, f"{at} < {size} * {width} - 1")
                says = f"{name} ends one element too late: the first column takes what lies past the array"
                yield says, (a, b, f"{at} <= {size} * {width}")


def _ends(code):
    """(which loop, the token of the comparison that ends it, the token behind its bound)."""
    for _, _, (a, b), _ in _loops(code):
        at = code.first(a, b, *COMPARE)
        if at is not None:
            yield _told(code, (a, b)), at, b


def last_tile(code):
    """k0 + 32 <= K for k0 < K: the part of a tile that is left goes missing."""
    for _, _, (a, b), (c, d) in _loops(code):
        at, plus = code.first(a, b, "<"), code.first(c, d, "+=")
        if at is None or plus is None:
            continue
        name, bound = _told(code, (a, b)), code.text(at + 1, b)
        step = code.text(plus + 1, code.parts(plus, d, ",")[0][1])
        test = f"{code.text(a, at)} + {step} <= {bound}"
        yield f"{name} leaves out the last part, which is shorter than a step", (a, b, test)
        says = f"{name} runs only whole rounds: the remainder of the division is left out"
        yield says, (at + 1, b, f"{bound} / {step} * {step}")
        factors = code.parts(plus + 1, code.parts(plus, d, ",")[0][1], "*")
        for part in (code.text(*factor) for factor in factors if len(factors) > 1):
            says = f"the last `{bound} % {part}` are left out: `{bound}` divided by `{part}` is rounded down"
            yield says, (at + 1, b, f"{bound} / {part} * {part}")


def begin_of_loop(code):
    """The first round left out, or the loop of each thread begins where all begin."""
    for _, (a, b), cond, step in _loops(code):
        at = code.first(a, b, "=")
        if at is None:
            continue
        end = code.first(at, b, ",") or b
        start = code.text(at + 1, end)
        name = _told(code, cond)
        if start.isdigit():
            up = not set(code.texts(*step)) & {"/=", "-=", "--"}
            steps = ("1", "0") if int(start) < 2 else (str(2 * int(start)), str(int(start) // 2))
            for other in [other for other in steps if other != start and (up or other != "0")]:
                yield f"{name} begins at {other}, not at {start}", (at + 1, end, other)
        else:
            yield f"{name} begins at 0 in every thread", (at + 1, end, "0")
            if "blockIdx" in start:
                axis = start[start.index("Idx.") + 4]
                says = f"{name} begins at the thread's place in its block, in every block"
                yield says, (at + 1, end, f"threadIdx.{axis}")


def step_of_loop(code):
    """The wrong step: of a block for that of the grid, 1, half, double; one of two steps left out."""
    for _, _, cond, (c, d) in _loops(code):
        name = _told(code, cond)
        steps = code.parts(c, d, ",")
        for k, (x, y) in enumerate(steps if len(steps) > 1 else ()):
            yield f"{name} leaves out {code.quote(x, y, 'step')}", (*without(steps, k), "")
        for x, y in steps:
            at = code.first(x, y, "+=", "/=")
            if at is not None:
                for other in _other_steps(code, at, y):
                    yield f"{name} advances by `{code[at]} {other}`", (at + 1, y, other)


def _other_steps(code, at, end):
    """Steps that are taken for the one behind token `at`."""
    factors = code.parts(at + 1, end, "*")
    if len(factors) > 1:
        return [*[code.text(*f) for f in factors], "1", "0"]
    number = code[at + 1]
    if not number.isdigit() or code[at] == "/=":
        return ["4"] if number == "2" else []
    return [str(int(number) * 2), str(int(number) // 2), "1"]


def no_loop(code):
    """One round alone, or not even one."""
    for s, (a, b), cond, _ in _loops(code):
        name = _told(code, cond)
        text = f"{{ {code.text(a, b)}; if ({code.text(*cond)}) "
        opened, closed = (s.start, s.body, text), (s.end, s.end, " }")
        yield f"{name} runs only its first round, like an `if`", opened, closed
        yield f"{name} is left out", (s.start, s.end, ";")
