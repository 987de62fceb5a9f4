"""Feedback pages: nothing of a student's is markup, nothing hidden is shown, nothing grows without bound."""

import re
from html.parser import HTMLParser
from types import SimpleNamespace

import pytest

from course_lib import plots
from course_tools.grading.marks import feedback, marks, picture
from course_tools.grading.verdict import results

CHAPTER = "01-serial-backprop"
NASTY = (
    '</pre></main><script>alert(1)</script><img src=x onerror="alert(2)"><!-- \x1b[31m\x07\u202e'
)
PLAIN = {
    "html",
    "head",
    "meta",
    "title",
    "style",
    "body",
    "main",
    "h1",
    "h2",
    "h3",
    "p",
    "span",
    "bdi",
    "table",
    "caption",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "pre",
    "a",
    "br",
    "figure",
    "img",
    "details",
    "summary",
}


class Page(HTMLParser):
    """The elements of a page with their attributes, and its text."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.said, self.open = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in ("meta", "br", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.said.append(data)

    @property
    def text(self):
        return "".join(self.said)


def task(name="neuron", status="wrong", message="said", **more):
    return results.Task(name, status, 2 * (status == "pass"), 2, message, **more)


def page_of(tmp_path, *tasks, student="Jane", printed=False, **more):
    """The Page of a student."""
    given = {"problems": [], "tasks": list(tasks)} | more
    results.save(
        tmp_path,
        [
            results.Result(
                student, "", CHAPTER, "a.ipynb", "d" * 64, "r", "0", 1, "sandbox", **given
            )
        ],
    )
    made = marks.collect(tmp_path)
    return Page(feedback.student_page(made.students[0], made.columns, printed))


def test_a_page_says_points_and_messages(tmp_path):
    page = page_of(tmp_path, task(), task("forward", "pass"))
    assert "2 of 4 points" in page.text and "not right yet" in page.text and "said" in page.text
    assert "passed" in page.text and page.open == []


def test_nothing_of_a_students_is_markup(tmp_path):
    nasty = task(message=NASTY, printed=NASTY, hidden={"fresh inputs": "wrong"})
    page = page_of(tmp_path, nasty, student=NASTY, printed=True, problems=[NASTY])
    assert {tag for tag, _ in page.elements} <= PLAIN and page.open == []
    assert not [name for _, attrs in page.elements for name in attrs if name.startswith("on")]
    assert "<script>alert(1)</script>" in page.text, "shown as text"
    assert not set(page.text) & set("\x1b\x07\u202e")


def test_the_index_and_comments_by_hand_are_escaped(tmp_path):
    page_of(tmp_path, task(), student=NASTY)
    (tmp_path / "manual.json").write_text('[{"student": "nobody<script>", "comment": "x"}]')
    made = marks.collect(tmp_path)
    made.students[0].chapters[CHAPTER].comments = {"": [NASTY], "neuron": [NASTY]}
    index = Page(feedback.write(tmp_path, made, picture.figures(made)).read_text(encoding="utf-8"))
    assert {tag for tag, _ in index.elements} <= PLAIN and index.open == []
    (link,) = [attrs["href"] for tag, attrs in index.elements if tag == "a"]
    assert re.fullmatch(r"feedback/[\w.-]+\.html", link)
    page = Page((tmp_path / link).read_text(encoding="utf-8"))
    assert {tag for tag, _ in page.elements} <= PLAIN
    assert all(attrs["alt"] for tag, attrs in index.elements if tag == "img")


@pytest.mark.parametrize(
    "text", ["x" * 10**7, "x\n" * 10**6, "<" * 10**6, "\x1b[31m" * 10**6, "\u0301" * 10**6]
)
def test_huge_outputs_are_capped(tmp_path, text):
    results.save(
        tmp_path,
        [results.Result("a", "", CHAPTER, "f", "d", "r", "0", 1, "sandbox", [task(message=text)])],
    )
    made = marks.collect(tmp_path)
    page = feedback.student_page(made.students[0], made.columns)
    assert len(page) < 60_000 and "the rest is left out" in page


def test_hidden_checks_are_named_and_not_shown(tmp_path):
    page = page_of(
        tmp_path,
        task(hidden={"fresh inputs": "pass", "instructor's": "wrong"}, message="public passes"),
    )
    assert "Hidden checks: fresh inputs: passed, instructor's: not right yet" in page.text


def test_what_cells_printed_is_left_out_and_so_is_what_it_resembles(tmp_path):
    page = page_of(tmp_path, task(printed="inputs of a hidden check", resembles="no-bias"))
    assert "inputs of a hidden check" not in page.text and "no-bias" not in page.text


def test_a_page_loads_nothing_and_runs_nothing(tmp_path):
    page = page_of(tmp_path, task())
    policy = next(attrs["content"] for _, attrs in page.elements if attrs.get("http-equiv"))
    assert "default-src 'none'" in policy and "script" not in policy
    assert not [tag for tag, _ in page.elements if tag in ("script", "link", "iframe", "form")]
    assert "url(" not in feedback.STYLE and "@import" not in feedback.STYLE


def test_a_page_can_be_read_by_all(tmp_path):
    page = page_of(tmp_path, task(), task("forward", "pass"))
    tags = [tag for tag, _ in page.elements]
    assert ("html", {"lang": "en"}) in page.elements and "main" in tags and tags.count("h1") == 1
    assert tags.count("caption") == tags.count("table") == 1
    assert all(attrs.get("scope") in ("col", "row") for tag, attrs in page.elements if tag == "th")
    assert "prefers-color-scheme: dark" in feedback.STYLE and "@media print" in feedback.STYLE
    assert any(attrs.get("name") == "viewport" for _, attrs in page.elements)


def luminance(colour):
    """Relative luminance of "#rgb" or "#rrggbb", WCAG 2.1."""
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True))


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_contrast(scheme):
    block = re.findall(r":root \{(.*?)\}", feedback.STYLE, re.DOTALL)[scheme]
    colours = dict(re.findall(r"--(\w+): (#\w+)", block))
    for name in ("ink", "soft", "good", "bad"):
        for ground in ("ground", "box"):
            light, dark = sorted(
                (luminance(colours[name]), luminance(colours[ground])), reverse=True
            )
            assert (light + 0.05) / (dark + 0.05) >= 4.5, f"{name} on {ground}"


def test_chapters_not_handed_in_are_said(tmp_path):
    page_of(tmp_path, task())
    made = marks.collect(tmp_path)
    columns = made.columns | {"02-x": {"a": 3}}
    assert (
        "Not handed in: 0 of 3 points."
        in Page(feedback.student_page(made.students[0], columns)).text
    )


def test_unreadable_files_get_a_page(tmp_path):
    results.save(
        tmp_path,
        [results.Result("a", "", "", "f", "d", "r", "0", 0, "sandbox", [], ["it is <empty>"])],
    )
    made = marks.collect(tmp_path)
    assert "it is <empty>" in Page(feedback.student_page(made.students[0], made.columns)).text


def test_pictures_have_words_and_tables(tmp_path):
    page_of(tmp_path, task(message="cause: the bias b is missing from z"), task("forward", "pass"))
    points, common = picture.figures(marks.collect(tmp_path))
    assert points.table[1] == [("neuron", 0.0), ("forward", 100.0)]
    assert common.table[1] == [("neuron: no-bias", 1.0)] and "no-bias" in common.alt


def test_words_for_each_status():
    of_words = {"read", "not-read"}  # of answers that somebody reads
    assert set(feedback.WORDS) == {*results.STATUSES, *of_words}
    assert feedback.message(SimpleNamespace(message="a\x1b[31m<b>\x1b[0m")) == "a<b>"


@pytest.mark.parametrize(("count", "last"), [(5, "4"), (8, "and 3 more: see gradebook.csv")])
def test_notes_that_are_cut_say_so(count, last):
    assert feedback._first([str(n) for n in range(count)])[-1] == last


def test_the_axis_of_shares_reaches_the_whole():
    """A class with a tenth of the points must not look like one with all."""
    figure = plots.bars({"a": 10.0, "b": 4.0}, end=100)
    assert figure.figure.axes[0].get_xlim()[1] > 100
    assert plots.bars({"a": 10.0, "b": 4.0}).figure.axes[0].get_xlim()[1] < 20
