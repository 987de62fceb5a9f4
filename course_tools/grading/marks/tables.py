"""CSV files in and out: what a spreadsheet program wrote is read, what it opens can start no formula."""

import csv
import io
import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from course_lib.errors import BadInput
from course_tools.build import command as build

BOM = "\ufeff"  # with it Excel takes a CSV file for UTF-8; without it, names with accents come out wrong
LONGEST = 1000  # characters of a cell
FORMULA = "=+-@\uff1d\uff0b\uff0d\uff20"  # the last four: full-width forms, which some programs take for the same
# characters that turn the direction of the text after them
TURNS = re.compile("[\u202a-\u202e\u2066-\u2069]")


@dataclass
class Table:
    """The rows of a CSV file, and how it was written, so that a filled-in copy is written the same way."""

    rows: list
    comma: str = ","
    end: str = "\n"
    bom: bool = True

    def text(self):
        """The file's text."""
        stream = io.StringIO(newline="")
        csv.writer(stream, delimiter=self.comma, lineterminator=self.end).writerows(self.rows)
        return (BOM if self.bom else "") + stream.getvalue()


def read(file):
    """The `Table` in a CSV file: UTF-8 or UTF-16, commas, semicolons or tabs. Raises BadInput."""
    file = Path(file)
    try:
        data = file.read_bytes()
    except OSError as error:
        raise BadInput(f"{file} cannot be read: {error.strerror}") from None
    try:
        text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8")
    except UnicodeDecodeError:
        raise BadInput(f"{file} is not in UTF-8: save it as 'CSV UTF-8'") from None
    bom, text = text.startswith(BOM), text.removeprefix(BOM)
    first = re.sub('"[^"]*"', "", text.split("\n", 1)[0])
    comma = max(",;\t", key=first.count)
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=comma))
    except csv.Error as error:
        raise BadInput(f"{file} is no CSV file that can be read: {error}") from None
    return Table([row for row in rows if any(row)], comma, "\r\n" if "\r\n" in text else "\n", bom)


def write(file, table):
    """Write a `Table`, whole or not at all."""
    build.write(file, table.text())


def plain(text, controls=True):
    """Text that every file can hold: no half characters, none that turn the text's direction, no control characters."""
    text = TURNS.sub("", str(text).encode("utf-8", "replace").decode("utf-8"))
    if controls:
        text = "".join(
            " " if unicodedata.category(char) in ("Cc", "Zl", "Zp") else char for char in text
        )
    return text


def safe(value):
    """A cell that a spreadsheet shows as it is. Numbers stay numbers; text that could begin a formula gets a "'".

    Also after a semicolon or a quote within the text: a program that splits cells there would see a formula.
    """
    if isinstance(value, int | float):
        return number(value)
    text = plain(value)
    text = text if len(text) <= LONGEST else f"{text[:LONGEST]} ..."
    text = re.sub(rf"([;\"]\s*)(?=[{re.escape(FORMULA)}])", r"\1'", text)
    return f"'{text}" if text.lstrip()[:1] in FORMULA and text.strip() else text


def number(value):
    """A number of points: 3, 2.5; at most two places after the point."""
    return f"{round(float(value), 2):.10g}" if value else "0"


def points_in(text):
    """The number in a cell: "2", "2.5" or "2,5"; None for an empty one. Raises ValueError for anything else."""
    text = str(text).strip().removeprefix("'")
    if not text:
        return None
    if not re.fullmatch(r"[+-]?\d{1,6}([.,]\d{1,6})?", text, re.ASCII):
        raise ValueError(text)
    return float(text.replace(",", "."))
