"""What a student has written in text cells, told from what was handed out."""

import json

LONGEST = 20_000  # characters of an answer


def handed_out(release, chapter):
    """{id: text} of all cells of the exercise as it was handed out."""
    file = release.folder / "exercises" / f"{chapter}.ipynb"
    cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
    return {cell["id"]: "".join(cell["source"]) for cell in cells}


def written(read, given, question):
    """The student's words on a `Question`, "" for none. read: a `notebook.Read`; given: of `handed_out`."""
    names = {text.strip(): name for name, text in given.items()}
    found, here = [], ""
    for cell, kind, text in read.cells:
        name = cell if cell in given else names.get(text.strip(), "")
        here = name or here
        if kind not in ("markdown", "raw") or text.strip() == given.get(name, "").strip():
            continue
        if _meant(question, name, here):
            found.append(text.strip())
    return "\n\n".join(text for text in found if text)[:LONGEST]


def _meant(question, name, here):
    """name: of a handed-out cell, or "" for the student's own; here: of the last handed-out cell so far."""
    if question.cell:
        return name == question.cell
    return not question.after or (not name and here == question.after)
