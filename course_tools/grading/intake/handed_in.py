"""What was handed in: a folder, a zip, or a download of Canvas or Moodle, read with care and never changed.

Everything is looked at as raw bytes and JSON first: a notebook library would mend, and so hide, what is wrong.
"""

import collections
import contextlib
import dataclasses
import datetime
import functools
import hashlib
import itertools
import json
import os
import re
import stat
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from course_lib.errors import BadInput

LARGEST = 20 << 20  # bytes of one notebook
MOST = 1 << 30  # bytes of one zip, unpacked
LONGEST = 100_000  # characters of one cell: a text is parsed where nothing limits the time
MANY = 100  # notebooks of one student
ENTRIES = 2000  # files in a student's zip
CANVAS = re.compile(r"(?P<student>[^_]+)(_LATE)?_(?P<id>\d+)_(?P<submission>\d+)_(?P<file>.+)")
MOODLE = re.compile(r"(?P<student>.+)_(?P<id>\d+)_assignsubmission_(file|onlinetext)_?")
RESENT = re.compile(r"-\d+(?=\.ipynb$)")  # Canvas numbers what is handed in again


@dataclass(frozen=True)
class File:
    """One notebook as handed in. name: the file's own; data: its bytes, or None where `problem` says why not.

    content: the bytes, or a function that reads them: those of a whole class, pictures and all, are too many to hold.
    sent: when it was last changed, in seconds, as the folder or the zip says; 0: unknown. attempt: as the LMS counts.
    """

    name: str
    content: bytes | Callable[[], bytes] | None
    problem: str = ""
    sent: float = 0.0
    attempt: int = 0

    @property
    def data(self):
        return self.content() if callable(self.content) else self.content

    @property
    def digest(self):
        data = self.data
        return hashlib.sha256(data if data is not None else self.problem.encode()).hexdigest()


@dataclass
class Submission:
    """All that one student handed in. id: the LMS's number of the student, or ""."""

    student: str
    id: str = ""
    files: list = field(default_factory=list)
    problems: list = field(default_factory=list)


def collect(place):
    """The `Submission`s in a folder or a zip, by student in the order of names. Raises BadInput for no such place."""
    place = Path(place)
    if place.is_dir():
        found = list(_of_folder(place))
    elif place.is_file() and zipfile.is_zipfile(place):
        found = list(_of_zip(place, PurePosixPath()))
    else:
        raise BadInput(
            f"{place} is neither a folder nor a zip: give the folder or the download of the submissions"
        )
    students: dict[tuple[str, str], Submission] = {}
    depth = _depth([path for path, _ in found])
    for path, file in sorted(found, key=lambda pair: str(pair[0])):
        student, number, file = _whose(PurePosixPath(*path.parts[depth:]), file)
        students.setdefault((student, number), Submission(student, number)).files.append(file)
    if not students:
        raise BadInput(f"there is no notebook (.ipynb) in {place}")
    return _named_apart([students[who] for who in sorted(students)])


def _depth(paths):
    """1 where all that an LMS has named lies in one folder of the download, else 0."""
    tops, below = (
        {path.parts[0] for path in paths},
        {path.parts[1] for path in paths if len(path.parts) > 1},
    )
    named = bool(below) and all(CANVAS.fullmatch(part) or MOODLE.fullmatch(part) for part in below)
    return int(len(tops) == 1 and all(len(path.parts) > 1 for path in paths) and named)


def _named_apart(submissions):
    """Students who chose the same name have their numbers in it; of too many notebooks one row says so."""
    twice = [
        name
        for name, times in collections.Counter(one.student for one in submissions).items()
        if times > 1
    ]
    for one in submissions:
        if one.id and one.student in twice:
            one.student = f"{one.student} ({one.id})"
        if len(one.files) > MANY:
            said = f"more than {MANY} notebooks: the others were left out"
            one.files[MANY:] = [File(one.files[MANY].name, None, said)]
    return submissions


def _of_folder(top):
    """(path below the top, File) of all notebooks; links are named, not followed."""
    for folder, folders, files in os.walk(top, followlinks=False):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__MACOSX")))
        for name in sorted(files):
            path = Path(folder, name)
            below = PurePosixPath(path.relative_to(top).as_posix())
            if below.suffix.lower() == ".ipynb" and not name.startswith("."):
                yield below, _read(path)
            elif below.suffix.lower() == ".zip":
                yield from _zip_inside(path, below)


def _read(path):
    try:
        handle = os.open(
            path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        )
    except OSError as error:
        return File(
            path.name,
            None,
            "it is a link: not followed" if path.is_symlink() else f"not readable: {error}",
        )
    with os.fdopen(handle, "rb"):
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode):
            return File(path.name, None, "it is no plain file")
        if about.st_size > LARGEST:
            return File(
                path.name, None, f"it has {about.st_size >> 20} MB; {LARGEST >> 20} MB are allowed"
            )
        return File(path.name, functools.partial(_bytes, path), sent=about.st_mtime)


def _bytes(path):
    """What the file holds now; nothing where it has gone since."""
    with (
        contextlib.suppress(OSError),
        open(os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)), "rb") as stream,
    ):
        return stream.read(LARGEST)
    return b""


