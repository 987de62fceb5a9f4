"""A step of GridStep as stacked bars: products at sgemm's rate, what they take beyond it, and everything else."""

from typing import Any

from course_lib.plots import Figure
from course_lib.plots.palette import COLOURS, FAINT, INK
from course_lib.plots.style import new_axis, plain_axis, styled

PARTS = {  # as the columns of the table `shortfall` are called
    "at sgemm's rate": COLOURS[0],
    "wide products": COLOURS[5],
    "thin products": COLOURS[2],
    "elementwise": COLOURS[4],
    "gather": COLOURS[3],
    "waiting": COLOURS[1],
    "rest": FAINT,
}


@styled
def step_figure(steps: dict[str, dict[str, float]]) -> Figure:
    """One bar for each step, {its name: {part: seconds}}: the parts in per cent of the whole step.

    A part below zero (products faster than sgemm) is drawn as nothing; the table has it.
    """
    title = "Where a step of GridStep goes"
    axis = new_axis(title, 1.9 + 0.42 * len(steps))
    left = [0.0] * len(steps)
    shares = {name: _shares(step) for name, step in steps.items()}
    for part, colour in PARTS.items():
        widths = [max(0.0, share[part]) for share in shares.values()]
        axis.barh(range(len(steps)), widths, left=left, color=colour, height=0.62, label=part)
        left = [a + b for a, b in zip(left, widths, strict=True)]
    _label(axis, list(steps))
    rows = [(name, *(round(share[part], 1) for part in PARTS)) for name, share in shares.items()]
    told = "; ".join(
        f"{name}: " + ", ".join(f"{part} {share[part]:.0f} %" for part in PARTS)
        for name, share in shares.items()
    )
    alt = f"{title}. Stacked bars in per cent of the step. {told}."
    return Figure(axis.figure, title, alt, ["net, B, split", *PARTS], rows)


def _shares(step: dict[str, float]) -> dict[str, float]:
    whole = sum(step[part] for part in PARTS)
    return {part: 100 * step[part] / whole for part in PARTS}


def _label(axis: Any, names: list[str]) -> None:
    axis.set_yticks(range(len(names)), names)
    axis.set_ylim(len(names) - 0.45, -0.55)
    axis.tick_params(axis="y", length=0)
    axis.set_xlabel("% of the step")
    axis.axvline(0, color=INK, linewidth=0.8)
    plain_axis(axis.xaxis)
    axis.legend(loc="upper center", bbox_to_anchor=(0.45, -0.22), ncols=4, frameon=False)
