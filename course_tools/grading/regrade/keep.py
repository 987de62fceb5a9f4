"""Results as they were before a regrade, on disk until the new ones are put together with them."""

import dataclasses
import shutil
from pathlib import Path

from course_tools.grading.marks import tables
from course_tools.grading.verdict import results, undecided

FOLDER = "before-regrade"
REPORT = "regrade.csv"
HEAD = ["Student", "ID", "Chapter", "Task", "Before", "After", "Change", "Was", "Is", "Reason"]


def waiting(out):
    """Is there a regrade that did not come to its end?"""
    return Path(out, FOLDER).is_dir()


def remember(out, student):
    """Copy a student's results, unless an earlier run that was stopped has: those are the ones from before."""
    file = results.file_of(out, student)
    copy = Path(out, FOLDER, file.name)
    copy.parent.mkdir(exist_ok=True)
    if not copy.exists():
        half = copy.with_suffix(".new")
        shutil.copyfile(file, half)
        half.replace(copy)


def finish(out, requests):
    """Put old and new together, write regrade.csv, forget the old. Returns (rows of the report, what is to be said)."""
    rows, said = [], []
    for copy in sorted(Path(out, FOLDER).glob("*.json")):
        before = {one.chapter: one for one in results.load(copy)}
        for new in results.load(Path(out, copy.name)):
            old = before.get(new.chapter)
            mine = [one for one in requests if one.fits(new.student, new.id, new.chapter)]
            if old and mine:
                merged = merge(old, new, {one.task for one in mine})
                results.add(out, merged)
                rows += _rows(old, merged, mine)
    tables.write(
        Path(out, REPORT), tables.Table([HEAD, *[list(map(tables.safe, r)) for r in rows]])
    )
    shutil.rmtree(Path(out, FOLDER), ignore_errors=True)
    for one in requests:
        if one.student and not any(
            one.student in row[:2] and one.chapter == row[2] for row in rows
        ):
            said.append(
                f"regrade: {one.student!r:.80}, {one.chapter}: not graded before, or handed in anew"
            )
    changed = sum(row[6] != 0 for row in rows)
    return rows, [*said, f"{REPORT}: {len(rows)} tasks graded anew, {changed} changed their points"]


def merge(old, new, wanted):
    """The new `Result` with the old tasks but those wanted ("" for all), and but what could not be judged now."""
    before = {task.task: task for task in old.tasks}
    tasks, kept = [], []
    for task in new.tasks:
        named = "" in wanted or task.task in wanted
        stands = not named or task.status in undecided.STATUSES
        tasks.append(before.get(task.task, task) if stands else task)
        kept += [task.task] * (stands and named)
    anew = [task.task for task in new.tasks if {"", task.task} & wanted and task.task not in kept]
    problems = list(new.problems)
    if anew:
        problems.append(f"graded anew: {', '.join(anew)}; what else there is stands as before")
    if kept:
        problems.append(f"could not be graded anew, stands as before: {', '.join(kept)}")
    return dataclasses.replace(new, tasks=tasks, problems=problems)


def _rows(old, new, mine):
    before = {task.task: task for task in old.tasks}
    for task in new.tasks:
        asked = [one for one in mine if one.task in ("", task.task)]
        if asked and (was := before.get(task.task)):
            what = [new.student, new.id, new.chapter, task.task, was.points, task.points]
            change = round(task.points - was.points, 2)
            yield [*what, change, was.status, task.status, asked[0].reason]
