"""How every figure of the course looks: one palette, one font, white ground, nothing global changed."""

import functools
import textwrap
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

# Okabe and Ito's palette for all kinds of colour vision, without its yellow, which white ground swallows.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES: tuple[Any, ...] = (
    "-",
    (0, (5, 1.5)),
    (0, (3, 1, 1, 1)),
    (0, (1, 1)),
    (0, (7, 2, 1, 2)),
    (0, (2, 1)),
    "-",
)
BLUE, ORANGE, GREEN = COLOURS[:3]
INK, GREY, FAINT = "#222222", "#666666", "#DDDDDD"
WIDTH = 7.2  # inches: a notebook's column
DPI = 144

_RC: dict[str, Any] = {
    "font.family": "DejaVu Sans",  # comes with Matplotlib: the same letters everywhere
    "font.size": 10.5,
    "axes.titlesize": 11.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 10,
    "axes.labelsize": 10.5,
    "axes.labelcolor": INK,
    "axes.edgecolor": GREY,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": False,
    "axes.axisbelow": True,
    "grid.color": FAINT,
    "grid.linewidth": 0.8,
    "text.color": INK,
    "xtick.labelsize": 10,
    "ytick.labelsize": 10,
    "xtick.color": INK,
    "ytick.color": INK,
    "lines.linewidth": 2,
    "lines.markersize": 6,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "figure.constrained_layout.w_pad": 0.12,
    "figure.constrained_layout.h_pad": 0.12,
}

F = TypeVar("F", bound=Callable[..., Any])


def styled(draw: F) -> F:
    """Run a drawing function with the course's settings, whatever the reader's own matplotlibrc says."""

    @functools.wraps(draw)
    def inside(*args: Any, **kwargs: Any) -> Any:
        from matplotlib import style

        with style.context(["default", _RC]):
            return draw(*args, **kwargs)

    return inside  # type: ignore[return-value]


def new_figure(height: float = 3.8, width: float = WIDTH) -> Any:
    """An empty Matplotlib figure on an Agg canvas: no pyplot, no window, no global state."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=DPI, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def put_title(figure: Any, title: str) -> None:
    """The title over the whole figure, from its left edge, broken where it is too long."""
    text = "\n".join(textwrap.wrap(title, width=int(12.2 * figure.get_size_inches()[0])))
    figure.suptitle(text, x=0.012, ha="left", fontsize=11.5, fontweight="bold", color=INK)


def plain_log_axis(axis: Any, values: Any) -> None:
    """Numbers such as 0.01, 1, 1,000 on a log axis, more of them where it spans few decades."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    decades = np.log10(np.max(values) / np.min(values))
    if decades < 0.9:
        axis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    else:
        axis.set_major_locator(LogLocator(subs=(1, 2, 5) if decades < 2.5 else (1,), numticks=12))
    axis.set_major_formatter(FuncFormatter(lambda v, _: number(float(v))))
    axis.set_minor_formatter(NullFormatter())


def plain_axis(axis: Any) -> None:
    """Numbers such as 0.5 and 50,000 on a linear axis, without an offset in a corner."""
    from matplotlib.ticker import FuncFormatter

    axis.set_major_formatter(FuncFormatter(lambda v, _: number(round(float(v), 12))))


def number(value: Any) -> str:
    """A number as it is said: 50000 -> "50,000", 0.012345 -> "0.01234", 3.0 -> "3"; four digits of a fraction."""
    value = int(value) if isinstance(value, int | np.integer) else float(value)
    if value == round(value) and abs(value) < 1e15:
        text = f"{round(value):,}"
    else:
        text = f"{value:.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
    return text.replace("-", "\N{MINUS SIGN}", 1) if text.startswith("-") else text


def sentence(text: str) -> str:
    """The text with a capital at its start."""
    return text[:1].upper() + text[1:]
