"""Fewer cases than a full product: each two choices still stand together in one of them."""

from itertools import combinations, product


def pairs(row):
    """What stands together in a row: ((place, choice), (place, choice)), ..."""
    return set(combinations(enumerate(row), 2))


def pairwise(*choices):
    """Tuples with one of each list of choices, in which every two choices of different lists come together.

    Always the row that brings most pairs anew, so the rows are few but not always the fewest. The choices are hashable.
    """
    left = list(product(*choices))
    wanted = set().union(*map(pairs, left))
    rows = []
    while wanted:
        best = max(left, key=lambda row: len(pairs(row) & wanted))
        wanted -= pairs(best)
        rows.append(best)
    return rows
