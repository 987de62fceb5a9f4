"""One slip: a solution with one small mistake, and the sentence that names it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Slip:
    """A kind of slip ("sign"), the sentence a student reads, and the solution with the slip in it."""

    name: str
    says: str
    source: str
