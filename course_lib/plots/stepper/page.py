"""A stepper as HTML: a picture that needs no script, and the data and script that make it move.

JupyterLab takes the script out of a notebook that it does not trust yet; what stays is the picture, its alt text and
the sentences. The book loads stepper.js once for all its pages and leaves it out here (`without_script`).
"""

import base64
import re
from collections.abc import Sequence
from functools import cache
from html import escape
from pathlib import Path

MODULE = Path(__file__).with_name("stepper.js")
SCRIPT = re.compile(r'<script type="module" class="course-stepper">.*?</script>', re.DOTALL)
SUMMARY = re.compile(r"<summary>(\d+) steps in words.*?</summary>")


def html_of(
    title: str, alt: str, svg: str, says: Sequence[str], data: str, size: tuple[float, float]
) -> str:
    """The whole output of a cell. data: JSON."""
    picture = base64.b64encode(svg.encode()).decode("ascii")
    steps = "".join(f"<li>{escape(text)}</li>" for text in says)
    return (
        f'<figure class="course-stepper" aria-label="{escape(title)}" data-lm-suppress-shortcuts="true" '
        'style="margin: 0">'
        f'<img alt="{escape(alt)}" width="{size[0]}" height="{size[1]}" '
        'style="max-width: 100%; height: auto; background-color: white" '
        f'src="data:image/svg+xml;base64,{picture}">'
        f"<details><summary>{_still(len(says))}</summary><ol>{steps}</ol></details>"
        f'<script type="application/json">{_inside(data)}</script></figure>'
        f'<script type="module" class="course-stepper">{script()}</script>'
    )


@cache
def script() -> str:
    """The module, without its comments and indents: it is stored with each stepper of a notebook."""
    lines = MODULE.read_text(encoding="utf-8").splitlines()
    kept = [row.strip() for row in lines if row.strip() and not row.strip().startswith("//")]
    return "\n".join(kept)


def as_today(html: str) -> str:
    """A stepper that a notebook has stored, with the script and the words of today."""
    today = f'<script type="module" class="course-stepper">{script()}</script>'
    if SCRIPT.search(html):
        html = SUMMARY.sub(lambda found: f"<summary>{_still(found[1])}</summary>", html, count=1)
    return SCRIPT.sub(lambda _: today, html)


def _still(steps: int | str) -> str:
    """What stands under the picture as long as nobody has run the cell; the script then takes the hint away."""
    if int(steps) == 1:
        return "The picture in words"  # there is nothing to move
    return f"{steps} steps in words (run the cell above, and the picture moves)"


def without_script(html: str) -> str:
    """The same for a page that loads stepper.js itself."""
    return SCRIPT.sub("", html)


def _inside(data: str) -> str:
    """JSON that cannot end its element."""
    return data.replace("<", "\\u003c")
