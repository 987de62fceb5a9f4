"""Which two students share more than what everybody may have."""

import collections
import itertools
from dataclasses import dataclass, field

from course_tools.grading.similarity import tokens, winnowing

COMMON = 10  # students: what more of them share (or a third of the class, if that is more) is no sign of copying
LINES = 400  # of an answer are shown
LEAST = 3  # fingerprints of a pair, in all tasks together


@dataclass
class Answer:
    """One answer. prints: {fingerprint: [(first line, last line)]} without what is known."""

    text: str
    prints: dict


@dataclass
class Pair:
    """Two students. tasks: {task: (shared fingerprints, share of the shorter answer's)}, those with any."""

    one: str
    other: str
    tasks: dict = field(default_factory=dict)

    @property
    def shared(self):
        return sum(count for count, _ in self.tasks.values())


def answers(texts, known):
    """{(student, task): Answer} of {(student, task): text}. known: {task: fingerprints}."""
    made = {}
    for (student, task), text in texts.items():
        found = winnowing.fingerprints(tokens.of(text))
        left = {print_: lines for print_, lines in found.items() if print_ not in known[task]}
        made[student, task] = Answer(text, left)
    return made


def find(made, most=50, common=COMMON):
    """The `Pair`s of `answers` that share most, the first the strongest."""
    owners = _owners(made)
    limit = max(common, len({student for student, _ in made}) // 3)
    counts: dict = collections.Counter()
    for (task, _), students in owners.items():
        if 1 < len(students) <= limit:
            for one, other in itertools.combinations(sorted(students), 2):
                counts[one, other, task] += 1
    found: dict[tuple[str, str], Pair] = {}
    for (one, other, task), count in sorted(counts.items()):
        least = min(len(made[who, task].prints) for who in (one, other))
        pair = found.setdefault((one, other), Pair(one, other))
        pair.tasks[task] = count, count / least
    kept = [pair for pair in found.values() if pair.shared >= LEAST]
    return sorted(kept, key=lambda pair: (-pair.shared, pair.one, pair.other))[:most]


def _owners(made):
    owners: dict[tuple[str, int], set] = {}
    for (student, task), answer in made.items():
        for print_ in answer.prints:
            owners.setdefault((task, print_), set()).add(student)
    return owners


def marked(answer, other):
    """[(line of the answer's text, is it shared with the other?)]"""
    shared: set[int] = set()
    for print_, places in answer.prints.items():
        if print_ in other.prints:
            for first, last in places:
                shared.update(range(first, last + 1))
    lines = answer.text.split("\n")[:LINES]
    return [(line, number in shared and bool(line.strip())) for number, line in enumerate(lines)]
