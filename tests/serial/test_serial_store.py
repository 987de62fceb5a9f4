"""course_lib.serial: parameters on disk: whole, without pickle, and nothing foreign gets in."""

import pickle

import numpy as np
import pytest

from course_lib import serial
from course_lib.errors import BadInput
from course_lib.serial import Network

pytestmark = pytest.mark.filterwarnings("error")
NET = Network((6, 5, 3), "relu", "cross_entropy", 0.125)


def saved(path, dtype=np.float32):
    params = NET.init_params(4, dtype)
    serial.save_params(path, NET, params)
    return params


def stored(path):
    with np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_was_saved_is_loaded_bit_for_bit(tmp_path, dtype):
    path = tmp_path / "weights.of-today"  # the name is kept as it is, no .npz is added
    params = saved(path, dtype)
    net, loaded = serial.load_params(str(path))
    assert net == NET and len(loaded) == 2
    for (W, b), (V, c) in zip(params, loaded, strict=True):
        assert W.dtype == V.dtype and np.array_equal(W, V) and np.array_equal(b, c)
    assert [p.name for p in tmp_path.iterdir()] == ["weights.of-today"]


def test_a_write_that_fails_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    path = tmp_path / "w.npz"
    params = saved(path)
    before = path.read_bytes()

    def full_disk(file, **arrays):
        file.write(b"half")
        raise OSError("No space left on device")

    monkeypatch.setattr(np, "savez", full_disk)
    with pytest.raises(OSError, match="No space left"):
        serial.save_params(path, NET, params)
    assert path.read_bytes() == before and [p.name for p in tmp_path.iterdir()] == ["w.npz"]


def test_a_truncated_file_is_bad_input_wherever_it_was_cut(tmp_path):
    path = tmp_path / "w.npz"
    saved(path)
    whole = path.read_bytes()
    for length in [0, 1, 4, 30, 100, *range(200, len(whole) - 1, 97), len(whole) - 1]:
        path.write_bytes(whole[:length])
        with pytest.raises(BadInput, match="damaged"):
            serial.load_params(path)


def test_a_flipped_byte_is_bad_input_or_changes_nothing(tmp_path):
    path = tmp_path / "w.npz"
    params = saved(path)
    whole, rng = path.read_bytes(), np.random.default_rng(0)
    refused = 0
    for position in rng.integers(0, len(whole), 300):
        damaged = bytearray(whole)
        damaged[position] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        try:
            net, loaded = serial.load_params(path)
        except BadInput:
            refused += 1
        else:  # a byte that means nothing, such as a date inside the zip
            assert net == NET and all(
                np.array_equal(W, V) for (W, _), (V, _) in zip(params, loaded, strict=True)
            )
    assert refused >= 150


class Trap:
    def __reduce__(self):
        return (pytest.fail, ("a pickle was executed",))


@pytest.mark.parametrize("kind", ["raw", "npy", "npz"])
def test_pickles_are_refused_and_never_run(tmp_path, kind):
    path = tmp_path / "w.npz"
    saved(path)
    objects = np.array([Trap()], dtype=object)
    arrays = stored(path) | {"W0": objects}
    with open(path, "wb") as file:
        if kind == "raw":
            file.write(pickle.dumps(Trap()))
        elif kind == "npy":
            np.save(file, objects, allow_pickle=True)
        else:
            np.savez(file, **arrays)
    with pytest.raises(BadInput, match="damaged"):
        serial.load_params(path)


CHANGES = {
    "foreign": (lambda d: {"x": np.zeros(3)}, "no file of save_params"),
    "other format": (lambda d: d | {"format": "weights"}, "no file of save_params"),
    "newer version": (lambda d: d | {"version": 2}, "has format version 2"),
    "sizes lie": (
        lambda d: d | {"sizes": [6, 4, 3]},
        r"W.* must have shape \(6, 4\), not \(6, 5\)",
    ),
    "sizes negative": (lambda d: d | {"sizes": [6, -5, 3]}, "sizes"),
    "sizes a number": (lambda d: d | {"sizes": 6}, "hold together"),
    "layer missing": (lambda d: {k: v for k, v in d.items() if k != "b1"}, "b1"),
    "dtype int": (lambda d: d | {"W0": d["W0"].astype(int)}, "dtype"),
    "dtypes mixed": (lambda d: d | {"W1": d["W1"].astype(float)}, "dtype"),
    "NaN": (lambda d: d | {"b0": np.full_like(d["b0"], np.nan)}, "b0 holds nan"),
    "infinite": (lambda d: d | {"W1": d["W1"] + np.float32(np.inf)}, "W1 holds inf"),
    "unknown activation": (lambda d: d | {"activation": "swish"}, "activation must be one of"),
    "lam negative": (lambda d: d | {"lam": -1.0}, "lam"),
}


@pytest.mark.parametrize("change, says", CHANGES.values(), ids=CHANGES)
def test_a_file_that_does_not_hold_together_is_bad_input(tmp_path, change, says):
    path = tmp_path / "w.npz"
    saved(path)
    np.savez(path, **change(stored(path)))
    with pytest.raises(BadInput, match=says):
        serial.load_params(path)


def test_a_missing_file_a_folder_and_an_array_file_are_bad_input(tmp_path):
    for path in (tmp_path / "none.npz", tmp_path):
        with pytest.raises(BadInput, match="is no file"):
            serial.load_params(path)
    np.save(tmp_path / "one.npy", np.zeros(3))
    with pytest.raises(BadInput, match="damaged"):
        serial.load_params(tmp_path / "one.npy")


def test_parameters_that_do_not_fit_the_network_are_not_saved(tmp_path):
    with pytest.raises(BadInput, match="must have shape"):
        serial.save_params(tmp_path / "w.npz", Network((6, 4, 3)), NET.init_params(0))
    assert list(tmp_path.iterdir()) == []
