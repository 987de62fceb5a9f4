"""`course bench checks`: every answer of the corpus tried; a table of how many were told their true cause."""

import argparse
import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

from course_lib.measure import machine
from course_tools.bench.checks.answers import read
from course_tools.bench.checks.trying import tried

SEED = 20160501
KINDS = ("cause", "other", "none", "accepted", "broken", "right", "refused")
SHOWN = ("other", "none", "accepted", "broken", "refused")
ABOUT = (
    "Try every answer in tests/answers, written by readers who saw the notebooks alone, and say how many of "
    "the wrong ones are told their true cause, another, or none, and how many are accepted; how many of the "
    "right ones are refused. Exit status 1 if one is accepted, refused, or not told what its entry asks for."
)
# fmt: off
OPTIONS: dict[str, dict[str, Any]] = {
    "chapters": {"nargs": "*", "metavar": "NN", "help": "chapters by number; all if none"},
    "--task": {"help": "this task alone"},
    "--seed": {"type": int, "default": SEED, "help": "of the checks' inputs (%(default)s)"},
    "--jobs": {"type": int, "default": machine().usable or 1, "help": "at a time (%(default)s)"},
    "--show": {"action": "store_true", "help": "print the messages that are not as they should be"},
    "--json": {"type": Path, "metavar": "FILE", "help": "write every answer with its message"},
}
# fmt: on


class ChecksBench:
    """Its arguments, and what it does."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """The arguments of `bench checks`."""
        parser.description = ABOUT
        for name, how in OPTIONS.items():
            parser.add_argument(name, **how)

    def run(self, options: argparse.Namespace) -> int:
        """Try the answers, print the table; return the exit status."""
        found = read(Path.cwd(), options.chapters)
        answers = [a for a in found if not options.task or a.task == options.task]
        with ThreadPoolExecutor(options.jobs) as pool:
            outcomes = list(pool.map(lambda answer: tried(answer, options.seed), answers))
        rows = [(a, o, kind(a, o)) for a, o in zip(answers, outcomes, strict=True)]
        if options.json:
            made = [{**asdict(a), **asdict(o), "kind": what} for a, o, what in rows]
            text = json.dumps(made, indent=1, ensure_ascii=False) + "\n"
            options.json.write_text(text, encoding="utf-8")
        print(table(rows))
        if options.show:
            print("\n".join(shown(rows)))
        return int(any(what in SHOWN for answer, _, what in rows if answer.told or what != "none"))


BENCH = ChecksBench()


def kind(answer, outcome):
    """What became of an answer, one of `KINDS`: "cause" if the message holds `told`, or any cause if that is empty."""
    if outcome.state == "broken":
        return "broken"
    if answer.verdict == "right":
        return "right" if outcome.state == "passed" else "refused"
    if outcome.state == "passed":
        return "accepted"
    if answer.told:
        held = _plain(answer.told) in _plain(outcome.message)
        return "cause" if held else "other"
    return "cause" if outcome.cause else "none"


def table(rows):
    """Shares by chapter: today's, and those of the first contact where it was judged."""
    lines = ["chapter  wrong  " + "  ".join(f"{name:>8}" for name in KINDS) + "   first contact"]
    chapters = sorted({answer.chapter for answer, _, _ in rows})
    for chapter in [*chapters, ""]:
        some = [row for row in rows if chapter in ("", row[0].chapter)]
        found = Counter(what for *_, what in some)
        wrong = sum(answer.verdict == "wrong" for answer, *_ in some)
        told = Counter(answer.first for answer, *_ in some if answer.first)
        numbers = "  ".join(f"{found[name]:>8}" for name in KINDS)
        first = ", ".join(f"{name} {n}" for name, n in sorted(told.items()))
        lines.append(f"{chapter[:2] or 'all':7}  {wrong:5}  {numbers}   {first}")
    return "\n".join(lines)


def shown(rows):
    """What is not as it should be, with the whole message."""
    for answer, outcome, what in rows:
        if what in SHOWN:
            yield f"\n--- {what}: {answer.chapter[:2]} {answer.task} {answer.name}\n    {answer.because}"
            yield outcome.message


def _plain(text):
    return " ".join(text.lower().split())
