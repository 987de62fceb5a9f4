"""Two mistakes that meet in the same numbers: two planted answers in one source.

Neither of two such mistakes gives what the answer gave. So both changes are made to the solution, if they do not touch
the same words. A planted answer and a slip are not tried: among thousands of them there are two that undo each other.
"""

import ast
import itertools
import re
from difflib import SequenceMatcher
from functools import lru_cache

from course_lib.checks.kit.limits import stopwatch

SECONDS = 2.0  # of the processor, for all pairs
MOST_CHANGED = (
    0.5  # of the solution's words: a planted answer that changes more is another way to write it
)


def pairs(task, clock=None):
    """Two planted answers in one source, while there is time: the sentence of both, that source, and those of each."""
    clock = clock or stopwatch()
    end = clock() + SECONDS
    base = _plain(task.solution)
    planted = [_known(base, *each) for each in task.planted]
    planted = [known for known in planted if is_small(base, known[1])]
    for (says, one, first), (also, other, second) in itertools.combinations(planted, 2):
        if clock() > end:
            return
        if apart(one, other):
            yield told(says, also), made(base, one + other), first, second


def _known(base, says, source):
    """(sentence, changes to the base, source) of one mistake."""
    source = _plain(source)
    return says, changes(base, source), source


def told(says, also):
    """The sentence of two mistakes."""
    return f"two mistakes: {says}; and {also}"


@lru_cache(512)  # planted answers of a few tasks
def _plain(source):
    """The source as the catalogue writes it, without docstrings, so that only what differs differs."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)


@lru_cache(512)
def changes(base, source):
    """(first, last, new words) of each change to the words of the base."""
    a, b = _words(base), _words(source)
    same = next(
        (i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b))
    )
    a, b = (
        a[same:],
        b[same:],
    )  # most have one change: what is the same before and behind it takes longest
    ends = next(
        (i for i, (x, y) in enumerate(zip(a[::-1], b[::-1], strict=False)) if x != y),
        min(len(a), len(b)),
    )
    a, b = a[: len(a) - ends], b[: len(b) - ends]
    codes = SequenceMatcher(None, a, b, autojunk=False).get_opcodes()
    return [(same + i, same + j, b[k:m]) for what, i, j, k, m in codes if what != "equal"]


def apart(one, other):
    """Do two lists of changes touch different words?"""
    changes = sorted(one + other)
    return all(a[1] <= b[0] and a[:2] != b[:2] for a, b in itertools.pairwise(changes))


def made(base, changes):
    """The base with changes that touch different words."""
    words = list(_words(base))
    for first, last, new in sorted(changes, reverse=True):
        words[first:last] = new
    return "".join(words)


def is_small(base, changes):
    """Do they leave most of the base?"""
    changed = sum(max(last - first, len(new)) for first, last, new in changes)
    return changed <= MOST_CHANGED * len(_words(base))


@lru_cache(64)
def _words(source):
    return re.findall(r"\w+|\s+|.", source)
