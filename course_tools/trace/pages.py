"""A report as a file: a page that stands alone, and JSON."""

import dataclasses
import json

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>:root {{ color-scheme: light dark }} body {{ margin: 1rem auto; padding: 0 1rem; max-width: 80rem }}</style>
</head>
<body>
<main>
<h1 style="font: 600 1.3rem system-ui, sans-serif">{title}</h1>
{body}
</main>
</body>
</html>
"""


def standalone(title, shown):
    """An HTML document. title: escaped already; shown: Reports and Comparisons, in their order."""
    return PAGE.format(title=title, body="\n".join(one._repr_html_() for one in shown))


def as_json(traced, launches, comparison):
    """The text of one report, or of several and their comparison. launches: (grid, block) of each."""
    reports = [
        {"kernel": report.kernel, "grid": grid, "block": block, "ok": report.ok}
        | dataclasses.asdict(dataclasses.replace(report, source=""))
        for report, (grid, block) in zip(traced, launches, strict=True)
    ]
    for report in reports:
        del report["source"]
    whole = reports[0] if comparison is None else {"reports": reports, "rows": comparison.rows}
    return json.dumps(whole, indent=2)
