"""In the student process: what stands in the place of course_lib.checks, which would hold the reference answers.

It can be imported, and says that checks run elsewhere. Of the checks' own it has the texts that a module of theirs
names in its GIVEN, since given cells of exercises print them.
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


def hidden_folders():
    """What the student process is not shown of this course, also of a second one that is installed here."""
    places = [BESIDE, *map(Path, sys.path)]
    found = [str(place / name) for place in places for name in HIDDEN]
    return sorted(os.path.realpath(folder) for folder in set(found) if os.path.isdir(folder))


def texts():
    """{module: {name: text}} of what modules of the checks have for students, read without importing them."""
    found = {}
    for path in sorted((LIBRARY / "checks").rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        if "GIVEN = " in source:
            module = ".".join(path.relative_to(LIBRARY).with_suffix("").parts)
            found[f"{LIBRARY.name}.{module}"] = _for_students(source)
    return found


def _for_students(source):
    values = {
        node.targets[0].id: node.value
        for node in ast.parse(source).body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    return {name: ast.literal_eval(values[name]) for name in ast.literal_eval(values["GIVEN"])}


class Stubs(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds course_lib.checks and all that is below it, with nothing in it."""

    def __init__(self, texts):
        self.texts = texts

    def find_spec(self, fullname, path=None, target=None):
        if fullname != CHECKS and not fullname.startswith(CHECKS + "."):
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def exec_module(self, module):
        vars(module).update(self.texts.get(module.__name__, {}))
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
