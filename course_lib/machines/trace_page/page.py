"""A Report as a page: the source with a bar for each line that costs something, findings at their lines.

Text and tables say all that a bar or a colour says. It needs no script, has no ids (two reports stand in one notebook),
and takes its colours from the page around it.
"""

import re
from html import escape
from itertools import groupby
from pathlib import Path

STYLE = Path(__file__).with_name("page.css")
BARS = (("sectors", "ideal_sectors"), ("wavefronts", "ideal_wavefronts"))
# strings and comments, whose braces do not count
TEXTS = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*.*?\*/', re.DOTALL)
SOURCE = (
    "<div class='er-wide' role='region' tabindex='0' aria-label='source'><table class='er-source'><thead><tr>"
    "<th scope='col'>line</th><th scope='col'>sectors (times ideal)</th>"
    "<th scope='col'>wavefronts (times ideal)</th><th scope='col'>bytes</th>"
    "<th scope='col' class='er-text'>source</th></tr></thead><tbody>{}</tbody></table></div>"
)
NUMBER = re.compile(r"[-\d.,]*")  # stands at the right of its column
FACTS = ("array", "index", "op", "block", "thread", "count")


def page(report):
    """The HTML of a report, to be put into any page; the same for the same counts and findings."""
    found = [*report.errors, *(note | {"is_note": True} for note in _notes(report))]
    lines = report.source.expandtabs(4).split("\n")
    elsewhere = [_finding(e) for e in found if not 0 < e["line"] <= len(lines)]
    parts = [
        f"<p class='er-head'><strong>{escape(report.kernel or 'kernel')}</strong>: {said(report)}</p>",
        *elsewhere,
        _source(report, lines, found) if report.source else "",
        folded("All accesses", "<div class='er-wide'>" + table(*report.table()) + "</div>"),
        folded("What the kernel printed", f"<pre>{escape(report.printed)}</pre>")
        if report.printed
        else "",
    ]
    return styled("".join(parts))


def said(report):
    """How much was found, in a few words."""
    n, notes = len(report.errors), len(_notes(report))
    found = f"{n} finding{'s' * (n != 1)}" if n else "no check found anything"
    return found + f", {notes} note{'s' * (notes != 1)}" * (notes > 0)


def _notes(report):
    """What a check saw that is no error, in the same form as the errors."""
    return getattr(report, "notes", None) or []


def styled(body):
    """HTML with its style; what surrounds it stays as it is."""
    style = STYLE.read_text(encoding="utf-8")
    return f"<article class='engine-report'><style>{style}</style>{body}</article>"


def table(header, rows, names=0):
    """An HTML table; the first `names` columns are headings of their rows."""
    texts = {i for row in rows for i, cell in enumerate(row) if not NUMBER.fullmatch(f"{cell}")}
    head = "".join(_cell(cell, "th scope='col'", i in texts) for i, cell in enumerate(header))
    body = "".join(
        "<tr>"
        + "".join(
            _cell(cell, "th scope='row'" if i < names else "td", i in texts)
            for i, cell in enumerate(row)
        )
        + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def folded(title, body):
    """A part that opens on a click."""
    return f"<details><summary>{escape(title)}</summary>{body}</details>"


def _cell(value, tag, is_text):
    text = f"{value:,}" if isinstance(value, int) else escape(str(value))
    return f"<{tag}{' class=er-text' * is_text}>{text}</{tag[:2]}>"


def _finding(error):
    """One finding: its message without the line of the source, which stands above it, and where it was, folded."""
    tool, text = error["tool"], error["message"].split("\n    ")[0]
    sides = [error, *filter(None, [error["other"]])]
    rows = [(f"{side.get('line')}", *(f"{side.get(name, '')}" for name in FACTS)) for side in sides]
    where = folded("where", "<div class='er-wide'>" + table(("line", *FACTS), rows) + "</div>")
    mark = "note: " * error.get("is_note", False)
    said = f"<p><strong>{mark}{tool}</strong>{escape(text.removeprefix(tool))}</p>"
    return f"<div class='er-finding'>{said}{where if error['block'] else ''}</div>"


def _source(report, lines, found):
    """The source as tables, a row for each line; functions in which nothing was counted or found are folded."""
    costs = _costs(report.accesses)
    most = {name: max([1, *(row[name] for row in costs.values())]) for name, _ in BARS}
    marked = {*costs, *(error["line"] for error in found)}
    kernel = re.compile(rf"\b__global__\b[^;{{]*\b{re.escape(report.kernel)}\s*\(")

    def shown(piece):
        return bool(marked & set(piece) or kernel.search("\n".join(lines[n - 1] for n in piece)))

    out = ""
    for show, group in groupby(_pieces(report.source), shown):
        pieces = list(group)
        numbers = range(pieces[0].start, pieces[-1].stop)
        rows = ""
        for n in numbers:
            rows += _row(n, lines[n - 1], costs.get(n), most)
            here = "".join(_finding(error) for error in found if error["line"] == n)
            rows += f"<tr><td colspan='5' class='er-text'>{here}</td></tr>" if here else ""
        title = f"lines {numbers[0]} to {numbers[-1]}: nothing counted or found"
        out += SOURCE.format(rows) if show else folded(title, SOURCE.format(rows))
    return out


def _costs(accesses):
    """{line: sums of its counts}"""
    costs: dict = {}
    for row in accesses:
        sums = costs.setdefault(row["line"], {})
        for name in ("bytes", *(name for pair in BARS for name in pair)):
            sums[name] = sums.get(name, 0) + row[name]
    return costs


def _row(number, text, cost, most):
    cells = (
        "".join(_bar(cost[name], cost[ideal], most[name]) for name, ideal in BARS) if cost else ""
    )
    counted = f"{cells}<td>{cost['bytes']:,}</td>" if cost else "<td></td>" * (len(BARS) + 1)
    return f"<tr><th scope='row'>{number}</th>{counted}<td class='er-text er-code'>{escape(text)}</td></tr>"


def _bar(n, ideal, most):
    """A number, how many times the least possible it is, and both as a bar: solid what had to be, striped the rest."""
    if not n:
        return "<td></td>"
    times = f" ({n / ideal:.3g}\N{MULTIPLICATION SIGN})" if ideal else ""
    widths = f"width:{100 * n / most:.3g}%", f"width:{100 * ideal / n:.3g}%"
    return (
        f"<td>{n:,}{times}<span class='er-bar' aria-hidden='true' style='{widths[0]}'>"
        f"<span style='{widths[1]}'></span></span></td>"
    )


def bare(source):
    """The source with spaces for comments, texts and the braces that open namespaces and extern "C": places stay."""
    blank = TEXTS.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), source)
    return re.sub(r"(\bextern|\bnamespace\s*[\w:]*)\s*\{", lambda m: m[0][:-1] + " ", blank)


def _pieces(source):
    """Ranges of line numbers: the source cut behind each brace that closes a function, a struct or a table."""
    texts, lines, first, depth = source.split("\n"), bare(source).split("\n"), 1, 0
    for number, (text, line) in enumerate(zip(texts, lines, strict=True), 1):
        first += first == number and not text.strip()
        depth = max(depth + line.count("{") - line.count("}"), 0)
        if first <= number and (number == len(lines) or (depth == 0 and "}" in line)):
            yield range(first, number + 1)
            first = number + 1


def aligned(header, rows):
    """The lines of a table as text."""
    cells = [
        [f"{cell:,}" if isinstance(cell, int) else cell for cell in row] for row in [header, *rows]
    ]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    return [
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in cells
    ]
