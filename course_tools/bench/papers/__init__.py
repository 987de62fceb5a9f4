"""`course bench papers`: what the five texts say with a number, measured again; and what is wrong in them.

claims/*.toml    the claims of each text; errata.toml what is wrong or loose in them. Edit these
data_files.py    reads and checks both; claim.py Claim, Row, Erratum
findings/        the functions that the claims name: they look into a result
arithmetic.py    the numbers that the claims name: no result is needed
bench.py         options, files, the run; settings.py what is measured and how long
parts/           the parts: timing.py those with a clock, counting.py what the CPU engine counts, digits.py,
                 kddcup.py, fashion.py what is learned from the data sets
tables.py        the rows as text, and the made blocks of docs/papers.md and docs/errata.md
"""

from typing import Any

from course_tools.bench.papers.claim import STATUSES as STATUSES
from course_tools.bench.papers.claim import Claim, Row
from course_tools.bench.papers.data_files import ERRATA as ERRATA
from course_tools.bench.papers.data_files import TEXTS as TEXTS
from course_tools.build.papers import named as named


def claims() -> tuple[Claim, ...]:
    """Every claim with a number, text by text, in the order in which they stand there."""
    from course_tools.bench.papers.data_files import read_claims

    return read_claims()


def rows(result: dict[str, Any]) -> list[Row]:
    """Every claim with what this result says of it; result: of `recorded()`, or as the command writes it."""
    from course_tools.bench.papers.claim import row_of

    machine = machine_name(result)
    return [row_of(claim, result, machine) for claim in claims()]


def machine_name(result: dict[str, Any]) -> str:
    """The GPU's name, or the processor's with its cores."""
    from course_tools.bench.frame import document

    if "device" in result["parts"].get("gpu", {}):
        return result["parts"]["gpu"]["device"]
    return document.machine_name({**result, "settings": {"cores": result["machine"]["usable"]}})


def recorded() -> list[dict[str, Any]]:
    """The results in benchmarks/results, by file name: read, nothing is measured."""
    from course_tools.bench.frame import results

    return results.recorded("papers")
