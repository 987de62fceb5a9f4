"""A layer's work cut over ranks along one index after the other: what each rank owns, reads whole, and has to add."""

from typing import NamedTuple

from course_lib.errors import BadInput
from course_lib.plots.stepper.model import Frame, Stepper
from course_lib.plots.stepper.shapes import Shape, box, words

WIDEST, THINNEST = 190, 64  # of a face: drawn to scale, but for thin ones
GAP, TOP, LEFT = 26, 24, 30
MOST = 8  # ranks whose parts can still be told apart
Spot = tuple[float, float, float, float]  # x, y, width, height
NAMES = {"i": "examples", "k": "input neurons", "j": "output neurons"}


class Face(NamedTuple):
    """A matrix and its gradient; the indices of its rows and columns, and how it comes to be."""

    name: str
    rows: str
    columns: str
    read: str
    summed: str


FACES = (
    Face("X", "i", "k", "X", "dX"),
    Face("W", "k", "j", "W", "dW"),
    Face("Z", "i", "j", "dZ", "Z"),
)


def step_cuts(examples: int, n_in: int, n_out: int, ranks: int, title: str = "") -> Stepper:
    """A frame for each rank of each cut of a layer Z = X W: its parts, what it reads whole, and whose sum it adds to.

    The box of triples (i, k, j) has examples x n_in x n_out of them; X, W and Z are its faces. The last frame has the
    numbers that a step moves for each cut, 2 (ranks - 1) times the face without the index that is cut.

    Raises BadInput for fewer than 2 or more than 8 ranks, and for a size that is below their number.
    """
    sizes = {"i": examples, "k": n_in, "j": n_out}
    if not 2 <= ranks <= MOST or min(sizes.values()) < ranks:
        raise BadInput(
            f"{ranks} ranks and sizes {list(sizes.values())}: 2 to {MOST} ranks, each with a part"
        )
    spots, size = _spots(sizes)
    frames = [_frame(spots, axis, r, ranks) for axis in NAMES for r in range(ranks)]
    last = _last(sizes, spots, ranks)
    title = title or f"Z = X W, cut over {ranks} ranks along i, k and j"
    return Stepper(title, [*frames, last], size)


def _lacks(axis: str) -> Face:
    """The one face that has not this index."""
    return next(face for face in FACES if axis not in (face.rows, face.columns))


def _spots(sizes: dict[str, int]) -> tuple[dict[str, Spot], tuple[float, float]]:
    """{face: its place}: X on the left of Z, W above it, as a product is written; and the whole size."""
    scale = WIDEST / max(sizes.values())
    long = {axis: max(THINNEST, scale * n) for axis, n in sizes.items()}
    right, low = LEFT + long["k"] + GAP + 14, TOP + long["k"] + GAP
    spots = {
        "X": (LEFT, low, long["k"], long["i"]),
        "W": (right, TOP, long["j"], long["k"]),
        "Z": (right, low, long["j"], long["i"]),
    }
    return spots, (max(right + long["j"] + 20, 420), low + long["i"] + 20)


def _frame(spots: dict[str, Spot], axis: str, rank: int, ranks: int) -> Frame:
    """One rank of one cut."""
    shapes, whole = _names(spots), _lacks(axis)
    for face in FACES:
        if face is not whole:
            shapes += _parts(face, spots[face.name], axis, rank, ranks)
    shapes.append(_uncut(whole, spots, f"{whole.summed}: summand {rank + 1} of {ranks}"))
    return Frame(_says(axis, rank, ranks), shapes, f"{axis}, rank {rank}")


def _names(spots: dict[str, Spot]) -> list[Shape]:
    """Over each face its two matrices, at its edges their indices."""
    shapes = list[Shape]()
    for face in FACES:
        x, y, wide, high = spots[face.name]
        shapes.append(words(x, y - 6, f"{face.name}, d{face.name}", at="start", size=12))
        shapes.append(words(x - 5, y + high / 2 + 4, face.rows, at="end", size=12))
        shapes.append(words(x + wide / 2, y + high + 14, face.columns, size=12))
    return shapes


def _uncut(face: Face, spots: dict[str, Spot], text: str) -> Shape:
    wide = spots[face.name][2]
    return box(
        *spots[face.name], "orange bold", text if wide > 7 * len(text) else "", face.name, 12
    )


def _parts(face: Face, spot: Spot, axis: str, rank: int, ranks: int) -> list[Shape]:
    """A face that has the index: a part for each rank."""
    x, y, wide, high = spot
    down = axis == face.rows
    w, h = (wide, high / ranks) if down else (wide / ranks, high)
    return [
        box(
            x + (0 if down else w * r),
            y + (h * r if down else 0),
            w,
            h,
            "blue bold" if r == rank else "plain",
            str(r) if h >= 12 else "",
            f"{face.name}.{r}",
            11,
        )
        for r in range(ranks)
    ]


def _says(axis: str, rank: int, ranks: int) -> str:
    whole = _lacks(axis)
    own = " and ".join(face.name for face in FACES if face is not whole)
    return (
        f"Cut along {axis}, {NAMES[axis]}: rank {rank} has its own part of {own}, reads all of "
        f"{whole.read}, and has summand {rank + 1} of {ranks} of {whole.summed}."
    )


def _last(sizes: dict[str, int], spots: dict[str, Spot], ranks: int) -> Frame:
    """What each cut moves, in the face that it moves."""
    told, shapes = [], _names(spots)
    for axis in NAMES:
        face = _lacks(axis)
        numbers = 2 * (ranks - 1) * sizes[face.rows] * sizes[face.columns]
        told.append(f"{numbers:,} of {face.read} and {face.summed} along {axis}")
        shapes.append(_uncut(face, spots, f"{axis} moves {numbers:,}"))
    return Frame(f"A step moves, by cut: {'; '.join(told)}.", shapes, "all")
