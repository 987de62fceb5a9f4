"""What a figure can be drawn from, asked at the boundary."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from course_lib.errors import BadInput


def numbers(name: str, values: Any, ndim: int = 1, positive: bool = False) -> np.ndarray:
    """`values` as a float64 array with `ndim` dimensions, not empty, all finite (and above 0); else BadInput."""
    try:
        array = np.asarray(values)
        array = (
            array.astype(np.float64)
            if array.dtype.kind in "buif"
            else np.asarray(values, dtype=np.float64)
        )
    except (TypeError, ValueError):
        raise BadInput(
            f"{name} must be numbers in {ndim} dimension(s), not {_short(values)}"
        ) from None
    if array.ndim != ndim or array.size == 0:
        raise BadInput(
            f"{name} must have {ndim} dimension(s) and not be empty, but its shape is {array.shape}"
        )
    if not np.isfinite(array).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise BadInput(
            f"{name} holds {array[where]} at index {where}: leave out what is not finite before drawing"
        )
    if positive and not (array > 0).all():
        where = tuple(int(i) for i in np.argwhere(~(array > 0))[0])
        raise BadInput(
            f"{name} holds {array[where]:g} at index {where}: a log axis shows only what is above 0"
        )
    return array


def labels(name: str, values: Any, n: int, n_classes: int | None = None) -> np.ndarray:
    """`values` as int64 class labels (n,), each from 0 to n_classes - 1 where that is given; else BadInput."""
    array = np.asarray(values)
    if array.shape != (n,) or array.dtype.kind not in "iu":
        raise BadInput(
            f"{name} must be {n} whole numbers, shape ({n},), not {array.dtype} of shape {array.shape}"
        )
    high = n_classes if n_classes is not None else np.inf
    if not ((array >= 0) & (array < high)).all():
        raise BadInput(
            f"{name} must lie from 0 to {high - 1:g}; it goes from {array.min()} to {array.max()}"
        )
    return array.astype(np.int64)


def named(name: str, mapping: Any) -> dict[str, Any]:
    """A dict that is not empty, with text for keys; else BadInput."""
    if not isinstance(mapping, Mapping) or not mapping:
        raise BadInput(
            f"{name} must be a dict of name -> values with one entry or more, not {_short(mapping)}"
        )
    if not all(isinstance(key, str) for key in mapping):
        raise BadInput(f"the names in {name} must be text: they are printed beside what they name")
    return dict(mapping)


def class_names(names: Iterable[Any] | None, n: int) -> list[str]:
    """`names` as n texts; None: "0" to "n - 1"; else BadInput."""
    if names is None:
        return [str(i) for i in range(n)]
    found = [str(name) for name in names]
    if len(found) != n:
        raise BadInput(f"there are {n} classes but {len(found)} class names")
    return found


def images(name: str, X: Any, shape: Sequence[int] | None = None) -> np.ndarray:
    """(n, height * width) or (n, height, width) pixels as (n, height, width) float64; else BadInput."""
    ndim = np.ndim(X) if np.ndim(X) in (2, 3) else 2
    pixels = numbers(name, X, ndim=ndim)
    if ndim == 3:
        return pixels
    side = round(pixels.shape[1] ** 0.5)
    height, width = shape if shape is not None else (side, side)
    if height * width != pixels.shape[1]:
        raise BadInput(
            f"{name} has {pixels.shape[1]} pixels in a row, which is no {height} x {width} image: "
            "pass shape=(height, width)"
        )
    return pixels.reshape(-1, height, width)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
