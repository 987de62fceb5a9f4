"""Thirty submissions of exercise 00, to try the grader with: good, partial, broken and hostile ones.

    .venv/bin/python examples/make_thirty.py FOLDER

writes FOLDER/submissions (named as in a download of Canvas), FOLDER/canvas.csv (the gradebook as Canvas exports it),
FOLDER/manual.csv (points and comments given by hand) and FOLDER/expected.csv: the points that an honest grader gives.
The same call writes the same bytes. The hostile ones are for the grader's sandbox: do not open them in JupyterLab.

    .venv/bin/python examples/make_thirty.py --gradebook FILE

prints a gradebook of these as the table that stands in docs/grading-details.md.
"""

import copy
import csv
import json
import sys
from dataclasses import dataclass, field
from pathlib import Path

from course_tools.build import source

ROOT = Path(__file__).resolve().parents[1]
CHAPTER = "00-start-here"
TASKS = {"affine": 1, "one-hot": 1, "to-rows": 2}  # task -> points
SOLUTION, BLANK = "solution", "blank"
ADVERT = '<script>alert("marks")</script><img src=x onerror=alert(1)>'


@dataclass
class Student:
    """One submission. answers: task -> SOLUTION, BLANK, the name of a planted wrong answer, or code.

    earned: the tasks whose points an honest grader gives; None: those answered with the solution.
    change: what is done to the notebook; data: what is done to the file's bytes.
    """

    name: str
    answers: dict = field(default_factory=dict)
    earned: tuple | None = None
    change: object = None
    data: object = None


def answered(**texts):
    """Answers by task ("one_hot" means one-hot); the other tasks are solved."""
    return dict.fromkeys(TASKS, SOLUTION) | {
        name.replace("_", "-"): text for name, text in texts.items()
    }


# What may be done to a notebook ----------------------------------------------------------------------------------


def cleared(cells):
    """All outputs cleared: they were never looked at."""
    for cell in cells:
        cell.pop("outputs", None)


def boasting(cells):
    """Outputs that say that all is right."""
    for cell in cells:
        if cell["cell_type"] == "code":
            cell["outputs"] = [
                {"output_type": "stream", "name": "stdout", "text": "passed: 4 of 4 points"}
            ]


def checks_edited(cells):
    """Check cells that check nothing."""
    for cell in cells:
        if cell.get("id", "").endswith("-check"):
            cell["source"] = "print('passed')"


def tagged(cells):
    """Tags by which nbval would look away."""
    for cell in cells:
        cell.setdefault("metadata", {})["tags"] = ["nbval-skip", "raises-exception"]


def moved(cells):
    """The answer to the last task stands first."""
    cells.insert(
        0, cells.pop(next(i for i, cell in enumerate(cells) if cell.get("id") == "to-rows"))
    )


def deleted(cells):
    """One answer's cell is gone."""
    cells[:] = [cell for cell in cells if cell.get("id") != "one-hot"]


def retyped(cells):
    """One answer's cell was made a text cell."""
    for cell in cells:
        if cell.get("id") == "one-hot":
            cell["cell_type"] = "markdown"


def doubled(cells):
    """A second cell with an id that there is already: the first one counts."""
    second = next(copy.deepcopy(cell) for cell in cells if cell.get("id") == "affine")
    second["source"] = "def affine(X, W, b):\n    return 0\n"
    cells.append(second)


def without_ids(cells):
    """Ids lost, as an old editor loses them."""
    for cell in cells:
        cell.pop("id", None)


# The thirty --------------------------------------------------------------------------------------------------------

