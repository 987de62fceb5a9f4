"""What a compiler says of a student's kernel, at the line where it stands, with the slip that is likely behind it."""

import re

from course_lib.checks.kit.messages import Report
from course_lib.checks.kit.trees import short
from course_lib.machines.cuda_c.rewrite import TOKEN

MESSAGE = re.compile(r"kernel\.cu(?::(\d+)(?::\d+)?|\((\d+)\)): *(?:fatal )?error *:? *(.*)")
CLOSED_BY = {"(": ")", "[": "]", "{": "}"}


def source_line(source, number):
    """ "line 7: y[i] = a * x[i];", or "line 7" where there is no such line."""
    lines = source.split("\n")
    text = lines[number - 1].strip() if 0 < number <= len(lines) else ""
    return f"line {number}: {short(text, 84)}" if text else f"line {number}"


def does_not_compile(name, source, error, where=""):
    """The report on a CompileError, or on shared memory that the engine cannot place."""
    text = str(error).replace("‘", "'").replace("’", "'")
    found = [(int(m[1] or m[2]), m[3]) for line in text.splitlines() if (m := MESSAGE.search(line))]
    if not found and (m := re.match(r"line (\d+): (.*)", text)):
        found = [(int(m[1]), m[2])]
    slips = _slips(source)
    far = not found or _is_vague(*found[0], source)
    slip = next((slip for slip in slips if far or slip[0] == found[0][0]), None)
    if slip:
        return (
            Report(f"{name} does not compile{where}")
            .add("what", slip[1])
            .add("at", source_line(source, slip[0]))
            .add("cause", slip[2])
        )
    if not found:
        said = [line for line in text.splitlines()[1:] if "/" not in line and line.strip()]
        what = "\n".join(said[:4]) or "the compiler does not say why"
        return Report(f"{name} does not compile{where}").add("what", what)
    line, what = found[0]
    what = re.sub(
        r"'\*\((\w+) \+ .*\)'", r"\1[...]", what
    )  # g++ writes an element as it computes its address
    report = (
        Report(f"{name} does not compile{where}")
        .add("what", what)
        .add("at", source_line(source, line))
    )
    report.add("cause", _cause(what))
    return report.add(
        "then", f"{len(found) - 1} more, which may follow from this one" if len(found) > 1 else ""
    )


def _is_vague(line, what, source):
    """Is this said of the end of the source, or of a brace that closes too much: far from what is wrong?"""
    return line > source.count("\n") + 1 or bool(
        re.search(r"end of input|declaration before '\}'|extraneous", what)
    )


def _cause(what):
    return next((text for pattern, text in CAUSES if re.search(pattern, what)), None)


def _slips(source):
    """(line, what, cause) of slips that compilers tell badly: read only once the source has failed to compile."""
    bare = TOKEN.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), source)
    found = [
        (line_of(bare, m.start()), what.format(*m.groups()), cause)
        for pattern, what, cause in SLIPS
        for m in re.finditer(pattern, bare)
    ]
    return _braces(bare) + sorted(found)


def _braces(bare):
    """The bracket that is never closed, or the one that closes nothing."""
    opened: list = []
    for found in re.finditer(r"[(){}\[\]]", bare):
        closing = [CLOSED_BY[each[0]] for each in opened]
        if found[0] in CLOSED_BY:
            opened.append(found)
        elif found[0] in closing[-1:]:
            opened.pop()
        elif found[0] in closing:
            break
        else:
            cause = "an extra bracket" if opened else "an extra brace, here or above"
            return [(line_of(bare, found.start()), f"this {found[0]} closes nothing", cause)]
    return [_unclosed(bare, opened[-1])] if opened else []


def _unclosed(bare, last):
    what, cause = f"this {last[0]} is never closed", f"a {CLOSED_BY[last[0]]} is missing"
    return line_of(bare, last.start()), what, cause


def line_of(text, at):
    """The number of the line in which the character `at` of a text stands."""
    return text.count("\n", 0, at) + 1


