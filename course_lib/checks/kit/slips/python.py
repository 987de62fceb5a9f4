"""The slips of a task's solution in Python: plain functions, threads, functions for ranks, numbers by hand."""

import ast

from course_lib.checks.kit.slips import (
    python_arithmetic,
    python_arrays,
    python_logic,
    python_loops,
    python_names,
    python_ranks,
    python_threads,
)
from course_lib.checks.kit.slips.python_places import places
from course_lib.checks.kit.slips.python_scope import Scope
from course_lib.checks.kit.slips.slip import Slip

MODULES = (
    python_ranks,
    python_threads,
    python_arithmetic,
    python_arrays,
    python_logic,
    python_loops,
    python_names,
)
RULES = [rule for module in MODULES for rule in module.RULES]
# The likeliest first: what is tried first is told first where two slips give the same numbers.
LIKELY = "sign term factor slope axis function no-function no-sum mean wrong-way late-binding called".split()
LIKELY += "transposed operands order upside-down edge turned-round guard condition".split()
LIKELY += "return end update left-out alias rounding collective operation blocking joined".split()
LIKELY += "dtype name neighbour start brackets product scaled number arguments slice".split()
LIKELY += "collection exchanged backwards stride pickled".split()


def variants(source: str) -> list[Slip]:
    """The slips of a cell that holds a solution, the likeliest first; none is equal to another or to the solution.

    source: Python; with the two markers of a solution in it, only what stands between them is changed.
    """
    tree = ast.parse(source)
    scope = Scope(tree)
    found = []
    for place in places(tree, source, scope):
        for rule in RULES:
            for name, says, text, *count in list(rule(place)):
                found.append((name, says, place.changed(tree, text, *count)))
    found.sort(key=lambda slip: LIKELY.index(slip[0]))
    seen = {ast.unparse(tree)}
    return [_slip(scope, *slip) for slip in found if not (slip[2] in seen or seen.add(slip[2]))]


def _slip(scope, name, says, source):
    return Slip(name, scope.explained(says), source)
