"""One block's walk through K: what it loads of A and B in each step, and what it has loaded so far."""

from collections.abc import Sequence
from typing import Any

from course_lib.errors import BadInput
from course_lib.plots.stepper.model import Frame, Stepper
from course_lib.plots.stepper.shapes import Shape, box, words
from course_lib.plots.style import count
from course_lib.plots.tile_drawing import Tiling, up

WIDTH, TALL, LEFT, TOP, GAP = 480, 260, 6, 24, 10
MOST = 64  # steps
Sizes = tuple[int, int, int]


def step_walk(
    reports: Sequence[Any],
    size: Sizes,
    tile: Sizes,
    block: tuple[int, int] = (0, 0),
    title: str = "",
) -> Stepper:
    """A frame for each step of one block of D = A B: the parts of A and B that it loads, and counts so far.

    reports: of `gpu.trace_steps`, one for each step. size: (M, N, K). tile: (BM, BN, BK), rows and columns of D of a
    block, and how many k a step has. block: (down, across), which one it is. Loads are those that the engine has
    counted, by thread; the different numbers are the parts' sizes; a product needs an FMA for each element and k.

    Raises BadInput for more than 64 steps, or reports of another number.
    """
    reports, steps = list(reports), up(size[2], tile[2])
    if len(reports) != steps or steps > MOST:
        wanted = f"K = {size[2]} by {tile[2]} is {count(steps, 'step')}, at most {MOST} are shown"
        raise BadInput(f"{count(len(reports), 'report')} of a walk: {wanted}")
    shape = Tiling(size, tile, (1, 1), block, (0, 0))
    frames = [Frame(_says(shape, reports, n), _drawn(shape, n)) for n in range(steps)]
    height = TOP + (size[0] + size[2]) * _scale(shape) + GAP + 8
    return Stepper(title or "One block's walk through K", frames, (WIDTH, round(height)))


def _scale(shape: Tiling) -> float:
    """Points for each element."""
    M, N, K = shape.size
    return min((WIDTH - 2 * LEFT - GAP) / (K + N), TALL / (K + M))


def _drawn(shape: Tiling, step: int) -> list[Shape]:
    """A at the left of D, B above it; what was loaded before in grey, what this step loads in colour."""
    (M, N, K), s = shape.size, _scale(shape)
    x, y = LEFT + K * s + GAP, TOP + K * s + GAP
    (top, bottom), (left, right), (first, end) = (shape.part(axis, step) for axis in range(3))
    wide, high, deep = (right - left) * s, (bottom - top) * s, (end - first) * s
    shapes = [words(LEFT, y - 4, "A", at="start"), words(x, TOP - 6, "B", at="start")]
    shapes += [box(LEFT, y, K * s, M * s, "plain"), box(x, TOP, N * s, K * s, "plain")]
    shapes += [box(x, y, N * s, M * s, "plain")]
    if step:
        shapes.append(box(LEFT, y + top * s, first * s, high, "grey"))
        shapes.append(box(x + left * s, TOP, wide, first * s, "grey"))
    shapes.append(box(LEFT + first * s, y + top * s, deep, high, "blue bold", key="a"))
    shapes.append(box(x + left * s, TOP + first * s, wide, deep, "orange bold", key="b"))
    return [*shapes, box(x + left * s, y + top * s, wide, high, "green bold", "D", "d")]


def _loads(report: Any) -> int:
    """Of A and B, by all threads of the block."""
    return sum(report.total("threads", space="global", op="load", array=name) for name in "AB")


def _says(shape: Tiling, reports: Sequence[Any], n: int) -> str:
    rows, columns, deep = (shape.extent(axis, n) for axis in range(3))
    first, end = shape.part(2, n)
    loads, fmas = _loads(reports[n]), rows * columns * end
    new = loads - (_loads(reports[n - 1]) if n else 0)
    ks = f"k = {first}" if deep == 1 else f"k = {first} to {end - 1}"
    different, now = (rows + columns) * deep, rows * columns * deep
    shared = reports[n].total("threads", space="shared", op="load")
    more = f", and {shared:,} from shared memory" if shared else ""
    return (
        f"Step {n + 1} of {len(reports)}, {ks}: {new:,} loads of {different:,} different numbers for {now:,} FMAs; "
        f"so far {loads:,} loads from global memory{more} for {fmas:,} FMAs."
    )
