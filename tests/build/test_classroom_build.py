"""Building: what comes out, what is run again, what is never overwritten, what --check finds."""

import io
import json
import os
import sys
from pathlib import Path

import nbformat
import pytest
from sample_chapter import EXERCISE, KERNEL, LECTURE, clone, copy

from course_lib.plots.stepper import page
from course_tools.__main__ import main
from course_tools.build import command as build
from course_tools.build import notebook
from course_tools.build.source import parse
from course_tools.notebooks import kernels, outputs

ROOT = Path(__file__).resolve().parents[2]
FILES = ("notebooks/01-tiny.ipynb", "exercises/01-tiny.ipynb", "solutions/01-tiny.ipynb")


def make(root, **options):
    return {row.file: row for row in build.build(build.Options(root, quiet=True, **options))}


def check(root):
    return {row.file: row.state for row in build.check(build.Options(root)) if not row.good}


def read(root, file):
    return nbformat.read(root / file, as_version=4)


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """A clone that was built once; tests that change it take a copy."""
    root = clone(tmp_path_factory.mktemp("clone"))
    assert [row.state for row in make(root).values()] == ["built", "built", "built"]
    return root


@pytest.fixture
def root(first, tmp_path):
    return copy(first, tmp_path)


@pytest.fixture
def no_kernel(monkeypatch):
    """Nothing may run."""
    monkeypatch.setattr(
        kernels.Session, "__enter__", lambda self: pytest.fail("a kernel was started")
    )


def test_steppers_of_kept_outputs_move_as_they_do_today():
    """Their script is stored with each of them, and no cell runs again for it."""
    old = "<figure><summary>9 steps in words</summary></figure>"
    old += '<script type="module" class="course-stepper">old()</script>'
    shown = nbformat.v4.new_output("display_data", {"text/html": old, "text/plain": "a stepper"})
    printed = nbformat.v4.new_output("stream", text="old()")
    cell = nbformat.v4.new_code_cell("plots.step(run)", outputs=[shown, printed])
    now, beside = notebook.outputs_of(cell)
    html = now.data["text/html"]
    assert page.script() in html and "old()" not in html
    assert "<summary>9 steps in words (run the cell above, and the picture moves)</summary>" in html
    assert page.as_today(html) == html
    assert now.data["text/plain"] == "a stepper" and beside == printed
    assert cell.outputs[0].data["text/html"] == old, "the stored notebook is not touched"


def test_a_single_step_is_a_picture():
    old = "<summary>1 steps in words (run the cell above, and the picture moves)</summary>"
    old += '<script type="module" class="course-stepper">old()</script>'
    html = page.as_today(old)
    assert "<summary>The picture in words</summary>" in html
    assert page.as_today(html) == html


def test_built_steppers_have_the_script_of_today():
    """Raise BUILDER after a change of stepper.js: `course build` then puts it in, and runs nothing."""
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        stored = json.loads(path.read_text(encoding="utf-8"))
        if stored["metadata"]["course"]["builder"] == notebook.BUILDER:  # others are stale anyway
            shown = [out.get("data", {}) for c in stored["cells"] for out in c.get("outputs", [])]
            scripts = page.SCRIPT.findall("".join("".join(d.get("text/html", "")) for d in shown))
            assert all(page.script() in script for script in scripts), path.name


# What comes out -------------------------------------------------------------------------------------------------


def test_valid_notebooks_with_ids_from_the_names(first):
    for file in FILES:
        nbformat.validate(read(first, file))
    assert [c.id for c in read(first, FILES[0]).cells] == [
        "greet-text",
        "greet",
        "two-text",
        "two",
        "end-text",
        "way-on",
    ]
    ids = [c.id for c in read(first, FILES[1]).cells]
    task = ["double-text", "double-hints", "double", "double-check"]
    assert ids == ["setup-text", "setup", *task, "way-on"]
    assert ids == [c.id for c in read(first, FILES[2]).cells]


def test_the_lecture_and_the_solution_are_run_and_the_exercise_is_not(first):
    for file, counts in zip(FILES, ([1, 2], [None] * 3, [1, 2, 3]), strict=True):
        code = [c for c in read(first, file).cells if c.cell_type == "code"]
        assert [c.execution_count for c in code] == counts
        assert any(c.outputs for c in code) == (counts[0] is not None)
    assert read(first, FILES[0]).cells[1].outputs[0].text == "hello\n"
    assert read(first, FILES[2]).cells[5].outputs[0].text == "right\n"


def test_the_exercise_holds_no_solution_and_the_solution_no_marker(first):
    exercise, solution = ((first / file).read_text(encoding="utf-8") for file in FILES[1:])
    assert "2 * x" not in exercise and "raise NotImplementedError" in exercise
    assert "return 2 * x" in solution
    for text in (exercise, solution):
        assert "SOLUTION" not in text and "mutants" not in text and "Likely cause is" not in text


