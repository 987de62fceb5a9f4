"""The IDX files in which MNIST and Fashion-MNIST are published.

Two zero bytes, one byte for the type, one for the number of dimensions; each dimension as a big-endian
32-bit number; then the values, big-endian, last dimension fastest.
"""

import gzip
import io
import math
import os
import struct
import zlib
from pathlib import Path

import numpy as np

from course_lib.errors import BadInput

TYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
MAX_BYTES = 1 << 30  # no file of the course is near 1 GiB: a larger promise is a damaged header
PIECE = 1 << 20


def read_idx(path_or_bytes, ndim=None):
    """The array in an IDX file, plain or gzip-compressed: uint8 (60000, 28, 28) for MNIST's images.

    path_or_bytes: the file's path, or its content as bytes.
    ndim: how many dimensions it must have (3 for images, 1 for labels); None takes any.
    Raises BadInput for a file that is missing, truncated, mislabelled, damaged, or longer than its header says.
    Memory grows with what the file holds, never with what its header promises.
    """
    with _opened(path_or_bytes) as (stream, name):
        dtype, shape = _read_header(stream, name, ndim)
        promised = math.prod(shape) * dtype.itemsize
        data = _read_at_most(stream, promised + 1, name)
    if len(data) < promised:
        header = f"its header promises {promised:,} bytes of data for shape {shape}"
        raise BadInput(f"{name} is truncated: {header}, it holds {len(data):,}. Get the file again")
    if len(data) > promised:
        end = f"the {promised:,} bytes that its header promises"
        raise BadInput(f"{name} goes on after {end}: it is not one IDX file")
    return np.frombuffer(data, dtype).reshape(shape).astype(dtype.newbyteorder("="), copy=False)


class _opened:
    """(stream, name) of a path or of bytes, unpacked on the way where it is gzip."""

    def __init__(self, source):
        if isinstance(source, (bytes, bytearray, memoryview)):
            self.name, self.raw = "the IDX data", io.BytesIO(source)
        elif isinstance(source, (str, os.PathLike)):
            self.name, self.raw = str(source), _open_file(Path(source))
        else:
            raise BadInput(f"read_idx needs a path or bytes, not {type(source).__name__}")

    def __enter__(self):
        gzipped = self.raw.read(2) == b"\x1f\x8b"
        self.raw.seek(0)
        return (gzip.GzipFile(fileobj=self.raw) if gzipped else self.raw), self.name

    def __exit__(self, *error):
        self.raw.close()


def _open_file(path):
    try:
        return path.open("rb")
    except OSError as error:
        raise BadInput(f"{path} cannot be read ({error.strerror}): check the path") from None


def _read_header(stream, name, ndim):
    head = _read_at_most(stream, 4, name)
    if len(head) < 4:
        what = f"{len(head)} bytes, and the header alone has four or more"
        raise BadInput(f"{name} is truncated: {what}")
    zeros, code, n = struct.unpack(">HBB", head)
    if zeros != 0 or code not in TYPES or n == 0:
        known = "images begin with 00 00 08 03, labels with 00 00 08 01"
        raise BadInput(f"{name} is no IDX file: it begins with {head.hex(' ')}; {known}")
    if ndim is not None and n != ndim:
        question = "were images (3) and labels (1) exchanged?"
        raise BadInput(f"{name} has {n} dimension(s), not {ndim}: {question}")
    sizes = _read_at_most(stream, 4 * n, name)
    if len(sizes) < 4 * n:
        raise BadInput(f"{name} is truncated inside its header: get the file again")
    return _checked_sizes(np.dtype(TYPES[code]), struct.unpack(f">{n}I", sizes), name)


def _checked_sizes(dtype, shape, name):
    promised = math.prod(shape) * dtype.itemsize  # Python's whole numbers do not overflow
    if not 0 < promised <= MAX_BYTES:
        claim = f"{name} claims the shape {shape}, {promised:,} bytes"
        raise BadInput(f"{claim}: its header is damaged")
    return dtype, shape


def _read_at_most(stream, n, name):
    """Up to n bytes, piece by piece: asking for n at once would reserve n, however short the file is."""
    pieces, left = [], n
    try:
        while left and (piece := stream.read(min(left, PIECE))):
            pieces.append(piece)
            left -= len(piece)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        what = f"{name} is a damaged or truncated gzip file ({error})"
        raise BadInput(f"{what}: get it again") from None
    return b"".join(pieces)
