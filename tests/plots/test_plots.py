"""course_lib.plots: every figure has alt text with its numbers, a table equal to its input, the same bytes twice."""

import html
import os
import re
import struct
import subprocess
import sys
from functools import cache
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pytest

from course_lib import plots
from course_lib.errors import BadInput
from course_lib.measure import Timing
from course_lib.plots.figure import Figure, table_html
from course_lib.plots.graph_layout import columns_of, layout
from course_lib.plots.line_charts import apart
from course_lib.plots.style import number

rng = np.random.default_rng(7)
PIXELS = rng.random((5, 49))
LABELS = np.array([3, 0, 4, 1, 1])
READ = np.array([3, 0, 2, 1, 1])
WEIGHTS = rng.standard_normal((49, 6))
COUNTS = np.array([[50, 3, 0], [2, 60, 1], [0, 7, 41]])
SIZES = [1, 16, 256]
HISTORY = SimpleNamespace(
    loss=[0.9, 0.5, 0.25], val_accuracy=[0.7, 0.85, 0.875], seconds=[1, 1, 1], stopped=None
)
SPANS = [(0, "delta", 1, 7.0, 7.25), (0, "delta", 0, 7.25, 7.5), (1, "grad", 1, 7.25, 7.4375)]
EVENTS = [
    {"rank": 0, "op": "compute", "begin": 1.0, "end": 1.5},
    {"rank": 1, "op": "Recv", "peer": 0, "bytes": 80, "begin": 1.0, "end": 2.0, "wait": 0.5},
    {"rank": 0, "op": "Send", "peer": 1, "bytes": 80, "begin": 1.5, "end": 2.0, "wait": 0.0},
    {"rank": 0, "op": "Allreduce", "peer": [1], "bytes": 8, "begin": 2.0, "end": 3.0, "wait": 0.25},
    {"rank": 1, "op": "Allreduce", "peer": [0], "bytes": 8, "begin": 2.25, "end": 3.0, "wait": 0.0},
]
NODES = {"w": (0.5, 2.25), "x": (2.0, -0.75), "z": (1.0, 1.0, "w x")}

ROW = {  # as of a Report's accesses: every second float from the 64th, but for lane 3
    "line": 7,
    "space": "global",
    "op": "load",
    "array": "A",
    "lanes_block": (2, 0, 0),
    "lanes_warp": 1,
    "lanes_bytes": 4,
    "lanes": [None if lane == 3 else 4 * (64 + 2 * lane) for lane in range(32)],
}

WAITS = {
    "registers": (2**18, None),
    "shared memory": (96 * 1024, 19),
    "L1": (2**17, 28),
    "L2": (6 * 2**20, 193),
    "device memory": (2**34, 375.0),
}


def halved(z):
    return z / 2