def test_a_task_in_the_exercise(first):
    cells = {c.id: c for c in read(first, FILES[1]).cells}
    blank = '    raise NotImplementedError("write double: about 1 line, 3 minutes")'
    assert cells["double"].source.split("\n")[-1] == blank
    course = {"task": "double", "points": 2, "difficulty": 1, "minutes": 3}
    assert cells["double"].metadata == {"course": course, "tags": ["task"], "deletable": False}
    assert cells["double-check"].metadata.course == {"check": "double-check", "of": "double"}
    assert (
        cells["double-check"].metadata.editable is False
        and cells["double-check"].metadata.deletable is False
    )
    assert (
        "2 points · easy (difficulty 1 of 3) · about 1 line · about 3 minutes"
        in cells["double-hints"].source
    )
    hints = cells["double-hints"].source
    assert hints.count("<details>") == hints.count("</details>") == 3
    steps = [
        hints.index(words)
        for words in ("a nudge", "Hint 2 of 3", "the idea", "Hint 3 of 3", "nearly the code")
    ]
    assert steps == sorted(steps)


def test_a_task_inside_a_string(tmp_path):
    assert all(row.state == "built" for row in make(clone(tmp_path, None, KERNEL)).values())
    blank, solved = ({c.id: c for c in read(tmp_path, file).cells} for file in FILES[1:])
    assert (
        blank["triple"].source.split("\n")[3]
        == '    #error "write triple: about 2 lines, 4 minutes"'
    )
    assert "3 * x[i]" not in blank["triple"].source and "SOLUTION" not in str(blank) + str(solved)
    assert solved["triple"].source.split("\n")[3:5] == [
        "    int i = threadIdx.x;",
        "    y[i] = 3 * x[i];",
    ]
    assert (
        solved["triple-check"].outputs[0].text == "right\n"
        and "about 2 lines" in blank["triple-hints"].source
    )


def test_nothing_of_this_machine_is_stored(first):
    for file in FILES:
        text = (first / file).read_text(encoding="utf-8")
        assert (
            str(first) not in text
            and sys.prefix not in text
            and os.path.expanduser("~") + "/" not in text
        )
        assert '"execution"' not in text and '"version": "3' not in text
    assert "<course>/notebooks" in (first / FILES[0]).read_text(encoding="utf-8")


def test_a_folder_that_is_taken_out_is_said(tmp_path):
    rows = make(clone(tmp_path, exercise=None))
    assert any("two: the folder" in note for note in rows[FILES[0]].notes)


# What is run again ----------------------------------------------------------------------------------------------


def test_nothing_changed_nothing_touched(root, no_kernel):
    before = [(root / f).stat().st_mtime_ns for f in FILES]
    assert {row.state for row in make(root).values()} == {"current"}
    assert [(root / f).stat().st_mtime_ns for f in FILES] == before
    assert check(root) == {}


def test_a_forced_build_gives_the_same_bytes(root):
    before = [(root / f).read_bytes() for f in FILES]
    assert {row.state for row in make(root, force=True).values()} == {"built"}
    assert [(root / f).read_bytes() for f in FILES] == before


def test_changed_text_keeps_the_outputs(root, no_kernel):
    clone(root, lecture=LECTURE.replace("The end.", "The very end."))
    assert check(root) == {FILES[0]: "stale"}
    rows = make(root)
    assert rows[FILES[0]].state == "text" and rows[FILES[1]].state == "current"
    lecture = read(root, FILES[0])
    assert (
        lecture.cells[-2].source == "The very end."
        and lecture.cells[1].outputs[0].text == "hello\n"
    )
    assert check(root) == {}


def test_changed_code_runs(root):
    clone(root, lecture=LECTURE.replace('"hello"', '"good day"'))
    assert make(root)[FILES[0]].state == "built"
    assert read(root, FILES[0]).cells[1].outputs[0].text == "good day\n"


def test_windows_line_ends_are_the_same_source(root, no_kernel):
    file = root / "chapters/01-tiny/lecture.md"
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert check(root) == {}


# What is never overwritten --------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", FILES)
def test_work_done_in_a_notebook_is_kept(root, file, no_kernel):
    mine = read(root, file)
    mine.cells[-1].source = "my own work"
    nbformat.write(mine, root / file)
    saved = (root / file).read_bytes()
    clone(root, LECTURE + "\nMore.\n", EXERCISE + "\nMore.\n")
    assert check(root)[file] == "edited"
    row = make(root)[file]
    assert row.state == "edited" and "--force" in row.detail
    assert (root / file).read_bytes() == saved


