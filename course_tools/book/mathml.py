"""Mathematics as MathML, made when the book is built: nothing to load or to run, and screen readers speak it."""

import re

from docutils import nodes
from math_core import LatexError, LatexToMathML
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

log = logging.getLogger(__name__)
convert = LatexToMathML()


class MarksStay(SphinxTransform):
    """Keep a formula and the comma or full stop after it on one line: browsers break between the two."""

    default_priority = 880

    def apply(self, **kwargs):
        for formula in list(self.document.findall(nodes.math)):
            after = formula.next_node(descend=False, siblings=True)
            mark = re.match(r"[^\w\s(\[“‘–—-]+", after) if isinstance(after, nodes.Text) else None
            if mark:
                whole = nodes.inline("", "", classes=["with-its-mark"])
                after.parent.replace(after, nodes.Text(after[mark.end() :]))
                formula.replace_self(whole)
                whole += [formula, nodes.Text(mark[0])]


def setup(app):
    """Register as a renderer of mathematics."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    app.add_transform(MarksStay)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def mathml(node, block):
    """One formula, a LaTeX text, as a <math> element; a wrong one is a warning, and so an error of the build."""
    try:
        return convert.convert_with_local_state(node.astext().strip(), displaystyle=block)
    except LatexError as error:
        log.warning("this formula is not understood: %s (%s)", node.astext(), error, location=node)
        return ""


def _inline(writer, node):
    writer.body.append(mathml(node, False))
    raise nodes.SkipNode


def _block(writer, node):
    writer.body.append(writer.starttag(node, "div", CLASS="math") + mathml(node, True) + "</div>\n")
    raise nodes.SkipNode
