"""Pixels as pictures: digits with their labels, and the weights of hidden units."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from course_lib.errors import BadInput, check_array, check_count
from course_lib.plots.figure import Figure
from course_lib.plots.inputs import class_names as checked_names
from course_lib.plots.inputs import images, labels
from course_lib.plots.palette import INK, ORANGE
from course_lib.plots.style import WIDTH, new_axis, number, styled


@styled
def digits(
    X, y=None, predicted=None, *, class_names=None, columns=8, shape=None, title=""
) -> Figure:
    """Images in a grid, dark ink on white, each with its label; a wrong prediction has a frame and bold words.

    X: (n, pixels) or (n, height, width), at most 100 images. y, predicted: (n,) whole numbers, or None.
    class_names: names to print instead of the numbers.

    >>> digits(dataset.x_test[:16], dataset.y_test[:16], predict(net, params, dataset.x_test[:16]))  # doctest: +SKIP

    Raises BadInput for wrong shapes, NaN, no images or more than 100.
    """
    pixels = images("X", X, shape)
    n = check_count("the number of images", len(pixels), high=100)
    truth = None if y is None else labels("y", y, n)
    said = None if predicted is None else labels("predicted", predicted, n)
    names = _names(class_names, truth, said)
    captions = [_caption(i, names, truth, said) for i in range(n)]
    wrong = [] if truth is None or said is None else np.flatnonzero(truth != said).tolist()
    title = title or _digits_title(n, pixels.shape, said is not None, len(wrong), truth is not None)
    lines = max(caption.count("\n") + 1 for caption in captions)
    drawn, places = _grid(pixels, columns, title, lines)
    _letter(drawn.axes, places, captions, pixels.shape[1:], wrong)
    heads = ("image", "label", "predicted", "right", "mean pixel")
    rows = [_digit_row(i, names, truth, said, float(pixels[i].mean())) for i in range(n)]
    filled = [column for column in zip(heads, *rows, strict=True) if set(column[1:]) != {None}]
    header, *rows = zip(*filled, strict=True)
    return Figure(drawn.figure, title, _digits_alt(title, names, truth, said, wrong), header, rows)


def _names(class_names: Any, truth: Any, said: Any) -> list[str]:
    highest = max((int(a.max()) for a in (truth, said) if a is not None), default=0)
    if class_names is None:
        return checked_names(None, highest + 1)
    names = checked_names(class_names, len(list(class_names)))
    if highest >= len(names):
        raise BadInput(f"label {highest} has no name: there are {len(names)} class names")
    return names


def _caption(i: int, names: list[str], truth: Any, said: Any) -> str:
    if truth is not None and said is not None and truth[i] != said[i]:
        short = len(names[said[i]]) <= 2
        return f"{names[truth[i]]}\nread as" + (" " if short else "\n") + names[said[i]]
    shown = truth if truth is not None else said
    return "" if shown is None else names[shown[i]]


def _digit_row(i: int, names: list[str], truth: Any, said: Any, mean: float) -> tuple:
    label = None if truth is None else names[truth[i]]
    answer = None if said is None else names[said[i]]
    right = None if truth is None or said is None else ("yes" if truth[i] == said[i] else "no")
    return (i, label, answer, right, mean)


def _digits_title(n: int, shape: Sequence[int], predicted: bool, wrong: int, known: bool) -> str:
    size = f"{shape[1]} x {shape[2]} pixels"
    if predicted and known:
        framed = " (framed)" if wrong else ""
        return f"{n} images of {size}: {n - wrong} read right, {wrong} wrong{framed}"
    return f"{n} image{'s' if n > 1 else ''} of {size}"


def _digits_alt(title: str, names: list[str], truth: Any, said: Any, wrong: list[int]) -> str:
    parts = [title + "."]
    if truth is not None:
        parts.append("Labels, row by row: " + ", ".join(names[t] for t in truth) + ".")
    elif said is not None:
        parts.append("Predicted, row by row: " + ", ".join(names[s] for s in said) + ".")
    parts += [f"Image {i} is {names[truth[i]]}, read as {names[said[i]]}." for i in wrong]
    return " ".join(parts)


def _grid(pixels, columns, title, caption_lines, **look):
    """Draw the images as one (ten times as fast as many): (what was drawn, where each image has its top left)."""
    n, height, width = pixels.shape
    columns = min(check_count("columns", columns), n)
    step_x = width + max(1, round(width / 7))
    step_y = height + round(height * (0.16 + 0.26 * caption_lines))
    rows = -(-n // columns)
    canvas = np.full((rows * step_y, columns * step_x - (step_x - width)), np.nan)
    places = [(i // columns * step_y, i % columns * step_x) for i in range(n)]
    for image, (top, left) in zip(pixels, places, strict=True):
        canvas[top : top + height, left : left + width] = image
    tile = min(0.82, (WIDTH - 0.3) / columns)
    wide = min(WIDTH, max(columns * tile + 0.3, 3.6))
    axis = new_axis(title, rows * tile * step_y / step_x + 0.55, width=wide)
    usual = {"cmap": "gray_r", "vmin": min(0.0, pixels.min()), "vmax": max(pixels.max(), 1e-12)}
    drawn = axis.imshow(canvas, interpolation="nearest", **usual | look)
    axis.set_axis_off()
    axis.set_anchor("W")
    return drawn, places


def _letter(axis, places, captions, size, wrong=()):
    """The captions under the images, a thin frame around each, a thick one around the wrong ones."""
    from matplotlib.patches import Rectangle

    height, width = size
    for i, ((top, left), caption) in enumerate(zip(places, captions, strict=True)):
        rim, line, weight = (ORANGE, 3, "bold") if i in wrong else ("#BBBBBB", 0.8, "normal")
        frame = Rectangle((left - 0.5, top - 0.5), width, height, fill=False, clip_on=False)
        frame.set(edgecolor=rim, linewidth=line)
        axis.add_patch(frame)
        look = {"fontsize": 10 - (i in wrong), "linespacing": 1, "weight": weight, "color": INK}
        x, y = left + width / 2 - 0.5, top + height + 0.06 * height
        axis.text(x, y, caption, ha="center", va="top", **look)


@styled
def weights(W, *, units=None, shape=None, columns=8, title="") -> Figure:
    """The weights into hidden units as images: blue is negative, white 0, orange positive, one scale for all.

    W: (n_in, n_out), n_in the pixels of a square image (else pass shape). units: which columns of W; None: the
    first 24. At most 100.

    >>> weights(params[0][0])                                # doctest: +SKIP

    Raises BadInput for wrong shapes, NaN, or units that W does not have.
    """
    W = check_array("W", np.asarray(W), shape=("n_in", "n_out"), finite=True)
    wanted = range(min(24, W.shape[1])) if units is None else units
    chosen = [check_count("unit", u, low=0, high=W.shape[1] - 1) for u in wanted]
    pixels = images("W.T", W.T[chosen], shape)
    n = check_count("the number of units", len(pixels), high=100)
    title = title or f"Weights into {n} of {W.shape[1]:,} hidden units"
    top = float(np.abs(pixels).max()) or 1.0
    drawn, places = _grid(pixels, columns, title, 1, cmap=_diverging(), vmin=-top, vmax=top)
    axis = drawn.axes
    _letter(axis, places, [f"unit {u}" for u in chosen], pixels.shape[1:])
    place = {"shrink": 0.8, "fraction": 0.05, "pad": 0.02, "panchor": (0.0, 0.5)}
    bar = axis.figure.colorbar(drawn, ax=axis, label="weight", **place)
    bar.outline.set_visible(False)
    header = ("unit", "smallest", "largest", "mean", "length (L2)")
    rows = [(u, *_summary(p)) for u, p in zip(chosen, pixels, strict=True)]
    return Figure(axis.figure, title, _weights_alt(title, rows), header, rows)


def _summary(image: np.ndarray) -> tuple[float, float, float, float]:
    length = float(np.sqrt((image**2).sum()))
    return float(image.min()), float(image.max()), float(image.mean()), length


def _weights_alt(title: str, rows: list[tuple]) -> str:
    low, high = min(rows, key=lambda r: r[1]), max(rows, key=lambda r: r[2])
    longest = max(rows, key=lambda r: r[4])
    return (
        f"{title}, each an image of its weights from the pixels, blue for negative, orange for positive. "
        f"The smallest weight is {number(low[1])} (unit {low[0]}), the largest {number(high[2])} (unit {high[0]}); "
        f"the longest weight vector is unit {longest[0]}'s, {number(longest[4])}."
    )


def _diverging() -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    colours = ["#00456B", "#0072B2", "#FFFFFF", "#D55E00", "#803900"]
    return LinearSegmentedColormap.from_list("course", colours)