OTHER_STYLE = "def affine(X, W, b):\n    Z = np.matmul(X, W)\n    Z += b\n    return Z\n"
OPEN = "def affine(X, W, b)\n    return X @ W + b\n"
LOOP = (
    "def affine(X, W, b):\n    while True:\n        try:\n            while True:\n                pass\n"
    "        except BaseException:\n            pass\n"
)
LEAVES = "import os\nos._exit(0)\n"
PATCHES = (
    "import numpy as np\nimport course_lib.checks.ch00 as checks\n"
    "for name in dir(checks):\n    if name.startswith('check_'):\n"
    "        setattr(checks, name, lambda *a, **k: print('passed'))\n"
    "np.allclose = np.array_equal = lambda *a, **k: True\n"
    "def affine(X, W, b):\n    return X\n"
)
EQUAL = (
    "class Yes:\n    __eq__ = __le__ = __lt__ = __ge__ = __gt__ = lambda *a: True\n"
    "    __ne__ = lambda *a: False\n    shape, dtype = (1, 1), 'float32'\n"
    "def affine(X, W, b):\n    return Yes()\n"
)
READS = (
    "from pathlib import Path\n"
    "found = [p for p in Path('/').glob('*/*/solutions/*.ipynb')]\n"
    "def affine(X, W, b):\n    return eval(found[0].read_text())\n"
)
SHOUTS = f"print({ADVERT!r} * 100_000)\ndef affine(X, W, b):\n    raise ValueError({ADVERT!r})\n"
SLOW_THREAD = (
    "import threading, time\n"
    "def keep():\n    while True:\n        time.sleep(0.01)\n"
    "threading.Thread(target=keep, daemon=True).start()\n"
)

