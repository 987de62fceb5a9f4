"""One assembled notebook, cell by cell: what each task earned. A lost kernel costs its culprit, not what follows."""

import hashlib
import secrets
import time
from typing import Any

from course_tools.grading.release import library_use, partial
from course_tools.grading.release.manifest import COURSE, functions, own
from course_tools.grading.sandbox import resources
from course_tools.grading.verdict import fault_attribution, undecided
from course_tools.grading.verdict.results import Task
from course_tools.grading.verdict.session import Session, SessionLost

LOST = ("crashed", "timeout", "inconclusive")  # of a task whose kernel is lost
CELL_SECONDS = 60.0  # for a cell, and for one run of a check
LEANS = "it uses {}, which is not available during grading: write what the task asks for yourself"
LEANED = "{} leans on {} of the library, which another task asks for: look"
NONE = "its cell defines no {}"  # as the check process says it
NOT_WRITTEN = "{} is not written yet: its cell has not changed"
INTERRUPTED = "{} did not finish within {:g} s and was interrupted: only what it had defined by then is graded"
NAMED = 5  # names in one line
SPARE = 4  # lost kernels beyond one a task after which a submission is not tried further
BUDGET = 15  # times the seconds of a cell: for all of a submission, cells run again after a lost kernel included


def _some(names):
    """The first names, and how many more there are."""
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


