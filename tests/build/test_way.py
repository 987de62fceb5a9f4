"""The way through the notebooks: their openings and ends, links between them, the papers' names, deeper sections."""

import json
import re
from pathlib import Path
from urllib.parse import unquote

import pytest
from chapter_sources import CHAPTERS, ROOT, exercises, lectures, read
from sample_chapter import EXERCISE, LECTURE, clone

from course_tools.build import around, command, deeper, links, minutes, notebook, papers, way
from course_tools.build.source import SourceError, parse
from course_tools.doctor.chapters import CHAPTERS as PARTS

AROUND = around.chapters(ROOT / "chapters")
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^()\s]+)\)")


def notebooks():
    made = [(one, "lecture") for one in lectures()]
    made += [(one, kind) for one in exercises() for kind in ("exercise", "solution")]
    return [(one.chapter, kind, notebook.skeleton(one, kind)) for one, kind in made]


@pytest.fixture(scope="module")
def built():
    return notebooks()


def texts(made):
    return [cell for cell in made.cells if cell.cell_type == "markdown"]


# Openings and ends ------------------------------------------------------------------------------------------------


def test_every_notebook_opens_with_what_it_takes(built):
    for chapter, kind, made in built:
        first = made.cells[0].source
        head = first.split("\n\n")[1].split("\n")
        names = [re.match(r"- \*\*([^*:]+)", row)[1] for row in head]
        wanted = (
            ["Time", "Needs"] if kind != "lecture" else ["You will be able to", "Time", "Needs"]
        )
        assert names == wanted, (chapter, kind)
        assert all(len(row) < 200 for row in head)
        said = re.search(r"Each section: a question|takes about \d", first)
        assert not said, (chapter, kind)


def test_every_notebook_ends_with_the_way_on(built):
    for chapter, kind, made in built:
        last, at = made.cells[-1], CHAPTERS.index(chapter)
        assert last.id == "way-on"
        led = [Path(unquote(target.partition("#")[0])).name for target in LINK.findall(last.source)]
        assert (f"{CHAPTERS[at + 1]}.ipynb" in led) if at + 1 < len(CHAPTERS) else led
        assert f"{chapter}.ipynb" in led  # its exercise or its lecture
        if kind == "lecture" and at:
            assert f"{CHAPTERS[at - 1]}.ipynb" in led


def test_key_points_are_the_sentences_to_take_away():
    for one in lectures():
        source = "\n".join(cell.source for cell in one.cells if not cell.deep)
        points = way.key_points(one)
        assert points or way.SUMMED_UP.search(source), one.chapter
        assert all(f"**Take away.** {point}" in source for point in points)


def test_the_other_cells_keep_their_ids(built):
    for chapter, kind, made in built:
        cells = read(chapter, "lecture" if kind == "lecture" else "exercise").cells
        named = {cell.name for cell in cells}
        hints = {f"{cell.name}-hints" for cell in cells if cell.task}
        folds = {f"{cell.name}-deeper" for cell in cells if cell.folds}
        assert {cell.id for cell in made.cells} == named | hints | folds | {"way-on"}


def test_what_is_to_be_read_before():
    parts = {number: part for number, _, part in PARTS}
    for number in AROUND:
        before = way.earlier(number, AROUND)
        assert all(n < number for n in before)
        assert before or number == "00"
    assert parts["05"] == "gpu" and way.earlier("05", AROUND) == ["02"]
    assert way.earlier("10", AROUND) == ["02"] and way.earlier("07", AROUND) == ["06"]


# Links ------------------------------------------------------------------------------------------------------------


def headings(made):
    """The fragments of JupyterLab's headings."""
    rows = [row for cell in texts(made) for row in cell.source.split("\n")]
    titles = [re.sub(r"^#+ +", "", row).strip() for row in rows if re.match(r"#{1,4} ", row)]
    return {re.sub(r"[`*]", "", title).replace(" ", "-") for title in titles}