STUDENTS = [
    # good
    Student("Adeyemi, Ngozi", answered()),
    Student("Bauer, Jürgen", answered(), change=cleared),
    Student("Chen, Wei", answered(affine=OTHER_STYLE), earned=tuple(TASKS)),
    Student(
        "Dubois, Zoë", answered(), data=lambda data: b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n")
    ),
    Student("Eriksson, Åsa", answered(), change=moved),
    Student("Fischer, Anna", answered(), change=without_ids),
    Student("García, José", answered()),
    Student("O'Hara, Sean", answered(), change=doubled),
    Student("李, 雷", answered()),
    Student("Ivanova, Ольга", answered(affine=SLOW_THREAD + OTHER_STYLE), earned=tuple(TASKS)),
    # partial
    Student("Jansen, Piet", answered(affine="no-bias")),
    Student("Kowalski, Jan", answered(affine="no-bias", to_rows="x-kept")),
    Student("Larsen, Mette", answered(one_hot="counts-classes")),
    Student("Müller, Max", answered(one_hot="counts-classes", to_rows=BLANK)),
    Student("Nakamura, Yui", answered(to_rows="squeezes")),
    Student("Okafor, Chidi", answered(to_rows="b-column")),
    Student("Papadopoulos, Eleni", answered(one_hot="float64", to_rows="b-column")),
    Student("Quinn, Aoife", answered(affine="prints", one_hot=BLANK, to_rows=BLANK)),
    Student("Rossi, Luca", dict.fromkeys(TASKS, BLANK)),
    # broken
    Student("Schmidt, Eva", answered(affine=OPEN)),
    Student("Tanaka, Ken", answered(), change=deleted, earned=("affine", "to-rows")),
    Student("Ueda, Mai", answered(), change=retyped, earned=("affine", "to-rows")),
    Student("Virtanen, Aino", answered(), data=lambda data: data[: len(data) // 2], earned=()),
    Student("Wagner, Tom", answered(), data=lambda data: b"", earned=()),
    # hostile
    Student("=1+1, @SUM(A1)", answered(affine=PATCHES), change=checks_edited),
    Student("Xu, Endless", answered(affine=LOOP)),
    Student("Young, Exit", answered(affine=LEAVES)),
    Student("Zhang, Equal", answered(affine=EQUAL, one_hot="zeros-only"), change=tagged),
    Student("Zimmer, Reads", answered(affine=READS, to_rows="reshapes"), change=boasting),
    Student("Zola, <b>Bold</b>", answered(affine=SHOUTS)),
]


# Writing -----------------------------------------------------------------------------------------------------------


def main(argv):
    """Write everything into the folder given, or print the table of a gradebook."""
    if len(argv) == 2 and argv[0] == "--gradebook":
        print(markdown(argv[1]))
        return 0
    if len(argv) != 1 or argv[0].startswith("-"):
        print(__doc__)
        return 2
    folder = Path(argv[0])
    read = source.read(ROOT / "chapters" / CHAPTER / "exercise.md")
    blank = json.loads((ROOT / "exercises" / f"{CHAPTER}.ipynb").read_text(encoding="utf-8"))
    (folder / "submissions").mkdir(parents=True, exist_ok=True)
    for number, student in enumerate(STUDENTS):
        data = json.dumps(notebook(student, read, blank), ensure_ascii=False, indent=1).encode()
        data = student.data(data) if student.data else data
        (folder / "submissions" / file_name(student, number)).write_bytes(data)
    table(folder / "canvas.csv", canvas_rows())
    table(folder / "manual.csv", manual_rows())
    table(folder / "expected.csv", expected_rows())
    print(f"{len(STUDENTS)} submissions of {CHAPTER} in {folder / 'submissions'}")
    return 0


def notebook(student, read, blank):
    """The exercise with the student's answers."""
    made = copy.deepcopy(blank)
    tasks = {cell.name: cell for cell in read.tasks}
    for cell in made["cells"]:
        if cell.get("id") in student.answers:
            cell["source"] = text_of(student.answers[cell["id"]], tasks[cell["id"]])
    if student.change:
        student.change(made["cells"])
    return made


def text_of(answer, cell):
    """The code of an answer."""
    region = source.split(cell.source)
    if answer == SOLUTION:
        return region.filled(region.text)
    if answer == BLANK:
        return region.filled(cell.task.blank)
    mutants = {mutant.name: mutant for mutant in cell.task.mutants}
    return region.filled(mutants[answer].apply(region.text)) if answer in mutants else answer


def shown_name(student):
    """First name first, in the letters that a file's name may hold; Canvas drops spaces and capitals."""
    return "".join(char for char in student.name.lower() if char.isalnum() or char in "=+@()'")


def file_name(student, number):
    """As Canvas names what it lets an instructor download: name_student_submission_file."""
    return f"{shown_name(student)}_{4001 + number}_{70001 + number}_{CHAPTER}.ipynb"


def earned(student, task):
    """The points that the student's answer to a task is worth."""
    tasks = [name for name, answer in student.answers.items() if answer == SOLUTION]
    return TASKS[task] if task in (tasks if student.earned is None else student.earned) else 0


def canvas_rows():
    """The gradebook before grading, with one student who has handed in nothing."""
    yield [
        "Student",
        "ID",
        "SIS User ID",
        "SIS Login ID",
        "Section",
        "Exercise 00: Start here (90001)",
        "Final Score",
    ]
    yield ["    Points Possible", "", "", "", "", "10.00", "(read only)"]
    for number, student in enumerate(STUDENTS):
        yield [
            student.name,
            4001 + number,
            f"s{number:03d}",
            f"login{number:02d}",
            "Parallel training",
            "",
            "0.00",
        ]
    yield ["Absent, Ada", 4999, "s999", "login99", "Parallel training", "", "0.00"]


def manual_rows():
    """A bonus, a day late, and a task that was looked at by eye."""
    yield ["Student", "Chapter", "Task", "Points", "Comment"]
    yield [shown_name(STUDENTS[0]), "00", "", "1", "A clear note on shapes."]
    yield [shown_name(STUDENTS[6]), "00", "", "-1", "One day late."]
    yield [
        shown_name(STUDENTS[19]),
        "00",
        "affine",
        "0.5",
        "The colon is missing; the formula is right.",
    ]


def expected_rows():
    """What an honest grader gives, before points by hand."""
    yield ["Student", "ID", *TASKS, "Total"]
    for number, student in enumerate(STUDENTS):
        points = [earned(student, task) for task in TASKS]
        yield [shown_name(student), 4001 + number, *points, sum(points)]


def markdown(file):
    """The table of a gradebook.csv as it stands in the guide: short headings, no empty columns."""
    with open(file, encoding="utf-8-sig", newline="") as stream:
        head, *rows = csv.reader(stream)
    names = [name.removeprefix(f"{CHAPTER}: ").replace(f"{CHAPTER} /4", "00 /4") for name in head]
    rule = [
        "---:" if "/" in name or name in ("by hand", "Total", "Out of") else "---" for name in names
    ]
    cells = [[cell.replace("|", "\\|") for cell in row] for row in (names, rule, *rows)]
    return "\n".join(
        f"| {' | '.join(row)} |".replace("|  |", "| |").replace("|  |", "| |") for row in cells
    )


def table(file, rows):
    """Write a CSV file."""
    with open(file, "w", encoding="utf-8-sig", newline="") as stream:
        csv.writer(stream).writerows(rows)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
