"""`python -m course_lib check exercises/03-*.ipynb`: for students, the public checks of a notebook as it was saved.

The notebook runs from top to bottom as it does when it is handed in: fresh, in sandboxes like the grader's, with the
checks as they are in this clone. It is not changed. What passes here passes the public checks there; the hidden ones
(the same checks with inputs that nobody has seen, and the instructor's own) run when it is handed in.
"""

import json
import os
import sys
from pathlib import Path

from course_lib.errors import BadInput
from course_tools.build.files import add_root, clone
from course_tools.notebooks import kernels

MARKS = {"pass": "ok", "missing": "--"}
PASSED = "public checks passed; hidden checks run when you hand in"  # after all of them, or 2 of 3


def add_arguments(parser):
    """The arguments of `check`."""
    parser.description = (
        "Run the public checks of exercises as they were saved; nothing in them is changed."
    )
    words = "exercises/03-*.ipynb"
    parser.add_argument("notebooks", nargs="+", type=Path, metavar="NOTEBOOK", help=words)
    words = "seconds for a cell (%(default)g)"
    parser.add_argument("--timeout", type=float, default=60.0, metavar="S", help=words)
    parser.add_argument("--json", action="store_true", help="print what each task earned as JSON")
    add_root(parser)


def command(args):
    """Run `check`. Exit status: 0 all public checks passed, 1 some did not, 2 the call is wrong."""
    if not args.timeout > 0:
        raise BadInput(f"--timeout must be more than 0 seconds, not {args.timeout:g}")
    release, fork_server = _release(clone(args.root)), _fork_server()
    found = [_assembled(path, release) for path in args.notebooks]
    said, good = [], True
    with fork_server:
        for path, made in zip(args.notebooks, found, strict=True):
            run = _run(fork_server, release, made, args.timeout)
            good = good and all(task.status == "pass" for task in run.tasks.values())
            tasks = [vars(task) for task in run.tasks.values()]
            said.append({"notebook": str(path), "problems": run.problems, "tasks": tasks})
            if not args.json:
                _print(path, run)
    if args.json:
        print(json.dumps(said, indent=1))
    return 0 if good else 1


def _release(root):
    """The exercises of this clone, as something to grade against; without hidden checks."""
    from course_tools.grading.release import make, manifest

    chapters = [make.chapter_of(read) for read in make.exercises(root)]
    return manifest.Release(root, "", 0, {one.name: one for one in chapters})


def _fork_server():
    """Sandboxes where the system gives them; else plain processes, which on one's own machine do no harm."""
    if not hasattr(os, "fork"):
        advice = "run the check cells in the notebook; they are the same"
        raise BadInput(f"this system cannot fork processes: {advice}")
    from course_tools.grading.sandbox import sandbox
    from course_tools.grading.sandbox.fork_server import ForkServer

    return ForkServer("none" if sys.platform != "linux" or sandbox.available() else "sandbox")


def _assembled(path, release):
    """The Assembled of a saved notebook. Raises BadInput for what is no exercise."""
    from course_tools.grading.intake import assemble, files, notebook

    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}") from None
    read = notebook.read(files.File(Path(path).name, data))
    chapter = assemble.chapter_of(read, release) if read.cells else None
    if chapter is None:
        raise BadInput(f"{path}: {'; '.join(read.problems) or 'it is no exercise of this course'}")
    return assemble.assemble(read, chapter)


def _run(fork_server, release, made, seconds):
    from course_tools.grading.verdict.runner import Runner

    seed = int(os.environ.get("COURSE_SEED", kernels.DEFAULT_SEED))
    run = Runner(fork_server, release, made, seconds, public_seed=seed)
    try:
        for step in made.chapter.steps:
            run.step(step)
    finally:
        run.close()
    return run


def _print(path, run):
    tasks = list(run.tasks.values())
    print(f"{path}: {run.assembled.chapter.title}")
    width = max(len(task.task) for task in tasks)
    for task in tasks:
        mark = MARKS.get(task.status, "!!")
        points = f"{task.points:>2} of {task.out_of}"
        message = f"  {task.message}".replace("\n", f"\n{'':{width + 15}}")
        message = message if task.status != "pass" else ""
        print(f"  {mark} {task.task:{width}}  {points}{message}".rstrip())
    for problem in run.problems:
        print(f"  note: {problem}")
    passed = sum(task.status == "pass" for task in tasks)
    share = "" if passed == len(tasks) else f"{passed} of {len(tasks)} "
    print(f"  {share}{PASSED}")