# One call of each function, words that its alt text must hold, and numbers that its table must hold.
EXAMPLES = {
    plots.digits: (
        lambda: plots.digits(PIXELS, LABELS, READ),
        ["5 images of 7 x 7", "4 read right, 1 wrong", "3, 0, 4, 1, 1", "Image 2 is 4, read as 2"],
        [("0", "3", "3", "yes"), ("2", "4", "2", "no")],
    ),
    plots.weights: (
        lambda: plots.weights(WEIGHTS, units=[5, 0]),
        ["2 of 6 hidden units", number(float(WEIGHTS[:, [0, 5]].max()))],
        [(5, float(WEIGHTS[:, 5].min()), float(WEIGHTS[:, 5].max()))],
    ),
    plots.confusion: (
        lambda: plots.confusion(COUNTS, ["cat", "dog", "eel"]),
        ["151 of 164 right", "92.07 %", "eel taken for dog 7 times", "eel, 85.42 % of 48"],
        [("cat", 50, 3, 0), ("dog", 2, 60, 1), ("eel", 0, 7, 41)],
    ),
    plots.curves: (
        lambda: plots.curves(HISTORY),
        ["training loss", "0.9 at 1", "0.25 at 3", "validation accuracy", "0.875 at 3"],
        [(1, 0.9, 0.7), (2, 0.5, 0.85), (3, 0.25, 0.875)],
    ),
    plots.lines: (
        lambda: plots.lines(
            [1, 2, 4], {"a": [5.0, 1.0, 3.0], "b": [2, 2, 2]}, xlabel="threads", ylabel="seconds"
        ),
        [
            "a: 5 at 1, 3 at 4, lowest 1 at 2",
            "b: 2 throughout",
            "Line chart of seconds over threads",
        ],
        [(1, 5.0, 2.0), (2, 1.0, 2.0), (4, 3.0, 2.0)],
    ),
    plots.bars: (
        lambda: plots.bars({"loops": 3.125, "BLAS": 0.02}, xlabel="seconds", log=True),
        ["loops 3.125", "BLAS 0.02", "seconds"],
        [("loops", 3.125), ("BLAS", 0.02)],
    ),
    plots.exponents: (
        lambda: plots.exponents(
            {"g": [0.75, -0.5, 0, 1e-30, 3.0]}, [("lost", -40, -30)], low=-30, high=2
        ),
        ["g: most at 2^−1", "25 % in 'lost'", "Shares of numbers by exponent"],
        [(-30, 25.0), (-1, 50.0), (0, 0.0), (1, 25.0)],
    ),
    plots.function: (
        lambda: plots.function(halved, (-2, 2), points=5),
        ["halved", "−1 at −2", "1 at 2", "0 at 0"],
        [(-2, -1.0), (-1, -0.5), (0, 0.0), (1, 0.5), (2, 1.0)],
    ),
    plots.time_against_batch: (
        lambda: plots.time_against_batch(
            SIZES, {"loops": [9, 8.5, 9.5], "BLAS": [Timing([1.0, 3, 2])] * 3}
        ),
        ["loops: 9 at 1, 9.5 at 256, lowest 8.5 at 16", "BLAS: 2 throughout", "batch size"],
        [(1, 9.0, 2.0, 1.5, 2.5), (16, 8.5, 2.0, 1.5, 2.5), (256, 9.5, 2.0, 1.5, 2.5)],
    ),
    plots.gflops_against_batch: (
        lambda: plots.gflops_against_batch(SIZES, {"BLAS": [3.5, 18.0, 51.0]}, peak=97.5),
        ["BLAS: 3.5 at 1, 51 at 256", "97.5 throughout", "GFLOP/s"],
        [(1, 3.5, 97.5), (16, 18.0, 97.5), (256, 51.0, 97.5)],
    ),
    plots.roofline: (
        lambda: plots.roofline(
            {"one": (0.5, 5.0), "many": (50.0, 80.0)}, peak=100.0, bandwidth=20.0
        ),
        [
            "ridge at 5 flops per byte",
            "one: 5 GFLOP/s at 0.5",
            "50 % of its roof, bound by memory",
            "80 % of its roof",
        ],
        [("one", 0.5, 5.0, 10.0, 0.5, "memory"), ("many", 50.0, 80.0, 100.0, 0.8, "arithmetic")],
    ),
    plots.timeline: (
        lambda: plots.timeline(SPANS, [(0, "delta", 1, 3.0, 3.25)]),
        [
            "3 tasks in 500 milliseconds",
            "thread 0 busy 100 %, thread 1 busy 38 %",
            "Predicted: 1 task in 250 milli",
        ],
        [("measured", 1, "grad", 1, 250.0, 437.5), ("predicted", 0, "delta", 1, 0.0, 250.0)],
    ),
    plots.rank_timeline: (
        lambda: plots.rank_timeline(EVENTS),
        [
            "Gantt chart of 2 seconds",
            "Rank 0: compute 25 %, send 25 %, collective 38 %, wait 12 %.",
            "receive 25 %",
        ],
        [(0, "compute", "", 0, 0.0, 0.5, 0.0), (1, "Recv", "0", 80, 0.0, 1.0, 0.5)],
    ),
    plots.network: (
        lambda: plots.network((784, 1024, 10)),
        ["814,090 parameters", "input layer of 784", "hidden layer of 1,024", "output layer of 10"],
        [(0, "input", 784, 0, 0), (1, "hidden", 1024, 802816, 1024), (2, "output", 10, 10240, 10)],
    ),
    plots.computation_graph: (
        lambda: plots.computation_graph(NODES, [("w", "z"), ("x", "z")]),
        ["w: value 0.5, gradient 2.25", "gradient −0.75", "z = w x (from w, x): value 1"],
        [("w", None, "", 0.5, 2.25), ("x", None, "", 2.0, -0.75), ("z", "w x", "w, x", 1.0, 1.0)],
    ),
    plots.warp_accesses: (
        lambda: plots.warp_accesses(ROW),
        [
            "Line 7, load of A by warp 1 of block (2, 0, 0): 8 sectors",
            "31 lanes of 4 bytes",
            "sector 9: lanes 4–7",
        ],
        [(0, 64, 256, 8), (3, None, None, None), (31, 126, 504, 15)],
    ),
    plots.gemm_tiles: (
        lambda: plots.gemm_tiles(130, 40, 10, 64, 16, 4, TM=1, TN=16, block=(2, 1)),
        [
            "rows 128–129 and columns 16–31 of D",
            "In step 2 it reads k = 8–9",
            "A: 2 x 4 of 130 x 10",
            "thread of 64",
        ],
        [(0, "128–129", "16–31", "0–3", 8, 64, 128), (2, "128–129", "16–31", "8–9", 4, 32, 64)],
    ),
    plots.warp_tiles: (
        lambda: plots.warp_tiles((128, 128), (32, 64), (16, 32), (4, 4)),
        ["warps stand 4 x 2", "Lane 9 has rows 4–7 and 20–23, columns 4–7 and 36–39", "64 sums"],
        [(0, "0, 16", "0, 32"), (9, "4, 20", "4, 36"), (31, "12, 28", "28, 60")],
    ),
    plots.memory_levels: (
        lambda: plots.memory_levels({"a V100": WAITS}),
        ["four schedulers", "L2 6 MiB, 193 cycles", "registers 256 KiB, wait not measured"],
        [("a V100", "L1", 131072, 28), ("a V100", "registers", 262144, None)],
    ),
    plots.triples_box: (
        lambda: plots.triples_box(10, 30, 20, {"rows": (4, 1, 1), "all": (2, 2, 2)}),
        [
            "10 x 20 x 30 triples",
            "rows: 4 x 1 x 1 parts; numbers that move: 0 of A, 1,800 of B, 0 of D.",
            "600 of D",
        ],
        [("rows", 4, 1, 1, 0, 1800, 0, 1800), ("all", 2, 2, 2, 200, 600, 600, 1400)],
    ),
}


