"""The files of what was handed in, from folders and zips: read with care, never unpacked to disk, never changed."""

import contextlib
import dataclasses
import datetime
import functools
import hashlib
import io
import os
import stat
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

LARGEST = 20 << 20  # bytes of one notebook
LARGEST_ZIP = 100 << 20  # bytes of a student's zip in the download of a class
MOST = 512 << 20  # bytes of the notebooks in a student's zip, unpacked
MANY = 100  # notebooks of one student
ENTRIES = 2000  # files in a student's zip
JUNK = ("thumbs.db", "desktop.ini")  # what systems leave in folders


@dataclass(frozen=True)
class File:
    """One file as handed in. name: the file's own; data: its bytes, or None where `problem` says why not.

    content: the bytes, or a function that reads them: those of a whole class, pictures and all, are too many to hold.
    sent: when it was last changed, in seconds, as the folder or the zip says; 0: unknown. attempt: as the LMS counts.
    late: the LMS marked it so. other: it is no notebook by its name. path: as the download names it; inside: it lies
    in a student's zip, whose times and names are the student's.
    """

    name: str
    content: bytes | Callable[[], bytes] | None
    problem: str = ""
    sent: float = 0.0
    attempt: int = 0
    late: bool = False
    other: bool = False
    path: str = ""
    inside: bool = False

    @property
    def data(self):
        return self.content() if callable(self.content) else self.content

    @property
    def digest(self):
        data = self.data
        return hashlib.sha256(data if data is not None else self.problem.encode()).hexdigest()


def of_folder(top):
    """(path below the top, File) of all files; links are named, not followed. Of a folder with nothing in it, a File
    that says so: it may be all that a student has handed in.
    """
    unread: list[OSError] = []
    for folder, folders, files in os.walk(top, onerror=unread.append, followlinks=False):
        here = PurePosixPath(Path(folder).relative_to(top).as_posix())
        folders[:] = sorted(name for name in folders if not _is_junk(name))
        links = [name for name in folders if Path(folder, name).is_symlink()]
        found = [name for name in sorted(files) if not _hidden(here / name)]
        for name in found:
            path, below = Path(folder, name), here / name
            if below.suffix.lower() == ".zip":
                yield from _students_zip_on_disk(path, below)
            else:
                yield below, _read(path)
        for name in links:
            yield _empty(here / name, "a link, not followed")
        if not found and not folders and here.name:
            yield _empty(here, "a folder without a file")
    for error in unread:
        below = PurePosixPath(Path(error.filename).relative_to(top).as_posix())
        yield _empty(below, "a folder that cannot be read")


def of_zip(path):
    """As `of_folder`, of the zip of a class. Raises zipfile.BadZipFile, OSError for what is none."""
    with zipfile.ZipFile(path) as packed:
        entries = packed.infolist()
    below = {parent for entry in entries for parent in PurePosixPath(entry.filename).parents}
    for entry in entries:
        name = PurePosixPath(entry.filename)
        if _is_folder(entry) and name not in below and name.name and not _hidden(name):
            yield _empty(name, "a folder without a file")
        yield from _entry(functools.partial(zipfile.ZipFile, path), entry, PurePosixPath(), True)


def _empty(below, what):
    return below / "nothing", File(f"{below.name[:80]}: {what}", None, other=True)


def _is_folder(entry):
    """As ZipInfo.is_dir, which cannot stand a name without characters."""
    return entry.filename.endswith("/")


def _is_junk(name):
    """Is it a folder of a system's or an editor's? What an LMS has named is none, whatever it begins with."""
    return name.startswith((".", "__MACOSX")) and "_assignsubmission_" not in name


def _hidden(path):
    return path.name.startswith(".") or "__MACOSX" in path.parts or path.name.lower() in JUNK


def _is_notebook(path):
    return path.suffix.lower() == ".ipynb"


def _read(path):
    try:
        handle = os.open(
            path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        )
    except OSError as error:
        link = path.is_symlink()
        return File(
            path.name, None, "it is a link: not followed" if link else f"not readable: {error}"
        )
    with os.fdopen(handle, "rb"):
        about = os.fstat(handle)
    if not stat.S_ISREG(about.st_mode):
        return File(path.name, None, "it is no plain file")
    if not _is_notebook(path) and path.suffix.lower() != ".zip":
        return File(path.name, None, other=True)
    most = LARGEST if _is_notebook(path) else LARGEST_ZIP
    if about.st_size > most:
        said = f"it has {about.st_size >> 20} MB; {most >> 20} MB are allowed"
        return File(path.name, None, said)
    return File(path.name, functools.partial(_bytes, path), sent=about.st_mtime)


