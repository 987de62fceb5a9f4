"""In the student process: functions of course_lib that are answers to its tasks are not there.

Nothing looks at how an answer names them: their code is taken out of the modules that are loaded, and their text out
of the files that the room shows, so a name put together, a copy of the code, another process or the file itself gives
no more than an error. Which ones: `release/answers.toml`. A name is "serial.losses.softmax" (a class: all that it
does), "serial.per_example" (a module: all its functions) or a file, "gpu/kernels/gemm_naive.cu".
"""

import ast
import functools
import importlib
import os
import sys
import types
from pathlib import Path

from course_tools.grading.paths import LIBRARY

SAID = "is not there while this exercise is graded: it is what a task asks for"
STUB = """def stub(*_, **__):
    import sys
    room = sys.modules.get("course_tools.grading.sandbox.not_there")
    if room is not None:
        room.touched.add({name!r})
    raise RuntimeError({said!r})
"""
touched: set[str] = set()  # names that were called since this was last emptied


def split(name):
    """(file below course_lib, name within it or ""). Raises ValueError where there is no such file."""
    if (LIBRARY / name).is_file():
        return name, ""
    parts = name.split(".")
    for n in range(len(parts), 0, -1):
        file = "/".join(parts[:n]) + ".py"
        if (LIBRARY / file).is_file():
            return file, ".".join(parts[n:])
    raise ValueError(f"course_lib has no {name}")


@functools.cache
def texts(names):
    """{file below course_lib: what the room shows in its place}. names: a tuple."""
    wanted: dict[str, set] = {}
    for name in names:
        file, inner = split(name)
        wanted.setdefault(file, set()).add(inner)
    return {
        file: _without(file, inner) if file.endswith(".py") else ""
        for file, inner in wanted.items()
    }


def masks(names):
    """{path: text} of all that a sandbox must show otherwise; what Python and Numba have compiled of it is empty."""
    found = {}
    for file, text in texts(tuple(names)).items():
        for path in _copies(file):
            found[str(path)] = text
            for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
                found[str(compiled)] = ""
    return found


def take_out(names, load=False):
    """Take them out of this process's modules. load: of those that are not loaded as well."""
    for file in texts(tuple(names)):
        module = f"{LIBRARY.name}.{file.removesuffix('.py').replace('/', '.')}"
        if not file.endswith(".py") or (module not in sys.modules and not load):
            continue
        inner = {one for of, one in map(split, names) if of == file}
        found = vars(importlib.import_module(module))
        for name, thing in list(found.items()):
            if getattr(thing, "__module__", None) == module:
                _take(thing, name, module, inner)


def called():
    """The names that were called since this was last asked for; touched is empty then."""
    names = sorted(touched)
    touched.clear()
    return names


def _copies(file):
    """A file of course_lib wherever this Python would find it."""
    places = {os.path.realpath(LIBRARY / file)}
    places |= {os.path.realpath(Path(place, LIBRARY.name, file)) for place in sys.path if place}
    return [Path(place) for place in sorted(places) if os.path.isfile(place)]


@functools.cache
def functions(file):
    """The names of all functions of a file of course_lib, those of its classes as well: {"Network.forward"}."""
    if not file.endswith(".py"):
        return frozenset()
    return frozenset(name for name, _ in _of(ast.parse((LIBRARY / file).read_text("utf-8"))))


def _of(tree):
    """(name, node) of the functions of a module and of its classes."""
    todo = [("", node) for node in tree.body]
    while todo:
        outer, node = todo.pop()
        name = f"{outer}{getattr(node, 'name', '')}"
        if isinstance(node, ast.ClassDef):
            todo += [(f"{name}.", one) for one in node.body]
        elif isinstance(node, ast.FunctionDef):
            yield name, node


def _without(file, inner):
    """The text of a module in which these functions only say that they are not there."""
    tree = ast.parse((LIBRARY / file).read_text(encoding="utf-8"))
    for name, node in _of(tree):
        if _is_meant(name, inner):
            kept = [one for one in node.decorator_list if ast.unparse(one) in KEPT]
            node.body, node.decorator_list = ast.parse(_stub(file, name)).body[0].body, kept
    return ast.unparse(tree) + "\n"


KEPT = ("property", "classmethod", "staticmethod")


def _stub(file, name):
    full = f"{file.removesuffix('.py').replace('/', '.')}.{name}"
    return STUB.format(name=full, said=f"course_lib.{full} {SAID}")


def _is_meant(name, inner):
    """Is this function one of them, or of a class or module that is? A dataclass must still be made."""
    if name.rpartition(".")[2].startswith("__") and "__call__" not in name:
        return name in inner
    return "" in inner or any(name == one or name.startswith(f"{one}.") for one in inner)


def _take(thing, name, module, inner, outer=""):
    """Take the code out of a function, of a class's functions, or put a stub in the place of what is compiled."""
    full = f"{outer}{name}"
    if isinstance(thing, type):
        for key, value in list(vars(thing).items()):
            value = getattr(value, "fget", None) or getattr(value, "__func__", value)
            if callable(value):
                _take(value, key, module, inner, f"{full}.")
        return
    if not callable(thing) or not _is_meant(full, inner):
        return
    stub = _made(module, full)
    for one in _functions(thing):
        one.__code__ = stub.__code__.replace(co_freevars=one.__code__.co_freevars)
    if not isinstance(thing, types.FunctionType):
        _replace(thing, stub)


def _made(module, name):
    found: dict = {}
    file = module.removeprefix(f"{LIBRARY.name}.").replace(".", "/") + ".py"
    exec(_stub(file, name), found)
    return found["stub"]


def _functions(thing):
    """A function, those that it wraps, and the one that Numba has compiled."""
    found = []
    while thing is not None and thing not in found:
        found.append(thing)
        thing = getattr(thing, "py_func", None) or getattr(thing, "__wrapped__", None)
    return [one for one in found if isinstance(one, types.FunctionType)]


def _replace(thing, stub):
    """Wherever a module of the course has it by name."""
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] == LIBRARY.name:
            for key, value in list(vars(module).items()):
                if value is thing:
                    setattr(module, key, stub)
