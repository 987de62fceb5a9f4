"""A claim of a text, and what became of it here."""

from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple

MEASURED, COUNTED, COMPUTED, NOT_MEASURED = "measured", "counted", "computed", "not measured"
STATUSES = (MEASURED, COUNTED, COMPUTED, NOT_MEASURED)
Result = dict[str, Any]


class Finding(NamedTuple):
    """status: measured (a clock, a training), counted (by the CPU engine, or messages), computed (arithmetic, the data
    themselves), or not measured. text: the number with its unit; of what was not measured, the reason."""

    status: str
    text: str


class Claim(NamedTuple):
    """id: stays. text: "[000]" to "[004]". says: their words or number. find: from a result. why: they may differ."""

    id: str
    text: str
    where: str
    says: str
    find: Callable[[Result], Finding]
    why: str = ""


class Row(NamedTuple):
    """A claim beside its finding. found is empty where nothing was measured; why then begins with the reason."""

    id: str
    text: str
    where: str
    says: str
    status: str
    found: str
    why: str
    machine: str


def rows_of(claims: tuple[Claim, ...], result: Result, machine: str) -> list[Row]:
    """All claims with what this result says of them."""
    return [_row(claim, claim.find(result), machine) for claim in claims]


def _row(claim: Claim, finding: Finding, machine: str) -> Row:
    head = (claim.id, claim.text, claim.where, claim.says, finding.status)
    if finding.status == NOT_MEASURED:
        return Row(*head, "", f"{finding.text}. {claim.why}".strip(), machine)
    return Row(*head, finding.text, claim.why, machine)


def part(name: str) -> Callable[[Callable[..., Finding]], Callable[..., Finding]]:
    """A finder that looks at one part of the result alone, and says so where it is not there or could not be."""

    def looks_at(find: Callable[..., Finding]) -> Callable[..., Finding]:
        @wraps(find)
        def found(result: Result, **more: Any) -> Finding:
            made = result["parts"].get(name)
            if made is None:
                return Finding(NOT_MEASURED, f"the part `{name}` was left out of this run")
            if "error" in made:
                return Finding(NOT_MEASURED, made["error"].removeprefix("not measured: "))
            return find(made, **more)

        return found

    return looks_at


def fixed(status: str, text: str) -> Callable[[Result], Finding]:
    """The same finding for every result: arithmetic on what the text itself gives."""
    return lambda result: Finding(status, text)
