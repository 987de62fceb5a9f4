"""A corpus of small MPI programs, most of them wrong: what each is, and what a rehearsal must say of it.

The classes follow the public catalogues of MPI errors (MPI Bugs Initiative, CorrBench); the programs are our own. They
stand in tests/machines/rehearsal/faults, a file for each kind of fault; each takes a communicator.
"""

import importlib.util
import sys
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "machines" / "rehearsal" / "faults"
REGISTRY: dict = {}


@dataclass(frozen=True)
class Program:
    """fn on n ranks. kind: the class of fault; finds: tools that may name it, none for a right program.

    words: stand in the message. how: more arguments of `rehearse`.
    """

    fn: object
    kind: str
    finds: tuple
    n: int
    words: str = ""
    how: dict = field(default_factory=dict)

    @property
    def name(self):
        """Unique in the corpus."""
        return self.fn.__name__


def fault(kind, finds, n=2, words="", **how):
    """A decorator: a program that is wrong. finds: "deadlock mismatch"."""
    return lambda fn: _add(Program(fn, kind, tuple(finds.split()), n, words, how))


def right(kind, n=2, **how):
    """A decorator: a program that is right, and looks as if it were not."""
    return lambda fn: _add(Program(fn, kind, (), n, "", how))


def _add(program):
    REGISTRY.setdefault(program.fn.__module__, []).append(program)
    return program.fn


def programs():
    """All of the corpus, file by file."""
    found = []
    for path in sorted(FOLDER.glob("*.py")):
        name = f"rehearsal_faults_{path.stem}"
        if name not in sys.modules:
            spec = importlib.util.spec_from_file_location(name, path)
            sys.modules[name] = module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
        found += REGISTRY[name]
    return found
