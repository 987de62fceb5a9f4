"""Slips of CUDA C: `variants` gives a kernel with one small mistake each, `hinted` those that fit a failure."""

import functools
import re

from course_lib.checks.kit.slips import cuda_arithmetic as values
from course_lib.checks.kit.slips import cuda_guards as guards
from course_lib.checks.kit.slips import cuda_hazards as hazards
from course_lib.checks.kit.slips import cuda_index as index
from course_lib.checks.kit.slips import cuda_loops as loops
from course_lib.checks.kit.slips import cuda_sizes as sizes
from course_lib.checks.kit.slips.cuda_code import Code
from course_lib.checks.kit.slips.cuda_hints import HINTS
from course_lib.checks.kit.slips.slip import Slip

MOST = 120
VAGUE = "a statement is missing"
WORD = re.compile(r"\w+")
CLAIM = re.compile(r"`?(\w+)`? is used (?:where|for) ")
EACH = 16  # hinted slips of one kind
LATER = 4  # places of a list that one more slip of the same kind comes later
SOONER = {"one index": 1}  # the same of a kind that is tried for each array
UNLIKELY = 40  # the place of a kind that is not in a list
KINDS = {
    "no barrier": hazards.no_barrier,
    "guard left out": guards.left_out,
    "half a guard": guards.half,
    "guard of another": guards.of_another_load,
    "comparison": guards.comparison,
    "axes": index.axes_exchanged,
    "leading dimension": index.leading_dimension,
    "atomic": hazards.atomics,
    "accumulation": values.accumulation,
    "sign": values.signs,
    "term": values.term_left_out,
    "factor": values.factor_left_out,
    "end of loop": loops.end_of_loop,
    "statement left out": values.statement_left_out,
    "transposed": index.transposed,
    "builtin": index.another_builtin,
    "early return": guards.leaves_early,
    "unfilled": hazards.unfilled,
    "shared turned": hazards.shared_turned,
    "shared size": hazards.shared_size,
    "last tile": loops.last_tile,
    "step of loop": loops.step_of_loop,
    "begin of loop": loops.begin_of_loop,
    "scalar": values.scalars,
    "strides": index.strides_exchanged,
    "strides ignored": index.as_if_dense,
    "one index": index.of_one_index,
    "index term": index.index_term,
    "bounds": guards.exchanged,
    "barrier moved": hazards.barrier_moved,
    "barrier in a branch": hazards.barrier_in_branch,
    "barrier passed by": hazards.barrier_passed_by,
    "barrier in the last round": hazards.not_in_the_last_round,
    "order of a difference": values.terms_exchanged,
    "factor for both": values.factor_for_both,
    "indirection": index.indirection,
    "another guard": guards.another_guard,
    "beyond the edge": guards.beyond,
    "guard too late": guards.for_the_store_alone,
    "start value": values.start_value,
    "function": values.functions,
    "brackets": values.closed_too_early,
    "shuffle": hazards.shuffles,
    "extra factor": values.extra_factor,
    "no loop": loops.no_loop,
    "whole division": values.whole_division,
    "one beside": index.one_beside,
    "exchanged statements": values.statements_exchanged,
    "another index": index.another_index,
    "arguments": sizes.arguments_exchanged,
    "places": index.places_exchanged,
    "barrier too many": hazards.barrier_too_many,
    "number left out": index.number_left_out,
    "constant": sizes.constants,
    "another size": sizes.another_size,
    "by heart": sizes.by_heart,
    "guard variable": sizes.guard_variable,
    "whole blocks": guards.whole_blocks,
    "clamped": guards.clamped,
    "end at an address": loops.ends_at_an_address,
}


def variants(source):
    """At most 120 `Slip` of a kernel's CUDA C, the likely ones first; none twice, none equal to `source`."""
    slips = _all(source)
    return _ordered(slips, [tuple(KINDS)], lambda slip: True)[:MOST]


def hinted(source, findings, most=25, answer=None):
    """At most `most` of the slips that lead to the findings, those first that explain them all.

    findings: words among those of `cuda_hints.HINTS`; words that are not there say nothing. answer: the student's
    source. A slip that says it uses a word that is not there is left out; one that brings a new word of it comes first.
    """
    words, own = set(WORD.findall(answer or "")), set(WORD.findall(source))
    orders = [HINTS[word] for word in sorted(findings) if word in HINTS]
    fitting = {name for order in orders for name in order}
    vague = VAGUE if "initcheck" in findings else ""  # what is unset says more

    def wanted(slip):
        there = answer is None or words.issuperset(CLAIM.findall(slip.says))
        return slip.name in fitting and slip.says != vague and there

    def is_new(slip):
        return bool((words - own).intersection(WORD.findall(slip.source)))

    slips = _ordered(_all(source), orders, wanted, EACH)
    return sorted(slips, key=lambda slip: not is_new(slip))[:most]


@functools.lru_cache(maxsize=16)
def _all(source):
    """Every Slip, kind by kind."""
    code = Code(source)
    found: dict = {}
    for name, kind in KINDS.items():
        for says, *edits in kind(code):
            slip = Slip(name, says, code.with_(edits))
            found.setdefault(_bare(slip.source), slip)
    found.pop(_bare(source), None)
    return list(found.values())


def _bare(source):
    """A source without what makes no difference: comments, spaces, empty statements."""
    text = re.sub(r"//[^\n]*|(?<!\w)\s+|\s+(?!\w)", "", source)
    return re.sub(r"(?<=[;{}]);+", "", text)


def _ordered(slips, orders, wanted, each=MOST):
    """Slips by the place of their kind in all orders, and by their own place in the kind."""
    place: dict = {}
    ranked = []
    for slip in slips:
        nth = place[slip.name] = place.get(slip.name, -1) + 1
        if nth >= each:
            continue
        known = [o.index(slip.name) if slip.name in o else UNLIKELY for o in orders]
        ranked.append((sum(known) + len(orders) * SOONER.get(slip.name, LATER) * nth, slip))
    return [slip for _, slip in sorted(ranked, key=lambda pair: pair[0]) if wanted(slip)]
