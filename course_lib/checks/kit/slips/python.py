"""The slips of a task's solution in Python: plain functions, threads, functions for ranks, numbers by hand."""

import ast
from functools import lru_cache

from course_lib.checks.kit.slips import (
    python_calls,
    python_logic,
    python_loops,
    python_names,
    python_numbers,
    python_patterns,
    python_statements,
)
from course_lib.checks.kit.slips.python_changes import Change, together
from course_lib.checks.kit.slips.python_places import places
from course_lib.checks.kit.slips.python_scope import Scope
from course_lib.checks.kit.slips.slip import Slip

MODULES = (
    python_patterns,
    python_calls,
    python_logic,
    python_loops,
    python_statements,
    python_names,
    python_numbers,
)
RULES = [rule for module in MODULES for rule in module.RULES]
MOST = 125  # a check tries them all, on all of its cases
# The likeliest first: what is tried first is told first where two slips give the same numbers.
ORDER = """
term factor sign slope axis no-sum mean wrong-way late-binding called function no-function
divisor rest own-draw drawn own-rows transposed operands order upside-down confused edge turned-round guard condition
return end positions update left-out alias rounding collective operation blocking joined
too-early dtype name neighbour start off-by-one brackets product scaled number arguments slice
collection exchanged backwards stride pickled loop
"""
LIKELY = {name: rank for rank, name in enumerate(ORDER.split())}


def variants(source: str) -> list[Slip]:
    """The slips of a cell that holds a solution, the likeliest first; none is equal to another or to the solution.

    source: Python; with the two markers of a solution in it, only what stands between them is changed.
    """
    return list(_made(source))


@lru_cache(64)  # of one solution they are asked for again and again
def _made(source):
    tree = ast.parse(source)
    scope = Scope(tree)
    changes = list(_changes(tree, source, scope))
    found = [change.made(tree) for change in changes] + list(together(changes, tree))
    found.sort(key=lambda slip: LIKELY[slip.name])
    seen, slips = {ast.unparse(tree)}, []
    for slip in found:
        if slip.source not in seen:
            slips.append(Slip(slip.name, scope.explained(slip.says), slip.source))
            seen.add(slip.source)
    return tuple(slips[:MOST])


def _changes(tree, source, scope):
    for place in places(tree, source, scope):
        for rule in RULES:
            for name, says, *new in list(rule(place)):
                yield Change(place, rule.__name__, name, says, *new)
