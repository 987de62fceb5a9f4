"""The tree of pages that Sphinx reads: the clone's own layout, so that links between pages need no change."""

import json
import re
import shutil
from pathlib import Path

from course_tools.book import facts, links, references
from course_tools.build import command as build
from course_tools.build import source
from course_tools.notebooks import notebook

HERE = Path(__file__).parent
WRITTEN = HERE / "written"
OTHERS = [
    "course_lib/data/README.md",
    "course_lib/machines/cpu_engine/README.md",
]  # documents that stand beside code
FOR_TEACHERS = (
    "teaching"  # documents whose names begin so stay out of a book for a class, as the solutions do
)
PARTS = {"lecture": "Lectures", "exercise": "Exercises", "solution": "Solutions"}
GUESS = re.compile(r"my-.*|.*-guess")  # names of the cells that take a reader's prediction
LIBRARY = (
    "data",
    "serial",
    "threads",
    "gpu",
    "gpu.device",
    "gpu.mlp",
    "gpu.cpu_engine",
    "mpi",
    "measure",
    "plots",
)


def stage(root, folder, read, books):
    """Write the sources of the book into an empty folder. read, books: see contents."""
    for_a_class = all(kind != "solution" for _, kind in books)
    documents = sorted(
        path.relative_to(root).as_posix()
        for path in (root / "docs").glob("*.md")
        if not (for_a_class and path.stem.startswith(FOR_TEACHERS))
    )
    documents += [name for name in OTHERS if (root / name).is_file()]
    pages = {*documents, *(_page(one, kind) for one, kind in books)}
    for one, kind in books:
        _notebook(root, folder, one, kind, pages)
    for name in documents:
        _document(root, folder, name, pages)
    _written(folder, books, documents)
    _put(folder, "references.md", references.page(WRITTEN / "references.myst", read))
    _put(folder, "notation.md", notation(read))


def contents(root, solutions=True):
    """(sources that were read, [(source, kind) of each notebook of the book])"""
    read = [source.read(path) for path in source.find(root)]
    return read, [
        (one, kind)
        for one in read
        for kind in notebook.kinds(one)
        if solutions or kind != "solution"
    ]


def stale(root, books):
    """The notebooks whose outputs do not belong to their source, a line each: a book of them would lie."""
    states = [(_page(one, kind), build.state(one, kind, root)) for one, kind in books]
    return [f"{page}: {detail}" for page, (state, detail, _) in states if state != "current"]


def notation(read):
    """The page of the notation: the texts with its tables, as the first chapter has them."""
    first = next(one for one in read if one.kind == "lecture")
    texts = [cell for cell in first.cells if cell.kind == "markdown"]
    start = next(i for i, cell in enumerate(texts) if cell.name == "notation-intro")
    end = next(i for i, cell in enumerate(texts) if cell.name == "clashes")
    body = "\n\n".join(cell.source for cell in texts[start : end + 1])
    left_out = r"^## .*$|^\*\*Question\.\*\* .*$|^\*\*Check\.\*\* .*$|^</?details>.*$"
    body = re.sub(left_out, "", body, flags=re.MULTILINE)
    return facts.under_title("# Notation", facts.of_document("notation", body)) + "\n" + body + "\n"


# Pages ------------------------------------------------------------------------------------------------------------


def _page(one, kind):
    return f"{notebook.FOLDERS[kind]}/{one.chapter}.ipynb"


def _notebook(root, folder, one, kind, pages):
    page = _page(one, kind)
    stored = json.loads((root / page).read_text(encoding="utf-8"))
    others = {
        f"the {other}": f"../{name}"
        for other in PARTS
        if (name := f"{notebook.FOLDERS[other]}/{one.chapter}.ipynb") != page and name in pages
    }
    listed = facts.of_notebook(kind, one.chapter, one.minutes, others)
    for number, cell in enumerate(stored["cells"]):
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            text = links.kept(text, page, pages)
            cell["source"] = text if number else titled(text, kind, one, listed)
        elif GUESS.fullmatch(cell["id"]) or "# your guess" in text:
            cell["metadata"].setdefault("tags", []).append("guess")
    _put(folder, page, json.dumps(stored))


def titled(text, kind, one, listed):
    """The first text of a notebook with its facts; a solution's title says that it is one."""
    if kind == "solution":
        text = re.sub(
            r"^# (?:Exercise )?(.*)$", r"# Solution \1", text, count=1, flags=re.MULTILINE
        )
    return facts.under_title(text, listed)


def _document(root, folder, name, pages):
    text = (root / name).read_text(encoding="utf-8")
    for picture in links.pictures(text, name):
        (folder / picture).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / picture, folder / picture)
    listed = facts.of_document(Path(name).stem, text)
    _put(folder, name, facts.under_title(links.kept(text, name, pages), listed))


def _written(folder, books, documents):
    """The pages of written/, with the table of chapters and the lists of pages put in."""
    toctrees = [
        _toctree(
            title, [f"{_short(one)} <{_page(one, kind)}>" for one, kind in books if kind == part]
        )
        for part, title in PARTS.items()
    ]
    toctrees.append(_toctree("Documents", documents))
    for path in WRITTEN.glob("*.myst"):
        text = path.read_text(encoding="utf-8")
        if path.stem == "index":
            minutes = sum(one.minutes for one, kind in books if kind != "solution")
            text = text.replace("(hours)", str(round(minutes / 60))).replace(
                "(chapters)", _chapters(books)
            )
            text = text.replace("(pages)", "\n".join(toctrees))
        else:
            text = facts.under_title(text, facts.of_document(path.stem, text))
        _put(folder, f"{path.stem}.md", text)
    for room in LIBRARY:
        body = f"```{{eval-rst}}\n.. automodule:: course_lib.{room}\n   :members:\n   :imported-members:\n```\n"
        _put(
            folder, f"library/{room}.md", f"# course_lib.{room}\n\n{facts.of_library(room)}\n{body}"
        )


def _short(one):
    """The title of a notebook in the list of pages: its number and what it is about."""
    title = re.sub(r"^Exercise [0-9]+: ", "", one.title)
    return f"{one.chapter[:2]} {title[0].upper()}{title[1:]}"


def _toctree(caption, pages):
    if not pages:
        return ""
    return "\n".join(["```{toctree}", ":hidden:", f":caption: {caption}", "", *pages, "```", ""])


def _chapters(books):
    """A table: chapter, minutes of its lecture and of its exercise, what it needs."""
    rows = ["| chapter | lecture | exercise |", "|---|---|---|"]
    minutes = {(one.chapter, kind): one.minutes for one, kind in books}
    titles = {one.chapter: one.title for one, kind in books if kind == "lecture"}
    for chapter, title in titles.items():
        cells = [
            f"[{minutes[chapter, kind]}\u00a0min]({notebook.FOLDERS[kind]}/{chapter}.ipynb)"
            for kind in ("lecture", "exercise")
            if (chapter, kind) in minutes
        ]
        rows.append(f"| {chapter[:2]} {title} | {' | '.join(cells)} |")
    return "\n".join(rows)


def _put(folder, name, text):
    build.write(Path(folder) / name, text)
