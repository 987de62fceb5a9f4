"""A report as a page, and two as a comparison: well-formed, the facts of the text, readable in both colour schemes."""

import re
from html.parser import HTMLParser
from itertools import product

import numpy as np
import pytest
from engine_runs import needs_compiler

from course_lib.errors import BadInput
from course_lib.machines.cpu_engine import Report, compare, trace
from course_lib.machines.trace_page.page import STYLE, bare

pytestmark = needs_compiler
SOURCE = """// <b>not bold</b> & "quoted" {
#define N 256

__device__ float unused(float v) {
    return v * v;
}

__device__ float at(const float *x, int i) {
    return x[8 * i % 2048];
}

__global__ void other(float *y) {
    y[0] = unused(y[1]) < 1 && y[2] > 0;
}

__global__ void stage(const float *x, float *y) {
    __shared__ float tile[N];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
\ttile[threadIdx.x * 8 % N] = at(x, i);
    if (i < 5) printf("<i>%d</i>\\n", i);
    y[i] = tile[N - 1 - threadIdx.x];
}
"""
VOID = {"meta", "link", "br", "hr", "img"}


class Read(HTMLParser):
    """Checks that tags are closed in order, and keeps the cells of each table and the words of everything."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tables, self.inside, self.tags, self.words = [], [], [], [], ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag in VOID:
            return
        self.open.append(tag)
        if tag == "table":
            self.tables.append([])
            self.inside.append(self.tables[-1])
        elif tag == "tr":
            self.inside[-1].append([])
        elif tag in ("td", "th"):
            self.inside[-1][-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        if tag == "table":
            self.inside.pop()

    def handle_data(self, data):
        if "style" not in self.open:
            self.words += data
            if {"td", "th"} & set(self.open):
                self.inside[-1][-1][-1] += data


@pytest.fixture(scope="module")
def report():
    x, y = np.arange(2048, dtype=np.float32), np.zeros(1000, np.float32)
    return trace(SOURCE, "stage", 4, 256, [x, y])


@pytest.fixture(scope="module")
def read(report):
    return Read(report._repr_html_())


def test_the_report_has_something_to_show(report):
    assert {error["tool"] for error in report.errors} == {"memcheck", "racecheck"}
    assert report.kernel == "stage" and report.total("sectors") > report.total("ideal_sectors")


def test_findings_stand_in_the_rows_below_their_lines(report, read):
    rows = [row for table in read.tables for row in table]
    for error in report.errors:
        at = next(
            n
            for n, row in enumerate(rows)
            if row and row[0] == str(error["line"]) and len(row) == 5
        )
        first = error["message"].split("\n")[0]
        assert first in rows[at + 1][0]


def test_the_table_is_there_in_full(report, read):
    header, rows = report.table()
    as_text = [[f"{c:,}" if isinstance(c, int) else c for c in row] for row in [header, *rows]]
    assert [list(row) for row in as_text] in read.tables


def test_each_counted_line_has_its_sums_in_words(report, read):
    rows = {row[0]: row for table in read.tables for row in table if len(row) == 5}
    for line in {row["line"] for row in report.accesses}:
        total = {n: report.total(n, line=line) for n in ("sectors", "ideal_sectors", "bytes")}
        cells = rows[str(line)]
        assert cells[3] == f"{total['bytes']:,}"
        if total["sectors"]:
            assert cells[1].startswith(f"{total['sectors']:,} (")
            assert float(cells[1].split("(")[1][:-2]) == pytest.approx(
                total["sectors"] / total["ideal_sectors"], rel=0.01
            )


def test_every_line_is_shown_once_and_escaped(report, read):
    lines = SOURCE.expandtabs(4).split("\n")
    shown = {
        int(row[0]): row[4]
        for table in read.tables
        for row in table
        if len(row) == 5 and row[0].isdigit()
    }
    assert all(shown.get(n, "") == line for n, line in enumerate(lines, 1))
    assert "<b>" not in report._repr_html_() and "<i>0" not in report._repr_html_()
    assert "<i>0</i>" in read.words  # what the kernel printed


def test_only_functions_that_were_used_are_open(report):
    page = report._repr_html_()
    folded = "".join(re.findall(r"<summary>lines .*?</details>", page, re.DOTALL))
    assert "unused" in folded and "void other" in folded
    assert "void stage" not in folded and "float at(" not in folded


def test_no_script_no_ids_nothing_from_elsewhere(report, read):
    names = {name for _, attributes in read.tags for name in attributes}
    assert "script" not in {tag for tag, _ in read.tags}
    assert not names & {"id", "href", "src"} and not any(name.startswith("on") for name in names)
    assert "url(" not in report._repr_html_() and "@import" not in report._repr_html_()


def test_the_same_launch_gives_the_same_page(report):
    x, y = np.arange(2048, dtype=np.float32), np.zeros(1000, np.float32)
    assert trace(SOURCE, "stage", 4, 256, [x, y])._repr_html_() == report._repr_html_()


def test_notes_are_shown_where_there_are_any(report):
    noted = Report([], [], source="__global__ void k() {}\n", kernel="k")
    note = {
        **report.errors[0],
        "tool": "racecheck",
        "line": 1,
        "message": "racecheck, line 1: a note",
    }
    object.__setattr__(noted, "notes", [note])
    words = Read(noted._repr_html_()).words
    assert "note: racecheck, line 1: a note" in words and "no check found anything, 1 note" in words


def test_a_report_without_lines_is_a_page():
    error = {
        "tool": "crash",
        "line": 0,
        "message": "crash: <it> crashed",
        "block": None,
        "other": None,
    }
    assert "<it> crashed" in Read(Report([error], [])._repr_html_()).words
    assert "no check found anything" in Read(Report([], [])._repr_html_()).words


@pytest.mark.parametrize("source", ["", "}}}{", "{" * 9, "/* { */ int a;", 'x = "{";\n\n}\n'])
def test_any_text_is_a_page(source):
    Read(Report([], [], source=source, kernel="k(")._repr_html_())
    assert len(bare(source)) == len(source)


# Colours -----------------------------------------------------------------------------------------------------------


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(a, b):
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


GROUNDS = [
    "#ffffff",
    "#f5f5f5",
    "#111111",
    "#121212",
    "#1e1e1e",
]  # JupyterLab's, browsers', the book's


def test_text_takes_the_colour_of_the_page_around_it():
    """So it has that page's contrast, and in no theme any other."""
    colours = re.findall(r"(?<![-\w])color: ([^;}]+)", STYLE.read_text())
    assert set(colours) == {"var(--jp-content-font-color1, inherit)", "inherit"}
    assert not re.findall(r"background: (?!none)[^;]*--jp", STYLE.read_text())


