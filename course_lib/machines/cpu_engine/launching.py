"""From a kernel's Python arguments to the bytes that a launch sends, checked against the kernel's own parameters."""

import difflib
import math
from collections.abc import Iterable

import numpy as np

from course_lib.errors import BadInput, check_count
from course_lib.machines.cpu_engine.messages import refused

# of a block, on every CUDA GPU; the same as in native/blocks.h
MAX_THREADS, MAX_SHARED = 1024, 48 << 10
KINDS = {"f": "a floating-point number", "i": "an integer", "u": "an unsigned integer"}


def check_shape(grid, block, shared):
    """(grid, block, shared) as plain ints, three each. Raises BadInput for what no GPU would launch."""
    grid = _triple("grid", grid, (2**31 - 1, 65535, 65535))
    block = _triple("block", block, (1024, 1024, 64))
    if math.prod(block) > MAX_THREADS:
        raise BadInput(refused("threads", block=block, threads=math.prod(block), most=MAX_THREADS))
    if math.prod(grid) >= 2**32:
        raise BadInput(f"grid {grid} has {math.prod(grid):,} blocks, too many for the CPU engine")
    return grid, block, check_count("shared", shared, 0, MAX_SHARED)


def scalar(kernel, name, parameter, value):
    """A scalar argument as bytes. Raises BadInput unless its NumPy type is the parameter's."""
    kind, size = parameter
    got = f"np.{value.dtype}" if isinstance(value, np.generic) else type(value).__name__
    if kind == "b":
        if not isinstance(value, np.void | np.ndarray) or value.nbytes != size:
            raise BadInput(refused("struct", kernel=kernel, name=name, size=size, got=got))
        return value.tobytes()
    kinds = "ub" if kind == "u" else kind
    if not isinstance(value, np.generic) or value.nbytes != size or value.dtype.kind not in kinds:
        words = {"a_number": KINDS[kind], "wanted": np.dtype(f"{kind}{size}"), "got": got}
        raise BadInput(refused("scalar", kernel=kernel, name=name, size=size, **words))
    return value.tobytes()


def pointer(value):
    """A device address as bytes."""
    return int(value).to_bytes(8, "little")


def check_arguments(kernel, kernels, args):
    """The kernel's parameters as (kind, bytes). Raises BadInput for an unknown kernel or a wrong count."""
    if kernel not in kernels:
        near = difflib.get_close_matches(str(kernel), kernels, 1)
        guess = f": did you mean {near[0]}?" if near else ""
        known = ", ".join(sorted(kernels)) or "none"
        raise BadInput(f"there is no kernel {kernel!r}; the source has {known}{guess}")
    if not isinstance(args, list | tuple):
        raise BadInput(f"{kernel}: the arguments must be a list, not {type(args).__name__}")
    if len(args) != len(kernels[kernel]):
        raise BadInput(f"{kernel} takes {len(kernels[kernel])} arguments, not {len(args)}")
    return kernels[kernel]


def check_buffer(kernel, name, value):
    """Raises BadInput unless a pointer's argument is an array of numbers as the device has them, or None."""
    if value is None:
        return
    is_array = isinstance(value, np.ndarray)
    if not is_array or value.dtype.kind not in "biufcV" or value.dtype.hasobject:
        got = f"an array of {value.dtype}" if is_array else type(value).__name__
        raise BadInput(refused("pointer", kernel=kernel, name=name, got=got))
    if not value.dtype.isnative:
        raise BadInput(refused("swapped", kernel=kernel, name=name, dtype=value.dtype.str))


def block_numbers(blocks, grid):
    """Blocks given as numbers, x first, or as (x, y, z), as a list of numbers; None stays None (all of them)."""
    if blocks is None:
        return None
    if not isinstance(blocks, Iterable) or not (blocks := list(blocks)):
        raise BadInput("blocks must name one block at least, or be None for all")
    return [check_count("a block's number", _flat(b, grid), 0, math.prod(grid) - 1) for b in blocks]


def _flat(block, grid):
    if not isinstance(block, tuple | list):
        return block
    if len(block) > 3:
        raise BadInput(f"a block is a number or (x, y, z), not {block!r}")
    index = zip([*block, 0, 0][:3], grid, strict=True)
    x, y, z = (check_count("a block's index", i, 0, n - 1) for i, n in index)
    return x + grid[0] * (y + grid[1] * z)


def _triple(name, value, most):
    parts = tuple(value) if isinstance(value, tuple | list) else (value,)
    if not 1 <= len(parts) <= 3:
        raise BadInput(f"{name} must be one to three numbers, not {value!r}")
    parts += (1,) * (3 - len(parts))
    return tuple(check_count(f"{name}[{i}]", parts[i], 1, most[i]) for i in range(3))
