"""A pytest plugin that measures the tests' processor time, and a command that writes its table into CONTRIBUTING.md.

    python -m course_tools.maintenance.test_times [--write]

A test's seconds are those of the processor, its own and those of the processes that ended in it, which a busy machine
changes little; beside them stand those of the clock. They are kept in TIMES, so that a run of a few tests renews just
theirs. The plugin also says how many tests marked `slow` a run left out, and which tests take long without a word in
their docstring on why.
"""

import argparse
import json
import os
import sys
import time
from collections import defaultdict
from pathlib import Path, PurePosixPath

import pytest

TIMES = ".test-times.json"
PROPERTY = "processor_seconds"
LIST, LISTED = "tests/long_files.txt", 80  # the files that begin first, by the clock
LONG = 20.0  # seconds: a test that takes more says why in its docstring
BEGIN, END = "<!-- test times: begin -->", "<!-- test times: end -->"
ALL = "python3 start.py test --all"


def processor_seconds():
    """User and system seconds of this process, and of its children that have ended."""
    return sum(os.times()[:4])


def pytest_configure(config):
    worker = hasattr(config, "workerinput")  # a process of pytest-xdist: it measures, and reports
    config.pluginmanager.register(Meter(), "test-meter")
    if not worker:
        config.pluginmanager.register(Times(config), "test-times")


class Meter:
    """In the process that runs the tests: gives each report the processor seconds of its step."""

    def __init__(self):
        self.left_out = 0

    def pytest_deselected(self, items):
        """Counts those that no run of the same command takes up: `-m "not alone"` leaves its tests for the next,
        which collects few files, as all others were counted before."""
        words = items[0].config.option.markexpr if items else ""
        if "not slow" in words and not words.endswith("and alone"):
            self.left_out += sum(item.get_closest_marker("slow") is not None for item in items)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        self.began, self.clock = processor_seconds(), time.perf_counter()
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item, call):
        report = yield
        now, clock = processor_seconds(), time.perf_counter()
        function = getattr(item, "obj", None)  # a notebook's cell has none, and explains itself
        explained = function is None or bool(function.__doc__)
        took = [now - self.began, clock - self.clock, explained]
        report.user_properties.append((PROPERTY, took))
        self.began, self.clock = now, clock
        return report

    def pytest_sessionfinish(self, session):
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput["left_out"] = self.left_out


class Times:
    """Where the reports arrive: adds the seconds up and keeps them."""

    def __init__(self, config):
        self.config, self.left_out = config, 0
        self.seconds: dict[str, list[float]] = {}
        self.unexplained: set[str] = set()

    def pytest_runtest_logreport(self, report):
        for name, value in report.user_properties[-1:]:  # ours comes last
            if name == PROPERTY:
                *took, explained = value
                before = self.seconds.get(report.nodeid, [0.0, 0.0])
                self.seconds[report.nodeid] = [a + b for a, b in zip(before, took, strict=True)]
                if not explained:
                    self.unexplained.add(report.nodeid)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node, error):
        self.left_out = max(self.left_out, getattr(node, "workeroutput", {}).get("left_out", 0))

    def pytest_sessionfinish(self, session):
        if self.seconds:
            keep(self.config.rootpath / TIMES, self.seconds)

    def pytest_terminal_summary(self, terminalreporter):
        tell = terminalreporter.write_line
        for test in sorted(self.unexplained):
            if self.seconds[test][0] > LONG:
                took = f"took {self.seconds[test][0]:.0f} s of processor time"
                tell(f"NO REASON GIVEN: {test} {took}: say why in its docstring", yellow=True)
        meter = self.config.pluginmanager.get_plugin("test-meter")
        if left_out := max(self.left_out, meter.left_out):
            tell(f"LEFT OUT: {left_out} slow tests. They run with: {ALL}", yellow=True, bold=True)


def keep(path, seconds):
    """Renew the seconds of these tests in the file, and drop those of files that are gone."""
    kept = {t: s for t, s in read(path).items() if (path.parent / t.split("::")[0]).is_file()}
    fresh = path.with_suffix(f".{os.getpid()}")
    rounded = {test: [round(value, 2) for value in pair] for test, pair in seconds.items()}
    fresh.write_text(json.dumps(kept | rounded, indent=0), encoding="utf-8")
    fresh.replace(path)


def read(path):
    """{test: [processor seconds, seconds of the clock]} of the last runs; {} where there are none."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def table(times):
    """The lines of a Markdown table: for each folder its tests, their seconds, and its longest test."""
    folders = defaultdict(list)
    for test, (processor, clock) in times.items():
        folders[str(PurePosixPath(test.split("::")[0]).parent)].append((processor, clock, test))
    lines = ["| folder | tests | processor, s | clock, s | the longest |", "|---|--:|--:|--:|---|"]
    for folder, rows in sorted(folders.items(), key=lambda pair: -_sum(pair[1], 0)):
        took, _, test = max(rows)
        longest = f"{took:.0f} s, `{PurePosixPath(test.split('::')[0]).name}`" if took >= 1 else ""
        lines.append(_line(f"`{folder}`", rows, longest))
    return [*lines, _line("together", list(times.values()), "")]


def long_files(times):
    """The files whose tests take longest, by the clock: the longest first."""
    seconds: dict[str, float] = defaultdict(float)
    for test, (_, clock) in times.items():
        seconds[test.split("::")[0]] += clock
    return sorted(seconds, key=lambda file: -seconds[file])[:LISTED]


def _sum(rows, column):
    return sum(row[column] for row in rows)


def _line(name, rows, longest):
    return f"| {name} | {len(rows)} | {_sum(rows, 0):.0f} | {_sum(rows, 1):.0f} | {longest} |"


def main(argv=None):
    """Print the table, or put it into CONTRIBUTING.md and LIST the files; exit status 2 where nothing was measured."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--write",
        action="store_true",
        help="put it into CONTRIBUTING.md, and list the longest files",
    )
    root = Path(__file__).parents[2]
    write, times = parser.parse_args(argv).write, read(root / TIMES)
    if not times:
        print(f"nothing was measured yet: run {ALL}", file=sys.stderr)
        return 2
    lines = "\n".join(table(times))
    if not write:
        print(lines)
        return 0
    page = root / "CONTRIBUTING.md"
    before, rest = page.read_text(encoding="utf-8").split(BEGIN)
    after = rest.split(END)[1]
    page.write_text(f"{before}{BEGIN}\n{lines}\n{END}{after}", encoding="utf-8")
    (root / LIST).write_text("\n".join([*long_files(times), ""]), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
