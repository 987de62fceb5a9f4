"""What a figure can be drawn from, asked at the boundary."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from course_lib.errors import BadInput


def numbers(name: str, values: Any, ndim: int = 1, positive: bool = False) -> np.ndarray:
    """`values` as a float64 array with `ndim` dimensions, not empty, all finite (and above 0); else BadInput."""
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        wanted = f"numbers in {ndim} dimension(s)"
        raise BadInput(f"{name} must be {wanted}, not {_short(values)}") from None
    if array.ndim != ndim or array.size == 0:
        wanted = f"{ndim} dimension(s) and not be empty"
        raise BadInput(f"{name} must have {wanted}, but its shape is {array.shape}")
    _check_all(name, array, np.isfinite(array), "leave out what is not finite before drawing")
    if positive:
        _check_all(name, array, array > 0, "a log axis shows only what is above 0")
    return array


def _check_all(name, array, good, why):
    """BadInput that names the first entry which is not good."""
    if not good.all():
        where = tuple(int(i) for i in np.argwhere(~good)[0])
        raise BadInput(f"{name} holds {array[where]:g} at index {where}: {why}")


def labels(name: str, values: Any, n: int, n_classes: int | None = None) -> np.ndarray:
    """`values` as int64 class labels (n,), each from 0 to n_classes - 1 where that is given; else BadInput."""
    array = np.asarray(values)
    if array.shape != (n,) or array.dtype.kind not in "iu":
        got = f"{array.dtype} of shape {array.shape}"
        raise BadInput(f"{name} must be {n} whole numbers, shape ({n},), not {got}")
    high = n_classes if n_classes is not None else np.inf
    if not ((array >= 0) & (array < high)).all():
        got = f"it goes from {array.min()} to {array.max()}"
        raise BadInput(f"{name} must lie from 0 to {high - 1:g}; {got}")
    return array.astype(np.int64)


def named(name: str, mapping: Any) -> dict[str, Any]:
    """A dict that is not empty, with text for keys; else BadInput."""
    if not isinstance(mapping, Mapping) or not mapping:
        wanted = "a dict of name -> values with one entry or more"
        raise BadInput(f"{name} must be {wanted}, not {_short(mapping)}")
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
        what = f"{pixels.shape[1]} pixels in a row, which is no {height} x {width} image"
        raise BadInput(f"{name} has {what}: pass shape=(height, width)")
    return pixels.reshape(-1, height, width)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
