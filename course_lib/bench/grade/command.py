"""`course bench grade`: options, what is written where, and in which form it is printed."""

import argparse
from pathlib import Path
from typing import Any

from course_lib.bench import files
from course_lib.bench.files import RESULTS, folder, interpreter, read, say, slug, warn_if_busy
from course_lib.bench.grade.measuring import QUICK, SCHEMA, Settings, measure_grade
from course_lib.bench.processes import WorkerError
from course_lib.errors import BadInput, check_count

DOCUMENT = Path("docs/bench-grade.md")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `bench grade`."""
    parser.description = (
        "Seconds a submission and peak memory of `course grade`, beside plain nbval and nbgrader on the same "
        "submissions; small and large classes; a grader that is killed. In one run; about 30 minutes on two cores."
    )
    add = parser.add_argument
    add(
        "--students",
        type=int,
        default=Settings.students,
        metavar="N",
        help="submissions (%(default)s)",
    )
    add("--chapter", default=Settings.chapter, metavar="NN", help="of this chapter (%(default)s)")
    add(
        "--workers",
        type=int,
        metavar="N",
        help="submissions side by side, for all graders (two a core)",
    )
    add(
        "--seed",
        type=int,
        default=Settings.seed,
        metavar="S",
        help="of the class, and of the kill (%(default)s)",
    )
    add("--quick", action="store_true", help="a minute: two small submissions. A glance, no more")
    add("--json", action="store_true", help="print the JSON instead of the tables")
    add(
        "--out",
        type=Path,
        metavar="FOLDER",
        help="where grade-<machine>.json goes (default: benchmarks/results/own "
        "in a clone, else bench-grade)",
    )
    add(
        "--record",
        action="store_true",
        help=f"write to {RESULTS} and rewrite the made blocks of {DOCUMENT}",
    )
    add(
        "--reuse",
        type=Path,
        metavar="FILE",
        help="measure nothing: make tables and document from this JSON",
    )
    add(
        "--nbgrader-python",
        metavar="PATH",
        help="a Python with nbgrader; without, that row stays empty",
    )


def command(options: argparse.Namespace) -> int:
    """Run it; 0 when everything was measured or said to be missing, 1 where something failed."""
    source = read(options.reuse, "grade", SCHEMA) if options.reuse else _settings(options)
    out = folder(
        "grade", options.record, options.out, "--record"
    )  # before the measuring: nobody waits in vain
    if options.record and isinstance(source, Settings) and source.quick:
        raise BadInput("--record keeps whole runs: leave out --quick")
    try:
        made = measure_grade(source) if isinstance(source, Settings) else source
    except WorkerError as error:
        say("grade", f"our own grader failed: {error}")
        return 1
    path = out / file_name(made)
    path.write_text(text(made), encoding="utf-8")
    result = read(path, "grade", SCHEMA)  # the six digits that are kept, not those that are lost
    if options.record:
        write_document()
    from course_lib.bench.grade.docs import report

    print(text(result) if options.json else report(result))
    failed = [
        found["error"]
        for found in result["graders"].values()
        if found.get("error", "").startswith("failed")
    ]
    for line in failed:
        say("grade", line)
    say("grade", f"{path.name} is in {out}")
    return 1 if failed else 0


def file_name(result: dict[str, Any]) -> str:
    """One file for each machine: grade-amd-epyc-2-cores.json."""
    from course_lib.bench.report import machine_name

    return f"grade-{slug(machine_name(result))}.json"


def text(result: dict[str, Any]) -> str:
    """The result as it is kept, its targets judged."""
    from course_lib.bench.grade.targets import targets

    return files.text(result, targets)


def recorded() -> list[dict[str, Any]]:
    """All results of `bench grade` in benchmarks/results, by file name."""
    return files.recorded("grade", SCHEMA)


def write_document() -> None:
    """docs/bench-grade.md, its blocks made anew from all recorded results."""
    from course_lib.bench.grade.docs import blocks

    files.rewrite(DOCUMENT, blocks(recorded()), {})


def _settings(options: argparse.Namespace) -> Settings:
    check_count("--students", options.students, 1, 1000)
    check_count("--workers", 1 if options.workers is None else options.workers, 1, 256)
    python = interpreter("--nbgrader-python", options.nbgrader_python)
    warn_if_busy("grade")
    wanted = {"students": options.students, "chapter": options.chapter}
    return Settings(
        **wanted | (QUICK if options.quick else {}),
        workers=options.workers,
        seed=options.seed,
        nbgrader_python=python,
    )
