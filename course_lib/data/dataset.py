"""What every loader returns, and one-hot labels."""

import textwrap
from dataclasses import dataclass, replace

import numpy as np

from course_lib.errors import BadInput, check_array, check_count

SPLITS = ("train", "val", "test")


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Training, validation and test examples, as read-only arrays.

    x_train, x_val, x_test: (N, n0) float32, one example a row; pixels in [0, 1] where they are pixels.
    y_train, y_val, y_test: (N,) int64, the class of each example, an index into `class_names`.
    class_names: tuple of str. name: what to call the data. note: what they are, licence, caveats.

    The arrays are read-only, so that no cell of a notebook changes the data under the cells after it:
    to change them, copy them first (`x = data.x_train.copy()`).

    Raises BadInput for a wrong shape or dtype, a label out of range, NaN or infinity, an empty split.
    """

    x_train: np.ndarray
    y_train: np.ndarray
    x_val: np.ndarray
    y_val: np.ndarray
    x_test: np.ndarray
    y_test: np.ndarray
    class_names: tuple[str, ...]
    name: str
    note: str = ""

    def __post_init__(self):
        _check_names(self.class_names)
        for split in SPLITS:
            x, y = self.split(split)
            _check_split(split, x, y, self.n_classes)
            if x.shape[1] != self.x_train.shape[1]:
                counts = f"{x.shape[1]} features and x_train has {self.x_train.shape[1]}"
                raise BadInput(f"x_{split} has {counts}: prepare all splits in the same way")
            object.__setattr__(self, f"x_{split}", _read_only(x))
            object.__setattr__(self, f"y_{split}", _read_only(y))

    @property
    def n_features(self) -> int:
        """n0: how many numbers describe one example."""
        return int(self.x_train.shape[1])

    @property
    def n_classes(self) -> int:
        """nL: how many classes there are."""
        return len(self.class_names)

    def split(self, which):
        """(x, y) of "train", "val" or "test"."""
        if which not in SPLITS:
            raise BadInput(f"there is no split {which!r}: choose one of {', '.join(SPLITS)}")
        return getattr(self, f"x_{which}"), getattr(self, f"y_{which}")

    def subset(self, n_train, n_val=None, n_test=None) -> "Dataset":
        """The first n examples of each split, for a quick try (views, nothing is copied).

        n_val and n_test: None keeps the whole split. Raises BadInput where a split holds fewer.
        """
        parts = {}
        for split, n in zip(SPLITS, (n_train, n_val, n_test), strict=True):
            x, y = self.split(split)
            n = len(y) if n is None else check_count(f"n_{split}", n, 1, len(y))
            parts[f"x_{split}"], parts[f"y_{split}"] = x[:n], y[:n]
        return replace(self, **parts)

    def describe(self) -> str:
        """Sizes, ranges and class counts of each split, and the note, as text."""
        lines = [f"{self.name}: {self.n_features} features, {self.n_classes} classes"]
        lines += [_describe_split(split, *self.split(split)) for split in SPLITS]
        lines += ["", "class counts", *self._class_table()]
        if self.note:
            lines += ["", *textwrap.wrap(self.note, 100)]
        return "\n".join(lines)

    __repr__ = describe

    def _class_table(self):
        counts = [np.bincount(self.split(split)[1], minlength=self.n_classes) for split in SPLITS]
        wide = max(len(name) for name in self.class_names)
        yield " " * (wide + 2) + "".join(f"{split:>9}" for split in SPLITS)
        for name, row in zip(self.class_names, np.transpose(counts), strict=True):
            yield f"  {name:<{wide}}" + "".join(f"{n:>9,}" for n in row)


def one_hot(y, n_classes, dtype=np.float32):
    """Y (B, n_classes) with Y[i, y[i]] = 1 and 0 elsewhere.

    y: (B,) class labels, any integer dtype, 0 <= y < n_classes. dtype: that of Y, float32 or float64.
    Raises BadInput for a label out of range, a wrong shape, labels that are not integers.
    """
    n_classes = check_count("n_classes", n_classes)
    check_array("y", y, ("B",))
    if y.dtype.kind not in "iu":
        wanted = "whole numbers (an integer dtype)"
        raise BadInput(f"y must hold {wanted}, not {y.dtype}: use y.astype(np.int64)")
    if getattr(dtype, "__name__", str(dtype)) not in ("float32", "float64"):
        raise BadInput(f"dtype must be float32 or float64, not {dtype!r}")
    _check_labels("y", y, n_classes)
    Y = np.zeros((len(y), n_classes), dtype)
    Y[np.arange(len(y)), y] = 1
    return Y


def _check_names(names):
    good = isinstance(names, tuple) and all(isinstance(name, str) and name for name in names)
    if not good or len(names) < 2 or len(set(names)) != len(names):
        raise BadInput(f"class_names must be a tuple of two or more different names, not {names!r}")


def _check_split(split, x, y, n_classes):
    check_array(f"x_{split}", x, ("N", "n0"), np.float32)
    check_array(f"y_{split}", y, (len(x),), np.int64)
    if x.size == 0:
        what = f"x_{split} is empty (shape {x.shape})"
        raise BadInput(f"{what}: every split needs at least one example")
    # min and max carry NaN and infinity along and need no array of flags as large as the data
    if not np.isfinite(x.min()) or not np.isfinite(x.max()):
        check_array(f"x_{split}", x, finite=True)
    _check_labels(f"y_{split}", y, n_classes)


def _check_labels(name, y, n_classes):
    wrong = np.flatnonzero((y < 0) | (y >= n_classes))
    if wrong.size:
        allowed = f"with {n_classes} classes labels go from 0 to {n_classes - 1}"
        many = f"{wrong.size} of {y.size} labels are out of range"
        raise BadInput(f"{name}[{wrong[0]}] is {y[wrong[0]]}, but {allowed} ({many})")


def _read_only(array):
    view = array.view()  # the caller's own array stays writable
    view.flags.writeable = False
    return view


def _describe_split(split, x, y):
    values = f"values {x.min():.4g} to {x.max():.4g}, mean {x.mean(dtype=np.float64):.4f}"
    return f"  {split:<5} x {x.shape!s:<13} {x.dtype}, y {y.shape!s:<9} {y.dtype}, {values}"
