"""The page of references: the five texts, and the works with a DOI or arXiv number that the lectures list."""

import re

from course_tools.book import facts

ENTRY = re.compile(r"^[-*] (.*?\((https://(?:doi\.org|arxiv\.org/abs)/[^)\s]+)\).*)$", re.MULTILINE)


def page(written, chapters):
    """The Markdown of the page. written: the file with the five texts; chapters: read sources."""
    head = written.read_text(encoding="utf-8").rstrip()
    rows = [
        f"- {text} (Chapter{'s' * (len(where) > 1)} {', '.join(where)}.)"
        for text, where in collected(chapters)
    ]
    text = "\n".join([head, "", *rows, ""])
    return facts.under_title(text, facts.of_document("references", text))


def collected(chapters):
    """[(entry, numbers of the chapters that list it)], by the first letter of the entry; each work once."""
    works: dict = {}
    for one in chapters:
        if one.kind == "lecture":
            for text, address in ENTRY.findall(
                "\n".join(c.source for c in one.cells if c.kind == "markdown")
            ):
                works.setdefault(address, (text, []))[1].append(one.chapter[:2])
    return sorted(works.values(), key=lambda work: _author(work[0]).lower())


def _author(text):
    """The first surname: what stands before the first comma, without initials."""
    words = text.split(",")[0].split()
    return next((word for word in words if len(word.strip(".*")) > 1), "")
