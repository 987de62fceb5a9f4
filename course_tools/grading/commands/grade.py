"""`python -m course_lib grade SUBMISSIONS --release DIR --out DIR`: from what was handed in to points.

Results are files, one a student, each written whole or not at all: killed at any moment and run again, it goes on
where it was. What has not changed since it was graded is not graded again.
"""

import dataclasses
import json
import os
import sys
import time
from pathlib import Path

from course_lib import __version__
from course_lib.errors import BadInput
from course_tools.grading.commands import summary
from course_tools.grading.deadlines import clock
from course_tools.grading.intake import assemble, handed_in, newest, notebook
from course_tools.grading.marks import export
from course_tools.grading.paths import BESIDE
from course_tools.grading.regrade import keep, requests
from course_tools.grading.release import manifest
from course_tools.grading.verdict import results, undecided
from course_tools.grading.workers import jobs

HELP = {
    "submissions": "a folder, a zip, or the download of Canvas or Moodle",
    "--release": "the release that was handed out; more than one: each submission has its own",
    "--out": "where the results go",
    "--workers": "students side by side (default: two a core, and up to eight a core while others wait and cores idle)",
    "--engines": "instead: on the running ipyparallel cluster of a profile, or on N new engines; other "
    "machines need this folder, the release and --out at the same paths",
    "--timeout": "seconds for a cell or a check (%(default)g)",
    "--isolation": "none: run what students wrote with your own rights; the results say so",
    "--whole": "run also the cells below the last check of a chapter: they decide nothing",
    "--seed": "of the fresh inputs, as in a result's file, to show that result again "
    "(default: by chance, another for each)",
    "--untested": "allow a release that was made with --quick",
    "--again": "grade also what has not changed",
    "--regrade": "a CSV of requests, or a task such as 03:neuron whose check was mended: grade that anew "
    "and keep all else; regrade.csv says what changed",
    "--json": "print the summary as JSON",
}

READING = 20.0  # seconds of a processor for reading all files of a student, which may be a hundred large ones
NOT_READ = "it was not read: the student's files before it took too long to read"


def add_arguments(parser):
    """The arguments of `grade`."""
    parser.description = __doc__.split("\n")[0]

    def add(name, **how):
        parser.add_argument(name, help=HELP[name], **how)

    add("submissions", type=Path)
    add("--release", type=Path, required=True, action="append", metavar="DIR")
    add("--out", type=Path, required=True, metavar="DIR")
    add("--workers", type=int, metavar="N")
    add("--engines", default="", metavar="PROFILE_OR_N")
    add("--timeout", type=float, default=60.0, metavar="S")
    add("--isolation", choices=("sandbox", "none"), default="sandbox")
    add("--whole", action="store_true")
    add("--seed", type=int, metavar="N")
    add("--regrade", metavar="FILE_OR_TASK")
    for name in ("--untested", "--again", "--json"):
        add(name, action="store_true")
    export.add_arguments(parser)


def command(args):
    """Run `grade`. Exit status: 0 all graded, 1 some could not be, 2 the call is wrong."""
    _look_at(args)
    from course_tools.grading.workers import pool  # here and not above: Windows has no such locks

    releases = [_tested(manifest.load(folder), args.untested) for folder in args.release]
    export.look(args, sorted({name for one in releases for name in one.chapters}))
    wanted = _wanted(args, releases)
    _not_applied(args)
    submissions = handed_in.collect(args.submissions)
    with pool.OutputFolder(args.out) as place:
        run = Run(args, {one.id: one for one in releases}, place, wanted)
        run.grade(submissions)
        said = keep.finish(args.out, wanted)[1] if wanted else []
        rows = summary.rows_of(args.out, [one.student for one in submissions])
        for line in [*said, *export.write(args)]:
            print(line, file=sys.stderr)
    if args.json:
        print(summary.as_json(rows, run.graded, run.kept, run.seconds))
    else:
        print(summary.table(rows))
        print(summary.counts(rows, run.graded, run.kept, run.seconds))
    return 1 if summary.failed(rows) else 0


