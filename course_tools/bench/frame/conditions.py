"""Under which conditions something was measured, in words: the machine, the versions, the settings, the noise."""

import os
import sys
from dataclasses import fields

from course_lib.measure import Machine
from course_tools.bench.frame.bench import Result
from course_tools.bench.frame.numbers import Runs, known, quartiles
from course_tools.bench.frame.tables import count

BUSY = 0.3  # of a core: above that, somebody else is at work


def load() -> float | None:
    """Processes that wanted a processor in the last minute, on average; None where the system does not tell."""
    try:
        return round(os.getloadavg()[0], 2)
    except (AttributeError, OSError):
        return None


def say(what: str, text: str) -> None:
    """A line on standard error."""
    print(f"course bench {what}: {text}", file=sys.stderr)


def warn_if_busy(what: str) -> None:
    """Say so if other programs are at work."""
    busy = load()
    if busy is not None and busy > BUSY:
        words = "other programs are at work, and these times will show it"
        say(what, f"warning: the load average is {busy:g}: {words}")


def machine_line(result: Result) -> str:
    """The machine that the numbers come from, in one line."""
    names = {field.name for field in fields(Machine)}
    return str(Machine(**{key: value for key, value in result["machine"].items() if key in names}))


def machine_name(result: Result) -> str:
    """The machine, for a title and a file: its processor and the cores that were used."""
    cpu = result["machine"]["cpu"] or "unknown processor"
    return f"{cpu}, {count(result['settings']['cores'], 'core')}"


def versions_line(result: Result) -> str:
    """What ran, with versions."""
    return ", ".join(f"{name} {version}" for name, version in result["versions"].items())


def settings_line(result: Result, how: str) -> str:
    """When and how it was measured."""
    glance = " (--quick: a glance, not a measurement)" if result["settings"]["quick"] else ""
    return f"{result['when']}: {how}; {result['seconds']:.0f} s in all{glance}"


def load_line(result: Result) -> str:
    """How busy the machine was with other things."""
    before, after = result["load"]["before"], result["load"]["after"]
    return "unknown" if before is None else f"{before:g} before, {after:g} after"


def noise_note(result: Result, what: str, rates: Runs) -> str:
    """How even the machine was during the run, by rates of one thing in GFLOP/s, from all rounds."""
    values = known(rates)
    middle, low, high = quartiles(values)
    text = (
        f"Noise: {what} ran at {middle:.0f} GFLOP/s (quartiles {low:.0f} to {high:.0f}, "
        f"extremes {min(values):.0f} to {max(values):.0f}); load average {load_line(result)}."
    )
    apart = 100 * (high - low) / middle
    if apart > 5:
        text += f" The quartiles lie {apart:.0f} % apart: take differences below that as noise."
    return text
