"""Which elements of an output are wrong, and what they have in common: a block, a thread, an end."""

import numpy as np

from course_lib.checks.kit.kernels.running import owner_of, triple

MOST = 20_000  # elements looked at one by one
END = "the ragged edge"
LAST = "only the last one: does the guard stop one too early?"


def is_last_alone(mask):
    """Is only the last element wrong, whatever else may be said of that?"""
    return bool(mask.ravel()[-1]) and mask.sum() == 1


def pattern(mask, launch):
    """A sentence on what the wrong elements (and no others) have in common, or None. mask: True where wrong."""
    if mask.all() or mask.size > MOST or mask.ndim == 0:
        return None
    return _by_owner(mask, launch) or _by_place(mask, launch)


def _by_place(mask, launch):
    """Of an array with one axis: everything from some element on."""
    flat, threads = mask.ravel(), int(np.prod(triple(launch.block)))
    all_threads = threads * int(np.prod(triple(launch.grid)))
    right = int(flat.argmax())
    if mask.ndim > 1 or not flat[right:].all():
        return None
    if right == all_threads:
        return f"only the first {right:,} are right, as many as there are threads: does each go on to another element?"
    if right == threads:
        return f"only the first {right:,} are right, as many as a block has threads: is blockIdx.x in the index?"
    if right == flat.size - 1:
        return LAST
    if right % all_threads == 0:
        return f"everything from element {right:,} on, which is {right // all_threads} times the number of threads"
    if right % threads == 0 and right < flat.size < min(right + threads, all_threads):
        return f"from element {right:,} on: the last block, which has fewer elements than threads"
    return f"everything from element {right:,} on"


def _by_owner(mask, launch):
    """By the block and the thread whose task an element is."""
    owners = _owners(mask.shape, launch)
    if owners is None:
        return None
    grid, block = triple(launch.grid), triple(launch.block)
    for axis, letter in enumerate("xyz"):
        for which, extent, at in (
            ("blockIdx", grid[axis], owners[..., 0, axis]),
            ("threadIdx", block[axis], owners[..., 1, axis]),
        ):
            if extent > 1 and (said := _along(mask, at, f"{which}.{letter}", grid[axis])):
                return said
    return None


def _along(mask, at, name, blocks):
    last = int(at.max())
    if last == 0:
        return None
    end = _end(at, last, name, blocks)
    if np.array_equal(mask, at > 0):
        if last == 1 and name.startswith("block"):  # both readings fit
            return f"exactly the elements with {name} = 1, the last{end}, or does the index not use {name} correctly?"
        return f"everything is right only where {name} is 0: does the index use {name} correctly?"
    if np.array_equal(mask, at == last):
        return f"exactly the elements with the last {name} ({last}){end}"
    if np.array_equal(mask, at == 0):
        return f"exactly the elements with {name} = 0"
    wrong = np.unique(at[mask])
    if np.array_equal(mask, at >= wrong[0]):
        return f"exactly the elements with {name} of {wrong[0]} and more"
    if np.array_equal(mask, np.isin(at, wrong)) and len(wrong) > 1 and len({*np.diff(wrong)}) == 1:
        return f"exactly the elements with {name} = {', '.join(map(str, wrong[:4]))}{', ...' if len(wrong) > 4 else ''}"
    return None


def _end(at, last, name, blocks):
    """What is special about the last block, or thread, where something is."""
    if name.startswith("block"):
        return f": {END}" if (at == last).sum() < (at == 0).sum() else ""
    return ": its neighbour belongs to another block" if blocks > 1 else ""


def _owners(shape, launch):
    """(*shape, 2, 3) ints: block and thread of each element; None where the launch does not say."""
    owners = [owner_of(launch, index) for index in np.ndindex(*shape)]
    return None if None in owners else np.array(owners).reshape(*shape, 2, 3)
