"""Do all ranks start their collectives in the same order? MPI pairs them by their order alone, whatever their arrays.

Two that are alike (one name, root, op and size) are told apart by what the program calls their arrays, or by the text
of their lines: where one rank has them the other way round, the numbers of one go into the other, in silence.
"""

import sys
from typing import Any

import numpy as np

from course_lib.machines.rehearsal.places import in_words

BACK = 8  # collectives that are looked back at
FEW = 64  # elements of a list, or attributes, that are looked at
SAME, SWAPPED, UNKNOWN = "same", "swapped", "unknown"


class Names:
    """One rank's memory of its last collectives: {array: what it is called}, as long as that stays so."""

    def __init__(self, mine):
        self._mine, self._last = mine, list[Any]()

    def of(self, arrays):
        """The names of each of these arrays, kept up to date by later calls: a list of sets."""
        scope = self._scope()
        names = [_paths(array, scope) for array in arrays]
        for others, known in self._last:
            for array, had in zip(others, known, strict=True):
                gone = had - _paths(array, scope)
                had -= gone
                for new in names:
                    new -= gone
        self._last = [*self._last[1 - BACK :], (arrays, names)]
        return names

    def _scope(self):
        """The variables of the program's own frames, the innermost first."""
        found: list[dict] = []
        frame: Any = sys._getframe()
        while frame is not None and len(found) < 4:
            if self._mine(frame):
                found.append(frame.f_locals)
            frame = frame.f_back
        return found


def _paths(array, scope):
    """What the program calls an array: {(0, "a"), (1, "grads[2]")}, the best kind of name lowest."""
    if array is None:
        return set()
    found = set()
    for variables in scope:
        for name, value in list(variables.items()):
            if _is(value, array):
                found.add((0, name))
            else:
                found |= {
                    (level, name + path) for level, path, v in _inside(value) if _is(v, array)
                } | _part(name, value, array)
    return found


def _part(name, value, array):
    """The name of a part of a larger array."""
    if isinstance(value, np.ndarray) and 0 < array.nbytes < value.nbytes:
        offset = _address(array) - _address(value)
        if 0 <= offset <= value.nbytes - array.nbytes:
            return {(2, f"{name}, from byte {offset} on")}
    return set()


def _inside(value):
    """(kind of name, what stands behind the name, value) of the parts of a container."""
    if isinstance(value, dict) and len(value) <= FEW:
        return [(1, f"[{key!r}]", part) for key, part in value.items()]
    if isinstance(value, list | tuple) and len(value) <= FEW:
        return [(2, f"[{i}]", part) for i, part in enumerate(value)]
    if isinstance(value, np.ndarray):
        return []
    inner = getattr(value, "__dict__", None)
    if isinstance(inner, dict) and len(inner) <= FEW:
        return [(1, f".{name}", part) for name, part in inner.items()]
    return []


def _is(value, array):
    if value is array:
        return True
    if not isinstance(value, np.ndarray) or value.nbytes != array.nbytes or not value.nbytes:
        return False
    return _address(value) == _address(array)


def _address(array):
    return array.__array_interface__["data"][0]


def look_back(world, key, slot):
    """A finding where this collective of a communicator, now complete, and an earlier one are swapped on some rank."""
    past = world.past[key]
    for earlier in past:
        pair = _swapped_ranks(earlier, slot)
        if pair:
            _tell(world, earlier, slot, *pair)
            break
    world.past[key] = [*past[1 - BACK :], slot]


def _swapped_ranks(earlier, later):
    """Two ranks that have these two the other way round, or None."""
    first, second = next(iter(earlier.values())), next(iter(later.values()))
    if (first.name, first.terms) != (second.name, second.terms) or first.rule == "Barrier":
        return None
    ranks = sorted(set(earlier) & set(later))
    for other in ranks[1:]:
        if _compared(
            [earlier[r] for r in (ranks[0], other)], [later[r] for r in (ranks[0], other)]
        ):
            return ranks[0], other
    return None


def _compared(earlier, later):
    """Calls of two ranks: are they the other way round on the second?"""
    (a, b), (c, d) = earlier, later
    count = min(len(call.names) for call in (a, b, c, d))
    found = [_of_names(*(call.names[i] for call in (a, b, c, d))) for i in range(count)]
    if any(one != UNKNOWN for one in found):
        return SWAPPED in found and SAME not in found
    text = [call.request.place["code"] for call in (a, b, c, d)]
    return text[0] == text[3] and text[1] == text[2] and text[0] != text[1] and all(text)


def _of_names(a, b, c, d):
    for level in range(3):
        w, x, y, z = ({name for kind, name in names if kind == level} for names in (a, b, c, d))
        w, y = w - y, y - w  # a name of both arrays, or of the one array of both, tells nothing
        x, z = x - z, z - x
        if w & x or y & z:
            return SAME
        if w & z and y & x:
            return SWAPPED
    return UNKNOWN


def _tell(world, earlier, later, *pair):
    rows = [
        f"rank {r} calls {call}, {in_words(call.request.place)}"
        for r in pair
        for call in (earlier[r], later[r])
    ]
    call = later[pair[1]]
    world.find(
        "mismatch",
        call.request.rank,
        call.request.place,
        f"ranks {pair[0]} and {pair[1]} call two collectives in different orders: MPI pairs them by order, so "
        "the numbers of one end up in the other",
        "every rank of a communicator calls the same collectives in the same order, including those that do "
        "not wait",
        rows,
    )
