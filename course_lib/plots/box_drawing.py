"""The box of triples (i, k, j) of a product D = A B, cut into one part a rank, and the faces that move."""

import textwrap
from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any

from course_lib.errors import BadInput, check_count
from course_lib.plots.figure import Figure
from course_lib.plots.palette import BLUE, GREEN, INK, ORANGE
from course_lib.plots.style import WIDTH, drawing_axis, number, styled, two_lines
from course_lib.plots.tile_drawing import PALE, put_text, rectangle

MARGIN, LINE, TALL = 12.0, 14.5, 122.0  # points: around; from line to line; a whole box
DEEP = 0.42, 0.36  # how far a step into depth goes to the right and up, of its length
MOST_CUTS, MOST_PARTS = 4, 64
FACES = {"A": BLUE, "B": ORANGE, "D": GREEN}

Triple = tuple[int, int, int]


@styled
def triples_box(M, N, K, cuts, in_place="", shared=True, *, title="", names="ABD"):
    """D = A B as a box of triples: i down, j to the right, k into depth; for each cut its parts, and what moves.

    M, N, K: A is (M, K), B (K, N), D (M, N): the right side of the box is A, its top B, its front D; names: their
    letters in the picture. cuts: up to four (i, k, j), into how many parts each axis is cut, or {name: (i, k, j)}; up
    to 64 parts each. One part, a rank's, is drawn in full colour. in_place: which of A, B, D need not move; shared:
    each sum of D is needed on all ranks that add it up; both as for course_lib.mpi.blocking.moved. Not to scale.

    >>> triples_box(100, 1024, 784, {"data": (4, 1, 1), "row": (1, 4, 1), "column": (1, 1, 4)})     # doctest: +SKIP

    Raises BadInput for sizes below 1, and for cuts that cannot be.
    """
    size = check_count("M", M), check_count("K", K), check_count("N", N)
    named = _named(cuts, size)
    A, B, D = names
    title = title or f"{D} = {A} {B}: {number(M)} x {number(K)} x {number(N)} triples (i, k, j)"
    wide = (WIDTH * 72 - 2 * MARGIN) / max(len(named), 2)
    side = min((wide - 44) / (1 + DEEP[0]), TALL / (1 + DEEP[1]))
    top = 30 + 14 * two_lines(title)
    more = LINE * max(_wrapped(name, wide).count("\n") for name in named)
    words = top + side * (1 + DEEP[1]) + 40 + more
    axis = drawing_axis(title, words + 4 * LINE + 12)
    rows, told = [], []
    for n, (name, cut) in enumerate(named.items()):
        items = dict(zip(names, _moved(size, cut, in_place, shared), strict=True))
        _box(axis, MARGIN + n * wide + 16, words - 40 - more, side, cut)
        _words(axis, MARGIN + n * wide, words, _wrapped(name, wide), cut, items)
        rows.append((name, *cut, *items.values(), sum(items.values())))
        moves = ", ".join(f"{number(count)} of {face}" for face, count in items.items())
        told.append(f"{name}: {cut[0]} x {cut[1]} x {cut[2]} parts; numbers that move: {moves}.")
    alt = f"{title}. A box: i down, j to the right, k into depth; {A} is its right side, {B} its top, {D} its front."
    header = ["cut", "parts of i", "parts of k", "parts of j"]
    header += [f"moved of {name}" for name in names] + ["moved in all"]
    return Figure(axis.figure, title, " ".join([alt, *told]), header, rows)


def _named(cuts: Any, size: Triple | tuple[int, ...]) -> dict[str, Triple]:
    """{name: cut}, checked."""
    if not isinstance(cuts, Mapping):
        if not isinstance(cuts, Iterable) or isinstance(cuts, str):
            raise BadInput(f"cuts must be a list of (i, k, j), or a dict of them, not {cuts!r}")
        cuts = {f"cut {n + 1}": cut for n, cut in enumerate(cuts)}
    if not 1 <= len(cuts) <= MOST_CUTS:
        raise BadInput(f"cuts must hold one to {MOST_CUTS} cuts (i, k, j), not {len(cuts)}")
    found = {}
    for name, cut in cuts.items():
        if not isinstance(cut, tuple | list) or len(cut) != 3:
            wanted = "(i, k, j), the number of parts along each axis"
            raise BadInput(f"a cut must be {wanted}, not {cut!r}")
        for axis, n, most in zip("ikj", cut, size, strict=True):
            check_count(f"parts along {axis}", n, 1, most)
        i, k, j = map(int, cut)
        if i * k * j > MOST_PARTS:
            raise BadInput(f"a cut into {cut} has more than {MOST_PARTS} parts: too many to draw")
        found[str(name)] = (i, k, j)
    return found


