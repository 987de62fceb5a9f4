"""`python -m course_lib grade SUBMISSIONS --release DIR --out DIR`: from what was handed in to points."""

import os
import sys
import tempfile
from pathlib import Path

from course_lib import __version__
from course_lib.errors import BadInput

from . import assemble, intake, jobs, release, results, sandbox, worker

WORKERS = max(1, os.cpu_count() or 1)


def add_arguments(parser):
    """The arguments of `grade`."""
    parser.description = __doc__.split("\n")[0]
    parser.add_argument("submissions", type=Path, help="a folder, a zip, or the download of Canvas or Moodle")
    parser.add_argument("--release", type=Path, required=True, help="the release that was handed out")
    parser.add_argument("--out", type=Path, required=True, help="where results and gradebook.csv go")
    parser.add_argument("--workers", type=int, default=WORKERS, help="submissions side by side (%(default)s)")
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds for a cell or a check (%(default)g)")
    parser.add_argument("--isolation", choices=("sandbox", "none"), default="sandbox",
                        help="none: run what students wrote with your own rights; the results say so")  # fmt: skip
    parser.add_argument("--again", action="store_true", help="grade also what has not changed")
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")


def command(args):
    """Run `grade`. Exit status: 0 all graded, 1 some could not be, 2 the call is wrong."""
    if args.isolation == "sandbox" and (why := sandbox.available()):
        raise BadInput(f"there is no sandbox here ({why}). Grade on Linux, or pass --isolation none: what students "
                       "wrote then runs with your own rights")  # fmt: skip
    given = release.load(args.release)
    submissions = intake.collect(args.submissions)
    args.out.mkdir(parents=True, exist_ok=True)
    todo, assembled = [], []
    for submission in submissions:
        for job, made in _jobs_of(submission, given, args):
            todo.append(job)
            assembled.append(made)
    with tempfile.TemporaryDirectory(prefix="course-grade-") as folder:
        _run(todo, assembled, given, args, Path(folder))
    return _report(submissions, args)


def _jobs_of(submission, given, args):
    """(Job, Assembled) of what is to be graded; what cannot be read gets its result here."""
    stored = {one.chapter: one for one in results.load(results.file_of(args.out, submission.student))}
    for file in submission.files:
        read = intake.read(file)
        chapter = assemble.chapter_of(read, given) if read.cells else None
        if chapter is None:
            results.add(args.out, _unreadable(submission, file, read, given, args))
            continue
        old = stored.get(chapter.name)
        same = old and (old.digest, old.release, old.grader) == (file.digest, given.id, __version__)
        if same and old.isolation == args.isolation and not args.again:
            continue
        job = jobs.Job("", submission.student, submission.id, chapter.name, file.name, file.digest)
        yield job, assemble.assemble(read, chapter)


def _unreadable(submission, file, read, given, args):
    problems = read.problems or ["it is no exercise of this release"]
    return results.Result(submission.student, submission.id, "", file.name, file.digest, given.id, __version__, 0,
                          args.isolation, [], problems)  # fmt: skip


def _run(todo, assembled, given, args, folder):
    """Deal the jobs out to workers, one student's to one worker, and wait."""
    students = sorted({job.student for job in todo})
    count = min(args.workers, len(students))
    running = []
    for number in range(count):
        mine = set(students[number::count])
        chosen = [(job, made) for job, made in zip(todo, assembled, strict=True) if job.student in mine]
        work = jobs.Work(given, args.out.resolve(), args.isolation, args.timeout, [job for job, _ in chosen])
        for index, job in enumerate(work.jobs):
            job.file = f"{index:05d}.ipynb"
        room = folder / f"worker-{number}"
        room.mkdir()
        jobs.write(room, work, [made for _, made in chosen])
        running.append((room, worker.start(room)))
    try:
        for room, process in running:
            if process.wait() not in (0, 1):
                print((room / "worker.log").read_text()[-3000:], file=sys.stderr)
    finally:
        for _, process in running:
            process.kill()


def _report(submissions, args):
    rows = [(s.student, results.load(results.file_of(args.out, s.student))) for s in submissions]
    for student, found in rows:
        for one in found:
            print(f"{student:30} {one.chapter:28} {one.points}/{one.out_of} {one.seconds:.1f} s {'; '.join(one.problems)[:100]}")
    return 0 if all(found for _, found in rows) else 1


