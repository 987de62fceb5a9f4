"""Which class is taken for which."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from course_lib.errors import BadInput
from course_lib.plots.figure import Figure
from course_lib.plots.inputs import class_names as checked_names
from course_lib.plots.inputs import numbers
from course_lib.plots.style import INK, WIDTH, new_figure, number, put_title, styled


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
    if (
        counts.shape != (C, C)
        or not ((counts >= 0) & (counts == np.round(counts))).all()
        or counts.sum() == 0
    ):
        raise BadInput(
            f"matrix must be square, of whole counts with one or more above 0; its shape is {counts.shape}"
        )
    counts = counts.astype(np.int64)
    names = checked_names(class_names, C)
    right, total = int(np.trace(counts)), int(counts.sum())
    title = title or f"{right:,} of {total:,} right ({100 * right / total:.2f} %)"
    longest = max(map(len, names))
    slanted = 0.06 * longest if longest > 3 else 0.0  # the room that the names take, in inches
    cell = min(0.5, (WIDTH - 1.0 - 0.09 * longest) / C)
    figure = new_figure(
        height=1.3 + slanted + cell * C, width=max(3.6, 0.75 + 0.09 * longest + cell * C)
    )
    put_title(figure, title)
    _draw(figure.subplots(), counts, names)
    header = ["true \\ predicted", *names]
    rows = [(name, *row) for name, row in zip(names, counts.tolist(), strict=True)]
    return Figure(figure, title, _alt(title, counts, names), header, rows)


def _draw(axis: Any, counts: np.ndarray, names: list[str]) -> None:
    from matplotlib.colors import PowerNorm

    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    axis.set_anchor("W")
    axis.imshow(share, cmap="Blues", norm=PowerNorm(0.45, vmin=0, vmax=1.15))
    for (i, j), count in np.ndenumerate(counts):
        colour = "white" if share[i, j] > 0.3 else INK if count else "#8A8A8A"
        weight = "bold" if i == j else "normal"
        axis.text(
            j, i, f"{count}", ha="center", va="center", fontsize=10, color=colour, fontweight=weight
        )
    long = max(map(len, names)) > 3
    axis.set_xticks(
        range(len(names)), names, rotation=40 if long else 0, ha="right" if long else "center"
    )
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
    return (
        text
        + f"Least often right: {names[worst]}, {number(float(100 * recall[worst]))} % of {rows[worst]}."
    )
