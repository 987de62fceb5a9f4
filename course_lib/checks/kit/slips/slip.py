"""One slip: a solution with one small mistake, and the sentence that names it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Slip:
    """name: of the kind of slip, "sign". says: the sentence a student reads. source: the solution with the slip in it."""

    name: str
    says: str
    source: str
