"""Every two choices stand together, in far fewer rows than all."""

from itertools import combinations

from pairwise import pairwise


def test_every_two_choices_come_together():
    choices = [(5, 6), "abcd", (True, False), (0.0, 0.05), range(7)]
    rows = pairwise(*choices)
    assert len(rows) == len(set(rows)) <= 32
    for i, j in combinations(range(5), 2):
        assert {(row[i], row[j]) for row in rows} == {
            (a, b) for a in choices[i] for b in choices[j]
        }
