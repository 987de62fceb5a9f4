"""The checks of chapter 08 on arithmetic: sectors of a load, blocks that fit on an SM, the tile to choose."""

from math import ceil

from course_lib.checks.kit.core import Case, Check

# sectors_of_load ------------------------------------------------------------------------------------------------------


def _sectors(first, stride):
    return len({4 * (first + t * stride) // 32 for t in range(32)})


def _load_cases(rng):
    cases = [
        Case((0, 1), "side by side"),
        Case((0, 0), "all the same"),
        Case((0, 2), "every second"),
        Case((1, 1), "side by side, one element on"),
    ]
    cases += [
        Case((int(rng.integers(1, 8)), 1), "side by side, from the middle of a sector"),
        Case((3, 5), "stride 5"),
    ]
    return [
        *cases,
        Case((int(rng.integers(0, 8)), int(rng.integers(9, 900))), "far apart"),
        Case((int(rng.integers(2, 99)) * 8 + 1, 7), "stride 7, from another sector on"),
    ]


check_sectors_of_load = Check(
    "sectors_of_load",
    _load_cases,
    _sectors,
    dtype=None,
)


# blocks_per_sm --------------------------------------------------------------------------------------------------------

A100 = {"threads": 2048, "blocks": 32, "registers": 65536, "shared": 164 * 1024, "reserved": 1024}
T4 = {"threads": 1024, "blocks": 16, "registers": 65536, "shared": 64 * 1024, "reserved": 0}
V100 = {"threads": 2048, "blocks": 32, "registers": 65536, "shared": 96 * 1024, "reserved": 0}
# what it reserves for a block limits a block that asks for none; no two of its numbers are usual
SMALL = A100 | {"shared": 16 * 1024, "reserved": 2048}
WIDE = V100 | {"registers": 131072}


def warps_of_registers(registers, sm):
    """Warps whose registers fit: four schedulers with a quarter each, portions of 8 a thread."""
    return 4 * (sm["registers"] // 4 // (ceil(registers / 8) * 8 * 32))


def _blocks(threads, registers, shared, sm):
    taken = shared + sm["reserved"]
    room = sm["shared"] // taken if taken else sm["blocks"]
    by_registers = warps_of_registers(registers, sm) // (threads // 32)
    return min(sm["blocks"], sm["threads"] // threads, by_registers, room)


def _blocks_cases(rng):
    some = int(rng.integers(5, 9)) * 8
    return [
        Case((64, 53, 256, A100), "section 4.2's kernel on an A100"),
        Case((256, 124, 16896, A100), "buffered_8x8 on an A100"),
        Case((1024, 31, 8448, T4), "algorithm 2 on a T4"),
        Case((64, 24, 0, T4), "limited by blocks"),
        Case((256, 32, 54 * 1024, A100), "limited by shared memory"),
        Case((1024, 72, 1024, V100), "too many registers"),
        Case((32, 16, 0, A100), "no shared memory"),
        Case((128, some - 3, 8192, V100), "some kernel"),
        Case((256, 128, 1024, WIDE), "128 registers of twice as many"),
        Case((64, 41, 512, A100), "41 registers"),
        *[Case((64, n, 512, A100), f"{n} registers") for n in (33, 57)],
        Case((96, 104, 512, A100), "96 threads"),
        Case((64, 64, 4096, T4), "4 KiB of shared memory on a T4"),
        Case((64, 16, 0, SMALL), "limited by the reserved bytes"),
        Case((64, 16, 512, SMALL), "less than the reserved bytes"),
    ]


check_blocks_per_sm = Check(
    "blocks_per_sm",
    _blocks_cases,
    _blocks,
    dtype=None,
)


# choose_tile ----------------------------------------------------------------------------------------------------------


def _ratio(tile):
    return tile[0] * tile[1] / (tile[0] + tile[1])


def _choose(tiles, sm, at_least):
    def fits(TM, TN):
        registers, shared = TM * TN + TM + TN + 30, 2 * 4 * 16 * 16 * (TM + TN)
        return registers <= 255 and _blocks(256, registers, shared, sm) >= at_least

    return max((tile for tile in tiles if fits(*tile)), key=_ratio)


def _tile_cases(rng):
    tiles = [(TM, TN) for TM in (1, 2, 4, 8, 16) for TN in (1, 2, 4, 8, 16) if TM <= TN]
    cases = []
    for sm, at_least, label in (
        (A100, 2, "A100, 2 blocks"),
        (A100, 4, "A100, 4 blocks"),
        (T4, 2, "T4, 2 blocks"),
        (A100, 1, "A100, 1 block"),
        (T4, 3, "T4, 3 blocks"),
        (V100, 3, "V100, 3 blocks"),
        (A100 | {"shared": 11 * 1024}, 1, "11 KiB of shared memory, 1 block"),
        (A100 | {"registers": 131072}, 1, "twice the registers, 1 block"),
    ):
        mixed = [
            tiles[i][:: 1 if turn else -1] for i, turn in enumerate(rng.integers(0, 2, len(tiles)))
        ]
        mixed = [mixed[i] for i in rng.permutation(len(tiles))]
        mixed.sort(
            key=lambda tile: tile[0] == tile[1]
        )  # of equally many sums, the square comes last
        cases.append(Case((mixed, sm, at_least), label))
    rising = sorted(tiles, key=_ratio)
    cases += [Case((rising, A100, n), f"from the smallest ratio on, {n} blocks") for n in (2, 3, 6)]
    long = [(2, 20), (4, 8), (5, 5), (3, 12)]  # no two of equally many sums
    cases.append(Case((long, A100, 2), "long tiles, 2 blocks"))
    return [*cases, Case((rising[::-1], A100, 4), "from the largest ratio on, 4 blocks")]


check_choose_tile = Check(
    "choose_tile",
    _tile_cases,
    _choose,
    dtype=None,
    post=lambda tile: tuple(tile) if isinstance(tile, list) else tile,
    parts=("TM", "TN"),
)
