"""Predictions: lectures and exercises open with `my_guess = ...`, lectures with the answers folded away."""

import ast
import re

from course_lib.progress.unguessed import MADE

PROMISE = re.compile(r"\*\*Predict\b")
HEADING = re.compile(r"^#{2,4} ", re.MULTILINE)
WIDTH = 88
FORMS = {bool: "True or False", int: "a number", float: "a number"}


def blanked(cell):
    """The code of a cell with `...` for each guess of the author's; any other cell's code as it is."""
    if not takes_guess(cell):
        return cell.source
    source = cell.source
    for node in reversed(ast.parse(source).body):
        if isinstance(node, ast.Assign) and _is_guess(node, cell):
            start, end = _span(source, node.value)
            blank = _blank(source, node.value)
            rest = source[end:].partition("\n")[0]
            told = rest.strip() or blank != "..." or _value(node.value) is ...
            hint = "" if told else _hint(source[start:end])
            source = source[:start] + blank + hint + source[end:]
    return source


def takes_guess(cell):
    """Does a reader put a guess into this cell? Its name says so, or a comment; `guess: false` denies it."""
    named = MADE.fullmatch(cell.name) or "# your guess" in cell.source
    return bool(cell.kind == "code" and named and cell.guess)


def _is_guess(node, cell):
    names = [part.id for t in node.targets for part in ast.walk(t) if isinstance(part, ast.Name)]
    ours = all(name.startswith("my_") for name in names) or "# your guess" in cell.source
    calls = any(isinstance(part, ast.Call) for part in ast.walk(node.value))
    return bool(names) and ours and not calls


def _span(source, node):
    """Where an expression stands in a text; Python counts columns in bytes."""
    lines = source.encode().splitlines(keepends=True)

    def place(line, column):
        return len((b"".join(lines[: line - 1]) + lines[line - 1][:column]).decode())

    return place(node.lineno, node.col_offset), place(node.end_lineno, node.end_col_offset)


def _blank(source, node):
    """`...` for a value; a dictionary keeps its keys and a tuple its length, for they say what is asked."""
    if isinstance(node, ast.Dict):
        given = zip(node.keys, node.values, strict=True)
        pairs = [f"{_text(source, key)}: {_blank(source, value)}" for key, value in given]
        return "{" + _rows(pairs, node.col_offset + 1) + "}"
    if isinstance(node, ast.Tuple):
        inside = ", ".join(_blank(source, each) for each in node.elts)
        bare = node.elts and _span(source, node)[0] == _span(source, node.elts[0])[0]
        return inside if bare else f"({inside})"
    if isinstance(node, ast.List) and all(isinstance(_value(each), bool) for each in node.elts):
        return "[" + ", ".join("..." for _ in node.elts) + "]"  # an answer for each claim
    return "..."


def _rows(parts, column):
    """The parts with commas, in lines that fit; what follows the first line begins at the column."""
    rows = [parts[0]] if parts else [""]
    for part in parts[1:]:
        if column + len(rows[-1]) + len(part) + 4 > WIDTH:
            rows.append(part)
        else:
            rows[-1] += f", {part}"
    return (",\n" + " " * column).join(rows)


def _text(source, node):
    start, end = _span(source, node)
    return source[start:end]


def _value(node):
    return node.value if isinstance(node, ast.Constant) else None


def _hint(value):
    """What to put there, as a comment."""
    try:
        given = ast.literal_eval(value)
    except ValueError:
        return f"  # such as {value}"
    return f"  # {FORMS.get(type(given), f'such as {value}')}"


def folded(cells):
    """The names of the code cells whose outputs come folded: from a prediction's guess to the end of its section."""
    names, open_ = [], False
    for cell in cells:
        if cell.kind == "markdown":
            begins = HEADING.search(cell.source)
            promises = PROMISE.search(cell.source)
            open_ = False if begins and not promises else open_ or bool(promises)
        elif open_ and not takes_guess(cell):
            names.append(cell.name)
    return names
