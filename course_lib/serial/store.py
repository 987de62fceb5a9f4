"""Parameters on disk: one .npz file of plain arrays, never pickle; written whole or not at all."""

import os
from pathlib import Path

import numpy as np

from course_lib.errors import BadInput, check_array
from course_lib.serial.network import Network, check_params

FORMAT, VERSION = "course-lib parameters", 1


def save_params(path, net, params):
    """Write net and params to `path` (exactly that name), through a temporary file beside it and a rename."""
    check_params(params, net)
    path = Path(path)
    arrays = {"format": FORMAT, "version": VERSION, "sizes": net.sizes, "lam": net.lam}
    arrays |= {"activation": net.activation, "loss": net.loss}
    for layer, (W, b) in enumerate(params):
        arrays |= {f"W{layer}": W, f"b{layer}": b}
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "wb") as file:
            np.savez(file, **arrays)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def load_params(path):
    """(net, params) from a file of `save_params`. Raises BadInput for a file that is missing, cut short or foreign,
    of another version, whose arrays do not fit its sizes, or that holds NaN or infinity."""
    path = Path(path)
    if not path.is_file():
        raise BadInput(f"{path} is no file: save_params(path, net, params) makes one")
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as arrays:
            stored = {name: arrays[name] for name in arrays.files}
    except Exception as error:  # zip, zlib, NumPy: each has errors of its own for a broken file
        what = f"{path} is damaged, or no file of save_params"
        raise BadInput(f"{what}: save it again ({error})") from error
    return _unpack(path, stored)


def _unpack(path, stored):
    missing = {"format", "version", "sizes", "lam", "activation", "loss"} - set(stored)
    if missing or str(stored["format"]) != FORMAT:
        lacks = ", ".join(sorted(missing)) or repr(FORMAT)
        raise BadInput(f"{path} is no file of save_params: it lacks {lacks}")
    if not np.array_equal(stored["version"], VERSION):
        found = f"format version {stored['version']}"
        raise BadInput(f"{path} has {found}, this course_lib reads {VERSION}")
    try:
        sizes, named = stored["sizes"].tolist(), (str(stored["activation"]), str(stored["loss"]))
        net = Network(tuple(sizes), *named, stored["lam"])
        params = [(stored[f"W{layer}"], stored[f"b{layer}"]) for layer in range(net.n_layers)]
        check_params(params, net)
        for layer, (W, b) in enumerate(params):
            check_array(f"W{layer}", W, finite=True)
            check_array(f"b{layer}", b, finite=True)
    except (BadInput, KeyError, TypeError) as error:
        raise BadInput(f"{path} does not hold together: {error}") from error
    return net, params
