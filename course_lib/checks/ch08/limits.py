"""The checks of chapter 08 on arithmetic: sectors of a load, blocks that fit on an SM, the tile to choose."""

from math import ceil

from course_lib.checks.kit.core import Case, Check

# sectors_of_load ------------------------------------------------------------------------------------------------------


def _sectors_with(of=lambda byte: byte // 32, lanes=32):
    return lambda first, stride: len({of(4 * (first + t * stride)) for t in range(lanes)})


def _load_cases(rng):
    cases = [
        Case((0, 1), "side by side"),
        Case((0, 0), "all the same"),
        Case((0, 2), "every second"),
    ]
    cases += [
        Case((int(rng.integers(1, 8)), 1), "side by side, from the middle of a sector"),
        Case((3, 5), "stride 5"),
    ]
    return [
        *cases,
        Case((int(rng.integers(0, 8)), int(rng.integers(9, 900))), "far apart"),
        Case((1, 7), "stride 7"),
    ]


check_sectors_of_load = Check(
    "sectors_of_load",
    _load_cases,
    _sectors_with(),
    dtype=None,
    diagnoses=[
        (
            _sectors_with(of=lambda byte: byte),
            "addresses are counted, not the sectors in which they lie",
        ),
        (
            _sectors_with(of=lambda byte: byte // 4 % 8),
            "the place within a sector is counted, element % 8: the sector itself is element // 8",
        ),
    ],
)


# blocks_per_sm --------------------------------------------------------------------------------------------------------

A100 = {"threads": 2048, "blocks": 32, "registers": 65536, "shared": 164 * 1024, "reserved": 1024}
T4 = {"threads": 1024, "blocks": 16, "registers": 65536, "shared": 64 * 1024, "reserved": 0}
V100 = {"threads": 2048, "blocks": 32, "registers": 65536, "shared": 96 * 1024, "reserved": 0}


def warps_of_registers(registers, sm, portion=8):
    """Warps whose registers fit: four schedulers with a quarter each, portions of 8 a thread."""
    return 4 * (sm["registers"] // 4 // (ceil(registers / portion) * portion * 32))


def _blocks(
    threads, registers, shared, sm, by_registers=warps_of_registers, reserved=True, pick=min
):
    taken = shared + (sm["reserved"] if reserved else 0)
    room = sm["shared"] // taken if taken else sm["blocks"]
    return pick(
        sm["blocks"], sm["threads"] // threads, by_registers(registers, sm) // (threads // 32), room
    )


def _blocks_with(**how):
    return lambda threads, registers, shared, sm: _blocks(threads, registers, shared, sm, **how)


def _blocks_cases(rng):
    some = int(rng.integers(5, 9)) * 8
    return [
        Case((64, 53, 256, A100), "section 4.2's kernel on an A100"),
        Case((256, 124, 16896, A100), "warptile on an A100"),
        Case((1024, 31, 8448, T4), "algorithm 2 on a T4"),
        Case((64, 24, 0, T4), "limited by blocks"),
        Case((256, 32, 54 * 1024, A100), "limited by shared memory"),
        Case((1024, 72, 1024, V100), "too many registers"),
        Case((32, 16, 0, A100), "no shared memory"),
        Case((128, some - 3, 8192, V100), "some kernel"),
        Case((64, 41, 512, A100), "41 registers"),
        Case((96, 104, 512, A100), "96 threads"),
        Case((64, 32, 4096, T4), "4 KiB of shared memory on a T4"),
    ]


check_blocks_per_sm = Check(
    "blocks_per_sm",
    _blocks_cases,
    _blocks,
    dtype=None,
    diagnoses=[
        (
            _blocks_with(by_registers=lambda r, sm: sm["registers"] // (r * 32)),
            "registers are handed out in portions of 8 "
            "a thread, and by each scheduler from its own quarter: two roundings are missing",
        ),
        (
            lambda threads, registers, shared, sm: _blocks(
                threads, registers, shared, sm | {"reserved": 1024}
            ),
            "1 KiB is not reserved on every GPU: take sm['reserved']",
        ),
        (
            lambda threads, registers, shared, sm: _blocks(
                threads, registers, 0, sm | {"reserved": 0}
            ),
            "shared memory is not looked at",
        ),
    ],
)


# choose_tile ----------------------------------------------------------------------------------------------------------


def _needs(TM, TN):
    return TM * TN + TM + TN + 30, 2 * 4 * 16 * 16 * (TM + TN)


def _choose(tiles, sm, at_least, needs=_needs, key=lambda TM, TN: TM * TN / (TM + TN), most=255):
    def fits(TM, TN):
        registers, shared = needs(TM, TN)
        return registers <= most and _blocks(256, registers, shared, sm) >= at_least

    return max((tile for tile in tiles if fits(*tile)), key=lambda tile: key(*tile))


def _choose_with(**how):
    def wrong(tiles, sm, at_least):
        return _choose(tiles, sm, at_least, **how)

    return wrong


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
    return cases


check_choose_tile = Check(
    "choose_tile",
    _tile_cases,
    _choose,
    dtype=None,
    post=lambda tile: tuple(tile) if isinstance(tile, list) else tile,
    parts=("TM", "TN"),
    diagnoses=[
        (
            _choose_with(needs=lambda TM, TN: (_needs(TM, TN)[0] - 30, _needs(TM, TN)[1])),
            "addresses, counters and the like need registers, too: 30, by the task's estimate",
        ),
        (
            _choose_with(most=10**9),
            "no thread has more than 255 registers, however many there are on the SM",
        ),
    ],
)
