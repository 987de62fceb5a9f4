"""What the part `digits` says: the data, and the accuracies of trainings on MNIST."""

from course_tools.bench.papers.claim import Part
from course_tools.bench.papers.findings.wording import each_case


def mnist(made: Part) -> str:
    """The sizes of MNIST as the course divides it."""
    s = made["sizes"]
    side = round(s["pixels"] ** 0.5)
    return (
        f"{s['train']:,} + {s['val']:,} for training and validation ({s['train'] // s['val']}:1), "
        f"{s['test']:,} for testing, {side} x {side}"
    )


def grid(made: Part) -> str:
    """The learning rates that were tried, with their accuracy on the validation images."""
    told = []
    for eta, accuracy in made["grid"]:
        told.append(f"{eta:g}: " + ("diverged" if accuracy is None else f"{accuracy:.1%}"))
    n = min(made["examples"], made["grid_examples"])
    return (
        f"Net-1h, validation accuracy after an epoch of {n:,} images: {'; '.join(told)}; "
        f"{made['eta']:g} taken"
    )


def kept(made: Part) -> str:
    """Test accuracy with and without threads, and how far the parameters drift apart."""
    c = made["compared"]
    return (
        f"Net-1h, {_effort(made)}, B = {c['B']}: {c['serial']:.2%} serial, {c['threads']:.2%} with "
        f"threads; parameters differ by at most {c['largest_difference']:.0e}"
    )


def runs(made: Part, *, each: str) -> str:
    """The words `each` for each batch size: its updates, seconds and test accuracy after as many passes."""
    cases = [run | {"size": "all" if run["B"] is None else f"{run['B']:,}"} for run in made["runs"]]
    return f"Net-1h, {_effort(made)}: {each_case(each, cases, 'nothing was trained')}"


def gradients(made: Part, *, text: str) -> str:
    """The largest relative error against central differences."""
    error = made["gradient_errors"][text]
    return f"largest relative error against central differences {error:.0e}"


def _effort(made: Part) -> str:
    n, examples = made["epochs"], made["examples"]
    images = "" if examples >= made["sizes"]["train"] else f" over {examples:,} images"
    return f"{n} epoch{'s' if n > 1 else ''}{images}, eta = {made['eta']:g}"
