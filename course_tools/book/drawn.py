"""Figures are drawn on white, once for both themes. The style sheet inverts what is `drawn` in the dark one."""

from docutils import nodes
from sphinx.transforms import SphinxTransform

FOLDER = "benchmarks/results/"  # the benches' diagrams; a screenshot stays as it is


class Drawn(SphinxTransform):
    """Mark the pictures of diagrams in documents; those of notebooks stand in their outputs' own <figure>."""

    default_priority = 880

    def apply(self, **kwargs):
        for image in self.document.findall(nodes.image):
            if FOLDER in image["uri"]:
                image["classes"].append("drawn")


def setup(app):
    """Register the transform."""
    app.add_transform(Drawn)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
