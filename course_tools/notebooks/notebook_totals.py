"""A pytest plugin: how long all notebooks of a folder took together, and a limit for it (ini notebook_folder_seconds).

nbval_strict gives each notebook's seconds to its report, as the property PROPERTY, so that this also adds up where
pytest-xdist shares the notebooks out over processes. A folder over its limit makes the run end red.
"""

from pathlib import PurePath

import pytest

from course_tools.notebooks.leftovers import slowness

PROPERTY = "notebook_seconds"


def pytest_addoption(parser):
    words = "lines `folder seconds`: the processor time that all notebooks there may take together"
    parser.addini("notebook_folder_seconds", words, type="linelist", default=[])


def pytest_configure(config):
    if not hasattr(config, "workerinput"):  # a worker of pytest-xdist sees a share only
        config.pluginmanager.register(Totals(_limits(config)), "notebook-totals")


def _limits(config):
    """{folder: seconds}, times COURSE_SLOW on a slow machine."""
    lines = config.getini("notebook_folder_seconds")
    return {folder: float(seconds) * slowness() for folder, seconds in map(str.split, lines)}


class Totals:
    """The seconds of each folder's notebooks in this run."""

    def __init__(self, limits):
        self.limits = limits
        self.seconds: dict[str, list[float]] = {}

    def pytest_runtest_logreport(self, report):
        if report.when == "call":
            folder = str(PurePath(report.nodeid.split("::")[0]).parent)
            for name, value in report.user_properties:
                if name == PROPERTY and folder in self.limits:
                    self.seconds.setdefault(folder, []).append(value)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session):
        if self._over() and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _over(self):
        limits = self.limits
        return [name for name, parts in self.seconds.items() if not sum(parts) <= limits[name]]

    def pytest_terminal_summary(self, terminalreporter):
        for folder, parts in sorted(self.seconds.items()):
            red, limit = folder in self._over(), self.limits[folder]
            line = f"{folder}: the cells of {len(parts)} took {sum(parts):.0f} s, of {limit:.0f} s allowed"
            terminalreporter.write_line(("TOO LONG: " if red else "") + line, red=red)
