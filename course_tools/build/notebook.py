"""From a `Source` to notebooks without outputs: lecture, exercise (solutions cut out), solution."""

import copy
import hashlib
import json
from pathlib import Path

from course_tools.build import around, deeper, guesses, way
from course_tools.build.hints import laid_out
from course_tools.build.links import Links
from course_tools.build.papers import Mentions
from course_tools.build.source import Cell, count, split

BUILDER = 4  # raise it when the built form, or stepper.js, changes: every notebook is then stale
RUNS = 1  # raise it when what runs changes: every notebook then runs again
FOLDERS = around.FOLDERS
LANGUAGE = {
    "codemirror_mode": {"name": "ipython", "version": 3},
    "file_extension": ".py",
    "mimetype": "text/x-python",
    "name": "python",
    "nbconvert_exporter": "python",
    "pygments_lexer": "ipython3",
}
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
DIFFICULTY = {1: "easy", 2: "medium", 3: "hard"}


def kinds(source):
    """Which notebooks a source file gives."""
    return ("lecture",) if source.kind == "lecture" else ("exercise", "solution")


def skeleton(source, kind):
    """The notebook (nbformat 4.5) of that kind, code cells not run."""
    from nbformat.v4 import new_notebook

    cells = [made for cell in source.cells for made in _cells(cell, kind)]
    if kind == "lecture":
        _fold_answers(cells, guesses.folded(source.cells))
    _lead_on(cells, source, kind)
    metadata = copy.deepcopy({"kernelspec": KERNEL, "language_info": LANGUAGE})
    notebook = new_notebook(cells=cells, metadata=metadata)
    notebook.metadata["course"] = {
        "builder": BUILDER,
        "chapter": source.chapter,
        "kind": kind,
        "title": source.title,
        "minutes": source.minutes,
        "source": _hash([BUILDER, source.text, [cell.source for cell in cells]]),
        "code": _hash([RUNS, code_of(notebook)]),
    }
    return notebook


def load(file):
    """The notebook in a file. Raises what nbformat raises."""
    import nbformat

    return nbformat.reads(Path(file).read_text(encoding="utf-8"), as_version=4)


def code_cells(notebook):
    """The code cells in order."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def code_of(notebook):
    """What decides the outputs: name, tags and code of each code cell."""
    return [[cell.id, cell.metadata.get("tags", []), cell.source] for cell in code_cells(notebook)]


def digest(notebook):
    """A hash of the whole notebook as it is stored, without its digest: a change by hand shows."""
    return _hash(_without_digest(notebook))


def text_of(notebook):
    """The notebook as the text of its file."""
    import nbformat

    return nbformat.writes(notebook, version=4) + "\n"


def outputs_of(cell):
    """A cell's stored outputs; their steppers move as they do today, though nothing was run again."""
    from course_lib.plots.stepper.page import as_today

    kept = copy.deepcopy(cell.outputs)
    for data in (output.data for output in kept if "data" in output):
        if "text/html" in data:
            data["text/html"] = as_today(data["text/html"])
    return kept


def without_outputs(notebook):
    """The part that the source alone decides, for comparison."""
    plain = _without_digest(notebook)
    for cell in plain["cells"]:
        cell.pop("outputs", None)
        cell.pop("execution_count", None)
    return plain


def _cells(cell, kind):
    from nbformat.v4 import new_code_cell, new_markdown_cell

    if cell.kind == "markdown":
        return _texts(cell)
    code = new_code_cell(_code(cell, kind), id=cell.name, metadata=_metadata(cell, kind))
    if cell.task is None:
        return [code]
    return [new_markdown_cell(hints(cell.task), id=f"{cell.name}-hints"), code]


def _texts(cell):
    """A text cell; of a deeper section's first the heading is a cell of its own, which folds the others."""
    from nbformat.v4 import new_markdown_cell

    if not cell.folds:
        return [new_markdown_cell(cell.source, id=cell.name, metadata=dict(cell.extra))]
    heading, rest = deeper.parted(cell.source)
    folding = copy.deepcopy(deeper.FOLDED)
    cells = [new_markdown_cell(heading, id=f"{cell.name}-deeper", metadata=folding)]
    if rest:
        cells.append(new_markdown_cell(rest, id=cell.name, metadata=dict(cell.extra)))
    return cells


def _fold_answers(cells, names):
    """Outputs after a prediction come folded; JupyterLab unfolds those of a cell that is run.

    It says so twice. Once would do, but JupyterLab adds the other and then calls the notebook changed.
    """
    for cell in cells:
        if cell.id in names:
            cell.metadata["collapsed"] = True
            cell.metadata.setdefault("jupyter", {})["outputs_hidden"] = True


def _lead_on(cells, source, kind):
    """The opening under the title, links in all texts, and the way on in a cell at the end."""
    from nbformat.v4 import new_markdown_cell

    there = around.chapters(source.path.parent.parent)
    number = source.chapter[:2]
    texts = [cell for cell in cells if cell.cell_type == "markdown"]
    if texts:
        texts[0].source = way.opened(texts[0].source, source, there)
    if number in there:
        texts.append(new_markdown_cell(way.closing(source, kind, there), id="way-on"))
        cells.append(texts[-1])
    links, mentions = Links(there, number, kind), Mentions()
    for cell in texts:
        cell.source = mentions.linked(links.linked(cell.source))


def _code(cell: Cell, kind):
    if cell.task is None:
        return cell.source if kind == "solution" else guesses.blanked(cell)
    region = split(cell.source)
    return region.filled(cell.task.blank if kind == "exercise" else region.text)


def _metadata(cell, kind):
    metadata = dict(cell.extra)
    if cell.tags:
        metadata["tags"] = list(cell.tags)
    task = cell.task
    if kind != "solution" and guesses.takes_guess(cell):
        metadata["course"] = {"guess": True}
    if task:
        numbers = {key: getattr(task, key) for key in ("points", "difficulty", "minutes")}
        metadata["course"] = {"task": task.name, **numbers}
    if cell.checks:
        metadata["course"] = {"check": cell.name, "of": cell.checks}
    if kind == "exercise" and (task or cell.checks):
        metadata["deletable"] = False
    if kind == "exercise" and cell.checks:
        metadata["editable"] = False
    return metadata


def hints(task):
    """The line of points and the three hints, each folded into the one before."""
    effort = f"about {count(task.lines, 'line')} · about {count(task.minutes, 'minute')}"
    difficulty = f"{DIFFICULTY[task.difficulty]} (difficulty {task.difficulty} of 3)"
    worth = f"{count(task.points, 'point')} · {difficulty}"
    facts = f"**Task `{task.name}`**: {worth} · {effort}"
    folded = ""
    for number, hint in reversed(list(enumerate(task.hints, 1))):
        inner = f"\n\n{folded}" if folded else ""
        title = f"<summary>Hint {number} of {len(task.hints)}</summary>"
        folded = f"<details>\n{title}\n\n{laid_out(hint)}{inner}\n\n</details>"
    return f"{facts}\n\n{folded}"


def _without_digest(notebook):
    plain = json.loads(text_of(notebook))
    plain["metadata"].get("course", {}).pop("digest", None)
    return plain


def _hash(value):
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