def test_force_overwrites(root):
    (root / FILES[1]).write_text("{}")
    assert check(root) == {FILES[1]: "edited"}
    assert make(root, force=True)[FILES[1]].state == "built" and check(root) == {}


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    file = tmp_path / "a.txt"
    build.write(file, "old")
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        build.write(file, "new")
    assert file.read_text() == "old" and list(tmp_path.iterdir()) == [file]


# What --check finds ---------------------------------------------------------------------------------------------


def test_check_finds_the_missing_the_orphaned_and_the_lonely(root):
    (root / FILES[2]).unlink()
    (root / "notebooks/07-gone.ipynb").write_text("{}")
    clone(root, LECTURE, None, "02-half")
    assert check(root) == {
        FILES[2]: "missing",
        FILES[0]: "stale",  # its end leads to the new chapter
        FILES[1]: "stale",
        "notebooks/07-gone.ipynb": "orphaned",
        "notebooks/02-half.ipynb": "missing",
        "chapters/02-half/exercise.md": "missing",
    }


@pytest.mark.parametrize(
    "change",
    [
        lambda cell: cell.outputs[0].update(text="hallo\n"),
        lambda cell: cell.update(source="print('hallo')"),
        lambda cell: cell.update(id="other"),
        lambda cell: cell.metadata.update(tags=["nbval-ignore-output"]),
        lambda cell: cell.update(execution_count=None),
    ],
)
def test_check_finds_what_was_changed_by_hand(root, change):
    lecture = read(root, FILES[0])
    change(lecture.cells[1])
    nbformat.write(lecture, root / FILES[0])
    assert check(root) == {FILES[0]: "edited"}


def test_check_is_not_fooled_by_a_new_digest(root):
    lecture = read(root, FILES[0])
    lecture.cells[1].source = "print('hallo')"
    lecture.metadata.course.digest = notebook.digest(lecture)
    nbformat.write(lecture, root / FILES[0])
    assert check(root) == {FILES[0]: "edited"}


def test_check_tells_a_broken_source(root):
    clone(root, exercise=EXERCISE.replace("points: 2", "points: 0"))
    assert check(root) == {"chapters/01-tiny/exercise.md": "wrong"}


# Ids ------------------------------------------------------------------------------------------------------------

RENAMED = EXERCISE.replace("name: double", "name: twice").replace(
    ":checks: double", ":checks: twice"
)


def test_ids_are_recorded(first):
    rows = (first / "chapters/ids.txt").read_text().splitlines()
    assert rows[1:] == ["01-tiny task double", "01-tiny check double-check"]


def test_an_id_that_disappears_is_refused(root):
    clone(root, exercise=RENAMED)
    assert "chapters/ids.txt" in check(root)
    row = make(root)["chapters/01-tiny/exercise.md"]
    assert (
        row.state == "wrong" and "double, double-check" in row.detail and "--drop-ids" in row.detail
    )
    assert {row.state for row in make(root, drop_ids=True).values()} == {"current", "built"}
    rows = (root / "chapters/ids.txt").read_text().splitlines()
    assert rows[1:] == [
        "01-tiny task twice",
        "01-tiny check twice-check",
        "01-tiny retired double",
        "01-tiny retired double-check",
    ]
    assert check(root) == {}


def test_an_id_that_has_retired_is_not_given_to_another_task(root):
    clone(root, exercise=RENAMED)
    make(root, drop_ids=True)
    clone(root, exercise=EXERCISE)
    row = make(root, drop_ids=True)["chapters/01-tiny/exercise.md"]
    assert row.state == "wrong" and "double, double-check" in row.detail and "retired" in row.detail
    assert check(root)["chapters/ids.txt"] == "wrong"


def test_a_chapter_that_disappears_takes_its_ids_along(root):
    (root / "chapters/01-tiny/exercise.md").unlink()
    assert check(root)["chapters/ids.txt"] == "wrong"


# Cells that fail ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "code, tags, says",
    [
        ("1 / 0", "", "ZeroDivisionError"),
        ("import os; os._exit(3)", "", "the kernel died in this cell"),
        ("import time\nwhile True:\n    time.sleep(0.1)", "", "did not end within 2 s"),
        ("1", ":tags: [raises-exception]\n", "raised nothing"),
    ],
)
def test_a_failing_cell_is_named_and_nothing_is_written(tmp_path, code, tags, says):
    lecture = LECTURE.replace(":name: greet\n", f":name: greet\n{tags}").replace(
        'print("hello")', code
    )
    row = make(clone(tmp_path, lecture, None), timeout=2)[FILES[0]]
    assert (
        row.state == "failed" and says in row.detail and "lecture.md:16: cell greet" in row.detail
    )
    assert not (tmp_path / FILES[0]).exists()


