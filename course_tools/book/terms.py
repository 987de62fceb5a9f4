"""Words of the glossary in lectures and exercises: where a page first says one, it is a link that shows the meaning.

A word means what the glossary says only from the chapter on that explains it, and a word of the GPU only in chapters
on the GPU: before that, and elsewhere, `block`, `grid` or `rank` may be the everyday word.
"""

import re

from docutils import nodes
from sphinx.addnodes import glossary

from course_tools.doctor.chapters import CHAPTERS

PAGE = "glossary"
FOLDERS = ("notebooks/", "exercises/", "solutions/")
PART = {number: part for number, _, part in CHAPTERS}
EVERYWHERE = {"cpu", "threads"}  # the parts whose words all later chapters use
# Verbs, and words with an everyday meaning of their own
PLAIN = {"broadcast", "gather", "scatter", "reduce", "eager", "precision", "recall", "divergence"}
NOT_IN: tuple[type, ...] = (nodes.reference, nodes.title, nodes.figure, nodes.caption)
NOT_IN += (nodes.literal, nodes.literal_block, nodes.math, nodes.raw)


class Terms:
    """The entries of the glossary. One for each process that writes pages."""

    def __init__(self, doctree):
        self.entries = {}  # {"warp": (place on the page, meaning, its chapters)}
        for item in doctree.findall(nodes.definition_list_item):
            if not isinstance(item.parent.parent, glossary):
                continue
            term, definition = item.children[0], item.children[-1]
            says = " ".join(definition.astext().split())
            chapters = re.findall(r"\b\d\d\b", says[says.rfind("Chapter") :])
            for word in term.astext().split(", "):
                self.entries[word] = (term["ids"][0], says, chapters)
        words = sorted(set(self.entries) - PLAIN, key=len, reverse=True)
        found = "|".join(map(re.escape, words))
        self.pattern = re.compile(rf"(?<![\w-])({found})(e?s)?(?![\w-])", re.IGNORECASE)
        self.known = {word.lower(): word for word in self.entries}

    def in_text(self, text, number, met):
        """[text or (text, place, meaning)] of a text in chapter `number`; met: the places that the page has linked."""
        parts, at = [], 0
        for found in self.pattern.finditer(text):
            word = self.known[found[1].lower()]
            place, says, chapters = self.entries[word]
            capitals = word.isupper() and found[1] != word  # "sm" is no SM
            if place in met or capitals or not meant(chapters, number):
                continue
            met.add(place)
            parts += [text[at : found.start()], (found[0], place, says)]
            at = found.end()
        return [*parts, text[at:]]


def meant(chapters, number):
    """Does a word that these chapters explain have its meaning in chapter `number`?"""
    parts = {PART[chapter] for chapter in chapters}
    here = PART[number]
    return min(chapters) <= number and (bool(parts & EVERYWHERE) or here in parts)


def link_terms(app, doctree, page):
    """Link the first mention of each term on a page."""
    if not page.startswith(FOLDERS):
        return
    if not hasattr(app, "course_terms"):
        app.course_terms = Terms(app.env.get_doctree(PAGE))
    number = page.partition("/")[2][:2]
    met: set[str] = set()
    address = app.builder.get_relative_uri(page, PAGE)
    for text in list(doctree.findall(nodes.Text)):
        if not _is_prose(text):
            continue
        parts = app.course_terms.in_text(text.astext(), number, met)
        if len(parts) > 1:
            made = [_node(part, address) for part in parts if part]
            text.parent.replace(text, made)


def _is_prose(text):
    node = text.parent
    while node is not None and not isinstance(node, nodes.section | nodes.document):
        if isinstance(node, NOT_IN) or "facts" in node.get("classes", ()):
            return False
        node = node.parent
    return True


def _node(part, address):
    if isinstance(part, str):
        return nodes.Text(part)
    words, place, says = part
    link = nodes.reference("", words, refuri=f"{address}#{place}", reftitle=says, internal=True)
    link["classes"].append("term")
    return link


def setup(app):
    """Register for every page that is written."""
    app.connect("doctree-resolved", link_terms)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
