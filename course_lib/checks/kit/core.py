"""A check: fresh inputs, the student's function on them, and a verdict with its likely cause.

An author writes, in ch07.py for instance:

    def _cases(rng):
        B, n_in, n_out = ragged(rng, 3)
        return [Case((normal(rng, B, n_in), normal(rng, n_in, n_out)), label="a ragged batch")]

    check_product = Check("product", _cases, reference=lambda X, W: X @ W, K=lambda case: case.args[0].shape[1],
                          axes=("example", "neuron"), diagnoses=[(lambda X, W: X @ abs(W), "the sign of W is lost")])

and the check cell calls `ch07.check_product(product)`.
"""

from course_lib.checks.kit.check import Case, Check
from course_lib.checks.kit.freeform import check_value, property_check, require
from course_lib.checks.kit.inputs import choose_seed, normal, poison, ragged
from course_lib.checks.kit.messages import CheckBroken, CheckFailed, NotWritten, Report

__all__ = [
    "Case",
    "Check",
    "CheckBroken",
    "CheckFailed",
    "NotWritten",
    "Report",
    "check_value",
    "choose_seed",
    "normal",
    "poison",
    "property_check",
    "ragged",
    "require",
]