@pytest.mark.parametrize("name, ground", list(product(["ideal", "extra", "finding"], GROUNDS)))
def test_marks_stand_out_on_light_and_dark(name, ground):
    (colour,) = re.findall(rf"--er-{name}: (#\w{{6}})", STYLE.read_text())
    assert contrast(colour, ground) >= 3  # of graphics: WCAG 1.4.11


# Comparisons -------------------------------------------------------------------------------------------------------

COPY = """__global__ void near(const float *x, float *y) { y[threadIdx.x] = x[threadIdx.x]; }
__global__ void far(const float *x, float *y) { y[threadIdx.x] = x[8 * threadIdx.x]; }
__global__ void held(const float *x, float *y) {
    __shared__ float s[32];
    s[threadIdx.x] = x[threadIdx.x]; y[threadIdx.x] = s[threadIdx.x];
}"""


def run(kernel):
    return trace(COPY, kernel, 1, 32, [np.ones(256, np.float32), np.zeros(32, np.float32)])


def test_two_kernels_side_by_side():
    both = compare(run("near"), run("far"))
    assert both.ratio("sectors", space="global", op="load") == 8
    assert both.ratio("requests") == 1 and np.isnan(both.ratio("wavefronts"))
    row = next(row for row in both.rows if (row["op"], row["count"]) == ("load", "sectors"))
    assert row == {"space": "global", "op": "load", "count": "sectors", "values": (4, 32)}
    header, rows = both.table()
    assert header == ("space", "op", "count", "near", "far", "far / near")
    assert ("global", "load", "sectors", 4, 32, "8") in rows
    assert ("global", "load", "sectors per request", "4", "32", "8") in rows


def test_a_comparison_says_the_same_as_text_and_as_a_page():
    several = compare(run("near"), run("far"), run("held"), names=["a", "b", "<c>"])
    header, rows = several.table()
    cells = [[f"{c:,}" if isinstance(c, int) else c for c in row] for row in [header, *rows]]
    read = Read(several._repr_html_())
    assert cells in read.tables and "<c>" in read.words
    text = [re.split(r"  +", line.strip()) for line in str(several).splitlines()]
    assert all([cell for cell in row if cell] in text for row in cells)
    assert str(several).count("no check found anything") == 3


def test_kernels_of_one_name_are_numbered():
    assert list(compare(run("near"), run("near")).reports) == ["near 1", "near 2"]


@pytest.mark.parametrize(
    "reports, names",
    [
        ((), None),
        (("a", "b"), None),
        ((Report([], []),), None),
        ((Report([], []),) * 2, ["one", "one"]),
    ],
)
def test_what_is_no_comparison(reports, names):
    with pytest.raises(BadInput):
        compare(*reports, names=names)


def test_in_a_notebook_the_text_is_that_of_print(report):
    pretty = pytest.importorskip("IPython.lib.pretty")
    assert pretty.pretty(report) == str(report)
    both = compare(report, report)
    assert pretty.pretty(both) == str(both)
