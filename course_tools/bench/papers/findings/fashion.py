"""What the part `fashion` says: the data, accuracies, and two processes beside one."""

from course_tools.bench.frame import digits, median, ratio, runs
from course_tools.bench.papers.claim import NotMeasured, Part
from course_tools.bench.papers.findings.wording import layers, listed

TABLE = "T-shirt, Trouser, Pullover, Dress, Coat, Sandal, Shirt, Sneaker, Bag, Ankle Boot"  # [004]'s classes


def clothes(made: Part) -> str:
    """Sizes of the set that was loaded."""
    d, n = made["data"], len(made["classes"])
    side = round(d["pixels"] ** 0.5)
    sizes = f"{d['train']:,} + {d['val']:,} + {d['test']:,}"
    return f"{d['name']}: {sizes}, {side} x {side}, {n} classes"


def classes(made: Part) -> str:
    """The data set's names of the classes, beside the table of [004]."""
    pairs = list(zip(TABLE.split(", "), made["classes"], strict=True))
    other = [f"{i} is {b}" for i, (a, b) in enumerate(pairs) if a.lower() != b.lower()]
    same = f"{len(pairs) - len(other)} of {len(pairs)}"
    return f"{same} as the data set has them; {', '.join(other)}"


def learned(made: Part) -> str:
    """Test accuracy after 60 iterations in both readings of the word."""
    steps, passes, n = made["learned"]["steps"], made["learned"]["passes"], made["iterations"]
    return (
        f"{layers(made['sizes'])}, eta = {made['eta']}: {steps['test']:.1%} after {n} steps over all "
        f"images, {passes['test']:.1%} after {n} passes in mini-batches of 64 "
        f"(untrained {steps['before']:.1%})"
    )


def two_processes(made: Part, *, key: str) -> str:
    """How many times as fast two processes are as one, by batch size."""
    told = []
    for case in made["times"]:
        if "error" in case:
            raise NotMeasured(case["error"].removeprefix("not measured: "))
        one, two = runs(case, "serial"), runs(case, key)
        alone, together = (digits(median(seconds)) for seconds in (one, two))
        if times := ratio(one, two):
            seconds = f"{alone} s alone, {together} s together"
            told.append(f"B = {case['B']:,}: {seconds}, {times:.2f} times")
    return f"one process and two, 50,000 images: {listed(told, 'the processes failed')}"
