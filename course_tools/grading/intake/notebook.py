"""Reads a handed-in notebook as raw JSON: a notebook library would mend, and so hide, what is wrong."""

import json
from dataclasses import dataclass, field

LONGEST = 100_000  # characters of one cell: a text is parsed where nothing limits the time
CELLS = 1000  # of a notebook; an exercise has fewer than a hundred
ALL = 2_000_000  # characters of all cells of a notebook
LISTS = 500_000  # lists and objects in a file: each takes up to thirty times the memory of its text
KINDS = ("code", "markdown", "raw")


@dataclass
class Read:
    """The cells of a handed-in notebook: [(id, kind, text)], and what is odd about it."""

    cells: list = field(default_factory=list)
    problems: list = field(default_factory=list)


def read(file):
    """The `Read` of a File; what cannot be read has no cells and says why."""
    data = file.data
    if data is None:
        return Read(problems=[file.problem])
    if data.count(b"[") + data.count(b"{") > LISTS:
        return Read(problems=[f"it has more than {LISTS} brackets: no notebook has"])
    try:
        given = json.loads(data.decode("utf-8-sig"), parse_constant=lambda word: None)
        cells = given["cells"]
        assert isinstance(cells, list) and given.get("nbformat") == 4
    except RecursionError:
        return Read(problems=["it is nested too deeply to be a notebook"])
    except UnicodeDecodeError:
        return Read(problems=["it is not text in UTF-8"])
    except json.JSONDecodeError as error:
        if not data.strip():
            return Read(problems=["it is empty"])
        return Read(problems=[f"it is not JSON: line {error.lineno}: {error.msg}"])
    except (AssertionError, KeyError, TypeError, AttributeError, ValueError):
        return Read(problems=[_no_notebook(data)])
    return _read_cells(cells)


def _read_cells(cells):
    made, unreadable, longer, characters = Read(), [], [], 0
    for number, cell in enumerate(cells[:CELLS], 1):
        found = _cell(cell)
        if found is None:
            unreadable.append(number)
        elif len(found[2]) > LONGEST or characters + len(found[2]) > ALL:
            longer.append(number)
        else:
            characters += len(found[2])
            made.cells.append(found)
    if len(cells) > CELLS:
        said = f"it has {len(cells)} cells: those after the first {CELLS} were left out"
        made.problems.append(said)
    made.problems += _of_cells(unreadable, "cannot be read")
    made.problems += _of_cells(
        longer, f"longer than {LONGEST} characters, or all than {ALL}: left out"
    )
    return made


def _cell(cell):
    """(id, kind, text), or None of what is no cell. A kind that Jupyter does not know is "foreign"."""
    try:
        text = cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])
        name, kind = str(cell.get("id", "")), cell["cell_type"]
    except (TypeError, KeyError, AttributeError, RecursionError, ValueError):
        return None
    return name, kind if kind in KINDS else "foreign", text.replace("\r\n", "\n")


def _of_cells(numbers, what):
    """One line on all of these cells, however many."""
    if not numbers:
        return []
    more = f" and {len(numbers) - 5} more" if len(numbers) > 5 else ""
    named = ", ".join(map(str, numbers[:5]))
    return [f"cell{'s' * (len(numbers) > 1)} {named}{more}: {what}"]


def _no_notebook(data):
    try:
        version = json.loads(data.decode("utf-8-sig")).get("nbformat")
    except Exception:
        version = None
    if type(version) is int and version in (1, 2, 3, 5):
        return f"it is a notebook of format {version}, not 4: open it in JupyterLab and save it"
    return "it is JSON, but no notebook"
