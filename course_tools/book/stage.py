"""The tree of pages that Sphinx reads: the clone's own layout, so that links between pages need no change."""

import json
import re
import shutil
from pathlib import Path

from course_lib.plots.stepper.page import without_script
from course_lib.progress.unguessed import MADE, SAY
from course_tools.book import facts, links, references
from course_tools.build import command as build
from course_tools.build import notebook, papers, source, way
from course_tools.build.files import write
from course_tools.build.minutes import core
from course_tools.text import render

WRITTEN = Path(__file__).parent / "written"
# Documents that stand beside code
OTHERS = [
    f"course_lib/{name}/README.md" for name in ("data", "machines/cpu_engine", "machines/cuda_c")
]
FOR_TEACHERS = "teaching"  # documents so called stay out of a book for a class, as the solutions do
PARTS = ("lecture", "exercise", "solution")
CAPTIONS = {"lecture": "Chapters", "exercise": "Chapters", "solution": "Solutions"}
LIBRARY = ["data", "serial", "threads", "gpu", "gpu.device", "gpu.mlp", "gpu.cpu_engine", "mpi"]
LIBRARY += ["measure", "plots"]


def stage(root, folder, read, books):
    """Write the sources of the book into an empty folder. read, books: see contents."""
    documents = _documents(root, for_a_class=all(kind != "solution" for _, kind in books))
    pages = {*documents, *(_page(one, kind) for one, kind in books)}
    for one, kind in books:
        _notebook(root, folder, one, kind, pages)
    for name in documents:
        _document(root, folder, name, pages)
    _written(root, folder, read, books, documents)


def _documents(root, for_a_class):
    paths = sorted((root / "docs").glob("*.md"))
    if for_a_class:
        paths = [path for path in paths if not path.stem.startswith(FOR_TEACHERS)]
    names = [path.relative_to(root).as_posix() for path in paths]
    return names + [name for name in OTHERS if (root / name).is_file()]


def contents(root, solutions=True):
    """(sources that were read, [(source, kind) of each notebook of the book])"""
    read = [source.read(path) for path in source.find(root)]
    books = [(one, kind) for one in read for kind in notebook.kinds(one)]
    return read, [(one, kind) for one, kind in books if solutions or kind != "solution"]


def stale(root, books):
    """The notebooks whose outputs do not belong to their source, a line each: a book of them would lie."""
    states = [(_page(one, kind), build.state(one, kind, root)) for one, kind in books]
    return [f"{page}: {detail}" for page, (state, detail, _) in states if state != "current"]


def notation(read):
    """The texts of the first chapter with the tables of the notation, as Markdown."""
    first = next(one for one in read if one.kind == "lecture")
    texts = {cell.name: cell.source for cell in first.cells}
    body = "\n\n".join(texts[name] for name in ("notation-intro", "other-letters", "clashes"))
    left_out = r"^## .*$|^\*\*Question\.\*\* .*$|^\*\*Check\.\*\* .*$"
    return re.sub(left_out, "", body, flags=re.MULTILINE).replace("\n### ", "\n## ")


# Pages ------------------------------------------------------------------------------------------------------------


def _page(one, kind):
    return f"{notebook.FOLDERS[kind]}/{one.chapter}.ipynb"


def _notebook(root, folder, one, kind, pages):
    page = _page(one, kind)
    stored = json.loads((root / page).read_text(encoding="utf-8"))
    parts = {f"the {other}": _page(one, other) for other in PARTS if other != kind}
    others = {words: f"../{name}" for words, name in parts.items() if name in pages}
    listed = facts.of_notebook(kind, one, others)
    for number, cell in enumerate(stored["cells"]):
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            text = text.replace(f" · {way.PROGRESS}", "")  # a reader of the book has none
            text = links.placed(links.kept(text, page, pages))
            cell["source"] = text if number else titled(text, kind, one, listed)
        elif MADE.fullmatch(cell["id"]) or "# your guess" in text:
            cell["metadata"].setdefault("tags", []).append("guess")
            cell["outputs"] = [out for out in cell["outputs"] if not _asks(out)]
        for output in cell.get("outputs", []):
            _without_script(output.get("data", {}))
    _put(folder, page, json.dumps(stored))


def _asks(output):
    """Does it ask for a guess that was not made? In a book nobody can run the cell again."""
    return "".join(output.get("text", [])) == f"{SAY}\n"


def _without_script(data):
    """A stepper's script is loaded once for each page of the book (conf.py), not with each stepper."""
    if "text/html" in data:
        data["text/html"] = without_script("".join(data["text/html"]))


def titled(text, kind, one, listed):
    """The first text of a notebook with its facts; a solution's title says that it is one."""
    text = way.unopened(text)
    if kind == "solution":
        text = re.sub(r"^# (?:Exercise )?(.*)$", r"# Solution \1", text, count=1, flags=re.M)
    return facts.under_title(text, listed)


def _document(root, folder, name, pages):
    text = papers.named((root / name).read_text(encoding="utf-8"))
    _copy_pictures(root, folder, text, name)
    listed = facts.of_document(Path(name).stem, text)
    _put(folder, name, facts.under_title(links.kept(text, name, pages), listed))


def _copy_pictures(root, folder, text, name):
    for picture in links.pictures(text, name):
        (folder / picture).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / picture, folder / picture)


def hook(root):
    """What the README begins with: what the course says of three mistakes, and its picture."""
    text = (root / "README.md").read_text(encoding="utf-8").partition("\n## ")[0]
    return re.sub(r"^# .*$", "", text, flags=re.MULTILINE).strip()


def _written(root, folder, read, books, documents):
    """The pages of written/: what only this book knows is put in."""
    first = hook(root)
    _copy_pictures(root, folder, first, "README.md")
    values = {
        "hook": first,
        "hours": {kind: round(_minutes(books, kind) / 60) for kind in ("lecture", "exercise")},
        "chapters": _chapters(books),
        "lists": _lists(books) | {"Documents": documents},
        "works": references.collected(read),
        "notation": notation(read),
    }
    for path in WRITTEN.glob("*.myst"):
        text = papers.named(render(path, **values))
        if path.stem != "index":
            text = facts.under_title(text, facts.of_document(path.stem, text))
        _put(folder, f"{path.stem}.md", text)
    for room in LIBRARY:
        text = render(WRITTEN / "library/room.myst", room=room, facts=facts.of_library(room))
        _put(folder, f"library/{room}.md", text)


def _minutes(books, wanted):
    return sum(core(one) for one, kind in books if kind == wanted)


def _chapters(books):
    """A dict for each chapter: its number, title, what one is able to do; of both notebooks (minutes, page)."""
    found: dict = {}
    for one, kind in books:
        chapter = found.setdefault(one.chapter, {"number": one.chapter[:2]})
        chapter[kind] = (core(one), _page(one, kind))
        if kind == "lecture":
            chapter |= {"title": one.title, "able": one.able.rstrip(".")}
    return list(found.values())


def _lists(books):
    """{caption: entries of a list of pages}: the exercise stands after its lecture."""
    lists: dict = {caption: [] for caption in CAPTIONS.values()}
    for one, kind in books:
        title = f"{one.chapter[:2]} Exercise" if kind == "exercise" else _short(one)
        lists[CAPTIONS[kind]].append(f"{title} <{_page(one, kind)}>")
    return lists


def _short(one):
    """The title of a notebook in the list of pages: its number and what it is about."""
    title = re.sub(r"^Exercise [0-9]+: ", "", one.title)
    return f"{one.chapter[:2]} {title[0].upper()}{title[1:]}"


def _put(folder, name, text):
    write(Path(folder) / name, text)
