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
    right = int(flat.argmax())
    if mask.ndim > 1 or not flat[right:].all():
        return None
    if right == threads:
        return f"only the first {right:,} are right, as many as a block has threads: is blockIdx.x in the index?"
    if right == flat.size - 1:
        return LAST
    if right % threads == 0:
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
            if extent > 1 and (said := _along(mask, at, f"{which}.{letter}")):
                return said
    return None


def _along(mask, at, name):
    last = int(at.max())
    if last == 0:
        return None
    if np.array_equal(mask, at > 0):
        if last == 1 and name.startswith("block"):  # both readings fit
            return f"exactly the elements with {name} = 1, the last: {END}, or does the index not use {name} correctly?"
        return f"everything is right only where {name} is 0: does the index use {name} correctly?"
    if np.array_equal(mask, at == last):
        end = END if name.startswith("block") else "its neighbour belongs to another block"
        return f"exactly the elements with the last {name} ({last}): {end}"
    if np.array_equal(mask, at == 0):
        return f"exactly the elements with {name} = 0"
    wrong = np.unique(at[mask])
    if np.array_equal(mask, at >= wrong[0]):
        return f"exactly the elements with {name} of {wrong[0]} and more"
    if np.array_equal(mask, np.isin(at, wrong)) and len(wrong) > 1 and len({*np.diff(wrong)}) == 1:
        return f"exactly the elements with {name} = {', '.join(map(str, wrong[:4]))}{', ...' if len(wrong) > 4 else ''}"
    return None


def _owners(shape, launch):
    """(*shape, 2, 3) ints: block and thread of each element; None where the launch does not say."""
    owners = [owner_of(launch, index) for index in np.ndindex(*shape)]
    return None if None in owners else np.array(owners).reshape(*shape, 2, 3)
