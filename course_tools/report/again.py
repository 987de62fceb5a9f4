"""The check once more: the saved exercise in a fresh kernel, with the answer and the seed of the verdict."""

import re
from dataclasses import dataclass

from course_lib.errors import BadInput
from course_tools.notebooks import kernels

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
JUDGES = ("CheckFailed", "NotWritten", "CheckBroken")  # what a check raises, by name


@dataclass(frozen=True)
class Second:
    """right: True, False, or None where the check could not be run, and message says why. source: the answer."""

    right: bool | None
    message: str
    source: str = ""


def exercise_of(root, chapter, task):
    """The name of the exercise that has the task: "01-serial-backprop"."""
    paths = sorted((root / "exercises").glob(f"{chapter or '[0-9]'}*.ipynb"))
    found = [path.stem for path in paths if _place(_cells(path), task) is not None]
    if len(found) != 1:
        if not found:
            raise BadInput(f"no exercise has a task {task!r}: its name stands above its cell")
        raise BadInput(f"{', '.join(found)} have a task {task!r}: put the number before it")
    return found[0]


def run(root, said, seconds):
    """The `Second` of a verdict. Cells below the check and other checks are left out; other tasks may be blank."""
    path = root / "exercises" / f"{said['chapter']}.ipynb"
    cells = _cells(path) if path.is_file() else []
    last = _place(cells, said["task"])
    if last is None:
        return Second(None, f"exercises/{path.name} has no check of {said['task']}")
    task = next((cell for cell in cells if cell.id == said["task"]), None)
    if task is not None and said.get("source"):
        task.source = said["source"]
    source = task.source if task is not None else ""
    asked = [cell for cell in cells[:last] if not cell.id.endswith("-check")]
    try:
        return _judged(root, path, [*asked, cells[last]], said.get("seed"), seconds, source)
    except kernels.KernelLost as lost:
        return Second(None, str(lost), source)


def _cells(path):
    """The code cells of a saved notebook."""
    import nbformat

    try:
        notebook = nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)
    except Exception as error:
        raise BadInput(f"exercises/{path.name} cannot be read: {error}") from None
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def _place(cells, task):
    names = [cell.get("id") for cell in cells]
    return names.index(f"{task}-check") if f"{task}-check" in names else None


def _judged(root, path, cells, seed, seconds, source):
    import nbformat

    notebook = nbformat.v4.new_notebook(cells=cells)
    fixed = {"COURSE_SEED": str(seed)} if seed is not None else {}
    env = kernels.environment(root, COURSE_PROGRESS="off", **fixed)
    with kernels.Session(notebook, path.parent, env, seconds) as session:
        for index, cell in enumerate(cells):
            reply = session.run(cell, index)
    if reply["status"] == "ok":
        printed = [output.get("text", "") for output in cells[-1].outputs]
        return Second(True, "".join(printed).strip(), source)
    if reply["ename"] not in JUDGES:
        return Second(None, f"{reply['ename']}: {reply['evalue']}", source)
    return Second(False, COLOUR.sub("", reply["evalue"]), source)