@cache
def example(draw):
    """The figure of EXAMPLES, drawn once for all tests that only look at it."""
    return EXAMPLES[draw][0]()


each_figure = pytest.mark.parametrize("draw", plots.ALL, ids=lambda draw: draw.__name__)


class Checker(HTMLParser):
    """Collects the tags of a page and complains about what is left open."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.text = [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag != "img":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)

    def all(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]


def test_every_function_of_the_course_is_held_to_this():
    assert set(EXAMPLES) == set(plots.ALL)
    others = {"ALL", "Figure", "Frame", "Stepper", *(draw.__name__ for draw in plots.STEPPERS)}
    public = set(plots.__all__) - others  # test_stepper.py has the steppers
    assert public == {draw.__name__ for draw in plots.ALL}


@each_figure
def test_alt_text_tells_the_numbers(draw):
    figure, words = example(draw), EXAMPLES[draw][1]
    assert (
        isinstance(figure, Figure)
        and figure.title
        and figure.alt.startswith(figure.title.rstrip("."))
    )
    for word in words:
        assert word in figure.alt, figure.alt
    assert repr(figure) == f"{figure.title}\n{figure.alt}"


@each_figure
def test_table_equals_the_input(draw):
    (header, rows), wanted = example(draw).table, EXAMPLES[draw][2]
    assert all(len(row) == len(header) for row in rows)
    for want in wanted:
        assert any([str(v) for v in row[: len(want)]] == [str(v) for v in want] for row in rows), (
            want,
            rows,
        )


@each_figure
def test_png_is_valid_small_opaque_and_the_same_twice(draw, tmp_path):
    from PIL import Image

    one, two = example(draw), EXAMPLES[draw][0]()
    assert one.png == two.png and one.html() == two.html()
    assert len(one.png) < 80_000
    with Image.open(one.save(tmp_path / "figure.png")) as picture:
        picture.load()
        assert picture.convert("RGBA").getpixel((0, 0)) == (255, 255, 255, 255)
        assert (
            "transparency" not in picture.info
            and len(np.unique(np.asarray(picture.convert("L")))) > 10
        )
    assert b"tIME" not in one.png and b"Software" not in one.png


@each_figure
def test_html_is_accessible(draw):
    figure = example(draw)
    bundle = figure._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"}
    page = Checker(bundle["text/html"])
    (image,) = page.all("img")
    assert image["alt"] == figure.alt and image["src"].startswith("data:image/png;base64,")
    width, height = struct.unpack(">II", figure.png[16:24])
    assert int(image["width"]) == round(width * 96 / 144) and int(image["height"]) == round(
        height * 96 / 144
    )
    assert page.all("caption") and page.all("details") and page.all("summary")
    assert {th["scope"] for th in page.all("th")} == {"col", "row"}
    assert [th["scope"] for th in page.all("th")].count("col") == len(figure.table[0])


@each_figure
def test_a_title_of_ones_own_is_used_and_escaped(draw):
    nasty = '<b>"1 & 2"</b>'
    extra = {
        plots.digits: (PIXELS,),
        plots.weights: (WEIGHTS,),
        plots.confusion: (COUNTS,),
        plots.curves: (HISTORY,),
        plots.lines: ([1, 2], {nasty: [1, 2]}),
        plots.bars: ({nasty: 1.0},),
        plots.exponents: ({nasty: [1.0]},),
        plots.function: ({nasty: np.tanh},),
        plots.time_against_batch: (SIZES, {nasty: [1, 2, 3]}),
        plots.gflops_against_batch: (SIZES, {nasty: [1, 2, 3]}),
        plots.roofline: ({nasty: (1, 1)}, 10, 10),
        plots.timeline: (SPANS,),
        plots.rank_timeline: (EVENTS,),
        plots.network: ((2, 1),),
        plots.computation_graph: ({nasty: 1.0, "z": 1.0}, [(nasty, "z")]),
        plots.warp_accesses: (ROW,),
        plots.gemm_tiles: (64, 64, 64, 32, 32, 32),
        plots.warp_tiles: ((8, 16), (8, 16), (8, 16), (2, 2)),
        plots.memory_levels: ({nasty: WAITS},),
        plots.triples_box: (8, 8, 8, {nasty: (2, 2, 2)}),
    }
    figure = draw(*extra[draw], title=nasty)
    text = figure.html()
    assert nasty in figure.alt and "<b>" not in text and html.escape(nasty) in text
    assert Checker(text).all("img")[0]["alt"] == figure.alt


def test_a_graph_of_names_alone_says_what_waits_for_what():
    names, waits = ["a", "b", "leaf"], [("a", "b"), ("a", "leaf")]
    figure = plots.computation_graph(names, waits)
    assert figure.alt.endswith("a; b (from a); leaf (from a).")
    assert figure.table[0] == ("task", "waits for") and len(figure.table[1]) == 3
    assert "value" not in figure.html() and "gradient" not in figure.html()


def test_a_chain_with_leaves_is_drawn_as_a_branch():
    from course_lib.plots.graph_layout import branch, columns_of, layout

    names = ["a", "b", "leaf of a", "leaf of b"]
    edges = [("a", "b"), ("a", "leaf of a"), ("b", "leaf of b")]
    places, routes, _ = branch(names, edges, columns_of(names, edges))
    assert [places[name][1] for name in names] == [0.5, 0.5, -0.5, -0.5]
    assert not any(routes.values())
    over = [*edges, ("a", "leaf of b")]  # an arrow over a column: no branch
    columns = columns_of(names, over)
    assert branch(names, over, columns) == layout(names, over, columns)


def test_pyplot_and_the_settings_stay_untouched():
    import matplotlib

    before = dict(matplotlib.rcParams)
    plots.network((3, 2))
    assert dict(matplotlib.rcParams) == before


def test_no_pyplot_and_no_own_settings_in_a_fresh_process(tmp_path):
    (tmp_path / "matplotlibrc").write_text(
        "axes.facecolor: red\nfont.size: 30\nfigure.dpi: 30\nbackend: agg\n"
    )
    code = (
        "import hashlib, sys; from course_lib import plots; f = plots.network((3, 2)); "
        "assert 'matplotlib.pyplot' not in sys.modules; print(hashlib.sha256(f.png).hexdigest())"
    )
    told = [
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
            env=os.environ | extra,
        ).stdout
        for extra in ({}, {"MATPLOTLIBRC": str(tmp_path / "matplotlibrc")})
    ]
    assert told[0] == told[1] and len(told[0]) == 65


def test_long_tables_are_abridged_in_html_alone():
    rows = [(i, i * 0.5) for i in range(1000)]
    text = table_html("numbers", ("i", "half"), rows)
    page = Checker(text)
    assert len(page.all("tr")) == 1 + 60 + 1 and "940 rows left out" in text
    assert (
        "first and last 30 of 1,000 rows" in text
        and "<td>14.5</td>" in text
        and "<td>15</td>" not in text
    )
    figure = plots.lines(np.arange(1000), {"y": np.arange(1000) / 2})
    assert len(figure.table[1]) == 1000 and figure.table[1] == rows
    assert "rows left out" not in table_html("few", ("i", "half"), rows[:60])


def test_points_have_no_line_between_them():
    figure = plots.lines(range(1, 60), {"y": np.arange(59)}, points=True)
    (drawn,) = figure.figure.axes[0].lines
    assert drawn.get_linestyle() == "None" and drawn.get_marker() not in (None, "None")
    assert "Points of y over x" in figure.alt


def test_save_refuses_other_names(tmp_path):
    with pytest.raises(BadInput, match="png"):
        plots.network((2, 1)).save(tmp_path / "figure.svg")


# ------------------------------------------------------------------ bad input

NAN = float("nan")
BAD = {
    "digits of no images": lambda: plots.digits(np.empty((0, 49))),
    "digits of 50 pixels": lambda: plots.digits(np.ones((2, 50))),
    "digits with NaN": lambda: plots.digits(np.full((1, 49), NAN)),
    "digits with too few labels": lambda: plots.digits(PIXELS, LABELS[:4]),
    "digits with one-hot labels": lambda: plots.digits(PIXELS, np.eye(5)),
    "digits with negative labels": lambda: plots.digits(PIXELS, -LABELS),
    "digits with unnamed labels": lambda: plots.digits(PIXELS, LABELS, class_names=["a", "b"]),
    "101 digits": lambda: plots.digits(np.ones((101, 4))),
    "digits of text": lambda: plots.digits([["a"]]),
    "weights of a vector": lambda: plots.weights(np.ones(49)),
    "weights with infinity": lambda: plots.weights(np.full((49, 2), np.inf)),
    "weights of a unit not there": lambda: plots.weights(WEIGHTS, units=[6]),
    "weights of no units": lambda: plots.weights(WEIGHTS, units=[]),
    "weights that make no square": lambda: plots.weights(np.ones((41, 2))),
    "confusion not square": lambda: plots.confusion(np.ones((2, 3))),
    "confusion negative": lambda: plots.confusion([[1, -1], [0, 1]]),
    "confusion broken": lambda: plots.confusion([[0.5, 1], [0, 1]]),
    "confusion all zero": lambda: plots.confusion(np.zeros((2, 2))),
    "confusion with too few names": lambda: plots.confusion(COUNTS, ["a"]),
    "curves of nothing": lambda: plots.curves({}),
    "curves of an empty list": lambda: plots.curves({"a": []}),
    "curves with NaN": lambda: plots.curves({"a": [1, NAN]}),
    "curves of a run that failed at once": lambda: plots.curves(
        SimpleNamespace(loss=[NAN], val_accuracy=[], stopped="x")
    ),
    "lines of different lengths": lambda: plots.lines([1, 2], {"a": [1, 2, 3]}),
    "lines with zero on a log axis": lambda: plots.lines([1, 2], {"a": [0, 1]}, logy=True),
    "lines with a zero x on a log axis": lambda: plots.lines([0, 2], {"a": [1, 1]}, logx=True),
    "lines with a spread upside down": lambda: plots.lines(
        [1], {"a": [1]}, spread={"a": ([2], [0])}
    ),
    "lines of a list": lambda: plots.lines([1], [1]),
    "bars of nothing": lambda: plots.bars({}),
    "bars with NaN": lambda: plots.bars({"a": NAN}),
    "bars of zero on a log axis": lambda: plots.bars({"a": 0.0}, log=True),
    "exponents of zeros alone": lambda: plots.exponents({"a": [0.0, 0.0]}),
    "exponents of infinity": lambda: plots.exponents({"a": [1.0, np.inf]}),
    "exponents with four zones": lambda: plots.exponents({"a": [1.0]}, [("x", -9, -8)] * 4),
    "a function that is none": lambda: plots.function(3),
    "a function of NaN": lambda: plots.function(lambda z: z * NAN),
    "a function that returns one number": lambda: plots.function(lambda z: z.sum()),
    "a function over an empty range": lambda: plots.function(np.tanh, (1, 1)),
    "batch sizes of zero": lambda: plots.time_against_batch([0, 1], {"a": [1, 1]}),
    "times of zero": lambda: plots.time_against_batch([1, 2], {"a": [0, 1]}),
    "one time for all": lambda: plots.time_against_batch([1, 2], {"a": 1.0}),
    "Timings among seconds": lambda: plots.time_against_batch([1, 2], {"a": [1.0, Timing([1.0])]}),
    "a negative rate": lambda: plots.gflops_against_batch([1], {"a": [-1]}),
    "a peak of zero": lambda: plots.gflops_against_batch([1], {"a": [1]}, peak=0),
    "a roof over nothing": lambda: plots.roofline({}, 1, 1),
    "a point without rate": lambda: plots.roofline({"a": (1,)}, 1, 1),
    "a roof of NaN": lambda: plots.roofline({"a": (1, 1)}, NAN, 1),
    "a timeline of nothing": lambda: plots.timeline([]),
    "a prediction of nothing": lambda: plots.timeline(SPANS, []),
    "a timeline of numbers": lambda: plots.timeline([1, 2, 3]),
    "a task without an end": lambda: plots.timeline([(0, "delta", 1, 0.0)]),
    "a task that ends first": lambda: plots.timeline([(0, "delta", 1, 1.0, 0.5)]),
    "a task that ends never": lambda: plots.timeline([(0, "delta", 1, 1.0, np.inf)]),
    "a thread before the first": lambda: plots.timeline([(-1, "delta", 1, 0.0, 0.5)]),
    "a timeline of 65 threads": lambda: plots.timeline([(64, "delta", 1, 0.0, 0.5)]),
    "a timeline of no events": lambda: plots.rank_timeline([]),
    "events without end": lambda: plots.rank_timeline([{"rank": 0, "op": "Send", "begin": 0.0}]),
    "events that are tuples": lambda: plots.rank_timeline(SPANS),
    "an event that ends first": lambda: plots.rank_timeline([EVENTS[0] | {"end": 0.5}]),
    "an event of a rank before the first": lambda: plots.rank_timeline([EVENTS[0] | {"rank": -1}]),
    "an event at no time": lambda: plots.rank_timeline([EVENTS[0] | {"begin": NAN}]),
    "a box without depth": lambda: plots.triples_box(8, 8, 0, [(1, 1, 1)]),
    "a box without cuts": lambda: plots.triples_box(8, 8, 8, []),
    "five cuts": lambda: plots.triples_box(8, 8, 8, [(1, 1, 1)] * 5),
    "a cut of two axes": lambda: plots.triples_box(8, 8, 8, [(2, 2)]),
    "a cut in a word": lambda: plots.triples_box(8, 8, 8, "rows"),
    "more parts than rows": lambda: plots.triples_box(2, 8, 8, [(3, 1, 1)]),
    "a cut into 125 parts": lambda: plots.triples_box(8, 8, 8, [(5, 5, 5)]),
    "a network of one layer": lambda: plots.network((3,)),
    "a network of nothing": lambda: plots.network((3, 0)),
    "a network of seven layers": lambda: plots.network((1,) * 7),
    "an edge to nowhere": lambda: plots.computation_graph({"a": 1.0}, [("a", "b")]),
    "a graph in a circle": lambda: plots.computation_graph(
        {"a": 1.0, "b": 1.0}, [("a", "b"), ("b", "a")]
    ),
    "a node without value": lambda: plots.computation_graph({"a": None}, []),
    "a node of NaN": lambda: plots.computation_graph({"a": NAN}, []),
    "accesses of a row without lanes": lambda: plots.warp_accesses({"line": 7, "array": "A"}),
    "accesses of constant memory": lambda: plots.warp_accesses(ROW | {"space": "constant"}),
    "accesses of nobody": lambda: plots.warp_accesses([None] * 32),
    "accesses of 33 lanes": lambda: plots.warp_accesses(range(33)),
    "accesses before the array": lambda: plots.warp_accesses([-1]),
    "accesses of half an element": lambda: plots.warp_accesses([0.5]),
    "accesses of 3 bytes": lambda: plots.warp_accesses([1], itemsize=3),
    "accesses of a cache": lambda: plots.warp_accesses([1], "cache"),
    "accesses of a number": lambda: plots.warp_accesses(5),
    "tiles of nothing": lambda: plots.gemm_tiles(8, 8, 0, 4, 4, 4),
    "tiles of half an element": lambda: plots.gemm_tiles(8, 8, 8, 0.5, 4, 4),
    "a thread with more than its block": lambda: plots.gemm_tiles(8, 8, 8, 4, 4, 4, TM=8),
    "a step that is not there": lambda: plots.gemm_tiles(8, 8, 8, 4, 4, 4, [2]),
    "no steps": lambda: plots.gemm_tiles(8, 8, 8, 4, 4, 4, []),
    "steps without number": lambda: plots.gemm_tiles(8, 8, 8, 4, 4, 4, "012"),
    "a block that is not there": lambda: plots.gemm_tiles(8, 8, 8, 4, 4, 4, block=(2, 0)),
    "a thread that is not there": lambda: plots.gemm_tiles(8, 8, 8, 4, 4, 4, thread=(0, 4)),
    "a block as a number": lambda: plots.gemm_tiles(8, 8, 8, 4, 4, 4, block=1),
    "names that are no text": lambda: plots.computation_graph([1, 2], []),
    "a graph of no names": lambda: plots.computation_graph([], []),
    "a graph of 41 nodes": lambda: plots.computation_graph({str(i): 1.0 for i in range(41)}, []),
}


@pytest.mark.parametrize("call", BAD.values(), ids=BAD.keys())
def test_bad_input_gets_one_clear_error(call):
    with pytest.raises(BadInput) as caught:
        call()
    assert len(str(caught.value)) > 25


# ------------------------------------------------------------------ single ideas


def test_a_diverged_run_is_drawn_to_its_last_finite_loss_and_said():
    bad = SimpleNamespace(
        loss=[2.0, 9.0, NAN], val_accuracy=[0.2, 0.1, 0.1], seconds=[1] * 3, stopped="loss is nan"
    )
    figure = plots.curves({"eta = 1": HISTORY, "eta = 50": bad})
    assert "eta = 50: 2 at 1, 9 at 2 (stopped)" in figure.alt
    assert figure.table[0] == (
        "epoch",
        "training loss: eta = 1",
        "training loss: eta = 50",
        "validation accuracy: eta = 1",
        "validation accuracy: eta = 50",
    )
    assert figure.table[1][2] == (3, 0.25, None, 0.875, 0.1)


def test_names_of_classes_stand_in_table_and_alt_text():
    figure = plots.digits(PIXELS, LABELS, READ, class_names=["shoe", "bag", "hat", "coat", "sock"])
    assert "Image 2 is sock, read as hat" in figure.alt and figure.table[1][0][1] == "coat"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (50000, "50,000"),
        (3.0, "3"),
        (-1.0, "−1"),
        (0.012345, "0.01235"),
        (123456.7, "123,457"),
        (1e-7, "1e-07"),
        (0, "0"),
    ],
)
def test_numbers_as_they_are_said(value, text):
    assert number(value) == text


def test_apart_moves_labels_as_little_as_needed():
    assert apart([0.1, 0.5, 0.9], 0.2) == [0.1, 0.5, 0.9]
    assert apart([0.5, 0.5], 0.2) == pytest.approx([0.4, 0.6])
    assert apart([0.9, 0.1, 0.12], 0.1) == pytest.approx([0.9, 0.06, 0.16])
    assert apart([1.0, 1.0, 1.0], 0.1, low=0, high=1) == pytest.approx([0.8, 0.9, 1.0])
    assert apart([0.0, 0.0], 0.1, low=0, high=1) == pytest.approx([0.0, 0.1])
    places = list(rng.random(20))
    moved = np.sort(apart(places, 0.03))
    assert (np.diff(moved) >= 0.03 - 1e-12).all()


def test_graph_layout_keeps_boxes_apart_and_leads_edges_around_them():
    names = ["x", "a", "c", "d"]
    edges = [("x", "a"), ("a", "c"), ("c", "d"), ("a", "d")]
    columns = columns_of(names, edges)
    assert columns == {"x": 0, "a": 1, "c": 2, "d": 3}
    places, routes, rows = layout(names, edges, columns)
    (stop,) = routes[("a", "d")]
    assert stop[0] == places["c"][0] and abs(stop[1] - places["c"][1]) >= 1 - 1e-9
    assert routes[("x", "a")] == [] and rows == pytest.approx(2)


def test_alt_text_can_be_ones_own():
    figure = plots.lines([1, 2], {"a": [1, 2]}, alt="A rising line.")
    assert figure.alt == "A rising line." and re.search('alt="A rising line."', figure.html())


def test_a_timeline_labels_what_is_wide_enough_and_keeps_rows_and_scale_in_common():
    bars = [(0, "delta", 11, 0.0, 1.0), (0, "grad", 7, 1.0, 1.001), (3, "update", 5, 1.0, 2.0)]
    figure = plots.timeline(bars, [(1, "delta", 2, 5.0, 9.0)])
    above, below = figure.figure.axes
    assert [text.get_text() for text in above.texts] == ["11", "5"] and [
        t.get_text() for t in below.texts
    ] == ["2"]
    assert (
        above.get_xlim() == below.get_xlim()
        and above.get_xlim()[0] == 0
        and above.get_xlim()[1] >= 4
    )
    assert above.get_ylim() == below.get_ylim() and len(above.get_yticks()) == 4
    assert len({(p.get_facecolor(), p.get_hatch()) for p in above.patches}) == 3
    assert below.get_xlabel() == "time (seconds)"
    alone = plots.timeline(bars, unit="products")
    assert alone.figure.axes[0].get_xlabel() == "time (products)"
    head = ("thread", "kind", "layer", "start (products)", "end (products)")
    assert tuple(alone.table[0]) == head
    assert alone.table[1][0] == (0, "delta", 11, 0.0, 1.0)


def test_a_timeline_of_twelve_layers_and_four_threads_has_no_overlapping_labels():
    from course_lib.threads import leapfrog_schedule, simulate

    figure = plots.timeline(simulate(leapfrog_schedule(12, 4), 1, 1), unit="units").figure
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in figure.axes[0].texts]
    assert len(boxes) == 48
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


def test_the_legend_of_a_timeline_covers_nothing():
    figure = plots.timeline([(t, "delta", t, 0.0, 1.0) for t in range(2)], SPANS, title="x").figure
    figure.draw_without_rendering()
    legend = figure.axes[0].get_legend().get_window_extent()
    assert not legend.overlaps(figure.axes[0].bbox) and not legend.overlaps(
        figure._suptitle.get_window_extent()
    )


# The request of each pattern: index of a lane, bytes, sectors, wavefronts, ways. As test_cpu_engine_counts.py
# derives them, and the engine counts them.
PATTERNS = {
    "coalesced": (lambda i: i, 4, 4, 1, 1),
    "stride 2": (lambda i: 2 * i, 4, 8, 2, 2),
    "stride 32": (lambda i: 32 * i, 4, 32, 32, 32),
    "padded": (lambda i: 33 * i, 4, 32, 1, 1),
    "shifted": (lambda i: i + 1, 4, 5, 1, 1),
    "one for all": (lambda i: 5, 4, 1, 1, 1),
    "odd lanes": (lambda i: i if i % 2 else None, 4, 4, 1, 1),
    "float4": (lambda i: i, 16, 16, 4, 1),
    "double, stride 2": (lambda i: 2 * i, 8, 16, 4, 2),
    "char": (lambda i: i, 1, 1, 1, 1),
    "four rows": (lambda i: i % 4 * 32 + i // 4, 4, 4, 4, 4),
}


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_warp_needs_the_sectors_and_wavefronts_that_are_drawn(pattern):
    index, size, sectors, wavefronts, ways = PATTERNS[pattern]
    row = [index(lane) for lane in range(32)]
    in_sectors = plots.warp_accesses(row, itemsize=size)
    assert in_sectors.title.startswith(f"{sectors} sector{'s' * (sectors > 1)} for ")
    assert len({cells[3] for cells in in_sectors.table[1]} - {None}) == sectors
    in_banks = plots.warp_accesses(row, "bank", itemsize=size)
    conflict = f"{ways}-way" if ways > 1 else "no"
    assert (
        in_banks.title
        == f"{wavefronts} wavefront{'s' * (wavefronts > 1)}, {conflict} bank conflict"
    )
    turns = [
        int(turn) for *_, turns in in_banks.table[1] if turns for turn in re.findall(r"\d+", turns)
    ]
    assert max(turns) == wavefronts


@pytest.mark.parametrize("kind", ["sector", "bank"])
@pytest.mark.parametrize("pattern", ["coalesced", "stride 32", "padded", "double, stride 2"])
def test_nothing_of_a_warp_is_drawn_outside_or_over_something_else(pattern, kind):
    index, size, *_ = PATTERNS[pattern]
    figure = plots.warp_accesses(
        [1000 + index(lane) for lane in range(32)], kind, itemsize=size
    ).figure
    figure.draw_without_rendering()
    texts = [t for t in [*figure.texts, *figure.axes[0].texts] if t.get_text()]
    boxes = [text.get_window_extent() for text in texts]
    page = figure.bbox
    assert all(b.x0 >= 0 and b.y0 >= 0 and b.x1 <= page.x1 and b.y1 <= page.y1 for b in boxes)
    boxes = [box.shrunk(0.98, 0.98) for box in boxes]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


TILINGS = {
    "naive": lambda: plots.gemm_tiles(48, 64, 40, 1, 1, 1, steps=[0, 20, 39]),
    "shared": lambda: plots.gemm_tiles(128, 160, 96, 32, 32, 32),
    "register 16 x 4": lambda: plots.gemm_tiles(256, 128, 64, 64, 16, 4, TM=1, TN=16),
    "warptile": lambda: plots.gemm_tiles(
        1024, 1024, 1024, 128, 128, 8, TM=8, TN=8, steps=[0, 1, 2, 127]
    ),
    "ragged": lambda: plots.gemm_tiles(70, 50, 37, 32, 32, 32, block=(2, 1)),
    "one row": lambda: plots.gemm_tiles(1, 300, 200, 1, 32, 8),
}


@pytest.mark.parametrize("tiling", TILINGS)
def test_nothing_of_a_tiling_is_drawn_outside_or_over_something_else(tiling):
    figure = TILINGS[tiling]().figure
    figure.draw_without_rendering()
    (axis,) = figure.axes
    boxes = [text.get_window_extent() for text in [*figure.texts, *axis.texts] if text.get_text()]
    page = figure.bbox
    inside = [*boxes, *[patch.get_window_extent() for patch in axis.patches]]
    assert all(b.x0 >= 0 and b.y0 >= 0 and b.x1 <= page.x1 and b.y1 <= page.y1 for b in inside)
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


def test_a_tiling_tells_what_a_step_reads_and_does():
    """32 x 32 tiles: 2 x 1,024 numbers for 32,768 products, 16 each. 64 x 16 x 4: 320 for 4,096, 12.8 each."""
    shared, register = (TILINGS[name]().alt for name in ("shared", "register 16 x 4"))
    assert (
        "3 steps through K; in each, 32,768 multiply-adds for 2,048 numbers: 16 for each." in shared
    )
    assert (
        "one thread of 1,024, with 1 x 1 of D; in each step it uses 1 x 32 of A and 32 x 1 of B."
        in shared
    )
    assert (
        "16 steps through K; in each, 4,096 multiply-adds for 320 numbers: 12.8 for each."
        in register
    )
    assert (
        "one thread of 64, with 1 x 16 of D; in each step it uses 1 x 4 of A and 4 x 16 of B."
        in register
    )
    assert (
        "The thread shown owns row 23 and column 31 of D. In step 0 it reads k = 0 of"
        in TILINGS["naive"]().alt
    )


def test_bars_of_ranks_add_up_to_the_time_and_take_labels_where_they_fit():
    figure = plots.rank_timeline(EVENTS)
    (axis,) = figure.figure.axes
    drawn = sorted(
        (round(p.get_y() + p.get_height() / 2), p.get_x(), p.get_x() + p.get_width())
        for p in axis.patches
    )
    assert drawn == [
        (0, 0, 0.5),
        (0, 0.5, 1.0),
        (0, 1.0, 1.25),
        (0, 1.25, 2.0),
        (1, 0, 0.5),
        (1, 0.5, 1.0),
        (1, 1.25, 2.0),
    ]
    assert sorted(text.get_text() for text in axis.texts) == ["Allreduce", "Allreduce", "←0", "→1"]
    assert [tick.get_text() for tick in axis.get_yticklabels()] == ["rank 0", "rank 1"]
    assert not plots.rank_timeline(EVENTS, labels=False).figure.axes[0].texts
    late = [{"rank": 0, "op": "Send", "begin": 0.0, "end": 0.002, "wait": 1e-10}]
    late = plots.rank_timeline(late)
    assert len(late.figure.axes[0].patches) == 1 and "wait" not in late.alt
    assert late.table[0][-2] == "end (milliseconds)" and late.table[1][0][-2] == 2


def test_a_rehearsal_is_drawn_as_it_is():
    from course_lib import mpi

    def once(comm):
        mpi.compute(comm, 1e-5 * (comm.rank + 1))
        mpi.ring_allreduce(comm, np.ones(3000))

    report = mpi.rehearse(once, 3, alpha=1e-6, beta=1e-9)
    figure = plots.rank_timeline(report, title="A ring (model)")
    assert len(figure.table[1]) == len(report.events) and "rank 2" in figure.alt.lower()
    assert figure.alt.startswith(
        f"A ring (model). Gantt chart of {number(float(f'{report.seconds * 1e6:.4g}'))} micro"
    )


BOXES = {
    "one": lambda: plots.triples_box(8, 8, 8, [(2, 1, 4)]),
    "three": lambda: plots.triples_box(
        100, 1024, 784, {"rows": (4, 1, 1), "sum": (1, 4, 1), "columns": (1, 1, 4)}
    ),
    "four, long names": lambda: plots.triples_box(
        10**5,
        1024,
        784,
        {f"a layer with long name number {n}": (2, 2, n) for n in range(1, 5)},
        title="x " * 60,
    ),
}


@pytest.mark.parametrize("box", BOXES)
def test_nothing_of_a_box_is_drawn_outside_or_over_something_else(box):
    figure = BOXES[box]().figure
    figure.draw_without_rendering()
    (axis,) = figure.axes
    boxes = [text.get_window_extent() for text in [*figure.texts, *axis.texts] if text.get_text()]
    page = figure.bbox
    inside = [*boxes, *[patch.get_window_extent() for patch in axis.patches]]
    assert all(b.x0 >= 0 and b.y0 >= 0 and b.x1 <= page.x1 and b.y1 <= page.y1 for b in inside)
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


def test_a_box_tells_what_the_cost_model_counts():
    from course_lib.mpi import blocking

    cuts = [(4, 1, 1), (1, 4, 1), (1, 1, 4), (2, 3, 2)]
    for in_place, shared in (("", True), ("A", False)):
        rows = plots.triples_box(10, 30, 20, cuts, in_place, shared).table[1]
        for cut, row in zip(cuts, rows, strict=True):
            assert list(row[4:7]) == list(
                blocking.moved(10, 30, 20, cut, in_place, shared).values()
            )


@pytest.mark.parametrize(
    ("sizes", "says"),
    [
        (((128, 128), (48, 64), (16, 32), (4, 4)), "128 x 128 cannot be cut into 48 x 64"),
        (((128, 128), (32, 64), (16, 32), (4, 8)), "32 pieces, not 4 x 4"),
    ],
)
def test_warp_tiles_must_divide(sizes, says):
    with pytest.raises(BadInput, match=says):
        plots.warp_tiles(*sizes)


@pytest.mark.parametrize("chips", [{}, {"a": {}}, dict.fromkeys("abcd", WAITS)])
def test_memory_levels_wants_all_levels_of_a_few_chips(chips):
    with pytest.raises(BadInput):
        plots.memory_levels(chips)