def _zip_inside(path, below):
    file = _read(path)
    if file.content is None:
        yield below.with_suffix(".ipynb"), File(path.name, None, file.problem)
        return
    yield from itertools.islice(_of_zip(path, below.with_suffix(""), ENTRIES), MANY + 1)


def _of_zip(path, below, most=None):
    """As `_of_folder`, of a zip; nothing is unpacked to disk. Names that leave the folder are refused."""
    try:
        with zipfile.ZipFile(path) as packed:
            left, entries = MOST, packed.infolist()
            if most is not None and len(entries) > most:
                raise ValueError(f"it holds {len(entries)} files")
            for entry in entries:
                name = PurePosixPath(entry.filename.replace("\\", "/"))
                kind = name.suffix.lower()
                hidden = name.name.startswith(".") or "__MACOSX" in name.parts
                if entry.is_dir() or hidden or kind not in (".ipynb", ".zip"):
                    continue
                file, size = _unpacked(path, packed, entry, name, left)
                left = max(0, left - size)
                yield (
                    below
                    / PurePosixPath(*[part for part in name.parts if part not in ("/", "..")]),
                    file,
                )
    except (zipfile.BadZipFile, ValueError, NotImplementedError, RuntimeError) as error:
        yield (
            below.with_suffix(".ipynb"),
            File(below.name + ".zip", None, f"it is no zip that can be read: {error}"),
        )


def _unpacked(path, packed, entry, name, left):
    """(File, its bytes)"""
    if name.is_absolute() or ".." in name.parts:
        return File(name.name, None, f"its name leaves the folder: {entry.filename!r:.80}"), 0
    if name.suffix.lower() == ".zip":
        return File(
            name.name, None, "it is a zip within a zip: unpack the outer one, and give its folder"
        ), 0
    if stat.S_ISLNK(entry.external_attr >> 16):
        return File(name.name, None, "it is a link: not followed"), 0
    most = min(LARGEST, left)
    with packed.open(entry) as stream:  # what the zip says of its size is not to be believed
        size = len(stream.read(most + 1))
    if size > most:
        return File(
            name.name,
            None,
            f"it is larger than {LARGEST >> 20} MB, or the zip than {MOST >> 20} MB",
        ), size
    return File(name.name, functools.partial(_entry, path, entry), sent=_changed(entry)), size


def _changed(entry):
    """When an entry of a zip was last changed, by the clock of whoever packed it."""
    with contextlib.suppress(ValueError, OverflowError):
        return datetime.datetime(*entry.date_time).timestamp()
    return 0.0


def _entry(path, entry):
    with zipfile.ZipFile(path) as packed, packed.open(entry) as stream:
        return stream.read(LARGEST)


def _whose(path, file):
    """(student, number in the LMS, file with its own name), from the ways in which LMSs name things.

    Only the outermost name is the LMS's or the instructor's: what is below it, the student has named.
    """
    top, alone = path.parts[0], len(path.parts) == 1
    if not alone and (moodle := MOODLE.fullmatch(top)):
        return moodle["student"], moodle["id"], file
    if canvas := CANVAS.fullmatch(top):
        again = RESENT.search(canvas["file"]) if alone else None
        name = RESENT.sub("", canvas["file"]) if alone else file.name
        attempt = int(again[0][1:]) if again else 0
        return (
            canvas["student"],
            canvas["id"],
            dataclasses.replace(file, name=name, attempt=attempt),
        )
    return path.stem if alone else top, "", file


# Reading a notebook -----------------------------------------------------------------------------------------------


@dataclass
class Read:
    """The cells of a handed-in notebook: [(id, kind, text)], and what is odd about it."""

    cells: list = field(default_factory=list)
    problems: list = field(default_factory=list)


def read(file):
    """The `Read` of a File; what cannot be read has no cells and says why."""
    data = file.data
    if data is None:
        return Read(problems=[file.problem])
    try:
        given = json.loads(data.decode("utf-8-sig"), parse_constant=lambda word: None)
        cells = given["cells"]
        assert isinstance(cells, list) and given.get("nbformat") == 4
    except RecursionError:
        return Read(problems=["it is nested too deeply to be a notebook"])
    except UnicodeDecodeError:
        return Read(problems=["it is not text in UTF-8"])
    except json.JSONDecodeError as error:
        if not data.strip():
            return Read(problems=["it is empty"])
        return Read(problems=[f"it is not JSON: line {error.lineno}: {error.msg}"])
    except (AssertionError, KeyError, TypeError, AttributeError, ValueError):
        return Read(problems=[_no_notebook(data)])
    return _read_cells(cells)


def _read_cells(cells):
    made = Read()
    for number, cell in enumerate(cells, 1):
        try:
            text = cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])
            name, kind = str(cell.get("id", "")), str(cell["cell_type"])
        except (TypeError, KeyError, AttributeError, RecursionError):
            made.problems.append(f"cell {number} cannot be read")
            continue
        if len(text) > LONGEST:
            said = f"cell {number} is longer than {LONGEST} characters: it was left out"
            made.problems.append(said)
        else:
            made.cells.append((name, kind, text.replace("\r\n", "\n")))
    return made


def _no_notebook(data):
    try:
        version = json.loads(data.decode("utf-8-sig")).get("nbformat")
    except Exception:
        version = None
    if isinstance(version, int) and version != 4:
        return f"it is a notebook of format {version}, not 4: open it in JupyterLab and save it"
    return "it is JSON, but no notebook"
