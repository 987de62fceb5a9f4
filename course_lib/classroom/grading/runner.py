"""One assembled notebook, cell by cell: what each task earned. A lost kernel costs its culprit, not what follows."""

import hashlib
import secrets

from .results import Task
from .rooms import Lost, Rooms

CELL_SECONDS = 60.0  # for a cell, and for one run of a check
PATIENCE = 4  # lost kernels after which a submission is not tried further
WORST_FIRST = ("crashed", "timeout", "error", "missing", "wrong", "inconclusive", "not-run-here", "pass")


class Runner:
    """Runs the steps of `assembled` in rooms. One step after another: `step(s)`; at the end `tasks`."""

    def __init__(self, zygote, release, assembled, seconds=CELL_SECONDS):
        self.zygote, self.release, self.assembled, self.seconds = zygote, release, assembled, seconds
        self.rooms, self.used = None, False  # used: a check has been judged in these rooms
        self.seed = secrets.randbits(31)  # of the fresh inputs
        self.done: list = []  # cells that ran without losing the kernel, to be run again in a new one
        self.lost = 0
        self.tasks: dict[str, Task] = {}
        self.problems = list(assembled.problems)
        for step in assembled.chapter.tasks:
            why = assembled.missing.get(step.id)
            self.tasks[step.id] = Task(step.id, "missing", 0, step.points, why or "not graded")

    def close(self):
        """End the rooms."""
        if self.rooms is not None:
            self.rooms.__exit__()
            self.rooms = None

    def step(self, step):
        """Run one step; what came of a task stands in `tasks`. Returns the status, of a cell ok or error."""
        if self.lost >= PATIENCE:
            return "not-run-here"
        if step.kind == "check":
            return self._check(step)
        if step.kind == "task" and step.id not in self.assembled.texts:
            return "missing"
        return self._cell(step, self.assembled.texts.get(step.id, step.text))

    def _cell(self, step, text):
        try:
            reply = self._rooms().run(text, self.seconds)
        except Lost as lost:
            self._lose(step.id, lost)
            return lost.status
        self.done.append((step.id, text))
        if step.kind == "task":
            self.tasks[step.id].printed = reply["printed"][:4000]
            if reply["status"] == "error":
                self.tasks[step.id].message = reply["error"]
        elif reply["status"] == "error" and not step.raises:
            self.problems.append(f"the cell {step.id} raised {reply['error'][:200]}")
        return reply["status"]

    def _check(self, step):
        task = self.tasks[step.of]
        if step.of not in self.assembled.texts or task.status in ("crashed", "timeout"):
            return task.status
        verdict = self._judged(step, step.check, self._public_seed(step))
        task.status, task.message = verdict["status"], verdict["message"]
        if task.status == "pass":
            self._hidden(step, task)
        task.points = task.out_of if task.status == "pass" else 0
        return task.status

    def _hidden(self, step, task):
        """The same check with inputs that nobody has seen, and the instructor's own."""
        task.hidden["fresh inputs"] = self._judged(step, step.check, self.seed)["status"]
        module = self.release.hidden.get(self.assembled.chapter.name, "")
        own = f"check_{step.of.replace('-', '_')}"
        if f"def {own}(" in module:
            verdict = self._judged(step, f"hidden.{own}", self.seed, module)
            task.hidden["instructor's"] = verdict["status"]
        task.status = min(task.hidden.values(), key=WORST_FIRST.index)
        if task.status != "pass":
            failed = " and ".join(name for name, status in task.hidden.items() if status != "pass")
            task.message = f"the public check passes; with {failed} it does not"

    def _judged(self, step, check, seed, code=""):
        rooms, used = self._rooms(), self.used
        try:
            self.used = True
            return rooms.check(check, step.name, seed, self.seconds, code)
        except Lost as lost:
            if used:  # what an earlier answer has left behind may be the culprit: once more, in new rooms
                self.close()
                return self._judged(step, check, seed, code)
            self._lose(step.of, lost)
            return {"status": lost.status, "message": str(lost)}

    def _public_seed(self, step):
        words = f"{self.release.id} {self.assembled.chapter.name} {step.id}"
        return int.from_bytes(hashlib.sha256(words.encode()).digest()[:3], "big")

    def _rooms(self):
        """The rooms; new ones where the last were lost, with the cells that did no harm run again."""
        if self.rooms is None:
            self.rooms, self.used = Rooms(self.zygote, 1).__enter__(), False
            for name, text in list(self.done):
                try:
                    self.rooms.run(text, self.seconds)
                except Lost as lost:
                    self._lose(name, lost)
                    return self._rooms()
        return self.rooms

    def _lose(self, culprit, lost):
        self.close()
        self.lost += 1
        self.done = [(name, text) for name, text in self.done if name != culprit]
        if culprit in self.tasks:
            task = self.tasks[culprit]
            task.status, task.message, task.points = lost.status, str(lost), 0
        else:
            self.problems.append(f"the cell {culprit}: {lost}")
