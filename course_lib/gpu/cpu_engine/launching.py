"""From a kernel's Python arguments to the bytes that a launch sends, checked against the kernel's own parameters."""

import numpy as np

from course_lib.errors import BadInput, check_count

from .blocks import MAX_SHARED, MAX_THREADS

KINDS = {"f": "floating point", "i": "integer", "u": "unsigned integer"}


def check_shape(grid, block, shared):
    """(grid, block, shared) as plain ints, three each. Raises BadInput for what no GPU would launch."""
    grid, block = _triple("grid", grid, (2**31 - 1, 65535, 65535)), _triple("block", block, (1024, 1024, 64))
    if block[0] * block[1] * block[2] > MAX_THREADS:
        raise BadInput(f"block {block} has {block[0] * block[1] * block[2]} threads; a block may have {MAX_THREADS}")
    return grid, block, check_count("shared", shared, 0, MAX_SHARED)


def scalar(kernel, name, parameter, value):
    """A scalar argument as bytes. Raises BadInput unless its NumPy type is the parameter's."""
    kind, size = parameter
    if kind == "b":
        raw = value.tobytes() if hasattr(value, "tobytes") else b""
        if len(raw) != size:
            raise BadInput(f"{kernel}: {name} is a struct of {size} bytes: pass a NumPy scalar of a structured dtype of that size")
        return raw
    wanted = np.dtype(f"{kind}{size}")
    if not isinstance(value, np.generic) or value.dtype.itemsize != size or value.dtype.kind not in ("ub" if kind == "u" else "i" if kind == "i" else "f"):
        got = f"np.{value.dtype}" if isinstance(value, np.generic) else type(value).__name__
        raise BadInput(f"{kernel}: {name} is a {KINDS[kind]} of {size} bytes: pass np.{wanted.name}(...), not {got}")
    return value.tobytes()


def pointer(value):
    """A device address as bytes."""
    return int(value).to_bytes(8, "little")


def check_arguments(kernel, kernels, args):
    """The kernel's parameters as (kind, bytes). Raises BadInput for an unknown kernel or a wrong number of arguments."""
    if kernel not in kernels:
        raise BadInput(f"there is no kernel {kernel!r}; the source has {', '.join(kernels) or 'none'}")
    if len(args) != len(kernels[kernel]):
        raise BadInput(f"{kernel} takes {len(kernels[kernel])} arguments, not {len(args)}")
    return kernels[kernel]


def _triple(name, value, most):
    parts = tuple(value) if isinstance(value, tuple | list) else (value,)
    if not 1 <= len(parts) <= 3:
        raise BadInput(f"{name} must be one to three numbers, not {value!r}")
    parts += (1,) * (3 - len(parts))
    return tuple(check_count(f"{name}[{i}]", part, 1, high) for i, (part, high) in enumerate(zip(parts, most, strict=True)))