def _bytes(path):
    """What the file holds now; nothing where it has gone since."""
    with (
        contextlib.suppress(OSError),
        open(os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)), "rb") as stream,
    ):
        return stream.read(LARGEST)
    return b""


# Zips: written by students, so every way of being broken is met. zipfile and the decompressors raise a dozen kinds of
# errors on damaged input (zlib.error, LZMAError, struct.error, OSError ...), with none in common but Exception.


def _students_zip_on_disk(path, below):
    file = _read(path)
    if file.content is None:
        yield below.with_suffix(".ipynb"), file
    else:
        yield from _students_zip(functools.partial(zipfile.ZipFile, path), below)


def _students_zip(opened, below):
    """(path, File) of what a student's zip holds; of one that cannot be read, or is empty, a File that says so."""
    left = MOST
    try:
        with opened() as packed:
            entries = packed.infolist()
        if len(entries) > ENTRIES:
            raise ValueError(f"it holds {len(entries)} files")
    except Exception as error:
        yield _said(below, f"it is no zip that can be read: {_in_words(error)}")
        return
    found = notebooks = 0
    for entry in entries:
        for path, file in _entry(opened, entry, below.with_suffix(""), False, left):
            found, notebooks = found + 1, notebooks + (not file.other)
            left = max(0, left - entry.file_size * (not file.other))
            if notebooks <= MANY + 1:
                yield path, dataclasses.replace(file, inside=True)
    if not found:
        yield _said(below, "the zip is empty")


def _entry(opened, entry, below, nested, left=MOST):
    """(path, File) of one entry of a zip: none of a folder, several of a student's zip in the download of a class."""
    name = PurePosixPath(entry.filename.replace("\\", "/"))
    if _is_folder(entry) or _hidden(name):
        return
    path = below / PurePosixPath(*[part for part in name.parts if part not in ("/", "..")])
    if name.suffix.lower() == ".zip" and nested and not _refused(entry, name, LARGEST_ZIP):
        yield from _students_zip(functools.partial(_zip_inside, opened, entry), path)
    else:
        yield path, _file(opened, entry, name, left)


def _file(opened, entry, name, left):
    if why := _refused(entry, name, min(LARGEST, left) if _is_notebook(name) else LARGEST_ZIP):
        return File(_short(name), None, why)
    if name.suffix.lower() == ".zip":
        said = "it is a zip within a zip: unpack the outer one, and give its folder"
        return File(_short(name), None, said)
    if not _is_notebook(name):
        return File(_short(name), None, other=True)
    try:
        _unpacked(opened, entry)
    except Exception as error:
        return File(_short(name), None, f"it cannot be read from the zip: {_in_words(error)}")
    return File(_short(name), functools.partial(_later, opened, entry), sent=_changed(entry))


def _short(name):
    """The last part of a name, shortened where it is longer than any that a file system takes."""
    return name.name if len(name.name) <= 255 else f"{name.name[:100]}...{name.name[-100:]}"


def _refused(entry, name, most):
    """Why this entry is not even looked into, or an empty text."""
    if name.is_absolute() or ".." in name.parts:
        return f"its name leaves the folder: {entry.filename!r:.80}"
    if stat.S_ISLNK(entry.external_attr >> 16):
        return "it is a link: not followed"
    if entry.file_size > most:
        return f"it is larger than {LARGEST >> 20} MB, or the zip than {MOST >> 20} MB"
    return ""


def _unpacked(opened, entry, most=LARGEST):
    """The bytes of an entry. What the zip says of its size is not to be believed."""
    with opened() as packed, packed.open(entry) as stream:
        data = stream.read(most + 1)
    if len(data) > most or len(data) != entry.file_size:
        raise ValueError("its size is not what the zip says")
    return data


def _later(opened, entry):
    """As `_unpacked`; nothing where the zip has changed since it was looked at."""
    with contextlib.suppress(Exception):
        return _unpacked(opened, entry)
    return b""


def _zip_inside(opened, entry):
    return zipfile.ZipFile(io.BytesIO(_unpacked(opened, entry, LARGEST_ZIP)))


def _changed(entry):
    """When an entry of a zip was last changed, by the clock of whoever packed it."""
    with contextlib.suppress(ValueError, OverflowError):
        return datetime.datetime(*entry.date_time).timestamp()
    return 0.0


def _said(below, problem):
    return below.with_suffix(".ipynb"), File(below.name, None, problem)


def _in_words(error):
    return " ".join(f"{error}".split())[:200] or type(error).__name__
