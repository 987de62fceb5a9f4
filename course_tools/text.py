"""Texts: templates filled in, numbers with their nouns. Needs the standard library alone until `render` is called."""

from pathlib import Path


def count(number, noun):
    """2 lines, 1 line."""
    return f"{number} {noun}" + ("" if number == 1 else "s")


def render(template, **values):
    """The text of the Jinja2 template in a file, with the values put in; a name that is not among them is an error.

    It may extend or include files beside it. Values are escaped in files called NAME.html or NAME.html.jinja; in
    Markdown they stand as they are.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    template = Path(template)
    environment = Environment(
        loader=FileSystemLoader(template.parent),
        undefined=StrictUndefined,
        autoescape=lambda name: ".html" in Path(name or "").suffixes,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(template.name).render(values)
