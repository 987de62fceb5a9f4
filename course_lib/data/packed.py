"""The data files in the package: xz, in several streams, so that threads unpack them side by side.

A folder holds `<original name>.xz` files and manifest.json, which gives for each the length of its
streams, its SHA-256 and the MD5 of the original. `xz -d` turns each back into the original file.
"""

import hashlib
import json
import lzma
import os
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate, pairwise
from pathlib import Path

from course_lib.errors import BadInput

FILES = Path(__file__).with_name("files")
KINDS = ("images-idx3-ubyte", "labels-idx1-ubyte")
NAMES = tuple(f"{split}-{kind}" for split in ("train", "t10k") for kind in KINDS)


def unpack(folder):
    """{original name: original bytes} of the four files in `folder`, each verified before it is unpacked.

    lzma unpacks without holding Python's global lock, so one thread a core is faster than one thread.
    Raises BadInput where a file is missing or not the one that the manifest describes.
    """
    streams = {name: _streams(Path(folder), name) for name in NAMES}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = {name: pool.map(lzma.decompress, parts) for name, parts in streams.items()}
        return {name: b"".join(parts) for name, parts in jobs.items()}


def _streams(folder, name):
    """The xz streams of one packed file."""
    entry = _manifest_entry(folder / "manifest.json", name)
    path = folder / f"{name}.xz"
    try:
        packed = path.read_bytes()
    except OSError as error:
        raise _damaged(path, error.strerror) from None
    if hashlib.sha256(packed).hexdigest() != entry["sha256"]:
        raise _damaged(path, "its SHA-256 is not the one in manifest.json")
    return [packed[a:b] for a, b in pairwise(accumulate(entry["streams"], initial=0))]


def _manifest_entry(path, name):
    try:
        entry = json.loads(path.read_text(encoding="utf-8"))[name]
        return {"sha256": entry["sha256"], "streams": entry["streams"]}
    except OSError as error:
        raise _damaged(path, error.strerror) from None
    except (ValueError, KeyError, TypeError):
        raise _damaged(path, f"no entry for {name}") from None


def _damaged(path, why):
    what = f"the data file {path} is missing or damaged ({why})"
    return BadInput(f"{what}: restore it with git or install again")
