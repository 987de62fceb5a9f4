"""What the part `kddcup` says: the data, and the measures of a skewed set."""

from typing import Any

from course_tools.bench.papers.claim import NotMeasured, Part
from course_tools.bench.papers.findings.wording import layers


def records(made: Part) -> str:
    """Records and features of the file that was used."""
    whole = next((case for case in made["cases"] if not case["distinct"]), None)
    if whole is None:
        raise NotMeasured("only the distinct rows were loaded")
    return (
        f"{made['source']}: {whole['records']:,} records of {made['features']} features and a label, "
        f"{whole['attacks']:.1%} of the training rows attacks"
    )


def detector(made: Part, *, net: str, distinct: bool) -> str:
    """Accuracy, balanced accuracy, recall, precision and PR area, on rows of the same file and on the official test."""
    case = next((c for c in made["cases"] if (c["net"], c["distinct"]) == (net, distinct)), None)
    if case is None:
        raise NotMeasured("this net was left out of this run")
    told = [f"{where}: {_measures(test)}" for where, test in case["tests"].items()]
    return f"{layers(case['sizes'])}; {'; '.join(told)}"


def _measures(test: dict[str, Any]) -> str:
    found = {name: _share(value) for name, value in test["net"].items()}
    return (
        f"accuracy {found['accuracy']} (the majority's answer: {_share(test['majority']['accuracy'])}), "
        f"balanced accuracy {found['balanced_accuracy']}; recall {found['recall']}, "
        f"precision {found['precision']}, average precision {_share(test['average_precision'])}"
    )


def _share(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.2%}"
