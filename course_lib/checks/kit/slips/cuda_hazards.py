"""Slips among the threads of a block: barriers, atomics, shared memory, shuffles."""

from course_lib.checks.kit.slips.cuda_guards import conditions

COUNTED = ("first", "second", "third", "fourth", "fifth")


def _barriers(code):
    """(its Statement, which one it is in words) of each barrier."""
    found = [s for s in code.statements if code[s.start] == "__syncthreads"]
    for k, s in enumerate(found):
        yield s, "the barrier" if len(found) == 1 else f"the {COUNTED[k % 5]} barrier"


def no_barrier(code):
    """A barrier left out, or a weaker one in its place."""
    for s, name in _barriers(code):
        yield f"{name} is missing", (s.start, s.end, ";")
    for s, name in _barriers(code):
        for other in ("__syncwarp", "__threadfence_block"):
            says = f"`{other}()` is used in place of {name}: other warps do not wait"
            yield says, (s.start, s.start + 1, other)


def barrier_moved(code):
    """A barrier one statement too early or too late."""
    for s, name in _barriers(code):
        beside = [t for t in code.statements if t.depth == s.depth]
        for t in beside:
            if t.end == s.start and not _declares(code, t):
                yield f"{name} is one statement too early", _exchange(code, t, s)
            if t.start == s.end:
                yield f"{name} is one statement too late", _exchange(code, s, t)


def _exchange(code, s, t):
    """The edit that puts statement t, which follows s, before it."""
    parts = [code.source[code.tokens[u.start].start : code.tokens[u.end - 1].end] for u in (t, s)]
    return s.start, t.end, "\n".join(parts)


def _declares(code, s):
    return any(s.start <= at < s.end for _, _, at in code.locals())


def barrier_in_branch(code):
    """A barrier that some threads of a block do not reach."""
    for s, name in _barriers(code):
        for t in code.statements:  # the guarded statement before it, and the barrier in its braces
            if t.kind == "if" and t.end == s.start and code[t.body] != "{":
                inside = code.text(t.body, t.end)
                edit = (t.body, s.end, f"{{ {inside} __syncthreads(); }}")
                yield f"{name} is inside the `if` before it{_or_behind(code, s)}", edit
        tests = [code.text(*c) for c in conditions(code) if code.usable(*c, s.start)]
        for test in dict.fromkeys(tests):
            says = (
                f"{name} is inside an `if`{_or_left(code, s)}: not all threads of a block reach it"
            )
            yield says, (s.start, s.start, f"if ({test}) ")


def _loops_around(code, s):
    return [t for t in code.statements if code[t.start] == "for" and t.body < s.start < t.end]


def _or_behind(code, s):
    """What else leaves threads out of a barrier in a loop."""
    return (
        ", or in a loop that some threads leave earlier than others"
        if _loops_around(code, s)
        else ""
    )


def _or_left(code, s):
    """The same, and a `return` before it."""
    loop = _or_behind(code, s)
    return f", behind a `return`{loop}" if loop else ", or behind a `return`"


def barrier_passed_by(code):
    """A barrier in a loop that some threads leave, or whose rounds they cut short, in front of it."""
    for s, name in _barriers(code):
        tests = [code.text(*c) for c in conditions(code) if code.usable(*c, s.start)]
        for test in dict.fromkeys(tests) if _loops_around(code, s) else ():
            for word in ("break", "continue", "return"):
                if not code.all(word):
                    says = f"`{word}` is used where all threads must go on to {name}: some never reach it"
                    yield says, (s.start, s.start, f"if (!({test})) {word};\n")


def not_in_the_last_round(code):
    """A barrier left out for one round of the loop around it: if (half > 32), if (k0 + 16 < K)."""
    for s, name in _barriers(code):
        if loops := _loops_around(code, s):
            ends = [i for i in range(loops[-1].start, loops[-1].body) if code[i] == ";"]
            test, step = (
                code.texts(ends[0] + 1, ends[1]),
                code.texts(ends[1] + 1, loops[-1].body - 1),
            )
            if test[1:] == [">", "0"]:
                says = f"{name} is left out in the rounds of the last 32 threads"
                yield says, (s.start, s.start, f"if ({test[0]} > 32) ")
            if len(test) == 3 and step[1:2] == ["+="]:
                says = f"{name} is left out in the last round of the loop"
                yield says, (s.start, s.start, f"if ({test[0]} + {step[2]} < {test[2]}) ")


def atomics(code):
    """atomicAdd left out: a sum or a store that others come between."""
    for at in code.all("atomicAdd"):
        end = code.partner[at + 1]
        place, value = [code.text(a, b) for a, b in code.parts(at + 2, end, ",")]
        target = place[1:] if place[0] == "&" else f"*({place})"
        plain = {
            "atomicAdd is missing: `+=` reads, adds and writes, and other threads can write in between": "+=",
            "each thread stores its own value, and nothing is added": "=",
        }
        for says, sign in plain.items():
            yield says, (at, end + 1, f"{target} {sign} {value}")
        says = "what was there is replaced, not added to: atomicExch"
        yield says, (at, at + 1, "atomicExch")
        read = f"atomicExch({place}, {target} + {value})"
        yield (
            "the sum is read first and exchanged later: other threads can write in between",
            (at, end + 1, read),
        )


