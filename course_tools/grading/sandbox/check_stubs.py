"""What stands in the student's room in the place of the checks: the texts that given cells take from them, no more.

The student's process has no course_lib.checks: it would hold the reference answers. What stands in their place can be
imported, and says that checks run elsewhere.
"""

import ast
import importlib.abc
import importlib.machinery
import os
import sys
from pathlib import Path

from course_tools.grading.paths import BESIDE, LIBRARY

CHECKS = "course_lib.checks"
# It runs without these: all that it needs of course_tools was imported before it was shut in.
HIDDEN = ("course_lib/checks", "course_tools")
GIVEN = "GIVEN"  # what a module of the checks calls the names of its texts that given cells may take from it
FOLDER = LIBRARY / "checks"


def hidden_folders():
    """What the student's room does not show of this course, also of a second one that is installed here."""
    places = [BESIDE, *map(Path, sys.path)]
    found = [str(place / name) for place in places for name in HIDDEN]
    return sorted(os.path.realpath(folder) for folder in set(found) if os.path.isdir(folder))


def texts():
    """{(module below the checks, name): text} of what they give, taken from the sources without importing them."""
    found = {}
    for file in sorted(FOLDER.rglob("*.py")):
        source = file.read_text(encoding="utf-8")
        if f"\n{GIVEN} = " in source:
            module = ".".join(file.relative_to(FOLDER).with_suffix("").parts)
            known = dict(_assigned(source))
            for name in ast.literal_eval(known[GIVEN]):
                found[module, name] = ast.literal_eval(known[name])
    return found


def _assigned(source):
    """(name, value) of each plain assignment of a module."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, node.value


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
