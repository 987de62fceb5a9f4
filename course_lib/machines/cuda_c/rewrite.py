"""From CUDA C to C++ for the host: finds kernels and variables, and rewrites the declarations of shared memory.

Nothing is moved to another line, so the compiler's messages and the tracer's line numbers are those of the source.
"""

import re
from dataclasses import dataclass

from course_lib.errors import BadInput
from course_lib.machines.cuda_c.macros import expand
from course_lib.machines.cuda_c.outside import refuse, without_host
from course_lib.machines.cuda_c.scopes import CALLED, around, blank, scopes, without_attributes
from course_lib.machines.cuda_c.shared_memory import NAME, edit_shared, split

WORDS = r"(?:\b(?:static|inline|extern|__forceinline__|__noinline__)\b\s*)*"
KERNEL = re.compile(rf"(?:__global__\s+{WORDS}void|\bvoid\s+__global__)\s+([A-Za-z_]\w*)\s*\(")
RETURNS = re.compile(r"(?<!\bvoid )__global__\s+(?![^(;{]*\bvoid\b)")
VARIABLE = re.compile(r"\b(?:__constant__|__device__|__managed__)\b([^;(){}=]*)(?=[;={])")
POINTED = re.compile(r"\(\s*[*&]\s*(?:(?:const|__restrict__)\s+)*(\w+)[^()]*\)\s*[\[(]")  # (*A)[16]
# the rest of a declaration, with first values
END = re.compile(r"[^;{}]*(?:\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}[^;{}]*)*;?")
TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*.*?\*/', re.DOTALL)
UNROLL = re.compile(r"^([ \t]*#[ \t]*pragma[ \t]+)unroll\b[ \t]*(.*?)[ \t]*$", re.MULTILINE)
INCLUDE = r"^[ \t]*#[ \t]*include[ \t]*[<\"]"
GROUPS = r"cooperative_groups/(?:reduce|scan|partition)"
KNOWN = rf"(?:cuda|device_|sm_|math_(?!constants)|vector_)\w*|{GROUPS}|assert"
HEADER = re.compile(rf"{INCLUDE}(?:(?:{KNOWN})\.h|cassert)[>\"]", re.MULTILINE)
HOSTED = r"(?:cu(?:blas|rand|fft|sparse|dnn)|nv|driver_|builtin_|helper_(?:cuda|func|tim|str))\w*"
LIBRARY = re.compile(rf"{INCLUDE}{HOSTED}\.h[>\"]", re.MULTILINE)
# two lanes of a warp may be told apart by a barrier of some lanes
PARTS = re.compile(r"\b__syncwarp\s*\(\s*[^)\s]|\b(?:tiled_partition|coalesced_threads)\b")
HALF = re.compile(r"(#[ \t]*include[ \t]*)[<\"]cuda_(?:fp|bf)16\.h(?:pp)?[>\"]")


@dataclass(frozen=True)
class Program:
    """text: the C++ that is compiled. kernels: name -> names of its parameters. symbols: (name, is it constant).

    A kernel of a namespace a is there as k and as a::k; of templates, the instances that were asked for.
    """

    text: str
    kernels: dict[str, list[str]]
    symbols: list[tuple[str, bool]]


def rewrite(source, no_extern_c=False, instances=()):
    """The Program of a CUDA C source. instances: of templates, as "reduce<float, 256>".

    Raises BadInput, with its line, for what the engine does not have, and for a kernel that is not void.
    """
    code = expand(TOKEN.sub(lambda m: blank(m) if m[0].startswith("/") else m[0], source))
    code, _ = without_host(code, TOKEN.sub(blank, code))
    # of the same length, with strings blanked out too: here things are looked for
    bare = TOKEN.sub(blank, code)
    refuse(code, bare)
    text = without_attributes(bare)
    if m := RETURNS.search(text):
        raise BadInput(f"line {_line(text, m.start())}: a kernel returns nothing: __global__ void")
    found = scopes(bare)
    kernels, edits, tail = _kernels(text, found, "#if" in re.sub(r"[ \t]", "", bare))
    symbols = _symbols(text, found, edits)
    body = _edited(code, sorted([*set(edits), *edit_shared(text, found)]))
    body = UNROLL.sub(lambda m: f"{m[1]}GCC unroll {_times(m[2].strip('()'), code)}", body)
    for number, name in enumerate(instances):
        tail += _instance(text, name, number, kernels)
    opened, closed = ("", "") if no_extern_c else ('extern "C" {', "}")
    parts = f"namespace course {{ extern const bool has_parts = {int(bool(PARTS.search(text)))}; }}"
    lines = [f"{parts} {opened}", '#line 1 "kernel.cu"', body, closed, *tail, ""]
    return Program("\n".join(lines), kernels, symbols)


