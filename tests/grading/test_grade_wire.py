"""Values over the wire: what goes out comes back, and what a hostile process writes is refused and does nothing."""

import fractions
import json

import numpy as np
import pytest

from course_lib.gpu.mlp import Activation
from course_tools.grading.rpc import codec


def there_and_back(value):
    given = json.loads(
        json.dumps(codec.pack(value, lambda thing: pytest.fail(f"{thing} is shown")))
    )
    return codec.unpack(given, lambda number, about: pytest.fail("an object"))


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        7,
        -3.5,
        float("inf"),
        1 + 2j,
        "ä\ud800",
        b"\0",
        [1, (2.0, "x")],
        {"a": [1], (1, 2): None},
        {1, 2},
        range(3),
        slice(1, None),
        fractions.Fraction(1, 3),
        np.float32(0.1),
        np.int8(-1),
        float,
        ValueError,
        np.float64,
        Activation("relu", "z > 0 ? z : 0", "a > 0"),
        Ellipsis,
        np.dtype("float32"),
    ],
    ids=repr,
)
def test_value(value):
    back = there_and_back(value)
    assert type(back) is type(value) and back == value


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3),
        np.arange(6, dtype=np.int8).reshape(2, 3).T,
        np.array(3.0),
        np.zeros((0, 4)),
        np.array([np.nan, -0.0], np.float32),
        np.arange(12.0)[::2],
        np.array(["a", "bc"]),
        np.array([1j]),
    ],
    ids=repr,
)
def test_array(array):
    back = there_and_back(array)
    assert (back.dtype, back.shape, back.tobytes()) == (array.dtype, array.shape, array.tobytes())
    assert back.flags.c_contiguous == array.flags.c_contiguous and back.flags.writeable


def test_one_array_twice_and_its_view_stay_one():
    array = np.zeros((2, 3))
    first, second, view = there_and_back([array, array, array.T])
    assert first is second and np.shares_memory(first, view) and view.shape == (3, 2)


def test_a_fixed_array_stays_fixed():
    array = np.zeros(3)
    array.flags.writeable = False
    assert not there_and_back(array).flags.writeable


ARRAY = {"array": "<f8", "shape": [2], "order": "C", "data": "AAAAAAAAAAAAAAAAAAAAAA=="}
HOSTILE = {
    "nothing": {},
    "list": [1],
    "float": 1.5,
    "unknown kind": {"pickle": "x"},
    "no kind": {"": 1},
    "objects": {"array": "|O", "shape": [1], "order": "C", "data": "AAAAAAAAAAA="},
    "structured": {"array": [["a", "<f8"]], "shape": [1], "order": "C", "data": ""},
    "structured text": {"array": "f8,O", "shape": [1], "order": "C", "data": "AAAAAAAAAAA="},
    "wide text": {"array": "<U900000000", "shape": [1], "order": "scalar", "data": ""},
    "larger than its data": ARRAY | {"shape": [1 << 40]},
    "negative": ARRAY | {"shape": [-1]},
    "bool in the shape": ARRAY | {"shape": [True, 2]},
    "no base64": ARRAY | {"data": "?"},
    "shape 2.0": ARRAY | {"shape": [2.0]},
    "view outside": {
        "list": [ARRAY, {"view": 1, "offset": 8, "shape": [2], "strides": [8], "fixed": False}]
    },
    "view before": {
        "list": [ARRAY, {"view": 1, "offset": -8, "shape": [1], "strides": [8], "fixed": False}]
    },
    "view of a list": {
        "list": [{"view": 0, "offset": 0, "shape": [1], "strides": [8], "fixed": False}]
    },
    "a function of NumPy": {"type": "load"},
    "a module of NumPy": {"type": "random"},
    "eval": {"type": "eval"},
    "a record of another library": {"record": "subprocess:Popen", "parts": [["true"]]},
    "a record of the checks": {
        "record": "course_lib.checks.kit.case:Case",
        "parts": [[], "", {}, None],
    },
    "a record of the grader": {
        "record": "course_tools.grading.verdict.results:Task",
        "parts": ["a", "pass", 1, 1],
    },
    "a module that is not loaded": {"record": "course_lib.data.nowhere:X", "parts": []},
    "a function for a record": {"record": "course_lib.data:load_mnist", "parts": []},
    "through an attribute": {"record": "course_lib.gpu.mlp.activations:re.Match", "parts": []},
    "too few parts": {"record": "course_lib.gpu.mlp.activations:Activation", "parts": ["a"]},
    "object dtype": {"dtype": "O"},
    "place that is none": {"same": 7},
    "text for a place": {"same": "x"},
    "list as key": {"dict": [[{"list": []}, 1]]},
    "no generator": {"generator": {"kind": "os", "state": 1}},
    "state of a generator": {"generator": {"kind": "PCG64", "state": {"dict": []}}},
    "1/0": {"fraction": [1, 0]},
}


@pytest.mark.parametrize("given", HOSTILE.values(), ids=HOSTILE)
def test_hostile(given):
    with pytest.raises(codec.NotData):
        codec.unpack(given, lambda number, about: None)


def test_depth_ends_in_an_error_not_in_a_crash():
    deep = 0
    for _ in range(5000):
        deep = {"list": [deep]}
    with pytest.raises(codec.NotData):
        codec.unpack(deep, None)
    nested: list = []
    for _ in range(60):
        nested = [nested]
    with pytest.raises(codec.NotData):
        codec.pack(nested, None)


def test_what_comes_cannot_compare_itself():
    """Subclasses do not travel as such: data has the comparison of its plain type."""

    class Always(float):
        def __eq__(self, other):
            return True

        __hash__ = float.__hash__

    class Array(np.ndarray):
        def __eq__(self, other):
            return np.ones(np.shape(other), bool)

    assert there_and_back(Always(3.0)) != 4.0
    back = there_and_back(np.zeros(2).view(Array))
    assert type(back) is np.ndarray and not (back == 1).any()
