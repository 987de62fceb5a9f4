"""After "**Predict.**" the rest of the section is folded away: first the reader's answer, then the book's.

What stays in sight is the text up to the cell that takes the prediction, which has the tag guess (stage.py). A
section with two predictions folds twice, one inside the other. Where an author has folded an answer, that fold
becomes this one.
"""

import re

from docutils import nodes
from sphinx.transforms import SphinxTransform

from course_tools.build.deeper import INVITATION

PROMISE = re.compile(r"predict\b", re.IGNORECASE)
AUTHORS = re.compile(r"\s*<details>\s*<summary>Answer</summary>\s*")


class Answer(nodes.General, nodes.Element):
    """What comes after a prediction."""


class Deeper(Answer):
    """What a deeper section holds; its summary stands in place of the notebook's invitation."""


class Fold(SphinxTransform):
    """Wrap what follows each prediction of a lecture."""

    default_priority = 880  # when all cells and their outputs are there

    def apply(self, **kwargs):
        if not self.env.docname.startswith("notebooks/"):
            return
        for paragraph in reversed(list(self.document.findall(is_prediction))):
            fold(paragraph)
        for paragraph in list(self.document.findall(is_invitation)):
            parent, first = paragraph.parent, paragraph.parent.index(paragraph)
            parent.children[first:] = [Deeper("", *parent.children[first + 1 :])]
            parent.setup_child(parent[first])


def is_invitation(node):
    """Is it the paragraph that opens a deeper section?"""
    return isinstance(node, nodes.paragraph) and node.astext() == INVITATION.strip("*")


def is_prediction(node):
    """Is it a paragraph with the word Predict in bold?"""
    bold = node.findall(nodes.strong) if isinstance(node, nodes.paragraph) else ()
    return any(PROMISE.match(words.astext()) for words in bold)


def fold(paragraph):
    """Put the siblings after a prediction, up to the next section, into an Answer."""
    parent = paragraph.parent
    first = parent.index(paragraph) + 1
    sections = parent.first_child_matching_class(nodes.section, start=first)
    last = len(parent) if sections is None else sections
    first += in_sight(parent.children[first:last])
    inside = unfolded(parent.children[first:last])
    if inside:
        parent.children[first:last] = [Answer("", *inside)]
        parent.setup_child(parent[first])


def in_sight(siblings):
    """How many of the siblings stay in sight: all up to the cell of the guess, if it is the next cell."""
    cell = next((i for i, node in enumerate(siblings) if is_cell(node)), None)
    if cell is None or "tag_guess" not in siblings[cell]["classes"]:
        return 0
    return cell + 1


def is_cell(node):
    """Is it a code cell?"""
    return isinstance(node, nodes.container) and node.get("nb_element") == "cell_code"


def unfolded(siblings):
    """The siblings without the author's own fold, where they begin with one."""
    if not siblings or not AUTHORS.fullmatch(_html(siblings[0])):
        return siblings
    end = next(node for node in siblings if _html(node).strip() == "</details>")
    return [node for node in siblings[1:] if node is not end]


def _html(node):
    return node.astext() if isinstance(node, nodes.raw) else ""


def _open(writer, node):
    writer.body.append('<details class="answer"><summary>The answer</summary>\n')


def _open_deeper(writer, node):
    writer.body.append(
        '<details class="deeper"><summary>Go deeper (no task rests on it)</summary>\n'
    )


def _close(writer, node):
    writer.body.append("</details>\n")


def setup(app):
    """Register the fold."""
    app.add_node(Answer, html=(_open, _close))
    app.add_node(Deeper, html=(_open_deeper, _close))
    app.add_transform(Fold)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
