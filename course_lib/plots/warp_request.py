"""One request of a warp: where its lanes want to go, in sectors of global memory or banks of shared memory."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.errors import BadInput

WARP, SECTOR, BANKS, WORD = 32, 32, 32, 4  # lanes; bytes; banks; bytes
SIZES = (1, 2, 4, 8, 16)
COLUMNS = {"lanes", "lanes_bytes", "lanes_block", "lanes_warp", "line", "op", "array", "space"}
Turn = dict[int, tuple[int, list[int]]]  # bank -> the word that it gives, the lanes that get it


@dataclass(frozen=True)
class Request:
    """offsets: of each of the 32 lanes, in bytes from the array's start, None where it takes no part.

    itemsize: bytes that each lane asks for. name: what is asked for, as a title says it. kind: sector or bank.
    stores: whether they are written.
    """

    offsets: tuple[int | None, ...]
    itemsize: int
    name: str
    kind: str
    stores: bool = False

    @property
    def lanes(self) -> list[tuple[int, int]]:
        """(lane, offset) of those that take part."""
        return [(lane, offset) for lane, offset in enumerate(self.offsets) if offset is not None]

    def sectors(self) -> dict[int, list[int]]:
        """The sectors that move, by number from the array's start, and the lanes that want something of each."""
        found: dict[int, list[int]] = {}
        for lane, offset in self.lanes:
            found.setdefault(offset // SECTOR, []).append(lane)
        return dict(sorted(found.items()))

    def wavefronts(self) -> list[tuple[int, Turn]]:
        """What shared memory does in turn: (how many turns these lanes have waited, what the banks give).

        A bank gives one word in a turn, to all who want it. Lanes that together want more than 128 bytes, a word from
        each bank, are served in groups.
        """
        turns, size = list[tuple[int, Turn]](), min(WARP, BANKS * WORD // self.itemsize)
        for first in range(0, WARP, size):
            banks = dict[int, dict[int, list[int]]]()
            for lane, offset in self.lanes:
                if first <= lane < first + size:
                    for word in range(offset // WORD, (offset + self.itemsize - 1) // WORD + 1):
                        banks.setdefault(word % BANKS, {}).setdefault(word, []).append(lane)
            for nth in range(max(map(len, banks.values()), default=0)):
                left = {bank: list(words.items())[nth:] for bank, words in sorted(banks.items())}
                turns.append((nth, {bank: words[0] for bank, words in left.items() if words}))
        return turns


def request_of(row: Any, kind: str | None, itemsize: int) -> Request:
    """From a row of a Report's accesses, or from the index of each lane. Raises BadInput."""
    if kind not in (None, "sector", "bank"):
        known = "'sector' (global memory) or 'bank' (shared memory)"
        raise BadInput(f"kind is {kind!r}: it may be {known}")
    if isinstance(row, Mapping):
        return _of_row(row, kind)
    if not isinstance(itemsize, int) or itemsize not in SIZES:
        raise BadInput(f"itemsize is {itemsize!r}: a lane asks for 1, 2, 4, 8 or 16 bytes")
    if not isinstance(row, Sequence | np.ndarray) or not 1 <= len(row) <= WARP:
        wanted = "a row of report.accesses, or a list of 1 to 32 indices, one for each lane"
        raise BadInput(f"row must be {wanted}")
    for lane, index in enumerate(row):
        if index is not None and (not isinstance(index, int | np.integer) or index < 0):
            wanted = "a whole number from 0, or None"
            raise BadInput(f"lane {lane} has index {index!r}: it must be {wanted}")
    offsets = [None if index is None else int(index) * itemsize for index in row]
    return _checked(offsets, itemsize, "", kind or "sector")


def _of_row(row: Mapping[str, Any], kind: str | None) -> Request:
    if missing := COLUMNS - set(row):
        raise BadInput(f"row is no row of report.accesses: it lacks {', '.join(sorted(missing))}")
    if kind is None and row["space"] == "constant":
        why = "constant memory has neither sectors nor banks"
        raise BadInput(f"{why}: name a kind to see its lanes all the same")
    who = f"warp {row['lanes_warp']} of block {row['lanes_block']}"
    name = f"line {row['line']}, {row['op']} of {row['array']} by {who}"
    kind = kind or ("bank" if row["space"] == "shared" else "sector")
    return _checked(row["lanes"], row["lanes_bytes"], name, kind, row["op"] == "store")


def _checked(offsets, itemsize, name, kind, stores=False):
    if all(offset is None for offset in offsets):
        raise BadInput("no lane takes part: there is nothing to draw")
    return Request((*offsets, *[None] * (WARP - len(offsets))), itemsize, name, kind, stores)


def ranges(values: Sequence[int]) -> str:
    """Numbers as they are said: [0, 1, 2, 5] -> "0–2, 5", [0, 2, 4, 6] -> "0, 2, …, 6"."""
    values, runs = sorted(values), list[list[int]]()
    for value in values:
        if runs and value == runs[-1][1] + 1:
            runs[-1][1] = value
        else:
            runs.append([value, value])
    texts = [f"{low}–{high}" if high > low else f"{low}" for low, high in runs]
    return ", ".join(texts if len(texts) <= 4 else [*texts[:2], "…", texts[-1]])
