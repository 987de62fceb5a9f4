"""Every relative link in the README, in documents and in built notebooks leads somewhere. Nothing is downloaded."""

import re
from pathlib import Path
from urllib.parse import unquote

import nbformat
import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("notebooks", "exercises", "solutions")
AWAY = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)  # https:, mailto:, data:
CODE = re.compile(r"^(```+|~~~+).*?^\1[ \t]*$|`[^`\n]+`", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(\s*<?([^()\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
HTML = re.compile(
    r"<(?:a|img|source)\b[^>]*?\b(?:href|src|srcset)=[\"']([^\"']+)[\"']", re.IGNORECASE
)
REFERENCE = re.compile(r"^\[[^\]]+\]:\s*<?(\S+?)>?(?:\s|$)", re.MULTILINE)


def links(text):
    """The targets in a Markdown text; code is left out."""
    plain = CODE.sub("", text)
    return [target for pattern in (LINK, HTML, REFERENCE) for target in pattern.findall(plain)]


def headings(text):
    """The anchors of a Markdown text, as GitHub makes them."""
    rows = re.findall(r"^#+\s+(.*?)\s*$", CODE.sub("", text), re.MULTILINE)
    made = {re.sub(r"[^\w\- ]", "", row.lower()).replace(" ", "-") for row in rows}
    return made | set(re.findall(r'id="([^"]+)"', text))


def dead(text, folder):
    """The links in a text that lead nowhere, seen from its folder."""
    found = []
    for target in links(text):
        if AWAY.match(target):
            continue
        file, _, anchor = target.partition("#")
        path = (folder / unquote(file)) if file else None
        if path is not None and (file.startswith("/") or not path.exists()):
            found.append(target)
        elif anchor and (path is None or path.suffix == ".md"):
            there = text if path is None else path.read_text(encoding="utf-8")
            if unquote(anchor).lower() not in headings(there):
                found.append(target)
    return found


def documents():
    """README and the like: all Markdown of the clone but the sources of notebooks and what is hidden or installed."""
    skip = {"node_modules", "build", "dist"}
    for path in sorted(ROOT.rglob("*.md")):
        parts = path.relative_to(ROOT).parts
        a_source = parts[0] == "chapters" and len(parts) > 2
        if (
            parts[0] not in skip
            and not a_source
            and not any(part.startswith(".") for part in parts)
        ):
            yield path


def name(path):
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", list(documents()), ids=name)
def test_links_of_documents(path):
    assert dead(path.read_text(encoding="utf-8"), path.parent) == []


@pytest.mark.parametrize(
    "path", [p for f in FOLDERS for p in sorted((ROOT / f).glob("*.ipynb"))], ids=name
)
def test_links_of_notebooks(path):
    cells = [
        cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "markdown"
    ]
    text = "\n\n".join(cell.source for cell in cells)
    assert dead(text, path.parent) == []


def test_the_readme_is_looked_at():
    assert ROOT / "README.md" in list(documents())


SAMPLE = """
# A title, with a comma

[one](there.md), ![two](gone.png "words"), [three](there.md#section), [four](there.md#nowhere),
<a href="gone.html">five</a>, [six](https://example.org/x), [seven](#a-title-with-a-comma), [eight](#elsewhere),
[nine](/absolute.md), [ten](a%20b.md),
`[code](gone1.md)`, [[11] a paper](gone2.md), [12]

```
[code](gone3.md)
```

[12]: gone4.md
"""


def test_a_dead_link_is_found(tmp_path):
    (tmp_path / "there.md").write_text("## Section\n")
    (tmp_path / "a b.md").write_text("")
    wanted = [
        "gone.png",
        "there.md#nowhere",
        "#elsewhere",
        "/absolute.md",
        "gone2.md",
        "gone.html",
        "gone4.md",
    ]
    assert dead(SAMPLE, tmp_path) == wanted
