"""From the words of `--arg` to the arrays and numbers of a launch, checked against the kernel's parameters."""

import math
import re

import numpy as np

from course_lib.errors import BadInput, check_choice
from course_tools.trace.kernel_file import TYPES

SPEC = re.compile(r"(?:([A-Za-z_]\w*)\s*(\[[^\]]*\])?)?(?:(?:^|=)(.+))?", re.DOTALL)
FILLS = ("random", "zeros", "ones", "arange", "nan", "unset")


def numbers(option, text):
    """The whole numbers of `128`, `32,8` or `32x8`."""
    parts = re.split(r"[,x]", text)
    if not all(re.fullmatch(r"\s*\d+\s*", part) for part in parts):
        raise BadInput(f"{option} {text}: give whole numbers, as 128 or 32,8")
    return tuple(map(int, parts))


def arguments(kernel, parameters, specs, seed):
    """A value for each parameter, from `SPEC`s in order and `NAME=SPEC`s. Raises BadInput where they do not fit."""
    names = [parameter.name for parameter in parameters]
    given = {}
    for spec in specs:
        name, found, rest = spec.partition("=")
        if not (found and name in names):
            free = [one for one in names if one not in given]
            if found and re.fullmatch(r"[A-Za-z_]\w*", name) and not _dtype(name):
                raise BadInput(f"{kernel} has no parameter {name!r}; it has {', '.join(names)}")
            if not free:
                raise BadInput(
                    f"{kernel} takes {len(names)} arguments ({', '.join(names)}): {spec} is too many"
                )
            name, rest = free[0], spec
        if name in given:
            raise BadInput(f"{name} is given twice")
        given[name] = rest
    if missing := [one.text for one in parameters if one.name not in given]:
        raise BadInput(f"{kernel} needs {len(names)} arguments; not given: {'; '.join(missing)}")
    rng = np.random.default_rng(seed)
    return [_fitting(one, value(given[one.name], one.name, rng, one)) for one in parameters]


def value(spec, name, rng, parameter=None):
    """The array, scalar or None of one SPEC. parameter: whose type a bare number takes."""
    if spec == "null":
        return None
    if spec.endswith(".npy"):
        return _from_file(spec, name)
    found = SPEC.fullmatch(spec)
    word, shape, fill = found.groups() if found else (None, None, None)
    dtype = _dtype(word) if word else parameter and not parameter.is_pointer and parameter.dtype
    if not dtype or not (shape or fill):
        raise BadInput(
            f"{name}: {spec} is not understood: write float32[1024], int32=5, x.npy or null"
        )
    if shape is None:
        return dtype.type(_number(name, fill, dtype))
    text = re.sub(r"\s", "", shape[1:-1])
    if not re.fullmatch(r"\d+(,\d+)*", text):
        raise BadInput(f"{name}: {shape} is no shape: write [1024] or [64,64]")
    return _filled(name, tuple(map(int, text.split(","))), dtype, fill or "random", rng)


def _filled(name, shape, dtype, fill, rng):
    size = math.prod(shape)
    if size * dtype.itemsize > 1 << 30:
        raise BadInput(
            f"{name}: {size:,} elements are too many for the 1 GiB of the device's memory"
        )
    if fill == "random":
        drawn = rng.uniform(-1, 1, shape) if dtype.kind == "f" else rng.integers(0, 10, shape)
        return np.asarray(drawn).astype(dtype)
    if fill == "arange":
        return np.arange(size).astype(dtype).reshape(shape)
    if fill in ("nan", "unset") and dtype.kind == "f":
        return np.full(shape, np.nan, dtype)
    if fill == "unset":
        return np.ma.masked_all(shape, dtype)
    number = {"zeros": "0", "ones": "1"}.get(fill, fill)
    if not re.match(r"[-+.\d]", number):
        check_choice(f"{name}: what fills it", fill, (*FILLS, "a number"))
    return np.full(shape, _number(name, number, dtype), dtype)


def _number(name, text, dtype):
    try:
        number = float(text) if dtype.kind == "f" else int(text, 0)
        return np.array(number, dtype)
    except (ValueError, OverflowError):
        raise BadInput(f"{name}: {text!r} is no {dtype.name}") from None


def _from_file(path, name):
    try:
        array = np.load(path, allow_pickle=False)
    except OSError as error:
        raise BadInput(f"{name}: {path} cannot be read: {error.strerror}") from None
    except (ValueError, EOFError):
        why = "NumPy has not written it, or it holds Python objects instead of numbers"
        raise BadInput(f"{name}: {path} cannot be read: {why}") from None
    return np.ascontiguousarray(array)


def _dtype(word):
    """The dtype of a NumPy or C name, or None."""
    known = TYPES.get(word, word)
    good = re.fullmatch(r"bool|u?int(8|16|32|64)|float(16|32|64)", known)
    return np.dtype(known) if good else None


def _fitting(parameter, found):
    """The value, if its type is the parameter's."""
    is_array, dtype = isinstance(found, np.ndarray), parameter.dtype
    if found is None and parameter.is_pointer:
        return None
    wrong_type = dtype is not None and found is not None and found.dtype != dtype
    if found is None or is_array != parameter.is_pointer or wrong_type:
        kind = dtype.name if dtype else "the type"
        wanted = f"{kind}[...]" if parameter.is_pointer else f"{kind}=..."
        got = (
            "null"
            if found is None
            else f"{'an array' if is_array else 'a scalar'} of {found.dtype}"
        )
        raise BadInput(f"{parameter.name} is `{parameter.text}`: give {wanted}, not {got}")
    return found
