"""The IDX reader: every form it takes, and one clear error for every file it must not take."""

import gzip
import struct
import tracemalloc

import numpy as np
import pytest

from course_lib.data import read_idx
from course_lib.errors import BadInput

CODES = {"u1": 0x08, "i1": 0x09, "i2": 0x0B, "i4": 0x0C, "f4": 0x0D, "f8": 0x0E}


def idx(array):
    """`array` as the bytes of an IDX file."""
    code = CODES[array.dtype.str[1:]]
    head = struct.pack(f">HBB{array.ndim}I", 0, code, array.ndim, *array.shape)
    return head + array.astype(array.dtype.newbyteorder(">")).tobytes()


IMAGES = np.arange(5 * 3 * 4, dtype=np.uint8).reshape(5, 3, 4)
LABELS = np.array([3, 1, 4, 1, 5], dtype=np.uint8)


@pytest.mark.parametrize("kind", list(CODES))
@pytest.mark.parametrize("shape", [(7,), (5, 3), (2, 3, 4), (2, 1, 3, 5)])
def test_every_type_and_dimension(kind, shape):
    array = (np.random.default_rng(1).normal(size=shape) * 50).clip(0, 120).astype(kind)
    back = read_idx(idx(array), ndim=len(shape))
    assert back.dtype == array.dtype and back.dtype.isnative
    assert np.array_equal(back, array)


def test_sources(tmp_path):
    """A path as str or Path, bytes of three kinds; plain or gzip, told by content and not by name."""
    (tmp_path / "plain.gz").write_bytes(idx(IMAGES))
    (tmp_path / "packed").write_bytes(gzip.compress(idx(IMAGES)))
    content = idx(IMAGES)
    for source in (
        tmp_path / "plain.gz",
        str(tmp_path / "packed"),
        content,
        bytearray(content),
        memoryview(content),
        gzip.compress(content),
    ):
        assert np.array_equal(read_idx(source, ndim=3), IMAGES)


def test_any_number_of_dimensions_unless_asked():
    assert read_idx(idx(LABELS)).shape == (5,)
    assert read_idx(idx(IMAGES)).shape == (5, 3, 4)


def header(*fields, code=8, ndim=None):
    return struct.pack(
        f">HBB{len(fields)}I", 0, code, len(fields) if ndim is None else ndim, *fields
    )


BAD = {
    "empty": (b"", None, "truncated: 0 bytes"),
    "two bytes": (b"\0\0", None, "truncated: 2 bytes"),
    "cut inside the header": (idx(IMAGES)[:11], None, "truncated inside its header"),
    "cut inside the data": (idx(IMAGES)[:-1], None, "truncated.*60 bytes.*holds 59"),
    "no data at all": (header(60_000, 28, 28), 3, "truncated"),
    "one byte too many": (idx(IMAGES) + b"\0", None, "goes on after the 60 bytes"),
    "two files in one": (idx(LABELS) + idx(IMAGES), None, "goes on after the 5 bytes"),
    "wrong magic number": (
        b"\x89PNG" + idx(IMAGES),
        None,
        "no IDX file: it begins with 89 50 4e 47",
    ),
    "a web page": (b"<!DOCTYPE html><html>404</html>", None, "no IDX file"),
    "little-endian magic": (struct.pack("<I3I", 0x0803, 5, 3, 4) + bytes(60), None, "no IDX file"),
    "first byte not zero": (b"\1" + idx(IMAGES)[1:], None, "no IDX file"),
    "unknown type byte": (header(5, code=0x0A) + bytes(5), None, "no IDX file"),
    "type byte zero": (header(5, code=0) + bytes(5), None, "no IDX file"),
    "no dimensions": (header(ndim=0) + bytes(5), None, "no IDX file"),
    "labels for images": (idx(LABELS), 3, r"1 dimension\(s\), not 3.*exchanged"),
    "images for labels": (idx(IMAGES), 1, r"3 dimension\(s\), not 1.*exchanged"),
    "a size of zero": (header(0, 28, 28), 3, "claims the shape"),
    "absurd sizes": (
        header(2**32 - 1, 2**32 - 1, 2**32 - 1) + bytes(100),
        3,
        "claims the shape.*damaged",
    ),
    "sizes that overflow 64 bits": (
        header(*[2**31] * 3) + bytes(8),
        3,
        "claims the shape.*damaged",
    ),
    "too many dimensions": (header(*[2] * 200) + bytes(64), None, "claims the shape"),
    "cut gzip": (gzip.compress(idx(IMAGES))[:-12], None, "damaged or truncated gzip"),
    "gzip without its end": (gzip.compress(idx(IMAGES))[:-4], None, "damaged or truncated gzip"),
    "gzip with a wrong checksum": (
        gzip.compress(idx(IMAGES))[:-8] + bytes(8),
        None,
        "damaged or truncated gzip",
    ),
    "gzip of nothing": (gzip.compress(b""), None, "truncated: 0 bytes"),
    "gzip with garbage inside": (
        b"\x1f\x8b\x08\x00" + bytes(6) + b"\xff" * 50,
        None,
        "damaged or truncated gzip",
    ),
    "gzip header alone": (b"\x1f\x8b", None, "damaged or truncated gzip"),
    "gzip of a longer file": (gzip.compress(idx(IMAGES) + b"more"), None, "goes on after"),
}


@pytest.mark.parametrize("name", list(BAD))
@pytest.mark.parametrize("as_file", [False, True], ids=["bytes", "file"])
def test_bad_content(name, as_file, tmp_path):
    content, ndim, message = BAD[name]
    source = content
    if as_file:
        source = tmp_path / "some-images"
        source.write_bytes(content)
        message = f"some-images.*{message}"
    with pytest.raises(BadInput, match=message):
        read_idx(source, ndim=ndim)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_large_promise_reserves_no_memory(pack):
    """A header that promises 900 MB before 1 kB of data costs about nothing."""
    content = pack(header(900, 1000, 1000) + bytes(1000))
    tracemalloc.start()
    with pytest.raises(BadInput, match="truncated"):
        read_idx(content)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8e6


def test_a_gzip_bomb_is_not_unpacked():
    """100 MB of zeros behind a header that promises 60 bytes: reading stops at byte 61."""
    bomb = gzip.compress(header(5, 3, 4) + bytes(100_000_000), compresslevel=1)
    tracemalloc.start()
    with pytest.raises(BadInput, match="goes on after"):
        read_idx(bomb)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8e6


def test_missing_file(tmp_path):
    with pytest.raises(BadInput, match=r"nothing-here cannot be read \(No such file"):
        read_idx(tmp_path / "nothing-here")


def test_a_folder(tmp_path):
    with pytest.raises(BadInput, match="cannot be read"):
        read_idx(tmp_path)


@pytest.mark.parametrize("source", [None, 3, ["a"], np.zeros(3)])
def test_no_path_and_no_bytes(source):
    with pytest.raises(BadInput, match="needs a path or bytes"):
        read_idx(source)


def test_a_failed_read_leaves_no_open_file(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"no idx at all")
    with pytest.raises(BadInput):
        read_idx(path)
    path.rename(tmp_path / "y")  # on Windows this fails while the file is open
