"""Dataset, one_hot and standardising: what they promise, and what they refuse."""

import dataclasses
import pickle

import numpy as np
import pytest

from course_lib.data import Dataset, column_statistics, one_hot, standardise
from course_lib.errors import BadInput


def parts(n0=3, **changes):
    rng = np.random.default_rng(5)
    arrays = {}
    for split, n in (("train", 8), ("val", 4), ("test", 6)):
        arrays[f"x_{split}"] = rng.random((n, n0)).astype(np.float32)
        arrays[f"y_{split}"] = rng.integers(0, 3, n)
    return arrays | {"class_names": ("a", "b", "c"), "name": "toy", "note": "made up"} | changes


def test_holds_what_it_is_given():
    given = parts()
    data = Dataset(**given)
    for name, array in given.items():
        assert np.array_equal(getattr(data, name), array)
    assert (data.n_features, data.n_classes) == (3, 3)
    assert data.split("val")[0] is data.x_val and data.split("val")[1] is data.y_val


def test_is_immutable_and_leaves_the_callers_arrays_writable():
    given = parts()
    data = Dataset(**given)
    with pytest.raises(ValueError, match="read-only"):
        data.x_train[0, 0] = 1
    with pytest.raises(ValueError, match="read-only"):
        data.y_test += 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        data.x_train = given["x_train"]
    given["x_train"][0, 0] = 0.5  # a view was taken, the array itself is the caller's


def test_subset_takes_the_first():
    data = Dataset(**parts())
    small = data.subset(3)
    assert len(small.x_train) == 3 and len(small.x_val) == 4 and len(small.x_test) == 6
    assert np.array_equal(small.x_train, data.x_train[:3]) and np.array_equal(
        small.y_train, data.y_train[:3]
    )
    assert np.shares_memory(small.x_train, data.x_train)
    smaller = data.subset(8, 1, 2)
    assert [len(smaller.split(s)[1]) for s in ("train", "val", "test")] == [8, 1, 2]


@pytest.mark.parametrize("counts", [(0,), (9,), (3, 5), (3, 1, 0), (-1,), (2.5,), (True,)])
def test_subset_of_impossible_size(counts):
    with pytest.raises(BadInput, match=r"n_(train|val|test) must be a whole number from 1 to"):
        Dataset(**parts()).subset(*counts)


def test_repr_tells_shapes_ranges_counts_and_the_note():
    given = parts(y_val=np.array([2, 2, 2, 0]), x_train=np.full((8, 3), 0.25, np.float32))
    text = repr(Dataset(**given))
    for expected in (
        "toy: 3 features, 3 classes",
        "(8, 3)",
        "(6,)",
        "float32",
        "0.25 to 0.25",
        "made up",
    ):
        assert expected in text
    row_c = next(line for line in text.splitlines() if line.startswith("  c "))
    assert row_c.split()[2] == "3"  # three of class c in validation
    assert max(map(len, text.splitlines())) <= 120


def test_goes_through_pickle():
    data = Dataset(**parts())
    again = pickle.loads(pickle.dumps(data))
    assert np.array_equal(again.x_test, data.x_test) and again.name == data.name


NAN = np.full((8, 3), 0.5, np.float32)
NAN[2, 1] = np.nan
INF = np.full((4, 3), 0.5, np.float32)
INF[3, 0] = -np.inf
BAD = {
    "list": ({"x_train": [[1.0]]}, "x_train must be a NumPy array"),
    "float64": ({"x_train": np.zeros((8, 3))}, "x_train must have dtype float32"),
    "images not flattened": (
        {"x_val": np.zeros((4, 3, 3), np.float32)},
        r"x_val must have shape \(N, n0\)",
    ),
    "labels int32": ({"y_test": np.zeros(6, np.int32)}, "y_test must have dtype int64"),
    "labels one-hot": ({"y_val": np.zeros((4, 3), np.int64)}, r"y_val must have shape \(4,\)"),
    "more labels than rows": (
        {"y_train": np.zeros(9, np.int64)},
        r"y_train must have shape \(8,\)",
    ),
    "label too large": (
        {"y_train": np.array([0, 0, 3, 0, 0, 0, 0, 0])},
        r"y_train\[2\] is 3.*from 0 to 2",
    ),
    "label negative": ({"y_test": np.array([0, 0, 0, 0, 0, -1])}, r"y_test\[5\] is -1"),
    "NaN": ({"x_train": NAN}, r"x_train holds nan at index \(2, 1\)"),
    "infinite": ({"x_val": INF}, r"x_val holds -inf at index \(3, 0\)"),
    "another width": (
        {"x_test": np.zeros((6, 4), np.float32)},
        "x_test has 4 features and x_train has 3",
    ),
    "empty split": (
        {"x_val": np.zeros((0, 3), np.float32), "y_val": np.zeros(0, np.int64)},
        "x_val is empty",
    ),
    "names as list": ({"class_names": ["a", "b", "c"]}, "class_names must be a tuple"),
    "names repeated": ({"class_names": ("a", "b", "a")}, "different names"),
    "one class": ({"class_names": ("a",)}, "two or more"),
}


