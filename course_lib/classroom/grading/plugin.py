"""A pytest plugin over nbval: assembled notebooks run in rooms, and what each check earned is written down.

nbval's collector and cell are subclassed: what they would run in a kernel and compare with outputs stored in the same
file is run by `runner.Runner`, and a check cell is judged in a process of its own. pytest is started by `worker` on a
folder of the grader's own, without any configuration of the student's.
"""

import json
import time
from typing import Any

import pytest
from nbval.plugin import IPyNbCell, IPyNbFile

from . import jobs, runner
from .zygote import Zygote

_JOBS = pytest.StashKey[Any]()


class NotEarned(Exception):
    """A check that earned nothing, or a cell that raised."""


def pytest_addoption(parser):
    parser.addoption("--jobs", help="the file of this worker's jobs")


def pytest_configure(config):
    config.stash[_JOBS] = jobs.load(config.getoption("--jobs"))


def pytest_sessionstart(session):
    work = session.config.stash[_JOBS]
    work.zygote = Zygote(work.isolation).__enter__()


def pytest_sessionfinish(session):
    session.config.stash[_JOBS].zygote.__exit__()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path, parent):
    found = yield
    return [Graded.from_parent(parent, path=file_path) if type(one) is IPyNbFile else one for one in found]


class Graded(IPyNbFile):
    """One assembled notebook."""

    def collect(self):
        self.job = self.config.stash[_JOBS].by_file[self.path.name]
        notebook = json.loads(self.path.read_text(encoding="utf-8"))
        self.assembled = self.job.assembled(notebook)
        steps = zip(self.assembled.chapter.steps, notebook["cells"], strict=True)
        for number, (step, source) in enumerate(steps):
            cell = Step.from_parent(self, name=step.id, cell_num=number, cell=source, options={})
            cell.step = step
            yield cell

    def setup(self):
        work = self.config.stash[_JOBS]
        self.began = time.perf_counter()
        self.runner = runner.Runner(work.zygote, work.release, self.assembled, work.seconds)

    def teardown(self):
        run = self.__dict__.pop("runner", None)
        if run is None:
            return
        run.close()
        self.job.finish(run, time.perf_counter() - self.began)


class Step(IPyNbCell):
    """One cell: a given one, an answer, or a check."""

    def setup(self):
        """nbval marks cells after a time-out as expected to fail; here each stands for itself."""

    def runtest(self):
        status = self.parent.runner.step(self.step)
        self.user_properties.append(("status", status))
        if self.step.kind == "check":
            task = self.parent.runner.tasks[self.step.of]
            self.user_properties += [("points", task.points), ("out_of", task.out_of)]
            if status != "pass":
                raise NotEarned(f"{status}: {task.message}")

    def repr_failure(self, excinfo, style=None):
        if isinstance(excinfo.value, NotEarned):
            return str(excinfo.value)
        return super(IPyNbCell, self).repr_failure(excinfo)


