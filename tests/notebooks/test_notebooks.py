"""What every built notebook must be. That its cells run and give the stored outputs is nbval's part."""

import re
import statistics
import subprocess
import warnings
from pathlib import Path

import nbformat
import pytest

from course_tools.build import command as build
from course_tools.build import notebook, source

ROOT = Path(__file__).parents[2]
SOURCES = source.find(ROOT)
LECTURES = [(path, "lecture") for path in SOURCES if path.stem == "lecture"]
EXERCISES = [path for path in SOURCES if path.stem == "exercise"]
BUILT = LECTURES + [(path, kind) for path in EXERCISES for kind in ("exercise", "solution")]


def short(path, kind):
    return f"{path.parent.name[:2]}-{kind}"


built = pytest.mark.parametrize("path, kind", BUILT, ids=[short(*b) for b in BUILT])
lectures = pytest.mark.parametrize("path, kind", LECTURES, ids=[short(*b) for b in LECTURES])
OF_A_MACHINE = re.compile(
    r"/home/\w|/Users/\w|/root/|[A-Z]:\\\\?Users|/tmp/|/var/folders/|site-packages|ipykernel_\d"
)


def file_of(path, kind):
    return ROOT / notebook.FOLDERS[kind] / f"{path.parent.name}.ipynb"


def load(path, kind):
    return nbformat.read(file_of(path, kind), as_version=4)


def committed(path, kind, folder):
    """A folder with the notebook as it was committed; None without git or without that file."""
    name = file_of(path, kind).relative_to(ROOT).as_posix()
    try:
        done = subprocess.run(["git", "show", f"HEAD:{name}"], cwd=ROOT, capture_output=True)
    except OSError:
        return None
    if done.returncode:
        return None
    build.write(folder / name, done.stdout.decode("utf-8"))
    return folder


@built
def test_it_is_what_its_source_gives(path, kind, tmp_path):
    """As `build --check`. Work that a student saved in a notebook is no fault: the committed one is checked then."""
    read = source.read(path)
    state, detail, _ = build.state(read, kind, ROOT)
    if state == "edited" and committed(path, kind, tmp_path):
        state, detail, _ = build.state(read, kind, tmp_path)
        warnings.warn(
            f"{file_of(path, kind).name}: changed here since the commit; the committed one was checked",
            stacklevel=1,
        )
    assert state == "current", f"{detail}: python -m course_lib build"


def test_nothing_is_missing_or_left_over():
    rows = [
        row
        for row in build.check(build.Options(ROOT))
        if not row.good and row.state not in ("edited", "stale")
    ]
    assert not rows, rows


@built
def test_it_is_valid_and_its_ids_are_names(path, kind):
    stored = load(path, kind)
    nbformat.validate(stored)
    assert stored.nbformat_minor >= 5 and len({c.id for c in stored.cells}) == len(stored.cells)
    assert all(source.ID.fullmatch(c.id) for c in stored.cells)


@built
def test_it_holds_nothing_of_the_machine_it_was_built_on(path, kind):
    for number, line in enumerate(file_of(path, kind).read_text(encoding="utf-8").splitlines(), 1):
        found = len(line) < 20_000 and OF_A_MACHINE.search(line)
        assert not found, f"{file_of(path, kind).name}:{number}: {line.strip()[:200]}"


@pytest.mark.parametrize("path", EXERCISES, ids=lambda p: p.parent.name[:2])
def test_the_exercise_gives_nothing_away(path):
    text = file_of(path, "exercise").read_text(encoding="utf-8")
    assert "SOLUTION" not in text and '"mutants"' not in text
    for cell in load(path, "exercise").cells:
        if cell.metadata.get("course", {}).get("task"):
            blanks = sum(
                cell.source.count(blank)
                for blank in ("raise NotImplementedError(", '#error "write ')
            )
            assert blanks == 1 and cell.metadata.deletable is False
        if cell.metadata.get("course", {}).get("check"):
            assert cell.metadata.editable is False and cell.metadata.deletable is False


# Figures --------------------------------------------------------------------------------------------------------


def figures(stored):
    """(cell id, html, plain) of every output that shows an image."""
    for cell in stored.cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            html = "".join(data.get("text/html", ""))
            if "<img" in html or "<svg" in html or any(mime.startswith("image/") for mime in data):
                yield cell.id, html, "".join(data.get("text/plain", ""))


def figure_faults(stored):
    """What is missing in the figures of a notebook, as texts."""
    faults = []
    for name, html, plain in figures(stored):
        alts = re.findall(r"<img\b[^>]*\balt=(\"[^\"]*\"|'[^']*')", html)
        if len(alts) < max(1, html.count("<img")) or any(
            len(alt.strip("\"' ")) < 20 for alt in alts
        ):
            faults.append(f"{name}: a figure without alt text that says what is to be seen")
        data = "<ol>" if 'class="course-stepper"' in html else "<table"
        if data not in html or "<details" not in html:
            faults.append(f"{name}: a figure without its data as a table one click away")
        if len(plain) < 20:
            faults.append(f"{name}: a figure whose plain text says nothing")
    return faults


@built
def test_every_figure_has_alt_text_and_a_table(path, kind):
    assert figure_faults(load(path, kind)) == []


def test_there_are_figures_to_look_at():
    assert (
        sum(1 for path, kind in BUILT if kind == "lecture" for _ in figures(load(path, kind))) >= 5
    )


FALLS = "the loss falls from 2.3 to 0.1"


@pytest.mark.parametrize(
    "data, faults",
    [
        ({"image/png": "aa", "text/plain": "<Figure>"}, 3),
        (
            {
                "text/html": "<img src='x' alt=''>",
                "text/plain": "a description that is long enough",
            },
            2,
        ),
        ({"text/html": f'<img alt="{FALLS}"><details><table>', "text/plain": FALLS}, 0),
        ({"text/html": "<b>no figure</b>", "text/plain": ""}, 0),
    ],
)
def test_a_figure_without_them_is_found(data, faults):
    output = nbformat.v4.new_output("display_data", data=data)
    stored = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell("plot()", id="plot", outputs=[output])]
    )
    assert len(figure_faults(stored)) == faults


@built
def test_every_image_in_the_text_has_alt_text(path, kind):
    for cell in load(path, kind).cells:
        if cell.cell_type == "markdown":
            assert not re.search(r"!\[\s*\]\(", cell.source), (
                f"{cell.id}: an image without alt text"
            )
            for image in re.findall(r"<img\b[^>]*>", cell.source):
                assert re.search(r"\balt=.{5,}", image), f"{cell.id}: {image}"


# How a lesson is written ----------------------------------------------------------------------------------------


@lectures
def test_code_cells_are_short(path, kind):
    lines = sorted(
        len(c.source.splitlines()) for c in load(path, kind).cells if c.cell_type == "code"
    )
    assert statistics.median(lines) <= 9  # of at most 88 columns
    assert lines[int(0.9 * (len(lines) - 1))] <= 20


@lectures
def test_code_is_led_in_by_text(path, kind):
    """A text leads in to at most three cells (define it, run it, check it); none stands without."""
    row: list = [None, None, None]
    for cell in load(path, kind).cells:
        row = [*row, cell.id] if cell.cell_type == "code" else []
        assert len(row) <= 3, f"no text before {cell.id}"


@lectures
def test_the_lecture_begins_with_its_title(path, kind):
    assert load(path, kind).cells[0].source.startswith("# ")