def _wanted(args, releases):
    """What is asked for with --regrade: [Request]."""
    chapters = {name: made for one in releases for name, made in one.chapters.items()}
    wanted = requests.read(args.regrade, chapters)
    if keep.waiting(args.out) and not wanted:
        raise BadInput("a run with --regrade was stopped: run it again, to its end, first")
    return wanted


def _not_applied(args):
    """Deadlines that lie in a release and are not asked for are pointed out: nothing is taken off unasked."""
    for file in (folder / "deadlines.toml" for folder in args.release):
        if args.deadlines is None and file.is_file():
            print(f"{file} is not applied: pass --deadlines {file}", file=sys.stderr)


def _look_at(args):
    """Raises BadInput for a call that cannot be done."""
    if not hasattr(os, "fork"):
        raise BadInput("grading needs a system that forks processes: Linux, or Windows' own (WSL)")
    from course_tools.grading.sandbox import sandbox

    if args.seed is not None and not 0 <= args.seed < 1 << 31:
        raise BadInput("--seed must be a whole number from 0 to 2147483647")
    if (args.workers is not None and args.workers < 1) or not args.timeout > 0:
        raise BadInput("--workers must be 1 or more, and --timeout more than 0 seconds")
    if args.isolation == "none" and os.getuid() == 0:
        raise BadInput(
            "--isolation none as root would give what students wrote all rights: run it as another user"
        )
    if args.isolation == "sandbox" and (why := sandbox.available()):
        raise BadInput(
            f"there is no sandbox here ({why}). Grade on Linux, or pass --isolation none: what students "
            "wrote then runs with your own rights"
        )
    own = () if BESIDE.name in sandbox.INSTALLED else (BESIDE,)
    for place in (args.submissions, *args.release, args.out, *own):
        if args.isolation == "sandbox" and (shown := sandbox.shows(place)):
            raise BadInput(f"{place} lies in {shown}, which students' code can read: move it")


def _tested(given, untested):
    if not given.tested and not untested:
        raise BadInput(
            f"{given.folder} was made with --quick: nobody knows whether its checks tell right from wrong. "
            "Make it without, or pass --untested"
        )
    return given


def _assembled(file, given):
    """The Assembled of a file; of what is none: a list that says why. Nothing that students write stops the grader."""
    try:
        read = notebook.read(file)
        chapter = assemble.chapter_of(read, given) if read.cells else None
        return (
            assemble.assemble(read, chapter)
            if chapter
            else read.problems or ["it is no exercise of this release"]
        )
    except Exception as error:
        return [f"it cannot be read ({type(error).__name__})"]