class Runner:
    """Runs the steps of `assembled` in a session. One step after another: `step(s)`; at the end `tasks`.

    public_seed: of the inputs of the public checks, if not the release's own; then there are no hidden checks.
    seed: of the fresh inputs; None: by chance.
    """

    def __init__(
        self, fork_server, release, assembled, seconds=CELL_SECONDS, public_seed=None, seed=None
    ):
        self.fork_server, self.release = fork_server, release
        self.assembled, self.seconds = assembled, seconds
        self.session, self.used = None, False  # used: a check has been judged in it
        # seen: it has had hidden inputs; apart: what students are told comes from another
        self.seen, self.apart = False, True
        # cell -> when; it left a thread or a process running in this session
        self.left: dict[str, float] = {}
        self.public_seed = public_seed
        self.said: dict[str, str] = {}  # by public checks, of answers that they find wrong
        self.raised: dict[str, str] = {}  # cell -> its error
        # then a blank has been seen to earn nothing, and need not be judged
        self.knows_blanks = release.tested
        self.seed = secrets.randbits(31) if seed is None else seed
        self.began = time.monotonic()
        self.absent: list | None = (
            None  # answers of course_lib that are not there; None: those of all tasks
        )
        self.done: list = []  # cells that ran without losing the kernel, to be run again in a new one
        self.given = 0.0  # seconds that ended sessions gave beyond the limit, on a busy machine
        self.lost, self.hidden = (
            0,
            {},
        )  # hidden: what the hidden checks said of the task judged last
        # cell -> answers of course_lib that it called, or its check did; told: what of them may be shown
        self.leaned: dict[str, set] = {}
        self.told: dict[str, set] = {}
        self.tasks: dict[str, Task] = {}
        self.problems = list(assembled.problems)
        for step in assembled.chapter.tasks:
            why = assembled.missing.get(step.id)
            self.tasks[step.id] = Task(step.id, "missing", 0, step.points, why or "not graded")

    def close(self):
        """End the session."""
        if self.session is not None:
            self.given += self.session.given
            self.session.close()
            self.session = None

    def step(self, step):
        """Run one step; what came of a task stands in `tasks`. Returns the status, of a cell ok or error."""
        if self.lost >= len(self.tasks) + SPARE:
            return self._not_tried(step, "crashed", f"the cells before it cost {self.lost} kernels")
        given = self.given + (self.session.given if self.session is not None else 0)
        if time.monotonic() - self.began - given > BUDGET * self.seconds:
            took = f"the cells before it took more than {BUDGET * self.seconds:g} s together"
            return self._not_tried(step, "timeout", took)
        if step.kind == "check":
            return self._check(step)
        if step.kind == "task" and step.id not in self.assembled.texts:
            return "missing"
        return self._cell(step, self.assembled.texts.get(step.id, step.text))

    def forget(self, step):
        """Take a task's answer back, and what it has earned; the next one starts anew. For trials of many answers."""
        self.tasks[step.id] = Task(step.id, "missing", 0, step.points)
        self.said.pop(step.id, None)
        self.raised.pop(step.id, None)
        self.leaned.pop(step.id, None)
        self.told.pop(step.id, None)
        self.done, self.lost = [(name, text) for name, text in self.done if name != step.id], 0
        self.began = time.monotonic()

    def _not_tried(self, step, status, why):
        if step.kind != "task" or step.id not in self.assembled.texts:
            return "not-run-here"
        task = self.tasks[step.id]
        task.status, task.message = status, f"not tried: {why}"
        return task.status

    def _cell(self, step, text):
        session = self._opened()
        used = self.used
        try:
            reply = self._run(step.id, text)
        except SessionLost as lost:
            if self._another(step.id) or used:
                return self._cell(step, text)
            self._lose(step.id, lost)
            return lost.status
        if reply["status"] == "error" and not step.raises and self._forget_hidden():
            return self._cell(step, text)  # what it says is shown
        self.done.append((step.id, text))
        if session.interrupted:
            self.problems.append(INTERRUPTED.format(step.id, self.seconds))
        if step.kind == "task":
            self.tasks[step.id].printed = reply["printed"][:4000]
        leans = self._leans(step.id)
        if reply["status"] == "error" and not step.raises:
            if step.kind == "given" and (leans or step.shows):
                return "ok"  # it shows what the library does, and that is not there: nobody's fault
            if step.kind == "given" and self._all_right_before(step):
                self.problems.append(f"the cell {step.id} raised {reply['error'][:200]}")
            self.raised[step.id] = reply["error"]
        return reply["status"]

    def _forget_hidden(self):
        """End a session that has had hidden inputs: an answer may have kept them, to show them now. Was it one?"""
        seen = self.seen and self.apart and self.session is not None
        if seen:
            self.close()
        return seen

    def _all_right_before(self, step):
        """Have the tasks above a given cell passed, and the given cells run? Else no wonder that it raises."""
        steps = self.assembled.chapter.steps
        above, ran = steps[: steps.index(step)], {name for name, _ in self.done} - set(self.raised)
        return all(
            one.id in ran if one.kind == "given" else self.tasks[one.id].status == "pass"
            for one in above
            if one.kind != "check"
        )

    def _check(self, step):
        task = self.tasks[step.of]
        if step.of not in self.assembled.texts or task.status in LOST:
            return task.status
        if self._is_blank(step, task):
            return task.status
        self._name_helpers(step)
        self._judge(step, task)
        if self.leaned.get(step.of):
            self._look_at_leaning(step, task)
        if task.status == "missing":
            task.message = self._of_its_cell(step) or task.message
        task.points = task.out_of if task.status == "pass" else 0
        of_task = next(one for one in self.assembled.chapter.tasks if one.id == step.of)
        if of_task.parts and self.public_seed is None and task.status != "missing":
            self.absent = of_task.answers if self.leaned.get(step.of) else None
            self._parts(step, of_task, task)
            self.absent = None
        return task.status

    def _parts(self, step, of_task, task):
        """Partial credit: each part is judged by its own check; what ends the process or hangs costs all of them."""
        module = self.release.hidden.get(self.assembled.chapter.name, "")
        hidden = self.hidden
        found = {COURSE: hidden.get(COURSE, task.status)}
        if task.status in LOST:
            return
        for part in of_task.parts:
            if part != COURSE:
                name = partial.check_of(step.of, part, step.check)
                code = module if name.startswith("hidden.") else ""
                found[part] = self._judged(step, name, self.seed, code)["status"]
                self.close()  # as after an instructor's check
                if found[part] in LOST:
                    return
        if task.status == "pass" and any(status != "pass" for status in found.values()):
            wrong = " and ".join(part for part, status in found.items() if status != "pass")
            task.status, task.message = "wrong", f"the course's check passes; {wrong} does not"
        task.hidden = {name: status for name, status in hidden.items() if name != COURSE} | found
        if task.status != "pass":
            task.points = partial.earned(of_task, found)

    def _judge(self, step, task):
        used = self.session is not None and self.used
        if self.public_seed is None:
            self._hidden(step, task)
        self.hidden = dict(task.hidden)  # the public check may take them out of the task
        unsaid = task.status == "missing" and not task.message
        if self.public_seed is not None or task.status in ("wrong", "error") or unsaid:
            self._public(step, task)
            if used and task.hidden:
                self._judge_alone(step, task)

    def _judge_alone(self, step, task):
        """The hidden checks once more, where no other answer was called: the public one has passed there.

        What an answer leaves behind in its room, patched or full, must not cost the next one its points.
        """
        said, task.hidden = task.message, {}
        self.close()
        self._hidden(step, task)
        self.hidden = dict(task.hidden)
        if task.status != "pass" and not task.message:
            task.message = said

    def _is_blank(self, step, task):
        """Is the answer the cell as it was handed out?"""
        blank = next(one.text for one in self.assembled.chapter.tasks if one.id == step.of)
        if not self.knows_blanks or self.assembled.texts[step.of].split() != blank.split():
            return False
        task.status, task.message, task.points = "missing", NOT_WRITTEN.format(step.name), 0
        return True

    def _of_its_cell(self, step):
        """What an answer's own cell raised, in words for the student, if it is more than that it is not written."""
        raised = self.raised.get(step.of, "")
        return f"its cell raised {raised}" if raised and "NotImplementedError" not in raised else ""

    def _leans(self, name, hidden=False):
        """Note what a cell or a check (a hidden one?) has called of what is not there; was there anything?"""
        session: Any = self.session
        called, session.leaned = session.leaned, set()
        self.leaned.setdefault(name, set()).update(called)
        if not (self.seen or hidden):  # else which of them it calls could say what the inputs were
            self.told.setdefault(name, set()).update(called)
        return bool(called)

    def _look_at_leaning(self, step, task):
        """The answer has called what is not there: answers to its own task? Of another's it may make use.

        What the solution uses as well is not worth a line.
        """
        asked = next(one for one in self.assembled.chapter.tasks if one.id == step.of)
        own, meant = asked.answers, {name.rpartition(".")[2] for name in asked.uses or ()}
        if task.status not in ("wrong", "error", "missing"):
            return
        if set(self.assembled.chapter.answers) > set(own):
            self._judge_with_others(step, task, own)
        names, told = sorted(self.leaned[step.of]), sorted(self.told.get(step.of, ()))
        text = _some([f"course_lib.{name}" for name in told]) or "a function of course_lib"
        if task.status == "pass":
            if any(name.rpartition(".")[2] not in meant for name in names):
                self.problems.append(LEANED.format(step.of, text))
        elif any(name == one or name.startswith(f"{one}.") for name in names for one in own):
            task.message, task.resembles = LEANS.format(text), ""
            self.said.pop(step.of, None)

    def _judge_with_others(self, step, task, own):
        """Judge an answer once more, where only its own task's answers are not there."""
        self.close()
        self.absent, task.hidden = own, {}
        try:
            self._judge(step, task)
        finally:
            self.close()
            self.absent = None

    def _name_helpers(self, step):
        """Names of the library's that an answer uses and nothing else in the exercise does: a line."""
        names = library_use.foreign(
            self.assembled.chapter, step.of, self.assembled.texts, step.name
        )
        if names:
            self.problems.append(
                f"{step.of} uses {_some(names)}, as nothing else in this exercise does: look"
            )

    def _hidden(self, step, task):
        """The same check with inputs that nobody has seen, then the instructor's own.

        First, since what passes passes here: the public inputs then need no second run. Its messages are for nobody.
        """
        verdict = self._judged(step, step.check, self.seed)
        self.seen = True
        task.hidden[COURSE] = verdict["status"]
        module = self.release.hidden.get(self.assembled.chapter.name, "")
        if verdict["status"] == "pass" and own(step.of) in functions(module):
            verdict = self._judged(step, f"hidden.{own(step.of)}", self.seed, module)
            task.hidden["instructor's"] = verdict["status"]
            self.close()  # nothing that is shown to the student comes from a session that has seen these inputs
        task.status = verdict["status"]
        # a loss is told in words of the grader's own; who else has no answer is told by the public check
        said = (
            verdict["message"] if task.status in LOST or self._defines_none(verdict, step) else ""
        )
        task.message = undecided.HIDDEN.get(task.status, said)
        if task.message and len(task.hidden) == 1:
            task.hidden = {}  # nobody knows whether the public check would pass

    def _defines_none(self, verdict, step):
        """Is this what the check process says where the cell has defined nothing, and no word of the student's?"""
        return verdict["message"] == NONE.format(step.name)

    def _public(self, step, task):
        """The check with the public inputs: it tells what is wrong, unless only the hidden ones see that."""
        self._forget_hidden()
        verdict = self._judged(step, step.check, self._public_seed(step), causes=True)
        if verdict["status"] == "pass" and task.hidden:
            failed = " and ".join(name for name, status in task.hidden.items() if status != "pass")
            task.message = f"the public check passes; with {failed} it does not"
            return
        task.hidden = {}  # they are told of where the public check passes
        task.status, task.message = verdict["status"], verdict["message"]
        if task.status == "wrong":
            planted = self.release.planted.get(self.assembled.chapter.name, {}).get(step.of, {})
            task.resembles = ", ".join(
                name for name, said in planted.items() if said == task.message
            )
            self.said[step.of] = task.message

    def _judged(self, step, check, seed, code="", causes=False):
        session, used = self._opened(), self.used
        try:
            self.used = True
            verdict = session.check(check, step.name, seed, self.seconds, code, causes)
            self._leans(step.of, hidden=not causes)
            return verdict
        except SessionLost as lost:
            if self._another(step.of) or used:
                return self._judged(step, check, seed, code, causes)
            self._lose(step.of, lost)
            return {"status": lost.status, "message": str(lost)}

    def _public_seed(self, step):
        if self.public_seed is not None:
            return self.public_seed
        words = f"{self.release.id} {self.assembled.chapter.name} {step.id}"
        return int.from_bytes(hashlib.sha256(words.encode()).digest()[:3], "big")

    def _opened(self):
        """The session; a new one where the last was lost, with the cells that did no harm run again."""
        if self.session is None:
            self.session, self.used, self.seen = self._new_session(), False, False
            self.left = {}
            for name, text in list(self.done):
                try:
                    self._run(name, text)
                    self._leans(name)
                except SessionLost as lost:
                    if not self._another(name):
                        self._lose(name, lost)
                    return self._opened()
        return self.session

    def _new_session(self):
        absent = self.assembled.chapter.answers if self.absent is None else self.absent
        return Session(self.fork_server, 1, absent).__enter__()

    def _run(self, name, text):
        """Run a cell in the session as it is; note whether it leaves something running."""
        session: Any = self.session
        before = resources.running(session.student.pid)
        reply = session.run(text, self.seconds)
        if resources.running(session.student.pid) > before:
            self.left[name] = time.monotonic()
        return reply

    def _another(self, name):
        """The session was lost in the cell or the check of `name`: was it by another, which is lost then?

        Whatever called it: a new session holds nothing of what an earlier answer's calls have left behind.
        """
        now = time.monotonic()
        self.close()
        for culprit, since in self.left.items():
            names = [one for one, _ in self.done]
            if culprit == name or culprit not in names:
                continue
            if fault_attribution.later(
                self.fork_server, self.done[: names.index(culprit) + 1], now - since, self.seconds
            ):
                self._lose(culprit, SessionLost("crashed", fault_attribution.SAID.format(name)))
                return True
        return False

    def _lose(self, culprit, lost):
        self.close()
        self.lost += 1
        self.done = [(name, text) for name, text in self.done if name != culprit]
        if culprit in self.tasks:
            task = self.tasks[culprit]
            task.status, task.message, task.points, task.hidden = lost.status, str(lost), 0, {}
        else:
            self.problems.append(f"the cell {culprit}: {lost}")
