"""Docstrings are plain text; autodoc wants reStructuredText. Lines that name something stay lines of their own."""

import re

NAME = r"[A-Za-z_*][\w.*\[\]]*"
ITEM = re.compile(
    rf"(- |\d+\. |{NAME}((, | and | or ){NAME})*( \([^)]*\))?: |(Returns?|Raises|Sources?)\b)"
)


def setup(app):
    """Register the converter."""
    app.connect("autodoc-process-docstring", _convert)
    app.connect("autodoc-skip-member", _skip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _convert(app, what, name, obj, options, lines):
    lines[:] = rest("\n".join(lines)).split("\n")


def _skip(app, what, name, obj, skip, options):
    """What another room made is described there."""
    room = app.env.docname.rpartition("/")[2]
    return True if not getattr(obj, "__module__", room).startswith(f"course_lib.{room}") else None


def rest(text):
    """A plain docstring as reStructuredText."""
    return "\n\n".join(_paragraph(part) for part in re.split(r"\n\s*\n", text.strip("\n"))) + "\n"


def _paragraph(text):
    rows = text.split("\n")
    if rows[0].startswith(">>> "):
        shown = [re.sub(r"\s*# doctest: .*", "", row) for row in rows]
        return ".. code-block:: pycon\n\n" + "\n".join("    " + row for row in shown)
    columns = any(re.search(r"\S {3,}\S", row) for row in rows[1:])
    if all(row.startswith("    ") for row in rows):
        return (".. code-block:: text\n\n" if columns else "::\n\n") + text
    if columns:
        return ".. code-block:: text\n\n" + "\n".join("    " + row for row in rows)
    items: list[str] = []
    for row in rows:
        if not items or (ITEM.match(row) and items[-1].endswith((".", ";", ":", ","))):
            items.append(row.strip())
        else:
            items[-1] += " " + row.strip()
    return "\n".join(f"| {escaped(item)}" for item in items)


def escaped(text):
    """Text whose characters mean themselves, but for `code`."""
    parts = re.split(r"`([^`]+)`", text)
    parts[::2] = [re.sub(r"([\\*`|_])", r"\\\1", part) for part in parts[::2]]
    parts[1::2] = [f"``{part}``" for part in parts[1::2]]
    return "".join(parts)
