"""What the parts `digits`, `kddcup` and `fashion` say: data, accuracies, and the measures of a skewed set."""

from typing import Any

from course_lib.bench.papers.claim import COMPUTED, MEASURED, NOT_MEASURED, Finding, part
from course_lib.bench.summary import quartiles, ratio
from course_lib.bench.tables import digits as three


@part("digits")
def mnist(made: dict[str, Any]) -> Finding:
    """The sizes of MNIST as the course divides it."""
    s = made["sizes"]
    side = round(s["pixels"] ** 0.5)
    return Finding(
        COMPUTED,
        f"{s['train']:,} + {s['val']:,} for training and validation "
        f"({s['train'] // s['val']}:1), {s['test']:,} for testing, {side} x {side}",
    )


@part("digits")
def grid(made: dict[str, Any]) -> Finding:
    """The learning rates that were tried, with their accuracy on the validation images."""
    told = ", ".join(
        f"{eta:g}: {'diverged' if right is None else f'{right:.1%}'}" for eta, right in made["grid"]
    )
    told += f"; {made['eta']:g} taken"
    n = min(made["examples"], made["grid_examples"])
    return Finding(MEASURED, f"Net-1h, validation accuracy after an epoch of {n:,} images: {told}")


@part("digits")
def kept(made: dict[str, Any]) -> Finding:
    """Test accuracy with and without threads, and how far the parameters drift apart."""
    c = made["compared"]
    return Finding(
        MEASURED,
        f"Net-1h, {_effort(made)}, B = {c['B']}: {c['serial']:.2%} serial, {c['threads']:.2%} "
        f"with threads; parameters differ by at most {c['largest_difference']:.0e}",
    )


@part("digits")
def by_batch(made: dict[str, Any]) -> Finding:
    """Test accuracy after as many passes, by batch size."""
    told = ", ".join(
        f"{run['test']:.2%} at B = {_size(run)} ({run['steps']:,} steps)" for run in made["runs"]
    )
    return Finding(MEASURED, f"Net-1h, {_effort(made)}: {told}")


def _size(run: dict[str, Any]) -> str:
    return "all" if run["B"] is None else f"{run['B']:,}"


def _effort(made: dict[str, Any]) -> str:
    n = made["epochs"]
    images = (
        "" if made["examples"] >= made["sizes"]["train"] else f" over {made['examples']:,} images"
    )
    return f"{n} epoch{'s' if n > 1 else ''}{images}, eta = {made['eta']:g}"


@part("digits")
def gradients(made: dict[str, Any], *, text: str) -> Finding:
    """The largest relative error against central differences."""
    error = made["gradient_errors"][text]
    return Finding(MEASURED, f"largest relative error against central differences {error:.0e}")


@part("kddcup")
def records(made: dict[str, Any]) -> Finding:
    """Records and features of the file that was used."""
    whole = next((case for case in made["cases"] if not case["distinct"]), None)
    if whole is None:
        return Finding(NOT_MEASURED, "only the distinct rows were loaded")
    return Finding(
        COMPUTED,
        f"{made['source']}: {whole['records']:,} records of {made['features']} features and a "
        f"label, {whole['attacks']:.1%} of the training rows attacks",
    )


@part("kddcup")
def detector(made: dict[str, Any], *, net: str, distinct: bool) -> Finding:
    """Accuracy, balanced accuracy, recall, precision and PR area, on rows of the same file and on the official test."""
    case = next((c for c in made["cases"] if (c["net"], c["distinct"]) == (net, distinct)), None)
    if case is None:
        return Finding(NOT_MEASURED, "this net was left out of this run")
    told = [f"{where}: {_measures(test)}" for where, test in case["tests"].items()]
    return Finding(MEASURED, f"{'-'.join(map(str, case['sizes']))}; {'; '.join(told)}")


def _measures(test: dict[str, Any]) -> str:
    found, majority = test["net"], test["majority"]
    names = ("accuracy", "balanced_accuracy", "recall", "precision")
    told = ", ".join(f"{name.replace('_', ' ')} {_share(found[name])}" for name in names)
    area, trivial = _share(test["average_precision"]), _share(majority["accuracy"])
    return f"{told}, average precision {area} (accuracy of the majority's answer: {trivial})"


def _share(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.2%}"


@part("fashion")
def clothes(made: dict[str, Any]) -> Finding:
    """Sizes of the set that was loaded."""
    d = made["data"]
    side = round(d["pixels"] ** 0.5)
    return Finding(
        COMPUTED,
        f"{d['name']}: {d['train']:,} + {d['val']:,} + {d['test']:,}, {side} x {side}, "
        f"{len(made['classes'])} classes",
    )


TABLE = (
    "T-shirt",
    "Trouser",
    "Pullover",
    "Dress",
    "Coat",
    "Sandal",
    "Shirt",
    "Sneaker",
    "Bag",
    "Ankle Boot",
)  # [004]


@part("fashion")
def classes(made: dict[str, Any]) -> Finding:
    """The data set's names of the classes, beside the table of [004]."""
    pairs = enumerate(zip(TABLE, made["classes"], strict=True))
    other = [f"{i} is {name}" for i, (said, name) in pairs if said.lower() != name.lower()]
    return Finding(
        COMPUTED,
        f"{len(TABLE) - len(other)} of {len(TABLE)} as the data set has them; {', '.join(other)}",
    )


@part("fashion")
def learned(made: dict[str, Any]) -> Finding:
    """Test accuracy after 60 iterations in both readings of the word."""
    names = {"steps": "steps over all images", "passes": "passes in mini-batches of 64"}
    found, n = made["learned"], made["iterations"]
    told = ", ".join(f"{found[key]['test']:.1%} after {n} {name}" for key, name in names.items())
    return Finding(
        MEASURED,
        f"{'-'.join(map(str, made['sizes']))}, eta = {made['eta']}: {told} "
        f"(untrained {found['steps']['before']:.1%})",
    )


@part("fashion")
def two_processes(made: dict[str, Any], *, key: str) -> Finding:
    """How many times as fast two processes are as one, by batch size."""
    trouble = next((case["error"] for case in made["times"] if "error" in case), None)
    if trouble:
        return Finding(NOT_MEASURED, trouble.removeprefix("not measured: "))
    told = []
    for case in made["times"]:
        one, two = (case["ways"][name]["seconds"] for name in ("serial", key))
        told.append(
            f"{ratio(one, two):.2f} times at B = {case['B']:,} ({three(quartiles(one)[0])} s and "
            f"{three(quartiles(two)[0])} s for 50,000 images)"
        )
    return Finding(MEASURED, f"two processes: {', '.join(told)}")
