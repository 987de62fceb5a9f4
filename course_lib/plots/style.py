"""How every figure of the course looks: one font, white ground, nothing global changed; palette.py has the colours."""

import functools
import textwrap
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from course_lib.plots.palette import FAINT, GREY, INK

WIDTH = 7.2  # inches: a notebook's column
DPI = 144
CENTRED: dict[str, Any] = {"ha": "center", "va": "center"}
# of an annotation: counted from the point that it is at
BESIDE: dict[str, Any] = {"textcoords": "offset points"}

# DejaVu Sans comes with Matplotlib: the same letters everywhere
_RC: dict[str, Any] = {
    "font.family": "DejaVu Sans", "font.size": 10.5, "text.color": INK,
    "axes.titlesize": 11.5, "axes.titleweight": "bold", "axes.titlelocation": "left", "axes.titlepad": 10,
    "axes.labelsize": 10.5, "axes.labelcolor": INK, "axes.edgecolor": GREY, "axes.grid": False,
    "axes.spines.top": False, "axes.spines.right": False, "axes.axisbelow": True,
    "grid.color": FAINT, "grid.linewidth": 0.8, "lines.linewidth": 2, "lines.markersize": 6,
    "xtick.labelsize": 10, "ytick.labelsize": 10, "xtick.color": INK, "ytick.color": INK,
    "figure.facecolor": "white", "savefig.facecolor": "white",
    "figure.constrained_layout.w_pad": 0.12, "figure.constrained_layout.h_pad": 0.12,
}  # fmt: skip

F = TypeVar("F", bound=Callable[..., Any])


def styled(draw: F) -> F:
    """Run a drawing function with the course's settings, whatever the reader's own matplotlibrc says."""

    @functools.wraps(draw)
    def inside(*args: Any, **kwargs: Any) -> Any:
        from matplotlib import style

        with style.context(["default", _RC]):
            return draw(*args, **kwargs)

    return inside  # type: ignore[return-value]


def new_figure(title: str, height: float = 3.8, width: float = WIDTH) -> Any:
    """A Matplotlib figure with its title on an Agg canvas: no pyplot, no window, no global state. Sizes in inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=DPI, layout="constrained")
    FigureCanvasAgg(figure)
    text = "\n".join(title_lines(title, width))
    figure.suptitle(text, x=0.012, ha="left", fontsize=11.5, fontweight="bold", color=INK)
    return figure


def new_axis(title: str, height: float = 3.8, width: float = WIDTH) -> Any:
    """The one pair of axes of a new figure, which is its `.figure`."""
    return new_figure(title, height, width).subplots()


def drawing_axis(title: str, height: float) -> Any:
    """An axis over the whole of a new figure, for drawings in points; y goes down."""
    figure = new_figure(title, height / 72)
    figure.set_layout_engine("none")
    axis = figure.add_axes((0, 0, 1, 1))
    axis.set(xlim=(0, WIDTH * 72), ylim=(height, 0))
    axis.axis("off")
    return axis


def title_lines(title: str, width: float = WIDTH) -> list[str]:
    """The title over the whole figure, broken where it is too long for it; width: the figure's, in inches."""
    return textwrap.wrap(title, width=int(12.2 * width))


def two_lines(title: str) -> bool:
    """Is the title too long for one line of a notebook's column?"""
    return len(title_lines(title)) > 1


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


def whole_ticks(axis: Any) -> None:
    """Whole numbers alone on a linear axis."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(integer=True, nbins=8))


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


def count(n: int, what: str) -> str:
    """How many of them: "1 sector", "1,024 sectors"."""
    return f"{number(n)} {what}{'' if n == 1 else 's'}"


def sentence(text: str) -> str:
    """The text with a capital at its start."""
    return text[:1].upper() + text[1:]