def test_every_link_between_notebooks_leads_to_a_heading(built):
    places = {(chapter, kind): headings(made) for chapter, kind, made in built}
    kinds = {folder: kind for kind, folder in around.FOLDERS.items()}
    followed = 0
    for chapter, kind, made in built:
        for cell in texts(made):
            for target in LINK.findall(cell.source):
                file, _, place = target.partition("#")
                if not file.endswith(".ipynb") or file == "../progress.ipynb":
                    continue
                folder = Path(file).parent.name or around.FOLDERS[kind]
                there = Path(file).stem, kinds[folder]
                assert there in places, (chapter, cell.id, target)
                assert not place or unquote(place) in places[there], (chapter, cell.id, target)
                followed += bool(place)
    assert followed > 10


def test_no_chapter_and_no_section_is_named_without_a_link(built):
    left = []
    for chapter, kind, made in built:
        for cell in texts(made):
            prose = "".join(papers.LEFT.split(cell.source)[::2])
            for pattern in (links.ONE, links.OF, links.SEVERAL, links.CHAPTER):
                for found in pattern.finditer(prose):
                    own = kind == "lecture" and chapter[:2] in found[0]
                    left += [] if own else [(chapter, kind, cell.id, found[0])]
    assert not left


@pytest.mark.parametrize(
    "text, wanted",
    [
        ("chapter 07, section 5", "[chapter 07, section 5](07-x.ipynb#5.-Why?)"),
        ("see section 5 of chapter 07.", "see [section 5 of chapter 07](07-x.ipynb#5.-Why?)."),
        (
            "chapter 07, sections 5 and 6",
            "chapter 07, sections [5](07-x.ipynb#5.-Why?) and [6](07-x.ipynb#6.-So)",
        ),
        ("Chapters 07 and 08", "Chapters [07](07-x.ipynb) and [08](08-y.ipynb)"),
        ("chapter 08", "[chapter 08](08-y.ipynb)"),
        ("chapter 09, chapter 06", "chapter 09, chapter 06"),
        ("`chapter 08` and [chapter 08](z)", "`chapter 08` and [chapter 08](z)"),
        ("## After chapter 08", "## After chapter 08"),
    ],
)
def test_what_becomes_a_link(text, wanted):
    seven = around.Neighbour("07-x", "X", {"5": "5. Why?", "6": "6. So"})
    near = {
        "07": seven,
        "08": around.Neighbour("08-y", "Y", {}),
        "06": around.Neighbour("06-w", "W", {}),
    }
    assert links.Links(near, "06", "lecture").linked(text) == wanted


# Names of the papers ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, wanted",
    [
        ("Kamra et al. [000], section 4,", "Kamra et al. 2016, section 4,"),
        ("their slides [001]", "their slides (Goyal 2016)"),
        ("Darve [003] section 3.4", "Darve 2019, section 3.4"),
        ("Darve's [003] section", "Darve's (2019) section"),
        ("[000] 5.3 chooses", "Kamra 2016 §5.3 chooses"),
        ("[004]'s step", "Singh 2018's step"),
        ("a[000] = [002]", "aKamra 2016 = Saraiya 2018"),
        ("[005], x[0]", "[005], x[0]"),
    ],
)
def test_ids_become_names(text, wanted):
    assert papers.named(text) == wanted


def test_a_name_is_whole_and_linked_where_it_is_first_met():
    mentions = papers.Mentions()
    first = mentions.linked("As in Kamra 2016 and Darve 2019; Kamra et al. 2016 again.")
    page = "../docs/references.md"
    assert first == (
        f"As in [Kamra et al. 2016]({page}#kamra-et-al-2016) and [Darve 2019]({page}#darve-2019); "
        "Kamra 2016 again."
    )
    assert mentions.linked("## Kamra 2016\n\n`Darve 2019`") == "## Kamra 2016\n\n`Darve 2019`"


def test_no_reader_meets_an_id(built):
    for chapter, kind, made in built:
        for cell in made.cells:
            assert not re.search(papers.ID, cell.source), (chapter, kind, cell.id)


