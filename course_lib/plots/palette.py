"""The colours, markers and dashes of every figure."""

from typing import Any

# Okabe and Ito's palette for all kinds of colour vision, without its yellow, which white ground swallows.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DOTTED, DASHED, BROKEN = (0, (1, 1)), (0, (5, 1.5)), (0, (2, 1))
DASHES: tuple[Any, ...] = ("-", DASHED, (0, (3, 1, 1, 1)), DOTTED, (0, (7, 2, 1, 2)), BROKEN, "-")
BLUE, ORANGE, GREEN = COLOURS[:3]
INK, GREY, FAINT = "#222222", "#666666", "#DDDDDD"
