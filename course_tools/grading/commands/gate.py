"""The gate of a release: a solution must earn all points, a blank none, each planted wrong answer less than all."""

import sys

from course_lib.errors import BadInput
from course_tools.build import source
from course_tools.grading.intake.assemble import Assembled
from course_tools.grading.release.make import Refused
from course_tools.grading.sandbox import sandbox
from course_tools.grading.sandbox.fork_server import ForkServer
from course_tools.grading.verdict.runner import Runner

BLANK, SOLUTION = "blank", "solution"


def run(reads, given, isolation=None, seconds=60.0, say=None):
    """Try all answers of all chapters. Returns {chapter: {task: {wrong answer: message}}}; raises Refused."""
    if isolation is None:
        if why := sandbox.available():
            raise BadInput(
                f"there is no sandbox here ({why}): make the release on Linux, or with --quick"
            )
        isolation = "sandbox"
    planted, wrong = {}, []
    with ForkServer(isolation) as fork_server:
        for read in reads:
            trial = Trial(fork_server, given, read, seconds)
            try:
                trial.run()
            finally:
                trial.runner.close()
            planted[read.chapter] = trial.planted
            wrong += trial.wrong
            (say or _say)(
                f"{read.chapter}: {trial.tried} answers tried, {len(trial.wrong)} not as meant"
            )
    if wrong:
        raise Refused("no release was made:\n" + "\n".join(f"  {line}" for line in wrong))
    return planted


def _say(text):
    print(text, file=sys.stderr, flush=True)


class Trial:
    """One chapter: its cells in order, each task in all its forms, the solution last."""

    def __init__(self, fork_server, given, read, seconds):
        self.read, self.chapter = read, given.chapters[read.chapter]
        self.runner = Runner(fork_server, given, Assembled(self.chapter), seconds)
        self.runner.knows_blanks = False  # that is to be seen here
        self.runner.apart = False  # nobody is told
        self.planted: dict = {}
        self.wrong: list = []
        self.tried = 0

    def run(self):
        """Try everything."""
        cells = {cell.name: cell for cell in self.read.tasks}
        for step in self.chapter.steps:
            if step.kind == "task":
                self._task(step, cells[step.id])
            elif step.kind == "given":
                self._given(step)

    def _given(self, step):
        status = self.runner.step(step)
        if status not in ("ok", "error") or (status == "error") != step.raises:
            self.wrong.append(f"{self.chapter.name}: the given cell {step.id} ends with {status}")

    def _task(self, step, cell):
        region = source.split(cell.source)
        forms = [
            (BLANK, cell.task.blank),
            *((m.name, m.apply(region.text)) for m in cell.task.mutants),
        ]
        self.planted[step.id] = {}
        for name, text in (*forms, (SOLUTION, region.text)):
            task, public = self._try(step, region.filled(text))
            self.tried += 1
            if (task.status == "pass") != (name == SOLUTION) or (task.points and name == BLANK):
                self.wrong.append(
                    f"{self.chapter.name}, {step.id}: the {name} earns {task.points} of {task.out_of} "
                    f"points ({task.status}: {task.message[:200]})"
                )
            elif name not in (BLANK, SOLUTION) and public:
                self.planted[step.id][name] = public

    def _try(self, step, text):
        """(the Task, what the public check said or "") of one answer, in fresh cells."""
        run, check = self.runner, next(one for one in self.chapter.steps if one.of == step.id)
        run.assembled.texts[step.id] = text
        run.forget(step)
        run.step(step)
        run.step(check)
        return run.tasks[step.id], run.said.get(step.id, "")
