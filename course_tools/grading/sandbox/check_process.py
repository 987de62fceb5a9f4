"""The check process: course_lib's checks and an instructor's own, which call the student's answers from afar."""

import contextlib
import importlib
import os
import sys
from typing import Any

from course_tools.grading.rpc.framing import ConnectionLost
from course_tools.grading.rpc.rank_server import Ranks
from course_tools.grading.rpc.router import OFFERED
from course_tools.grading.sandbox import cuda_host, cuda_words
from course_tools.grading.sandbox.shell import Capped


class NoAnswer(Exception):
    """The student's cells have left nothing under the name."""


class CheckProcess:
    """What the grader may ask of the check process."""

    def __init__(self, *students):
        self.students, self.offered, self.ranks = students, list[Any](), list[Ranks]()

    def judge(self, check, name, seed, code="", causes=True):
        """{"status": pass, wrong, missing, crashed or error, "kind": one of kinds.KINDS or "", "message": text}.

        code: of a hidden check, or "" for ours. causes: is the cause of a failure looked for?

        Whatever the student's process does, one of these comes back, or this process ends: then nothing has passed.
        """
        os.environ["COURSE_SEED"] = str(seed)
        os.environ["COURSE_CAUSES"] = str(int(causes))
        out, self.ranks = Capped(), []
        try:
            self.offered = [student.received(OFFERED) for student in self.students]
            # a check that listens hears what an answer prints; the verdict does not
            for student in self.students:
                student.heard = lambda text: None if sys.stdout is out else sys.stdout.write(text)
            with contextlib.redirect_stdout(out):
                self._judge(_check_of(check, code), name)
            verdict = {"status": "pass", "kind": "", "message": out.getvalue()}
        except BaseException as error:
            verdict = _failure(error)
        for student in self.students:
            student.forget()
            with contextlib.suppress(ConnectionLost):
                student.done()
        return verdict | {"stuck": any(ranks.stuck for ranks in self.ranks)}

    def _judge(self, function, name):
        """Once more where the answer has changed what it was given: the check then has what it gave."""
        function(self.answer(name))
        if any(student.changed for student in self.students) and must_keep(function):
            for student in self.students:
                student.keeps = True
            function(self.answer(name))

    def needs(self, check, code=""):
        """How many ranks a check tries its answers on; 0: it calls them as they are."""
        with contextlib.suppress(Exception):
            return max(map(int, getattr(_check_of(check, code), "ranks", (0,))))
        return 0

    def answer(self, name):
        """The student's answer: a proxy of a function of one process, or of all ranks."""
        try:
            parts = [offered(name) for offered in self.offered]
        except NameError:
            raise NoAnswer(f"its cell defines no {name}") from None
        if len(parts) == 1:
            return allowed(name, parts[0])
        if not all(hasattr(part, "_peer_number") for part in parts):
            return parts[0]
        self.ranks.append(Ranks(name, parts, self.students))
        return self.ranks[-1]


def allowed(name, answer):
    """The answer; CheckFailed where it is CUDA C that reaches past the lessons, or holds code for the host."""
    from course_lib.checks.kit.messages import CheckFailed, Report

    if not isinstance(answer, str) or "__global__" not in answer:
        return answer
    word = cuda_words.refused(answer) or cuda_host.refused(answer)
    if word is None:
        return answer
    report = Report(f"{name} says what CUDA C in an answer may not say while it is graded")
    raise CheckFailed(
        report.add("what", word).add(
            "cause", "the tasks need kernels and __device__ functions alone"
        )
    )


def must_keep(function):
    """Must an answer pass also where it can change nothing that the check holds it against?

    Not where the check works on copies, nor where to change something is the task (`property_check(changes=True)`).
    """
    from course_lib.checks.kit.check import Check
    from course_lib.checks.kit.ranks.check import RankCheck

    if isinstance(function, Check | RankCheck):
        return False
    return not getattr(function, "changes", False)


def _failure(error):
    """The verdict where a check has raised something."""
    from course_lib.checks.kit.kinds import kind_of
    from course_lib.checks.kit.messages import CheckFailed, NotWritten

    statuses = (
        ((NotWritten, NoAnswer), "missing"),
        (CheckFailed, "wrong"),
        (ConnectionLost, "crashed"),
    )
    status = next((status for types, status in statuses if isinstance(error, types)), "error")
    plain = isinstance(error, (CheckFailed, NoAnswer))
    message = str(error) if plain else f"{type(error).__name__}: {error}"
    return {"status": status, "kind": kind_of(error), "message": message[:4000]}


def _check_of(name, code):
    """The check: of a module of course_lib.checks, "ch01.check_neuron", or of a hidden module's text.

    "ch01.check_neuron#3 inputs": with the cases of this label alone.
    """
    name, _, label = name.partition("#")
    module, _, function = name.partition(".")
    if not code:
        found = getattr(importlib.import_module(f"course_lib.checks.{module}"), function)
        return found.only(label) if label else found
    namespace = {"__name__": f"hidden_{module}"}
    exec(compile(code, f"<hidden {module}>", "exec"), namespace)
    return namespace[function]
