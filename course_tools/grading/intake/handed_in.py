"""What was handed in, by student: a folder, a zip, or a download of Canvas or Moodle, never changed."""

import collections
import dataclasses
import re
import zipfile
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from course_lib.errors import BadInput
from course_tools.grading.intake import files

CANVAS = re.compile(
    r"(?P<student>[^_]+)(?P<late>_LATE)?_(?P<id>\d+)_(?P<submission>\d+)_(?P<file>.+)"
)
MOODLE = re.compile(r"(?P<student>.+)_(?P<id>\d+)_assignsubmission_(file|onlinetext)_?")
NBGRADER = (
    re.compile(  # a folder of its exchange: student+assignment+time, and some characters by chance
        r"(?P<student>[^+]+)\+(?P<assignment>[^+]+)\+"
        r"(?P<time>20\d\d-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)? [\w/+-]+?)(\+[\w=-]+)?"
    )
)
FORMS = CANVAS, MOODLE, NBGRADER
RESENT = re.compile(r"-\d+(?=\.ipynb$)")  # Canvas numbers what is handed in again


@dataclass
class Submission:
    """All that one student handed in. id: the LMS's number of the student, or ""."""

    student: str
    id: str = ""
    files: list = field(default_factory=list)
    problems: list = field(default_factory=list)


def collect(place):
    """The `Submission`s in a folder or a zip, by student in the order of names.

    Who handed in no notebook has a File that says what was there instead. Raises BadInput for no such place.
    """
    place = Path(place)
    found = _found(place)
    if all(file.other for _, file in found) and not any(_by_lms(path) for path, _ in found):
        raise BadInput(f"there is no notebook (.ipynb) in {place}")
    students: dict[tuple[str, str], Submission] = {}
    depth = _depth([path for path, file in found if not file.other] or [path for path, _ in found])
    for path, file in sorted(_of_students(found, depth), key=lambda pair: str(pair[0])):
        student, number, file = _whose(PurePosixPath(*path.parts[depth:]), file)
        students.setdefault((student, number), Submission(student, number)).files.append(file)
    for one in students.values():
        one.files = [file for file in one.files if not file.other] or [_without(one.files)]
    return _named_apart([students[who] for who in sorted(students)])


def _found(place):
    """[(path, File)] of all that is there."""
    if place.is_dir():
        return list(files.of_folder(place))
    try:
        if place.is_file() and zipfile.is_zipfile(place):
            return list(files.of_zip(place))
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise BadInput(f"{place} is a zip that cannot be read: {error}") from None
    raise BadInput(
        f"{place} is neither a folder nor a zip: give the folder or the download of the submissions"
    )


def _by_lms(path):
    return any(form.fullmatch(part) for form in FORMS for part in path.parts[:2])


def _of_students(found, depth):
    """Those that a student handed in: not what the instructor keeps beside the folders, such as a list of the class."""
    flat = any(len(path.parts) == depth + 1 for path, file in found if not file.other)
    for path, file in found:
        alone = len(path.parts) == depth + 1
        if len(path.parts) > depth and (not alone or flat or CANVAS.fullmatch(path.name)):
            yield path, file


def _without(others):
    """What is said of a student who handed in files, and no notebook."""
    names = sorted({f"{file.name!r:.60}" for file in others})
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    said = f"no notebook (.ipynb) was handed in, only {', '.join(names[:5])}{more}"
    return files.File(others[0].name, None, said, path=others[0].path)


def _depth(paths):
    """1 where all that an LMS has named lies in one folder of the download, else 0."""
    tops, below = (
        {path.parts[0] for path in paths},
        {path.parts[1] for path in paths if len(path.parts) > 1},
    )
    named = bool(below) and all(_by_lms(PurePosixPath(part)) for part in below)
    return int(len(tops) == 1 and all(len(path.parts) > 1 for path in paths) and named)


def _named_apart(submissions):
    """Students who chose the same name have their numbers in it; of too many notebooks one row says so."""
    for _ in submissions:  # once more where another student has chosen what is a new name now
        times = collections.Counter(one.student for one in submissions)
        for one in submissions:
            if one.id and times[one.student] > 1 and not one.student.endswith(f" ({one.id})"):
                one.student = f"{one.student} ({one.id})"
        if max(times.values()) == 1:
            break
    for one in submissions:
        if len(one.files) > files.MANY:
            said = f"more than {files.MANY} notebooks: the others were left out"
            one.files[files.MANY :] = [files.File(one.files[files.MANY].name, None, said)]
    return submissions


def _whose(path, file):
    """(student, number in the LMS, file with its own name), from the ways in which LMSs name things.

    Only the outermost name is the LMS's or the instructor's: what is below it, the student has named.
    """
    top, alone = path.parts[0], len(path.parts) == 1
    file = dataclasses.replace(file, path=str(path))
    if not alone and (sent := NBGRADER.fullmatch(top)):
        return sent["student"], "", file
    if not alone and (moodle := MOODLE.fullmatch(top)):
        return moodle["student"], moodle["id"], file
    if canvas := CANVAS.fullmatch(top):
        again = RESENT.search(canvas["file"]) if alone else None
        name = RESENT.sub("", canvas["file"]) if alone else file.name
        attempt = int(again[0][1:]) if again else 0
        return (
            canvas["student"],
            canvas["id"],
            dataclasses.replace(file, name=name, attempt=attempt, late=bool(canvas["late"])),
        )
    return path.stem if alone else top, "", file
