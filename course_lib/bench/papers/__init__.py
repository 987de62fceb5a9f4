"""`course bench papers`: what the five texts say with a number, measured again; and what is wrong in them.

command.py       options and files; settings.py what is measured and how long; measuring.py runs the parts
timing.py        parts with a clock: figures, leapfrogging, ranks, gpu
counting.py      what the CPU engine counts; digits.py, kddcup.py, fashion.py what is learned from the data sets
claim.py         Claim, Finding, Row; claims_*.py the claims of each text; look_*.py find each in a result
tables.py        the rows as tables; papers_docs.py the made blocks of docs/papers.md
errata.py        what is wrong or loose, each with its test; errata_docs.py the made blocks of docs/errata.md
texts.py         the five texts
"""

from typing import Any

from course_lib.bench.papers.claim import Claim as Claim
from course_lib.bench.papers.claim import Row as Row
from course_lib.bench.papers.errata import ERRATA as ERRATA
from course_lib.bench.papers.errata import Erratum as Erratum
from course_lib.bench.papers.texts import TEXTS as TEXTS


def claims() -> tuple[Claim, ...]:
    """Every claim with a number, text by text, in the order in which they stand there."""
    from course_lib.bench.papers import (
        claims_darve,
        claims_goyal,
        claims_kamra,
        claims_saraiya,
        claims_singh,
    )

    modules = (claims_kamra, claims_goyal, claims_saraiya, claims_darve, claims_singh)
    return tuple(claim for module in modules for claim in module.CLAIMS)


def rows(result: dict[str, Any]) -> list[Row]:
    """Every claim with what this result says of it; result: one of `recorded()`, or what the command has written."""
    from course_lib.bench.papers.claim import rows_of
    from course_lib.bench.papers.tables import machine_name

    return rows_of(claims(), result, machine_name(result))


def recorded() -> list[dict[str, Any]]:
    """The results in benchmarks/results, by file name: read, nothing is measured."""
    from course_lib.bench.files import recorded as read
    from course_lib.bench.papers.settings import SCHEMA

    return read("papers", SCHEMA)
