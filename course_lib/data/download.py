"""Download one file so that it is either there, whole and verified, or not there at all.

It grows in `<name>.part`, is checked against its MD5, and only then renamed to `<name>` in one step.
An interrupted download goes on where it stopped, on whichever mirror answers next.
"""

import hashlib
import http.client
import os
import ssl
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from course_lib.errors import BadInput

TIMEOUT = 20  # seconds without an answer after which the next mirror is tried
PIECE = 1 << 16
ROUNDS = 3  # over all mirrors, as long as each round brought some bytes


@dataclass(frozen=True)
class RemoteFile:
    """A file that mirrors serve under the same name. size: bytes. md5: 32 hexadecimal digits."""

    name: str
    size: int
    md5: str


class Refused(OSError):
    """A mirror answered, but not with this file."""


# what a mirror can do to us; any other OSError is our own disk's
HTTP_ERRORS = (http.client.HTTPException, ssl.SSLError, urllib.error.URLError)
NETWORK_ERRORS = (Refused, ConnectionError, TimeoutError, *HTTP_ERRORS)


def fetch(file: RemoteFile, mirrors, folder) -> Path:
    """The path of the verified file in `folder`, downloaded from the first of `mirrors` that gives it.

    mirrors: addresses to which the file's name is appended. Shows progress on standard error.
    Raises BadInput where no mirror gives the file; the message holds what each of them said.
    """
    target, part = Path(folder) / file.name, Path(folder) / f"{file.name}.part"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _locked(target.with_name(f"{file.name}.lock")):
            if not (target.is_file() and is_genuine(target, file)):
                _download(file, mirrors, part)
                os.replace(part, target)
    except OSError as error:
        raise BadInput(f"{target} cannot be written: {error.strerror or error}") from None
    return target


def is_genuine(path, file: RemoteFile) -> bool:
    """Whether `path` holds exactly this file."""
    if path.stat().st_size != file.size:
        return False
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, _md5).hexdigest() == file.md5


def _md5():
    # the publisher's own sum, held against damage, not against forgers
    return hashlib.md5(usedforsecurity=False)


def _download(file, mirrors, part):
    """Leave the verified file in `part`, or raise BadInput."""
    said = {}
    for _ in range(ROUNDS):
        brought_bytes = False
        for mirror in mirrors:
            before = _size(part)
            try:
                _receive(file, mirror + file.name, part)
                return
            except NETWORK_ERRORS as error:
                said[mirror] = str(error) or type(error).__name__
            brought_bytes |= _size(part) != before
        if not brought_bytes:
            break
    reasons = "; ".join(f"{mirror} ({why})" for mirror, why in said.items())
    raise BadInput(f"{file.name} could not be downloaded. Tried: {reasons}")


def _receive(file, url, part):
    """Continue `part` from `url` to the file's full size and verify it."""
    start = _size(part)
    if start < file.size:
        headers = {"Accept-Encoding": "identity", "User-Agent": "course-lib"}
        request = urllib.request.Request(url, headers=headers)
        if start:
            request.add_header("Range", f"bytes={start}-")
        with urllib.request.urlopen(request, timeout=TIMEOUT) as response:
            start = _accepted_start(response, start, file)
            with part.open("r+b" if start else "wb") as out:
                out.seek(start)
                _copy(response, out, start, file)
    if _size(part) < file.size:
        raise Refused(f"the connection ended after {_size(part):,} of {file.size:,} bytes")
    if not is_genuine(part, file):
        part.unlink()  # nothing in it can be trusted: the next try begins at zero
        raise Refused("what came has the wrong MD5 checksum")


def _accepted_start(response, start, file):
    """Where the bytes of this answer begin: at `start` where the server resumes, else at 0."""
    if response.status == 206:
        if response.headers.get("Content-Range", "").startswith(f"bytes {start}-"):
            return start
        raise Refused("it resumed at another place than asked")
    if response.length not in (None, file.size):
        raise Refused(f"it offers {response.length:,} bytes, the file has {file.size:,}")
    return 0


def _copy(response, out, done, file):
    """Copy pieces until the answer ends; a byte more than the file has ends it too."""
    shown = 0.0
    try:
        while done <= file.size and (piece := response.read1(PIECE)):
            out.write(piece)
            done += len(piece)
            if time.monotonic() - shown > 0.2:
                shown = _show(file, done)
    finally:
        _show(file, done, end="\n")


def _show(file, done, end=""):
    progress = f"{done / 1e6:.1f} of {file.size / 1e6:.1f} MB ({done / file.size:.0%})"
    print(f"\r{file.name}: {progress}", end=end, file=sys.stderr, flush=True)
    return time.monotonic()


def _size(path):
    return path.stat().st_size if path.exists() else 0


@contextmanager
def _locked(path):
    """Let one process at a time download a file; the lock goes with the process, however it ends."""
    with path.open("a") as handle:
        with suppress(OSError):  # a file system without locks: the checksum still guards the result
            _lock(handle)
        yield


def _lock(handle):
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(handle.fileno(), msvcrt.LK_LOCK, 1)
    else:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX)