def test_a_cell_may_raise_where_it_says_so(tmp_path):
    lecture = LECTURE.replace(":name: greet\n", ":name: greet\n:tags: [raises-exception]\n")
    lecture = lecture.replace('print("hello")', "1 / 0")
    assert make(clone(tmp_path, lecture, None))[FILES[0]].state == "built"
    error = read(tmp_path, FILES[0]).cells[1].outputs[0]
    assert error.ename == "ZeroDivisionError" and str(tmp_path) not in json.dumps(error)


# Outputs --------------------------------------------------------------------------------------------------------


def stream(name, text):
    return nbformat.v4.new_output("stream", name=name, text=text)


def test_streams_are_merged_and_progress_lines_end_as_shown():
    pieces = [
        stream("stdout", "1 %\r"),
        stream("stderr", "!"),
        stream("stdout", "50 %\r100 %\nend\n"),
    ]
    tidied, _ = outputs.tidy(pieces, 1, [])
    assert [(o["name"], o["text"]) for o in tidied] == [("stdout", "100 %\nend\n"), ("stderr", "!")]
    assert pieces[0]["text"] == "1 %\r"


def test_streams_on_both_sides_of_a_figure_stay_there():
    figure = nbformat.v4.new_output("display_data", data={"text/plain": "figure"})
    tidied, _ = outputs.tidy([stream("stdout", "a"), figure, stream("stdout", "b")], 1, [])
    assert [o["output_type"] for o in tidied] == ["stream", "display_data", "stream"]


def test_the_folders_of_this_machine(tmp_path):
    folders = dict(outputs.places(tmp_path))
    assert (
        folders[str(tmp_path.resolve())] == "<course>" and folders[os.path.expanduser("~")] == "~"
    )
    assert "/usr" not in folders and "/" not in folders
    lengths = [len(folder) for folder, _ in outputs.places(tmp_path)]
    assert lengths == sorted(lengths, reverse=True)


def test_folders_and_cell_files_are_taken_out():
    text = "/tmp/ipykernel_42/123.py:1: RuntimeWarning: overflow in /home/ada/course/x.py\n"
    tidied, found = outputs.tidy([stream("stderr", text)], 1, [("/home/ada/course", "<course>")])
    assert tidied[0]["text"] == "<cell>:1: RuntimeWarning: overflow in <course>/x.py\n"
    assert found == ["/home/ada/course"]


# Progress and the command ---------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_is_one_line_on_a_terminal():
    shown = Terminal()
    with build.CellProgress("01 lecture", 2, stream=shown) as progress:
        for number, name in enumerate(("a", "b"), 1):
            progress.begin(number, name)
            progress.end()
    text = shown.getvalue()
    assert "01 lecture: 1/2 a" in text and "01 lecture: 2/2 b" in text and text.count("\n") == 1


def test_progress_in_a_log_is_one_line_a_notebook():
    log = io.StringIO()
    with build.CellProgress("01 lecture", 1, stream=log) as progress:
        progress.begin(1, "a")
        progress.end()
    assert log.getvalue().startswith("01 lecture: 1 cell in ") and log.getvalue().count("\n") == 1


def test_the_command(root, capsys, no_kernel):
    at = ["--root", str(root)]
    assert main(["build", "--check", *at]) == 0
    assert main(["build", "01", *at, "--json"]) == 0
    capsys.readouterr()
    main(["build", "--json", *at])
    assert [row["state"] for row in json.loads(capsys.readouterr().out)] == ["current"] * 3
    (root / FILES[0]).unlink()
    assert main(["build", "--check", *at]) == 1
    assert "missing" in capsys.readouterr().out


@pytest.mark.parametrize(
    "call, says",
    [
        (["build", "77"], "no chapter '77'"),
        (["build", "--timeout", "0"], "more than 0 seconds"),
        (["build", "--nonsense"], "unrecognized arguments"),
        (
            ["nonsense"],
            "no command 'nonsense'; there are: doctor, progress, report, trace, bench, check, release, grade",
        ),
        ([], "usage"),
    ],
)
def test_a_wrong_call_is_2(first, capsys, call, says):
    try:
        status = main([*call, "--root", str(first)] if call[:1] == ["build"] else call)
    except SystemExit as stop:
        status = stop.code
    assert status == 2 and says in capsys.readouterr().err


def test_a_folder_without_chapters(tmp_path, capsys):
    assert main(["build", "--root", str(tmp_path)]) == 2
    assert "no folder chapters/" in capsys.readouterr().err


def test_help_is_0(capsys):
    assert main(["--help"]) == 0 and "doctor" in capsys.readouterr().out
    assert main(["--version"]) == 0


def test_the_parts_of_the_skeleton_do_not_share_state():
    lecture = parse(build.Path("chapters/01-tiny/lecture.md"), LECTURE)
    one, two = notebook.skeleton(lecture, "lecture"), notebook.skeleton(lecture, "lecture")
    one.metadata.language_info["name"] = "spoilt"
    assert two.metadata.language_info["name"] == "python"
