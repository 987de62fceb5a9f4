"""Pages from Jinja2 templates: text beside the code that fills it in."""

from pathlib import Path


def render(template, **values):
    """The text of the template in a file, with the values put in; a name that is not among them is an error.

    Values are escaped where the file is called NAME.html or NAME.html.jinja; in Markdown they stand as they are.
    """
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        undefined=StrictUndefined,
        autoescape=".html" in Path(template).suffixes,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.from_string(Path(template).read_text(encoding="utf-8")).render(values)
