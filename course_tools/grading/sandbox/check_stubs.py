"""What the rooms know of the exercises: the names that given cells take from the checks, the tasks that change things.

The student's process has no course_lib.checks: it would hold the reference answers. What stands in their place can be
imported, and says that checks run elsewhere.
"""

import importlib.abc
import importlib.machinery
import os
import sys
from pathlib import Path

from course_tools.grading.paths import BESIDE, LIBRARY

CHECKS = "course_lib.checks"
# It runs without these: all that it needs of course_tools was imported before it was shut in.
HIDDEN = ("course_lib/checks", "course_tools")
# (module of the checks, name) of the texts for students that given cells take from there
TEXTS = (("ch07.hazards", "MIRROR"),)
# Free-form checks whose right answers change what they are given. They were looked at: they compare with copies.
CHANGES = frozenset({"ch03.check_reduce_slice", "ch03.check_train_parallel"})


def hidden_folders():
    """What the student's room does not show of this course, also of a second one that is installed here."""
    places = [BESIDE, *map(Path, sys.path)]
    found = [str(place / name) for place in places for name in HIDDEN]
    return sorted(os.path.realpath(folder) for folder in set(found) if os.path.isdir(folder))


def texts():
    """{(module, name): text} of TEXTS, taken from the sources without importing them."""
    import ast

    found = {}
    for module, name in TEXTS:
        file = LIBRARY.joinpath("checks", *module.split(".")).with_suffix(".py")
        source = file.read_text(encoding="utf-8")
        for node in ast.parse(source).body:
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == name:
                found[module, name] = ast.literal_eval(node.value)
    return found


class Stubs(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds course_lib.checks and all that is below it, with nothing in it."""

    def __init__(self, texts):
        self.texts = texts

    def find_spec(self, fullname, path=None, target=None):
        if fullname != CHECKS and not fullname.startswith(CHECKS + "."):
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def exec_module(self, module):
        below = module.__name__.removeprefix(CHECKS).lstrip(".")
        vars(module).update(
            {name: text for (where, name), text in self.texts.items() if where == below}
        )
        module.__getattr__ = _elsewhere


def _elsewhere(name):
    if name.startswith("__") or (name.startswith("ch") and name[2:4].isdigit()):
        raise AttributeError(name)  # a module below, which the import system then finds

    def check(*args, **kwargs):
        print("checks run elsewhere when an exercise is graded")

    return check


def install(known):
    """Put the stubs where the checks would be. known: what `texts` returned."""
    sys.meta_path.insert(0, Stubs(known))