def _shared(code):
    """(name, [tokens of its sizes]) of each array in shared memory."""
    for at in code.all("__shared__"):
        for i in range(at, code.until(at, ";")):
            if code[i] == "[" and code[i - 1] != "]":
                sizes = [i + 1]
                while code[sizes[-1] + 2] == "[":
                    sizes.append(sizes[-1] + 3)
                yield code[i - 1], sizes


def _uses(code, name):
    """The token of the first `[` of each use of an array, not its declaration."""
    places = [i + 1 for i in code.all(name) if code[i + 1] == "["]
    declared = {sizes[0] - 1 for _, sizes in _shared(code)}
    return [i for i in places if i not in declared]


def shared_size(code):
    """One column of padding more or less, a row for a column, too few numbers."""
    for _, sizes in _shared(code):
        numbers = [int(code[at]) for at in sizes if code[at].isdigit()]
        told = " x ".join(map(str, numbers))
        if len(numbers) == 2 == len(sizes) and numbers[0] != numbers[1]:
            says = f"the padding is missing: {numbers[0]} x {min(numbers)} in shared memory"
            yield says, (sizes[1], sizes[1] + 1, str(min(numbers)))
            edits = [(at, at + 1, str(n)) for at, n in zip(sizes, numbers[::-1], strict=True)]
            yield f"the array in shared memory is transposed: not {told}", *edits
        for at, number in zip(sizes, numbers, strict=False):
            for less in (1, 2):
                if number > 8:
                    says = f"the array in shared memory is too small: {told} is needed"
                    yield says, (at, at + 1, str(number - less))
        if len(numbers) == 2 == len(sizes) and numbers[1] % 32 == 1:
            says = "the padding is 4, not 1"
            yield says, (sizes[1], sizes[1] + 1, str(numbers[1] + 3))


def shared_turned(code):
    """[x][y] for [y][x]: where it is filled, where it is used, or at both places."""
    for name, sizes in _shared(code):
        uses = _uses(code, name) if len(sizes) == 2 else []
        turned = [(_turn(code, i), _stored(code, i)) for i in uses]
        if uses:
            what = "an array in shared memory"
            everywhere = [edit for edit, _ in turned]
            yield f"the two indices of {what} are swapped everywhere", *everywhere
            edits = [(a, a + 1, code[b]) for a, b in (sizes, sizes[::-1])]
            yield f"{what} is transposed: its sizes and its two indices", *everywhere, *edits
        for edit, stored in turned:
            where = "filled" if stored else "read"
            yield f"the two indices of {what} are swapped where it is {where}", edit


def _turn(code, i):
    second = code.partner[i] + 1
    end = code.partner[second] + 1
    return i, end, code.text(second, end) + code.text(i, second)


def _stored(code, i):
    while code[i] == "[":
        i = code.partner[i] + 1
    return code[i] == "="


def unfilled(code):
    """No zero where the guard does not hold: if (guard) s = value; or where one half of it does not."""
    for s, equals, mark, colon in _filled(code):
        place, value = code.text(s.start, equals), code.text(mark + 1, colon)
        says = "nothing is stored where the guard is false: store a 0 there"
        yield says, (s.start, s.end, f"if ({code.text(equals + 1, mark)}) {place} = {value};")
    for s, equals, mark, colon in _filled(code):
        place, value = code.text(s.start, equals), code.text(mark + 1, colon)
        halves = [code.text(*half) for half in code.parts(equals + 1, mark, "&&")]
        for one, other in (halves, halves[::-1]) if len(halves) == 2 else ():
            says = "nothing is stored where one half of the guard is false: store a 0 there"
            yield says, (s.start, s.end, f"if ({one}) {place} = {other} ? {value} : 0;")


def _filled(code):
    """(Statement, tokens of its `=`, `?` and `:`) of each place = guard ? value : 0;"""
    for s in code.statements:
        marks = [i for i in range(s.start, s.end) if code[i] == "?"]
        equals = code.first(s.start, s.end, "=")
        if s.kind == ";" and len(marks) == 1 and equals and not _declares(code, s):
            colon = code.first(marks[0], s.end, ":")
            if code[colon + 1] == "0":
                yield s, equals, marks[0], colon


def barrier_too_many(code):
    """One more barrier at the end of the loop around a barrier."""
    for s, _ in _barriers(code):
        blocks = [t for t in code.statements if t.kind == "{" and t.start < s.start < t.end]
        end = blocks[-1].end - 1
        if len(blocks) > 1 and s.end != end:
            yield "one barrier too many in each round", (end, end, "__syncthreads();\n")


def shuffles(code):
    """Another shuffle, or a mask with half of the warp."""
    for at in code.all("__shfl_xor_sync", "__shfl_down_sync", "__shfl_up_sync"):
        for other in ("__shfl_down_sync", "__shfl_up_sync", "__shfl_xor_sync"):
            if other != code[at]:
                yield code.instead(at, other)
        yield (
            f"the mask of `{code[at]}` has half of the warp",
            (at + 2, code.until(at + 2, ","), "0xffff"),
        )