def _edited(code, edits):
    body, last = "", 0
    for start, end, new in edits:
        body, last = body + code[last:start] + new, end
    body = LIBRARY.sub("", HEADER.sub("", HALF.sub(r'\1"half.h"', body + code[last:])))
    # a header of C++ has a word of this name, so it is no macro
    return re.sub(r"\b__noinline__\b", "__attribute__((noinline))", body)


def _times(given, code):
    """How often to unroll: no number means all of it; g++ wants one that needs no macro."""
    macros = dict(re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+\(?(\w+)", code, re.MULTILINE))
    said = macros.get(given, given)
    plain = said.isdigit() or (given.isidentifier() and given not in macros)
    return said if plain else 8 if given else 64


def _kernels(text, found, branches):
    """({name: parameters}, edits, lines of the tail): kernels in namespaces or behind #if register where they stand."""
    kernels, edits, tail = {}, [], []
    for m in KERNEL.finditer(text):
        opened = re.compile(r"[{;]").search(text, m.end())
        if _is_template(text, m.start()) or not opened or opened[0] == ";":
            continue
        kernels[m[1]] = parameters(text, m.end() - 1)
        scope = next(scope for scope in found if scope.opened == opened.start())
        if not branches and not scope.parent:
            tail.append(f"COURSE_KERNEL({m[1]})")
            continue
        edits.append((scope.closed, scope.closed, f" COURSE_KERNEL({m[1]})"))
        if scope.space:
            kernels[scope.space + m[1]] = kernels[m[1]]
            new = f' COURSE_KERNEL_AS(in_{m[1]}, "{scope.space}{m[1]}", {m[1]})'
            edits.append((scope.closed, scope.closed, new))
    return kernels, edits, tail


def _instance(text, kernel, number, kernels):
    """The lines that register a kernel's template with the arguments that were asked for; none for a plain kernel."""
    name = re.match(r"(?:\w+::)*(\w+)\s*(<.*>)?\s*$", kernel)
    for m in KERNEL.finditer(text):
        if name and m[1] == name[1] and _is_template(text, m.start()):
            line = _line(text, m.start())
            if not name[2]:
                wanted = f"name its arguments, as in {kernel}<float>"
                raise BadInput(f"line {line}: {kernel} is a template: {wanted}")
            kernels[kernel] = parameters(text, m.end() - 1)
            registered = f'COURSE_KERNEL_AS({number}, "{kernel}", {kernel})'
            return [f'#line {line} "kernel.cu"', registered]
    return []


def _symbols(text, found, edits):
    """[(name, is it __constant__?)] of the variables of the device outside of functions."""
    symbols = []
    for m in VARIABLE.finditer(text):
        before = text[max(text.rfind(c, 0, m.start()) for c in ";{}") + 1 : m.start()]
        scope = around(found, m.start())
        if (scope and scope.kind != "file") or re.search(r"\b(?:extern|template)\b", before):
            continue
        names = [named[1] for part in split(m[1]) if (named := NAME.search(part))]
        constant = "__constant__" in m[0] or "__constant__" in before
        symbols += [(name, constant) for name in names]
        end = next(END.finditer(text, m.end())).end()
        flag = "true" if constant else "false"
        edits += [(end, end, f" COURSE_SYMBOL({name}, {flag})") for name in names]
    return symbols


def parameters(bare, at):
    """Names in the parameter list whose parenthesis opens at `at`."""
    given = re.compile(CALLED).match(bare, at)
    parts = [part.partition("=")[0].strip() for part in split(given[0][1:-1])] if given else []
    found = [POINTED.search(part) or NAME.search(part) for part in parts]
    return [name[1] if name else "" for name in found]


def _line(text, at):
    return text.count("\n", 0, at) + 1


def _is_template(text, at):
    return re.search(r"\btemplate\s*<[^;{}]*>\s*(?:(?:static|inline)\s+)*$", text[:at]) is not None
