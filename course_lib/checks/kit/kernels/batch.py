"""Many known mistakes of a kernel compiled at once, each in a namespace of its own."""

import bisect
import hashlib
import re
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from course_lib.checks.kit.kernels.running import Launch, on_engine
from course_lib.machines.cpu_engine import CompileError
from course_lib.machines.cpu_engine.tracing import compiled

# Of a launch of a known mistake: below 1 it is ended from outside; most end in a hundredth.
SECONDS = 0.9
TOGETHER = 30
UNROLL = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+unroll\b.*$", re.MULTILINE)
ALONE = re.compile(r"^[ \t]*#[ \t]*(?:define|if)", re.MULTILINE)  # lines that know no namespace
ERROR = re.compile(r"kernel\.cu:(\d+)(?::\d+)?: (?:fatal )?error")
HEADER = re.compile(r"^[ \t]*#[ \t]*include\b.*$", re.MULTILINE)  # above all namespaces, once


def candidates(sources, kernel):
    """For each source a function (launch) -> Seen, or None where it does not compile; some are compiled together."""
    plain = [UNROLL.sub("", source) for source in sources]  # the same numbers, compiled faster
    runners: list = [None] * len(sources)
    together = [n for n, source in enumerate(plain) if not ALONE.search(source)]
    for n in set(range(len(plain))) - set(together):
        _compile(plain, [n], kernel, runners)
    _compile(plain, together, kernel, runners)
    return runners


def _compile(sources, numbers, kernel, runners):
    """Fills in the runners of these sources, without those that do not compile."""
    if not numbers:
        return
    spaces = len(numbers) > 1
    text = _in_spaces(sources, numbers) if spaces else sources[numbers[0]]
    try:
        program = compiled(text, no_extern_c=spaces)
    except CompileError as error:
        for part in _rests(text, numbers, str(error)) if spaces else ():
            _compile(sources, part, kernel, runners)
        return
    for n in numbers:
        name = f"s{n}::{kernel}" if spaces else kernel
        runners[n] = _runner(text, name, (sources[n], kernel), program)


def _rests(text, numbers, said):
    """What to compile next: all but the sources that the compiler names, or two halves where it names none."""
    lines = {int(line) for line in ERROR.findall(said)}
    starts = [n for n, line in enumerate(text.splitlines(), 1) if line.startswith("namespace s")]
    bad = {numbers[bisect.bisect(starts, line) - 1] for line in lines if line > starts[0]}
    half = len(numbers) // 2
    good = [n for n in numbers if n not in bad]
    return [good] if bad else [numbers[:half], numbers[half:]]


def _in_spaces(sources, numbers):
    headers = {line.strip() for n in numbers for line in HEADER.findall(sources[n])}
    bodies = [f"namespace s{n} {{\n{HEADER.sub('', sources[n])}\n}}" for n in numbers]
    return "\n".join([*sorted(headers), *bodies])


def _runner(text, name, own, program):
    def run(launch):
        return _seen(_Try(own, _print_of(launch), text, name, launch, program))

    return run


@dataclass(frozen=True)
class Seen:
    """What a known mistake did in a launch: the tools' errors, the arrays that it filled, and which it stored to."""

    errors: list
    after: dict
    stores: frozenset


@dataclass(frozen=True)
class _Try:
    """A known mistake and a launch. What is the same of one's own source and of all that it is given is run once."""

    own: tuple  # source, kernel
    given: bytes
    text: str = field(compare=False)
    name: str = field(compare=False)
    launch: Launch = field(compare=False)
    program: tuple = field(compare=False)


class _Late(Exception):
    """Its argument is what was Seen until it was stopped: next time it may end."""


def _print_of(launch):
    """A digest of the launch: sizes, and contents of all arguments and symbols."""
    given = {**launch.prepared(), **{f"symbol {name}": a for name, a in launch.symbols.items()}}
    said = hashlib.blake2b(repr((launch.grid, launch.block, launch.shared)).encode())
    first: dict = {}  # an array with two names is one
    for name, value in given.items():
        array = np.asarray(0 if value is None else value)
        head = name, first.setdefault(id(value), name), value is None, array.dtype, array.shape
        said.update(repr(head).encode() + array.tobytes())
    return said.digest()


def stored(run):
    """The outputs that a launch stored to."""
    rows = [row["array"] for row in run.report.accesses if row["op"] != "load"]
    return frozenset(rows) & frozenset(run.launch.outs)


def _seen(known):
    """What was seen before, for another wrong answer to the same task, or is seen now."""
    try:
        return _once(known)
    except _Late as late:
        return late.args[0]


@lru_cache(2048)
def _once(known):
    run = on_engine(known.text, known.name, known.launch, SECONDS, known.program)
    after = {name: run.after[name] for name in run.launch.outs}
    seen = Seen(run.report.errors, after, stored(run))
    if any(error["tool"] == "timeout" for error in seen.errors):
        raise _Late(seen)
    return seen
