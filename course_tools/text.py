"""Texts: templates filled in, numbers with their nouns. Needs the standard library alone until `render` is called."""

import functools
from pathlib import Path


def count(number, noun):
    """2 lines, 1 line."""
    return f"{number} {noun}" + ("" if number == 1 else "s")


def render(template, **values):
    """The text of the Jinja2 template in a file, with the values put in; a name that is not among them is an error.

    It may extend or include files beside it. Values are escaped in files called NAME.html or NAME.html.jinja; in
    Markdown they stand as they are.
    """
    template = Path(template)
    return _environment(template.parent).get_template(template.name).render(values)


@functools.cache
def _environment(folder):
    """What reads the templates of a folder, each once."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(folder),
        undefined=StrictUndefined,
        autoescape=lambda name: ".html" in Path(name or "").suffixes,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