SLIPS = (
    (r"\b(threadIdx|blockIdx|blockDim|gridDim)\b(?!\s*\.\s*[xyz]\b)", "{0} is three numbers, not one",
     "choose the one you mean: .x, .y or .z"),
    (r"\b(blockidx|blockdim|threadidx|griddim|BlockIdx|BlockDim|ThreadIdx|GridDim|ThreadIDx|blockIDx)\b",
     "there is no {0}", "names are case-sensitive: blockIdx, blockDim, threadIdx, gridDim"),
    (r"\b(None|True|False|elif|range|np|def|import|lambda|pass)\b", "{0} is Python, but the string holds CUDA C",
     "C has if (...) { } else { }, for (int i = 0; i < n; i++) { }, true, false, expf(x)"),
    (r"(\*\*)\s*[\w(]", "C has no power operator", "x * x, or powf(x, y)"),
    (r"#[ \t]*include[ \t]*(<\w+>)", "#include {0} cannot be compiled here",
     "leave it out: a kernel has all it needs without it"),
    (r"(<<<)", "a launch inside the string", "write only the kernel: the check launches it"),
    (r"#[ \t]*(unroll)\b", "# {0} is no directive", "write #pragma unroll"),
    (r"#[ \t]*(?!unroll|include|define|undef|if|ifdef|ifndef|else|elif|endif|error|pragma|line|warning)(\w+)",
     "# {0} is no directive", "in CUDA C a comment begins with //"),
    (r"\b(__shared)\b", "there is no __shared", "__shared__, with two underscores on both sides"),
    (r"\b(syncthreads|_syncthreads|__syncthread|__synchthreads)\s*\(", "there is no {0}()",
     "__syncthreads(), with two underscores before it"),
)  # fmt: skip
CAUSES = (
    (r"'.*' was not declared|undeclared identifier|is undefined",
     "a name that does not exist here: misspelt, never declared, or declared inside other braces"),
    (r"read-only variable|read-only parameter|cannot assign to variable",
     "a const variable keeps its first value: declare without const what changes"),
    (r"read-only|const-qualified|must be a modifiable", "a const array is an input: write to the output"),
    (r"expected .*';'.*before '(?!(?:int|float|const|if|else|for|while|return)')\w+'",
     "a ; or an operator is missing: a ; here or at the end of the line before, or a * or + between two values"),
    (r"expected .*';'|before '\}'|expected ';'", "a ; is missing, here or at the end of the line before"),
    (r"unqualified-id before '\w+'",
     "either this word belongs to C++ and can be no name, or a ; or a bracket is missing before it"),
    (r"before '(int|float|const|if|for|return|\w+)'|expected '[,;]' or",
     "a ;, a bracket or an operator is missing, here or at the end of the line before"),
    (r"(?:no member named|has no member).*'float4'|'(?:struct )?float4' has no member",
     "a float4 has .x, .y, .z and .w"),
    (r"no member named|has no member", "blockIdx, blockDim, threadIdx and gridDim have .x, .y and .z"),
    (r"template.*linkage", "leave out templates and #include lines: a kernel has all it needs without them"),
    (r"C linkage|No such file|file not found", "leave out #include lines: a kernel has all it needs without them"),
    (r"array index is not|subscript is not an integer|invalid types? '.*\[(float|double)\]'",
     "an index must be a whole number: int i"),
    (r"invalid types? .* for array subscript|subscripted value", "[...] after a number: only arrays have elements"),
    (r"redeclar|redefinition|shadows a parameter|previously declared", "a name is declared twice"),
    (r"unterminated comment", "a /* without its */"),
    (r"expected '\)'", "a ) is missing, or an operator or a comma before it"),
    (r"invalid operands.*%|operands of types.*%", "% is for whole numbers; fmodf(x, y) for floats"),
    (r"no matching function .*'atomic", "an atomic function takes an address first: atomicAdd(&count[c], 1)"),
    (r"unary '&'|address of an rvalue", "& takes the address of something that lies in memory, such as &y[i]"),
    (r"lvalue|not assignable",
     "the left side of = must be something you can write to, such as y[i]; a comparison is written =="),
    (r"too (few|many) arguments", "a function is called with the wrong number of arguments"),
)  # fmt: skip