@pytest.mark.parametrize("name", list(BAD))
def test_refuses(name):
    changes, message = BAD[name]
    with pytest.raises(BadInput, match=message):
        Dataset(**parts(**changes))


def test_no_such_split():
    with pytest.raises(BadInput, match="there is no split 'dev': choose one of train, val, test"):
        Dataset(**parts()).split("dev")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("labels", [np.uint8, np.int16, np.int64])
def test_one_hot(dtype, labels):
    Y = one_hot(np.array([2, 0, 3, 3], labels), 5, dtype)
    assert Y.dtype == dtype
    assert Y.tolist() == [[0, 0, 1, 0, 0], [1, 0, 0, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 1, 0]]


def test_one_hot_is_undone_by_argmax():
    y = np.random.default_rng(0).integers(0, 7, 100)
    Y = one_hot(y, 7)
    assert (
        Y.dtype == np.float32 and (Y.sum(axis=1) == 1).all() and np.array_equal(Y.argmax(axis=1), y)
    )
    assert one_hot(np.zeros(0, np.int64), 3).shape == (0, 3)


@pytest.mark.parametrize(
    ("y", "n_classes", "message"),
    [
        (np.array([0, 10, 10]), 10, r"y\[1\] is 10.*from 0 to 9.*2 of 3 labels"),
        (np.array([0, -1]), 10, r"y\[1\] is -1"),
        (np.array([255], np.uint8), 10, r"y\[0\] is 255"),
        (np.array([0.0, 1.0]), 10, "whole numbers.*float64"),
        (np.array([True, False]), 10, "whole numbers.*bool"),
        (np.array(["3"]), 10, "whole numbers"),
        (np.array([np.nan]), 10, "whole numbers"),
        (np.zeros((3, 1), np.int64), 10, r"y must have shape \(B,\)"),
        (np.int64(3), 10, "NumPy array"),
        ([1, 2], 10, "y must be a NumPy array, not list"),
        (np.array([0]), 0, "n_classes must be a whole number of at least 1"),
        (np.array([0]), 2.0, "n_classes must be a whole number"),
        (np.array([0]), None, "n_classes must be a whole number"),
    ],
)
def test_one_hot_refuses(y, n_classes, message):
    with pytest.raises(BadInput, match=message):
        one_hot(y, n_classes)


@pytest.mark.parametrize("dtype", [np.int64, bool, "float32x", None])
def test_one_hot_refuses_dtype(dtype):
    with pytest.raises(BadInput, match="dtype must be float32 or float64"):
        one_hot(np.array([0]), 2, dtype)


def test_one_hot_takes_a_dtype_by_name():
    assert one_hot(np.array([0]), 2, "float64").dtype == np.float64
    assert one_hot(np.array([0]), 2, np.dtype("float32")).dtype == np.float32


def test_standardise_agrees_with_scikit_learn():
    from sklearn.preprocessing import StandardScaler

    rng = np.random.default_rng(3)
    x_train, x_test = (rng.normal(5, [1, 10, 1e6], (n, 3)) for n in (200, 50))
    scaler = StandardScaler().fit(x_train)
    mean, std = column_statistics(x_train)
    np.testing.assert_allclose(mean, scaler.mean_, rtol=1e-12)
    np.testing.assert_allclose(std, scaler.scale_, rtol=1e-12)
    got = standardise(x_test, mean, std)
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, scaler.transform(x_test), rtol=1e-6, atol=1e-6)


def test_weights_count_as_repeated_rows():
    x = np.random.default_rng(4).normal(size=(6, 3))
    counts = np.array([3, 0, 1, 2, 0, 5])
    plain = column_statistics(np.repeat(x, counts, axis=0))
    for got, want in zip(column_statistics(x, counts), plain, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12)


@pytest.mark.parametrize("value", [0.0, 0.1, -7.3, 1e30])
def test_a_constant_column_becomes_exactly_zero(value):
    x = np.column_stack([np.full(1001, value), np.arange(1001.0)])
    got = standardise(x, *column_statistics(x))
    assert (got[:, 0] == 0).all() and np.isfinite(got).all()
    # a row that is not of the constant, in a test set, stays finite too
    assert np.isfinite(standardise(np.array([[value + 1, 3.0]]), *column_statistics(x))).all()


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (np.zeros((0, 3)), "no row"),
        (np.zeros(3), "shape"),
        (np.zeros((3, 2), int), "dtype"),
        (np.array([[np.nan]]), "nan"),
    ],
)
def test_statistics_refuse(x, message):
    with pytest.raises(BadInput, match=message):
        column_statistics(x)


def test_standardise_refuses():
    x = np.zeros((2, 3))
    with pytest.raises(BadInput, match=r"mean must have shape \(3,\)"):
        standardise(x, np.zeros(2), np.ones(3))
    with pytest.raises(
        BadInput, match=r"std\[1\] is 0.0: every standard deviation must be positive"
    ):
        standardise(x, np.zeros(3), np.array([1.0, 0.0, 1.0]))
    with pytest.raises(BadInput, match="std holds nan"):
        standardise(x, np.zeros(3), np.array([1.0, np.nan, 1.0]))
