"""Callouts of the notebooks as Sphinx's admonitions: questions, predictions, checks, what to take away.

The notebooks' text says which they are, by words in bold; JupyterLab follows the same rules:
labextension/src/callouts.ts (a test compares the two). The words stay where they are, so that the text reads the same
everywhere.
"""

import re

from docutils import nodes
from sphinx.transforms import SphinxTransform

from course_tools.book.answers import PROMISE, is_prediction

BEGINS = {"Question": "question", "Check": "check", "Take away": "take-away", "Task": "task"}
SUMMED_UP = re.compile(r"^(Key points|What you (now know|can now do))")
PAGES = ("notebooks/", "exercises/", "solutions/")


class Callouts(SphinxTransform):
    """Put each into an admonition: after answers.py, which looks for a prediction among what stands beside it."""

    default_priority = 890

    def apply(self, **kwargs):
        if not self.env.docname.startswith(PAGES):
            return
        for paragraph in list(self.document.findall(nodes.paragraph)):
            if kind := kind_of(paragraph):
                wrap(paragraph, kind)
        for section in self.document.findall(nodes.section):
            title, *rest = section.children
            if rest and isinstance(rest[0], nodes.bullet_list) and SUMMED_UP.match(title.astext()):
                wrap(rest[0], "take-away")


def kind_of(paragraph):
    """What a paragraph is by the words in bold that it begins with; "" for most."""
    first = next((child for child in paragraph if child.astext()), None)  # MyST begins with ""
    if isinstance(first, nodes.strong):
        for begin, kind in BEGINS.items():
            if re.match(rf"{begin}\b", first.astext()):
                first["classes"].append("label")
                return kind
    if not is_prediction(paragraph):
        return ""
    bold = next(words for words in paragraph.findall(nodes.strong) if PROMISE.match(words.astext()))
    bold["classes"].append("label")
    return "predict"


def wrap(node, kind):
    """An admonition without a title line in the place of the node, which goes into it."""
    box = nodes.admonition("", classes=["callout", kind])
    node.replace_self(box)
    box += node


def setup(app):
    """Register the transform."""
    app.add_transform(Callouts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