class Run:
    """One run: what was handed in becomes jobs, and workers see to them."""

    def __init__(self, args, releases, place, wanted=()):
        self.args, self.releases, self.place, self.wanted = args, releases, place, wanted
        self.graded = self.kept = self.students = 0
        self.times: dict = {}
        self.began, self.seconds = time.monotonic(), 0.0
        self.progress = summary.ProgressLine(quiet=args.json)
        how = args.isolation, args.timeout, args.whole, args.seed
        self.work = jobs.Work(place.folder / "work", releases, args.out, *how)

    def grade(self, submissions):
        """All of it; at the end each student has a file of results."""
        self.work.write()
        self.times = clock.load(self.args.out)
        for number, submission in enumerate(submissions):
            pairs = list(self._pairs(submission))
            if pairs:
                jobs.add(self.work, number, pairs)
                self.students, self.graded = self.students + 1, self.graded + len(pairs)
            # their bytes are needed no more
            submission.files = [file.name for file in submission.files]
        self.work.complete()
        clock.save(self.args.out, self.times)
        if self.students:
            self._wait()
        self.seconds = time.monotonic() - self.began

    def _wait(self):
        from course_tools.grading.workers import pool
        from course_tools.grading.workers.side_by_side import SideBySide

        engines, count, size = self.args.engines, self.args.workers, None
        if not engines and count is None:
            size = SideBySide(self.students)
            count = size.base
        workers = (
            pool.EngineWorkers(self.work.folder, engines)
            if engines
            else pool.LocalWorkers(self.work.folder, min(count, self.students), self.place.lock)
        )
        try:
            with pool.WorkerPool(self.work, workers, size) as all_of_them:
                while all_of_them.look():
                    self.progress.show(self.work.done(), self.students)
                    time.sleep(0.05)
        finally:
            self.progress.clear()

    def _pairs(self, submission):
        """(Job, Assembled) of what is to be graded; what cannot be read gets its result here."""
        before = results.load(results.file_of(self.args.out, submission.student))
        stored = {one.chapter: one for one in before}
        for number, found in enumerate(self._read(submission).values()):
            found, why = newest.last(found)
            file, given, made = found[-1]
            whose = submission.student, submission.id, made.chapter.name
            clock.note(self.times, *whose, file)
            if self._stands(stored.get(made.chapter.name), file, given):
                self.kept += 1
                continue
            if len(found) > 1:
                names = ", ".join(one.name for one, *_ in found)
                made.problems.append(
                    f"handed in {len(found)} times ({names}): the last of these counts, by {why}"
                )
            if file.late:
                made.problems.append("handed in late, as Canvas marks it")
            job = jobs.Job(f"{number}.ipynb", *whose, file.name, file.digest, given.id)
            yield job, made

    def _read(self, submission):
        """{chapter: [(File, Release, Assembled)]} of a student's files."""
        chosen: dict[str, list] = {}
        unreadable, began = [], time.process_time()
        for file in submission.files:
            if time.process_time() - began > READING:
                file = dataclasses.replace(file, content=None, problem=NOT_READ)
            given = self._release_of(file)
            made = _assembled(file, given)
            if isinstance(made, list):
                unreadable.append(file.name)
                self._unreadable(submission, file, given, made)
            else:
                chosen.setdefault(made.chapter.name, []).append((file, given, made))
        results.tidy(self.args.out, submission.student, unreadable)
        return chosen

    def _stands(self, old, file, given):
        """Is the result there one that stands? With --regrade all do that it does not name; those are put aside."""
        if not self.wanted or old is None or old.digest != file.digest:
            return self._same(old, file, given)
        named = any(one.fits(old.student, old.id, old.chapter) for one in self.wanted)
        if named:
            keep.remember(self.args.out, old.student)
        return not named

    def _same(self, old, file, given):
        """Is this what was graded, in the same way, and was it decided?"""
        if (
            old is None
            or self.args.again
            or any(task.status in undecided.STATUSES for task in old.tasks)
            or (self.args.timeout > old.timeout and self._took_too_long(old))
        ):
            return False
        now = (file.digest, given.id, __version__, self.args.isolation)
        same = (old.digest, old.release, old.grader, old.isolation) == now
        return same and self.args.seed in (None, old.seed)

    def _took_too_long(self, old):
        return any(task.status == "timeout" for task in old.tasks)

    def _release_of(self, file):
        """The release that the notebook was handed out with, by what its metadata say; else the last one named."""
        last = list(self.releases.values())[-1]
        if len(self.releases) == 1 or file.data is None:
            return last
        try:
            source = str(json.loads(file.data.decode("utf-8-sig"))["metadata"]["course"]["source"])
        except (ValueError, KeyError, TypeError, RecursionError):
            return last
        for one in reversed(self.releases.values()):
            if source in {chapter.source for chapter in one.chapters.values()}:
                return one
        return last

    def _unreadable(self, submission, file, given, problems):
        made = results.Result(
            student=submission.student,
            id=submission.id,
            chapter="",
            file=file.name,
            digest=file.digest,
            release=given.id,
            grader=__version__,
            seed=0,
            isolation=self.args.isolation,
            problems=problems,
        )
        results.add(self.args.out, made)
