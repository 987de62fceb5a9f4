"""Several mistakes at once: known ones, each of which explains a part of what is wrong and spoils nothing else.

A known mistake explains a part of a case (the W of a pair, the second of two numbers) if it gives there what the answer
gave, and is right in all other parts and cases, or gives there, too, what the answer gave.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from course_lib.checks.kit.limits import EACH, Late, at_most
from course_lib.checks.kit.trees import leaves

MOST = 3  # mistakes that are named
SMALL = 100  # whole numbers up to it are hit by chance
WHOLE = ""  # the part of a result that cannot be told part by part


@dataclass(frozen=True)
class Evidence:
    """What an answer gave, case by case.

    mine, wants: what it gave in each case, and what is right. run: value of the task's variable -> (number of a case
    -> what that value gives). differing: (number, one result, another) -> names of their parts that are not alike, or
    `WHOLE`. named: (number of the case, a result) -> {name of the part: its value}. labels: words for
    each case, or None.
    """

    mine: list
    wants: list
    run: Callable
    differing: Callable
    named: Callable
    labels: list

    def wrong(self):
        """All (case, part) that are not right."""
        cases = zip(self.mine, self.wants, strict=True)
        return {(i, part) for i, (a, b) in enumerate(cases) for part in self.differing(i, a, b)}

    def explained(self, value, wrong):
        """Those of them that a known mistake gives as well; None if it does what the answer did not."""
        found, given = set(), self.run(value)
        for i in sorted({i for i, _ in wrong}) + self._right(wrong):
            other = given(i)
            apart = set(self.differing(i, self.mine[i], other))
            spoilt = set(self.differing(i, other, self.wants[i]))
            if spoilt & apart or (WHOLE in spoilt | apart and spoilt and apart):
                return None
            if WHOLE not in apart:
                found |= {(n, part) for n, part in wrong if n == i and part not in apart}
        return found

    def is_alone(self, value):
        """Does a known mistake give, in every case, each part that is wrong in one, and is the answer right in others?

        What it spoils in other parts is no matter: the mistake was made in these alone.
        """
        parts, given = {part for _, part in self.wrong()}, self.run(value)
        if WHOLE in parts:
            return False
        spoilt: set = set()
        for i, want in enumerate(self.wants):
            other = given(i)
            apart = set(self.differing(i, self.mine[i], other))
            if WHOLE in apart or apart & parts:
                return False
            spoilt |= set(self.differing(i, other, want))
        return bool(spoilt - parts) and parts <= spoilt

    def is_kept(self, value):
        """Does a known mistake get right all (case, part) that the answer got right?"""
        given = self.run(value)
        for i, want in enumerate(self.wants):
            missed = set(self.differing(i, self.mine[i], want))
            if WHOLE not in missed and set(self.differing(i, given(i), want)) - missed:
                return False
        return True

    def are_against(self, one, other):
        """Does one of two known mistakes take off from a single number what the other adds to it?"""
        first, second = self.run(one), self.run(other)
        numbers = [(first(i), second(i), want) for i, want in enumerate(self.wants)]
        return any(
            (a - want) * (b - want) < 0 for a, b, want in numbers if _are_numbers(a, b, want)
        )

    def _right(self, wrong):
        bad = {i for i, _ in wrong}
        return [i for i in range(len(self.mine)) if i not in bad]

    def says_yes_or_no(self):
        """Truth values alone: whatever is too lenient says yes in the same cases."""
        return all(isinstance(got, bool | np.bool_) for got in self.mine)

    def is_telling(self, cells):
        """Can equality in these prove anything? Two numbers that nobody hits by chance can: no small whole ones."""
        values: set = set()
        for i in {i for i, _ in cells}:
            found = self.named(i, self.mine[i])
            parts = [part for n, part in cells if n == i]
            given = (
                [found[part] for part in parts if part in found]
                if WHOLE not in parts
                else self.mine[i]
            )
            values |= seldom(given)
        return len(values) > 1


def seldom(given):
    """Of the first numbers of a result those that nobody hits by chance."""
    flat = [np.ravel(leaf) for leaf in leaves(given) if _is_number(leaf)]
    values = {float(x) for x in np.concatenate([np.zeros(0), *flat])[:50]}
    return {x for x in values if np.isfinite(x) and (x % 1 or abs(x) > SMALL)}


def _are_numbers(*values):
    return all(_is_number(value) and np.ndim(value) == 0 for value in values)


def _is_number(leaf):
    return isinstance(leaf, (int, float, np.generic, np.ndarray)) and np.asarray(leaf).dtype != "O"


def causes_of_parts(known, evidence):
    """(sentence, None) if known mistakes explain all that is wrong, (None, sentence) if a part of it, and in it
    something of the first wrong case, which the student is shown; else two None.

    known: pairs (sentence, function that gives the value of the task's variable), the likeliest first.
    """
    wrong = evidence.wrong()
    found = []
    for says, value in known:
        cells = _explained(evidence, value, wrong)
        if cells and evidence.is_telling(cells):
            found.append((says, cells))
    chosen, left = _cover(found, wrong)
    is_shown = min(wrong)[0] in {i for _, cells in chosen for i, _ in cells}
    said = _said(chosen, left, evidence) if chosen and is_shown else None
    return (None, said) if left else (said, None)


def _explained(evidence, value, wrong):
    try:
        with at_most(EACH):
            return evidence.explained(value(), wrong)
    except (Exception, SystemExit, Late):
        return None


def _cover(found, wrong):
    """Mistakes that explain as much as can be, each the most of what is left; and what stays unexplained."""
    left = set(wrong)
    chosen: list = []
    while left and found and len(chosen) < MOST:
        says, cells = max(found, key=lambda pair: len(pair[1] & left))
        if not cells & left:
            break
        chosen.append((says, cells & left))
        left -= cells
    return chosen, left


def _said(chosen, left, evidence):
    if len(chosen) == 1 and not left:
        return chosen[0][0]
    words = places([cells for _, cells in chosen] + [left] * bool(left), evidence)
    said = [f"{place}: {says}" for (says, _), place in zip(chosen, words, strict=False)]
    if left:
        return f"{'one' if len(said) == 1 else 'some'} of several mistakes, {'; and '.join(said)}"
    return f"{'two' if len(said) == 2 else 'three'} mistakes: " + "; and ".join(said)


def places(groups, evidence):
    """Words for where each group of (case, part) lies: its parts, if no other group has them, else its cases."""
    parts = [sorted({_short(part) for _, part in cells}) for cells in groups]
    if all(set(a).isdisjoint(b) for i, a in enumerate(parts) for b in parts[:i]):
        return ["in " + " and ".join(names) for names in parts]
    return [_cases(sorted({i for i, _ in cells}), evidence.labels) for cells in groups]


def _short(part):
    """dW for dW[0] and dW[1]; grads[l][0] for grads[0][0] and grads[1][0]."""
    if part.startswith("result["):
        return part
    return part.split("[")[0] if part.count("[") == 1 else re.sub(r"\[\d+\]", "[l]", part, count=1)


def _cases(numbers, labels):
    names = list(dict.fromkeys(labels[i] for i in numbers if labels[i]))
    more = f" and {len(names) - 2} more" if len(names) > 2 else ""
    return f"in {', '.join(names[:2])}{more}" if names else f"in {len(numbers)} cases"


def names_of(misses):
    """The names of the parts that are not alike, for `Evidence.differing`."""
    return {WHOLE if isinstance(m.want, list | tuple | dict) else m.name for m in misses}
