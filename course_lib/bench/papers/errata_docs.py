"""docs/errata.md: a table for each text, made from ERRATA."""

from collections.abc import Callable
from typing import Any

from course_lib.bench.papers.errata import ERRATA
from course_lib.bench.papers.texts import TEXTS

BLOCKS = {
    "kamra": "[000]",
    "goyal": "[001]",
    "saraiya": "[002]",
    "darve": "[003]",
    "singh": "[004]",
}


def blocks() -> dict[str, Callable[[dict[str, Any]], str]]:
    """The makers of the document's blocks; they need no result."""
    return {name: _maker(text) for name, text in BLOCKS.items()}


def _maker(text: str) -> Callable[[dict[str, Any]], str]:
    return lambda _: _table(text)


def _table(text: str) -> str:
    lines = [
        f"**{text} {TEXTS[text]}**",
        "",
        "| where | it says | right is | proved by |",
        "| --- | --- | --- | --- |",
    ]
    for erratum in ERRATA:
        if erratum.text == text:
            cells = (erratum.where, erratum.says, erratum.right, f"`{erratum.test}`")
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)
