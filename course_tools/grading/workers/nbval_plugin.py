"""A pytest plugin over nbval: assembled notebooks run in sandboxes, and what each check earned is written down.

nbval's collector and cell are subclassed: what they would run in a kernel and compare with outputs stored in the same
file is run by `runner.Runner`, and a check cell is judged in a process of its own. pytest is started by `worker` on
folders of the grader's own, without any configuration of the student's.
"""

import json
import time

import pytest
from nbval.plugin import IPyNbCell, IPyNbFile

from course_tools.grading.verdict import runner
from course_tools.grading.workers import jobs


class NotEarned(Exception):
    """A check that earned nothing, or a cell that raised."""


class GraderPlugin:
    """The plugin of one pytest session. broken: why the grader itself could not go on, or ""."""

    def __init__(self, work, fork_server, units):
        self.work, self.fork_server, self.broken = work, fork_server, ""
        self.jobs = {unit / job.file: (unit, job) for unit in units for job in jobs.of(work, unit)}
        self.left = {unit: sum(of is unit for of, _ in self.jobs.values()) for unit in units}

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(self, file_path, parent):
        found = yield
        return [self._graded(parent, file_path) if type(one) is IPyNbFile else one for one in found]

    def _graded(self, parent, path):
        made = GradedNotebook.from_parent(parent, path=path)
        made.grader, (made.unit, made.job) = self, self.jobs[path]
        return made

    def pytest_sessionfinish(self):
        """Whatever has kept a student from a result is the grader's fault."""
        if any(self.left.values()) and not self.broken:
            self.broken = "pytest ended before all were graded"

    def finished(self, unit):
        """One notebook of this student is done."""
        self.left[unit] -= 1
        if not self.left[unit]:
            jobs.end(self.work, unit)

    def fail(self, session, error):
        """End the session: an error in the grader is no verdict on an answer."""
        self.broken = self.broken or f"{type(error).__name__}: {error}"
        session.shouldstop = self.broken


class GradedNotebook(IPyNbFile):
    """One assembled notebook."""

    def collect(self):
        notebook = json.loads(self.path.read_text(encoding="utf-8"))
        self.assembled = self.job.assembled(notebook)
        pairs = list(zip(self.assembled.chapter.steps, notebook["cells"], strict=True))
        last = max((n for n, (step, _) in enumerate(pairs) if step.kind == "check"), default=-1)
        if not self.job.work.whole:
            # what stands below decides nothing: most of it is measuring, which takes long
            pairs = pairs[: last + 1]
        for number, (step, source) in enumerate(pairs):
            cell = GradedCell.from_parent(
                self, name=step.id, cell_num=number, cell=source, options={}
            )
            cell.step = step
            yield cell

    def setup(self):
        self.began = time.perf_counter()
        work = self.grader.work
        self.runner = runner.Runner(
            self.grader.fork_server, self.job.of, self.assembled, work.seconds, seed=work.seed
        )

    def teardown(self):
        run = self.__dict__.pop("runner", None)
        if run is None:
            return
        run.close()
        if self.grader.broken:
            return
        try:
            self.job.finish(run, time.perf_counter() - self.began)
        except Exception as error:
            self.grader.fail(self.session, error)
            return
        self.grader.finished(self.unit)


class GradedCell(IPyNbCell):
    """One cell: a given one, an answer, or a check."""

    def setup(self):
        """nbval marks cells after a time-out as expected to fail; here each stands for itself."""

    def runtest(self):
        try:
            status = self.parent.runner.step(self.step)
        except Exception as error:
            self.parent.grader.fail(self.session, error)
            raise
        self.user_properties.append(("status", status))
        if self.step.kind == "check":
            task = self.parent.runner.tasks[self.step.of]
            self.user_properties += [("points", task.points), ("out_of", task.out_of)]
            if status != "pass":
                raise NotEarned(f"{status}: {task.message}")

    def repr_failure(self, excinfo, style=None):
        if isinstance(excinfo.value, NotEarned):
            return str(excinfo.value)
        return super(IPyNbCell, self).repr_failure(excinfo, style="native")
