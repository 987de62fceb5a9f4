"""Many known mistakes of a kernel compiled at once, each in a namespace of its own."""

import re

from course_lib.checks.kit.kernels.running import on_engine
from course_lib.machines.cpu_engine import CompileError
from course_lib.machines.cpu_engine.tracing import compiled

SECONDS = 1.0  # of a launch of a known mistake: those that are compared with end in a hundredth
TOGETHER = 30
UNROLL = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+unroll\b.*$", re.MULTILINE)
ALONE = re.compile(r"^[ \t]*#[ \t]*(?:define|if)", re.MULTILINE)  # lines that know no namespace
HEADER = re.compile(r"^[ \t]*#[ \t]*include\b.*$", re.MULTILINE)  # above all namespaces, once


def candidates(sources, kernel):
    """For each source a function (launch) -> Run, or None where it does not compile; some are compiled together."""
    plain = [UNROLL.sub("", source) for source in sources]  # the same numbers, compiled faster
    runners: list = [None] * len(sources)
    together = [n for n, source in enumerate(plain) if not ALONE.search(source)]
    for n in set(range(len(plain))) - set(together):
        _compile(plain, [n], kernel, runners)
    _compile(plain, together, kernel, runners)
    return runners


def _compile(sources, numbers, kernel, runners):
    """Fills in the runners of these sources. What does not compile with others is compiled in halves."""
    if not numbers:
        return
    spaces = len(numbers) > 1
    text = _in_spaces(sources, numbers) if spaces else sources[numbers[0]]
    try:
        program = compiled(text, no_extern_c=spaces)
    except CompileError:
        half = len(numbers) // 2
        for part in (numbers[:half], numbers[half:]) if spaces else ():
            _compile(sources, part, kernel, runners)
        return
    for n in numbers:
        name = f"s{n}::{kernel}" if spaces else kernel
        runners[n] = _runner(text, name, program)


def _in_spaces(sources, numbers):
    headers = {line.strip() for n in numbers for line in HEADER.findall(sources[n])}
    bodies = [f"namespace s{n} {{\n{HEADER.sub('', sources[n])}\n}}" for n in numbers]
    return "\n".join([*sorted(headers), *bodies])


def _runner(text, name, program):
    return lambda launch: on_engine(text, name, launch, SECONDS, program)
