"""Whatever is handed in, a row comes out, never a traceback: 2,300 cases of hypothesis, the same each time."""

import csv
import io
import json
import warnings
import zipfile

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from course_lib.errors import BadInput
from course_tools.grading.intake import assemble, files, handed_in, notebook
from course_tools.grading.marks import lms, manual
from course_tools.grading.release.library_use import names_in
from course_tools.grading.release.manifest import Chapter, Release, Step
from course_tools.grading.verdict import results

CHAPTER = Chapter(
    "01-tiny",
    "Tiny",
    "",
    (
        Step("setup", "given", "import numpy as np"),
        Step("neuron", "task", "def neuron(x):\n    raise NotImplementedError", 2, 5, uses=[]),
        Step("neuron-check", "check", "ch01.check_neuron(neuron)", of="neuron", name="neuron"),
    ),
)
SIMPLE = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
JSON = st.recursive(
    SIMPLE,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)
CODE = st.sampled_from(
    [
        "def neuron(x):\n    return x",
        "def neuron(",
        "neuron = 1\x00",
        "%time x",
        "x" + ".y" * 300,
        "((((" * 60,
    ]
)
NAME = st.sampled_from(["neuron", "setup", "neuron-check", "", "\ud800", "x" * 500])
CELL = st.fixed_dictionaries(
    {},
    optional={
        "id": NAME | JSON,
        "cell_type": st.sampled_from(["code", "markdown", "raw", "evil <b>"]) | JSON,
        "source": CODE | st.lists(CODE | JSON, max_size=3) | JSON,
        "metadata": JSON,
        "outputs": JSON,
    },
)
NOTEBOOK = st.fixed_dictionaries(
    {"cells": st.lists(CELL | JSON, max_size=6) | JSON, "nbformat": st.just(4) | JSON},
    optional={"metadata": JSON, "nbformat_minor": JSON},
)


def cases(count):
    return settings(
        max_examples=count,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


def taken_in(data):
    """All that happens to a file before a room runs anything of it."""
    read = notebook.read(files.File("x.ipynb", data))
    release = Release("folder", "id", 1, {CHAPTER.name: CHAPTER})
    if not read.cells:
        assert read.problems or json.loads(data.decode("utf-8-sig"))["cells"] == []
        return
    chapter = assemble.chapter_of(read, release)
    if chapter is not None:
        made = assemble.assemble(read, chapter)
        assert set(made.texts) | set(made.missing) == {"neuron"}
        assert all(isinstance(line, str) and len(line) < 2000 for line in made.problems)
        assert not any("evil" in line for line in made.problems)
        for text in made.texts.values():
            names_in(text)


@cases(700)
@given(NOTEBOOK)
def test_notebooks(given_notebook):
    taken_in(json.dumps(given_notebook).encode())


@cases(300)
@given(NOTEBOOK, st.lists(st.tuples(st.integers(0, 3000), st.integers(0, 255)), max_size=8))
def test_damaged_notebooks(given_notebook, flips):
    data = bytearray(json.dumps(given_notebook).encode())
    for place, byte in flips:
        data[place % len(data)] = byte
    taken_in(bytes(data))


FILE_NAME = st.sampled_from(
    [
        "a.ipynb",
        "ann/a.ipynb",
        "../a.ipynb",
        "/a.ipynb",
        "a.pdf",
        "b.zip",
        "ann_1_2_a.ipynb",
        ".a",
        "x/",
    ]
) | st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=30
)
CONTENT = st.binary(max_size=60) | NOTEBOOK.map(lambda one: json.dumps(one).encode())
FLIPS = st.lists(st.tuples(st.integers(0, 3000), st.integers(0, 255)), max_size=5)


def packed(entries, how=zipfile.ZIP_DEFLATED):
    stream = io.BytesIO()
    warnings.simplefilter("ignore", UserWarning)  # two entries of one name: that is meant
    with zipfile.ZipFile(stream, "w", how) as made:
        for name, content in entries:
            made.writestr(name, content)
    return stream.getvalue()


@cases(400)
@given(
    st.lists(st.tuples(FILE_NAME, CONTENT), max_size=4),
    st.sampled_from(
        [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2]
    ),
    FLIPS,
    st.booleans(),
)
def test_zips(tmp_path_factory, entries, how, flips, within):
    """A student's zip, as it is or damaged; or a class's, with it inside."""
    data = bytearray(packed(entries, how))
    for place, byte in flips:
        data[place % len(data)] = byte
    if within:
        data = packed([("ann_1_2_mine.zip", bytes(data)), ("bob_2_3_a.ipynb", b"{}")])
    path = tmp_path_factory.getbasetemp() / "fuzz.zip"
    path.write_bytes(data)
    try:
        found = handed_in.collect(path)
    except BadInput:
        assert not within  # bob has handed in a notebook
        return
    for one in found:
        assert one.files
        for file in one.files:
            assert file.problem or file.other or file.data is not None


@cases(300)
@given(st.text(max_size=60), st.text(max_size=60))
def test_names(one, other):
    first, second = results.file_of("out", one), results.file_of("out", other)
    assert first.parent.name == "out" and first.name.isascii() and len(first.name) < 100
    assert (first == second) == (one == other)
    assert lms.letters(one) == lms.letters(one.casefold()) or lms.letters(one)
    lms.both_ways(one)


@cases(300)
@given(JSON | st.fixed_dictionaries({"schema": st.just(1), "chapters": st.lists(JSON, max_size=3)}))
def test_results(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "fuzz.json"
    path.write_text(json.dumps(content))
    assert results.load(path) == [] or content["chapters"]


TABLE = st.lists(
    st.lists(st.text(max_size=12) | st.sampled_from(["Student", "ID", "Points"]), max_size=6),
    max_size=5,
)


@cases(300)
@given(TABLE, st.sampled_from(",;\t"), st.binary(max_size=6))
def test_class_lists(tmp_path_factory, rows, between, bytes_behind):
    """Canvas's export, and points by hand: read, or refused in a sentence."""
    stream = io.StringIO(newline="")
    csv.writer(stream, delimiter=between).writerows(rows)
    path = tmp_path_factory.getbasetemp() / "fuzz.csv"
    path.write_bytes(stream.getvalue().encode("utf-8", "surrogatepass") + bytes_behind)
    for read in (manual.read, lambda file: lms.look_at_canvas(file, {"01-tiny": []}, {})):
        try:
            read(path)
        except BadInput as error:
            assert f"{error}"
