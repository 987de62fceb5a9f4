"""A class that never was: submissions of a release's chapter made of solutions, blanks and planted wrong answers.

    python -m course_tools.grading.commands.synthetic_class RELEASE NN COUNT FOLDER [--seed S] [--root CLONE]

writes FOLDER/<student>.ipynb and prints JSON: {student: "solved", "blank" or "mixed"}. The same call writes the same
bytes. What a mixed one is worth is for a grader to say: a right answer can lean on a wrong one above it.
"""

import argparse
import copy
import json
import random
import sys
from pathlib import Path

from course_lib.errors import BadInput
from course_tools.build import command as build
from course_tools.build import source
from course_tools.grading.release import manifest

SOLVED, BLANK, MIXED = "solved", "blank", "mixed"
TENTHS = {SOLVED: 4, BLANK: 1, MIXED: 5}  # of ten students
ANSWERS = ("solution", "wrong", "blank")
WEIGHTS = (60, 25, 15)  # of a hundred answers in a mixed submission


def kinds(count, rng):
    """What each of `count` students hands in: fixed proportions, in an order by chance."""
    tens = [kind for kind, tenths in TENTHS.items() for _ in range(tenths)]
    made = (
        [tens[n * len(tens) // count] for n in range(count)]
        if count < len(tens)
        else (tens * -(-count // 10))
    )
    made = made[:count]
    rng.shuffle(made)
    return made


def answers(kind, read, rng):
    """{task: "solution", "blank" or the name of a planted wrong answer}."""
    if kind != MIXED:
        return dict.fromkeys(
            (cell.name for cell in read.tasks), ANSWERS[0] if kind == SOLVED else ANSWERS[2]
        )
    chosen = {cell.name: rng.choices(ANSWERS, WEIGHTS)[0] for cell in read.tasks}
    wrong = {cell.name: rng.choice(cell.task.mutants).name for cell in read.tasks}
    return {task: wrong[task] if answer == "wrong" else answer for task, answer in chosen.items()}


def text_of(answer, cell):
    """The code of an answer."""
    region = source.split(cell.source)
    if answer in ANSWERS:
        return region.filled(region.text if answer == ANSWERS[0] else cell.task.blank)
    return region.filled(
        next(one for one in cell.task.mutants if one.name == answer).apply(region.text)
    )


def notebook(blank, read, chosen):
    """The exercise with these answers in it."""
    made, tasks = copy.deepcopy(blank), {cell.name: cell for cell in read.tasks}
    for cell in made["cells"]:
        if cell.get("id") in chosen:
            cell["source"] = text_of(chosen[cell["id"]], tasks[cell["id"]])
    return made


def write(given, read, count, seed, folder):
    """All of it; {student: kind}."""
    rng, said = random.Random(seed), {}
    blank = json.loads(
        (given.folder / "exercises" / f"{read.chapter}.ipynb").read_text(encoding="utf-8")
    )
    folder.mkdir(parents=True, exist_ok=True)
    for number, kind in enumerate(kinds(count, rng)):
        chosen, student = answers(kind, read, rng), f"s{number:03d}"
        text = json.dumps(notebook(blank, read, chosen), ensure_ascii=False, indent=1)
        (folder / f"{student}.ipynb").write_text(text, encoding="utf-8")
        said[student] = kind
    return said


def main(argv):
    """Write, and say what was written."""
    parser = argparse.ArgumentParser(prog="pretend", description=__doc__.split("\n")[0])
    parser.add_argument("release", type=Path)
    parser.add_argument("chapter")
    parser.add_argument("count", type=int)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--root", type=Path, default=None, help="the clone (default: where chapters/ is)"
    )
    args = parser.parse_args(argv)
    try:
        given, root = manifest.load(args.release), build.clone(args.root)
        (name,) = (one for one in given.chapters if one.startswith(args.chapter))
        read = source.read(root / "chapters" / name / "exercise.md")
        print(json.dumps(write(given, read, args.count, args.seed, args.folder)))
    except BadInput as error:
        print(f"pretend: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
