"""A picture that can also be read: PNG, alt text, and its data as a table."""

import base64
import html
import io
import os
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from course_lib.errors import BadInput

SHOWN_ROWS = 60  # a longer table is abridged in the notebook; `.table` has it all
CSS_DPI = 96  # what a browser takes an inch to be: 10 pt in the picture is then 10 pt on the page


class Figure:
    """A figure of the course: shown by a notebook as a picture with alt text and a table one click away.

    figure: the Matplotlib figure it was drawn with. title: one sentence. alt: what is to be seen, with the numbers
    that matter. table: (header, rows), all of the data. png: the picture's bytes, the same for the same data.
    """

    def __init__(self, figure: Any, title: str, alt: str, header: Sequence[str], rows: Any):
        self.figure = figure
        self.title = title
        self.alt = alt
        self.table = (tuple(header), [tuple(row) for row in rows])
        self.png = _png(figure)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the picture to a file whose name ends in .png; return its path."""
        path = Path(path)
        if path.suffix.lower() != ".png":
            raise BadInput(f"a figure is saved as PNG: end the name in .png, not {path.name!r}")
        path.write_bytes(self.png)
        return path

    def html(self) -> str:
        """The HTML that a notebook shows: picture with alt text, and the table folded beneath it."""
        # the IHDR chunk of a PNG starts with them
        width, height = struct.unpack(">II", self.png[16:24])
        scale = CSS_DPI / self.figure.dpi
        picture = base64.b64encode(self.png).decode("ascii")
        return (
            '<figure style="margin: 0">'
            f'<img alt="{html.escape(self.alt)}" width="{width * scale:.0f}" height="{height * scale:.0f}" '
            f'style="max-width: 100%; height: auto; background-color: white" src="data:image/png;base64,{picture}">'
            f"<details><summary>Data as a table</summary>{table_html(self.title, *self.table)}</details></figure>"
        )

    def __repr__(self) -> str:
        return f"{self.title}\n{self.alt}"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self.html()}


def table_html(caption: str, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """An HTML table with caption and scopes, everything escaped; over 60 rows, the first and last 30 of them."""
    body = [_row_html(row) for row in rows]
    left_out, half = len(rows) - SHOWN_ROWS, SHOWN_ROWS // 2
    if left_out > 0:
        shown = f"the first and last {half} of {len(rows):,} rows"
        caption += f" ({shown}; the figure's .table has them all)"
        gap = f'<tr><td colspan="{len(header)}">{left_out:,} rows left out</td></tr>'
        body[half:-half] = [gap]
    head = "".join(f'<th scope="col">{html.escape(str(name))}</th>' for name in header)
    return (
        f"<table><caption>{html.escape(caption)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(body)}</tbody></table>"
    )


def _row_html(row: Sequence[Any]) -> str:
    first, *rest = (html.escape(_cell(value)) for value in row)
    cells = "".join(f"<td>{cell}</td>" for cell in rest)
    return f'<tr><th scope="row">{first}</th>{cells}</tr>'


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _png(figure: Any) -> bytes:
    """The figure as PNG bytes with 256 colours (a third of the size), and no date or version: equal for equal data."""
    from PIL import Image  # comes with Matplotlib

    figure.canvas.draw()
    picture = Image.fromarray(np.asarray(figure.canvas.buffer_rgba())[:, :, :3])
    stream = io.BytesIO()
    picture.quantize(256, dither=Image.Dither.NONE).save(stream, format="png", optimize=True)
    return stream.getvalue()
