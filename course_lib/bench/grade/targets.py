"""The targets of `bench grade`, each met or not, from what was measured."""

from typing import Any

from course_lib.bench.summary import quartiles
from course_lib.bench.targets import Target

BEYOND, FASTER, FLAT = 0.5, 4.0, 1.1


def targets(result: dict[str, Any]) -> list[Target]:
    """All targets, in the order of the list in docs/bench-grade.md."""
    s, killed = result["settings"], result["killed"]
    more, rate, flat = beyond(result), times(result, "nbgrader"), growth(result)
    bad = killed["lost"] + killed["rewritten"] + killed["different"]
    few, many = (f"{found['students']}" for found in result["memory"])
    return [
        Target(
            "Seconds beyond what its cells take",
            f"a right submission of chapter {s['chapter']}",
            f"at most {BEYOND:g}",
            more,
            more <= BEYOND,
        ),
        Target(
            "Submissions an hour over nbgrader's",
            f"chapter {s['chapter']}, {s['students']} submissions",
            f"at least {FASTER:g}",
            rate,
            None if rate is None else rate >= FASTER,
        ),
        Target(
            "Peak memory over that of the smaller class",
            f"{many} over {few} submissions",
            f"at most {FLAT:g}",
            flat,
            None if flat is None else flat <= FLAT,
        ),
        Target(
            "Results lost, changed or different after a kill",
            f"{killed['students']} submissions",
            "none",
            float(bad),
            bad == 0,
        ),
    ]


def beyond(result: dict[str, Any]) -> float:
    """Seconds that our grader needs for a right submission, less what its cells take in plain IPython; medians."""
    return quartiles(result["solved"]["graded"])[0] - quartiles(result["solved"]["cells"])[0]


def times(result: dict[str, Any], name: str, ours: str = "course") -> float | None:
    """How many times the rate of another grader ours has; None where that one has no number."""
    theirs = result["graders"][name].get("seconds")
    return theirs / result["graders"][ours]["seconds"] if theirs else None


def growth(result: dict[str, Any]) -> float | None:
    """The peak memory of the larger class over that of the smaller."""
    few, many = (found["peak"] for found in result["memory"])
    return many / few if few and many else None