def _moved(size: tuple[int, ...], cut: Triple, in_place: str, shared: bool) -> list[int]:
    """Numbers that all ranks together send: copies of A, of B, summands of D."""
    (M, K, N), (i, k, j) = size, cut
    items = {"A": (j - 1) * M * K, "B": (i - 1) * K * N, "D": (1 + shared) * (k - 1) * M * N}
    return [0 if face in in_place else count for face, count in items.items()]


def _wrapped(name: str, wide: float) -> str:
    """The name of a cut, in as many lines as fit its column."""
    return "\n".join(textwrap.wrap(name, int(wide / 6.6)))


def _box(axis: Any, left: float, bottom: float, side: float, cut: Triple) -> None:
    """All parts, from the back to the front, from below, from the left; the first in i and k and last in j is a rank's.

    left, bottom: of the front, in points; side: its length. A place is (i, k, j), in sides; a gap lies between parts.
    """

    def at(i: float, k: float, j: float) -> tuple[float, float]:
        return left + side * (j + DEEP[0] * k), bottom - side * (1 - i + DEEP[1] * k)

    gaps = [0.10 / n if n > 1 else 0.0 for n in cut]
    for k, i, j in product(reversed(range(cut[1])), reversed(range(cut[0])), range(cut[2])):
        parts = zip((i, k, j), cut, gaps, strict=True)
        ends = [(n / of, (n + 1) / of - gap * (n + 1 < of)) for n, of, gap in parts]
        _part(axis, at, ends, full=(i, k, j) == (0, 0, cut[2] - 1))
    look = {"fontsize": 11, "ha": "center", "style": "italic"}
    put_text(axis, at(0.5, 0, 0)[0] - 9, at(0.5, 0, 0)[1], "i", **look)
    put_text(axis, at(1, 0, 0.5)[0], at(1, 0, 0.5)[1] + 9, "j", **look)
    put_text(axis, at(1, 0.5, 1)[0] + 9, at(1, 0.5, 1)[1] + 5, "k", **look)


def _part(axis: Any, at: Any, ends: list[tuple[float, float]], full: bool) -> None:
    """The three faces of a part that are seen: D in front, B on top, A at the right."""
    from matplotlib.patches import Polygon

    (i, under), (k, behind), (j, right) = ends
    faces = {
        "D": [(i, k, j), (i, k, right), (under, k, right), (under, k, j)],
        "B": [(i, k, j), (i, k, right), (i, behind, right), (i, behind, j)],
        "A": [(i, k, right), (i, behind, right), (under, behind, right), (under, k, right)],
    }
    for face, corners in faces.items():
        part = Polygon([at(*corner) for corner in corners], closed=True, edgecolor=INK)
        part.set(facecolor=FACES[face] if full else PALE[FACES[face]])
        part.set(linewidth=0.5, joinstyle="round")
        axis.add_patch(part)


def _words(axis: Any, x: float, y: float, name: str, cut: Triple, items: dict[str, int]) -> None:
    """The name of the cut, and for each face how much of it moves."""
    put_text(axis, x, y - 8, name, fontsize=10, fontweight="bold", va="bottom")
    put_text(axis, x, y, f"{cut[0]} x {cut[1]} x {cut[2]} parts (i, k, j)", fontsize=9)
    for n, (color, (face, count)) in enumerate(zip(FACES.values(), items.items(), strict=True)):
        rectangle(axis, x, y + LINE * (n + 1) - 4.5, 9, 9, color)
        told = f"{number(count)} move" if count else "stays"
        put_text(axis, x + 14, y + LINE * (n + 1), f"{face}: {told}")
    put_text(axis, x, y + LINE * 4, f"all: {number(sum(items.values()))} numbers")
