"""A claim of a text and what became of it here; and an erratum."""

from collections.abc import Callable
from typing import Any, NamedTuple

NOT_MEASURED = "not measured"
STATUSES = ("measured", "counted", "computed", "noted", NOT_MEASURED)
Result = dict[str, Any]  # of a run, whole
Part = dict[str, Any]  # one of its parts


class NotMeasured(Exception):
    """Nothing was found: the message is the reason, which the row gives in place of a number."""


class Claim(NamedTuple):
    """A number, or a comparison that a number can settle.

    id: stays. text: "[000]" to "[004]". says: their words or number. status: measured (a clock, a training), counted
    (by the CPU engine, or messages), computed (arithmetic, the data themselves), noted (a fact of the run), or not
    measured. find: our number with its unit, from a result; it may raise NotMeasured. why: they may differ.
    """

    id: str
    text: str
    where: str
    says: str
    status: str
    find: Callable[[Result], str]
    why: str = ""


class Row(NamedTuple):
    """A claim beside what was found. found is empty where nothing was measured; why then begins with the reason."""

    id: str
    text: str
    where: str
    says: str
    status: str
    found: str
    why: str
    machine: str


class Erratum(NamedTuple):
    """name: also of the test. text: "[000]" to "[004]". where: section, equation, algorithm or slide."""

    name: str
    text: str
    where: str
    says: str
    right: str

    @property
    def test(self) -> str:
        """The function in tests/bench/test_errata.py that computes both sides."""
        return f"test_{self.name}"


def row_of(claim: Claim, result: Result, machine: str) -> Row:
    """The claim with what this result says of it."""
    said = (claim.id, claim.text, claim.where, claim.says)
    try:
        return Row(*said, claim.status, claim.find(result), claim.why, machine)
    except NotMeasured as reason:
        return Row(*said, NOT_MEASURED, "", f"{reason}. {claim.why}".strip(), machine)