def test_no_reader_meets_an_id_in_the_library_or_a_document():
    """Its docstrings are read in help(), in the book and in lectures, the kernels in lectures."""
    found = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    for end in ("*.py", "*.cu", "*.md"):
        found += (ROOT / "course_lib").rglob(end)
    assert len(found) > 400
    for path in found:
        assert not re.search(papers.ID, path.read_text(encoding="utf-8")), path


def test_no_reader_meets_an_id_in_an_output():
    """A lecture shows the sources of functions; whatever it shows names its papers."""
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            shown = json.dumps(cell.get("outputs", []))
            assert not re.search(papers.ID, shown), (path.name, cell["id"])


def test_every_paper_has_its_place_in_the_bibliography():
    page = (ROOT / papers.PAGE).read_text(encoding="utf-8")
    titles = {
        around.slug(t).replace(" ", "-") for t in re.findall(r"^## (.*)$", page, re.MULTILINE)
    }
    others = {"measured-and-simulated-by-others"}
    assert titles == others | {papers.anchor(*name.split()) for name in papers.NAMES.values()}


# Deeper sections --------------------------------------------------------------------------------------------------

DEEP = """
## 1. One

Core.

+++ {"name": "far", "deeper": true}

## 2. Two

It goes on. **Predict** it.

```{code-cell} ipython3
:name: far-run
print(1)
```

**Take away.** Deep.

+++ {"name": "back"}

## 3. Three

**Take away.** Core again.
"""


def deep_lecture(text=DEEP):
    return parse(Path("chapters/01-tiny/lecture.md"), LECTURE + text)


def test_a_deeper_section_comes_folded():
    read = deep_lecture()
    cells = {cell.id: cell for cell in notebook.skeleton(read, "lecture").cells}
    assert cells["far-deeper"].source == f"## 2. Two\n\n{deeper.INVITATION}"
    assert cells["far-deeper"].metadata["jp-MarkdownHeadingCollapsed"] is True
    assert cells["far"].source.startswith("It goes on.")
    assert [cell.name for cell in read.cells if cell.deep] == ["far", "far-run", "end-text"]
    assert way.key_points(read) == ["Core again."]


@pytest.mark.parametrize(
    "text, wanted",
    [
        (DEEP.replace("## 2. Two\n", "Two\n"), "begins with a heading"),
        (DEEP.replace('+++ {"name": "back"}\n', ""), "begins a cell"),
        (DEEP.replace("true", '"yes"'), "begins with a heading"),
    ],
)
def test_what_cannot_be_folded_is_refused(text, wanted):
    with pytest.raises(SourceError, match=wanted):
        deep_lecture(text)


@pytest.mark.parametrize("words", ["as in section 2 of the lecture", "chapter 01, section 2"])
def test_no_task_rests_on_a_deeper_section(tmp_path, words):
    said = EXERCISE.replace("Write `double`.", f"Write `double`, {words}.")
    root = clone(tmp_path, LECTURE + DEEP, said)
    rows = command.build(command.Options(root, quiet=True))
    (wrong,) = [row for row in rows if row.state == "wrong"]
    assert "rests on a deeper section" in wrong.detail and not (root / "exercises").exists()
    fine = said.replace("section 2", "section 3")
    clone(tmp_path, LECTURE + DEEP, fine)
    assert not list(
        deeper.rests(
            parse(root / "chapters/01-tiny/exercise.md", fine), around.chapters(root / "chapters")
        )
    )


def test_no_exercise_of_the_course_rests_on_a_deeper_section():
    assert any(there.deeper for there in AROUND.values())
    assert [found for one in exercises() for found in deeper.rests(one, AROUND)] == []


def test_core_minutes_leave_deeper_sections_out():
    for one in lectures():
        core = minutes.core(one)
        assert (core < one.minutes) if any(cell.deep for cell in one.cells) else core == one.minutes
    assert any(cell.deep for one in lectures() for cell in one.cells)


def test_another_year_is_another_paper():
    text = "P. Goyal et al. 2017, and Singh 2019"
    assert papers.Mentions().linked(text) == text
