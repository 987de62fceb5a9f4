"""Which class is taken for which."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from course_lib.errors import BadInput
from course_lib.plots.figure import Figure
from course_lib.plots.inputs import class_names as checked_names
from course_lib.plots.inputs import numbers
from course_lib.plots.palette import INK
from course_lib.plots.style import CENTRED, WIDTH, new_axis, number, styled


@styled
def confusion(matrix: Any, class_names: Sequence[str] | None = None, *, title: str = "") -> Figure:
    """The confusion matrix with its counts printed: rows are true classes, columns predicted ones.

    matrix: (C, C) counts, whole and not negative. The shade is the share of the row, on a scale that lets small
    shares be seen.

    >>> confusion(serial.confusion(net, params, x_test, y_test))                        # doctest: +SKIP

    Raises BadInput for a matrix that is not square, has negative or broken numbers, or is all 0.
    """
    counts = numbers("matrix", matrix, ndim=2)
    C = counts.shape[0]
    whole = ((counts >= 0) & (counts == np.round(counts))).all()
    if counts.shape != (C, C) or not whole or counts.sum() == 0:
        wanted = "square, of whole counts with one or more above 0"
        raise BadInput(f"matrix must be {wanted}; its shape is {counts.shape}")
    counts = counts.astype(np.int64)
    names = checked_names(class_names, C)
    right, total = int(np.trace(counts)), int(counts.sum())
    title = title or f"{right:,} of {total:,} right ({100 * right / total:.2f} %)"
    longest = max(map(len, names))
    slanted = 0.06 * longest if longest > 3 else 0.0  # what the names take, in inches
    cell = min(0.5, (WIDTH - 1.0 - 0.09 * longest) / C)
    wide = max(3.6, 0.75 + 0.09 * longest + cell * C)
    axis = new_axis(title, 1.3 + slanted + cell * C, wide)
    _draw(axis, counts, names)
    header = ["true \\ predicted", *names]
    rows = [(name, *row) for name, row in zip(names, counts.tolist(), strict=True)]
    return Figure(axis.figure, title, _alt(title, counts, names), header, rows)


def _draw(axis: Any, counts: np.ndarray, names: list[str]) -> None:
    from matplotlib.colors import PowerNorm

    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    axis.set_anchor("W")
    axis.imshow(share, cmap="Blues", norm=PowerNorm(0.45, vmin=0, vmax=1.15))
    for (i, j), count in np.ndenumerate(counts):
        ink = INK if count else "#8A8A8A"
        look = {"color": "white" if share[i, j] > 0.3 else ink, "fontsize": 10}
        axis.text(j, i, f"{count}", fontweight="bold" if i == j else "normal", **look, **CENTRED)
    rotation, side = (40, "right") if max(map(len, names)) > 3 else (0, "center")
    axis.set_xticks(range(len(names)), names, rotation=rotation, ha=side)
    axis.set_yticks(range(len(names)), names)
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)
    axis.set_xlabel("predicted class")
    axis.set_ylabel("true class")


def _alt(title: str, counts: np.ndarray, names: list[str]) -> str:
    wrong = counts.copy()
    np.fill_diagonal(wrong, 0)
    order = np.argsort(-wrong, axis=None, kind="stable")[:3]
    pairs = [np.unravel_index(k, wrong.shape) for k in order]
    told = [f"{names[i]} taken for {names[j]} {wrong[i, j]} times" for i, j in pairs if wrong[i, j]]
    rows = counts.sum(axis=1)
    recall = np.where(rows > 0, np.diag(counts) / np.maximum(rows, 1), np.inf)
    worst = int(np.argmin(recall))
    text = f"{title}. Confusion matrix of {len(names)} classes. "
    text += f"Most frequent mistakes: {'; '.join(told)}. " if told else "No mistakes. "
    share = number(float(100 * recall[worst]))
    return f"{text}Least often right: {names[worst]}, {share} % of {rows[worst]}."
