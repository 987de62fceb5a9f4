"""Mathematics as MathML, made when the book is built: nothing to load or to run, and screen readers speak it."""

from docutils import nodes
from math_core import LatexError, LatexToMathML
from sphinx.util import logging

log = logging.getLogger(__name__)
convert = LatexToMathML()


def setup(app):
    """Register as a renderer of mathematics."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
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
