"""The works with a DOI or arXiv number that the lectures list, for the page of references."""

import re

ENTRY = re.compile(r"^[-*] (.*?\((https://(?:doi\.org|arxiv\.org/abs)/[^)\s]+)\).*)$", re.MULTILINE)


def collected(chapters):
    """[(entry, numbers of the chapters that list it)], by the first letter of the entry; each work once."""
    works: dict = {}
    for one in chapters:
        if one.kind == "lecture":
            text = "\n".join(cell.source for cell in one.cells if cell.kind == "markdown")
            for entry, address in ENTRY.findall(text):
                works.setdefault(address, (entry, []))[1].append(one.chapter[:2])
    return sorted(works.values(), key=lambda work: _author(work[0]).lower())


def _author(text):
    """The first surname: what stands before the first comma, without initials."""
    words = text.split(",")[0].split()
    return next((word for word in words if len(word.strip(".*")) > 1), "")
