"""What is shown of training: a table for each net and batch size, the machine's rates, and how much they varied."""

from collections.abc import Iterator

from course_lib.measure import step_flops
from course_tools.bench import frame
from course_tools.bench.frame import Result, Runs, Table, digits, known, ratio, runs, typical
from course_tools.bench.training.catalogue import RATES, WAY

HEADER = (
    "way",
    "threads",
    "s an epoch",
    "quartiles",
    "GFLOP/s",
    "x loops",
    "x NumPy",
    "% of sgemm",
)


def how(result: Result, what: str) -> str:
    """How training was measured. what: cores or threads, of the settings."""
    s = result["settings"]
    return (
        f"{s['rounds']} interleaved rounds, runs of about {s['seconds']:g} s scaled to an epoch of "
        f"{s['epoch']:,} examples, {frame.count(s[what], what[:-1])}"
    )


def rates(result: Result, case: Result, seconds: Runs) -> list[float | None]:
    """GFLOP/s of each round."""
    flops = step_flops(case["sizes"], result["settings"]["epoch"]).products / 1e9
    return [None if s is None else flops / s for s in seconds]


def case_name(case: Result) -> str:
    """Net-1h (784-1024-10), B = 64."""
    return f"{case['net']} ({'-'.join(map(str, case['sizes']))}), B = {case['B']}"


def sgemm_told(result: Result, case: Result) -> str:
    """The machine's rate in the same rounds, on one thread and on all."""
    told = []
    for n in sorted({1, result["settings"]["threads"]}):
        rate = frame.median(case["rates"].get(f"sgemm-{n}"))
        told += [f"{rate:.0f} on {frame.count(n, 'thread')}"] if rate else []
    return f"{', '.join(told)} GFLOP/s"


def training_tables(result: Result) -> Iterator[Table]:
    """One table for each net and batch size."""
    for case in result["training"]:
        title = f"{case_name(case)}; sgemm in the same rounds: {sgemm_told(result, case)}"
        rows = [training_row(result, case, key) for key in case["ways"]]
        yield Table(title, HEADER, rows)


def training_row(result: Result, case: Result, key: str) -> tuple[str, ...]:
    """A way's line: the ratios say how many times as fast as the loops, and as NumPy, on one thread each."""
    row = case["ways"][key]

    def more(seconds: Runs) -> list[str]:
        speed = rates(result, case, seconds)
        share = ratio(speed, case["rates"].get(f"sgemm-{row['threads']}"))
        over = [ratio(runs(case, base), seconds) for base in ("loops", "numpy")]
        return [typical(speed), *map(digits, over), digits(share and 100 * share)]

    return frame.timed_row((WAY[key].label, str(row["threads"])), row, more)


def rate_table(result: Result) -> Table:
    """The machine's own rates over the whole run, and how many times that of one thread they are."""
    lines, cases = [], result["training"]
    for key in dict.fromkeys(key for case in cases for key in case["rates"]):
        name, _, threads = key.rpartition("-")
        single = f"{name.removesuffix('-separate')}-1"
        times = [ratio(case["rates"].get(key), case["rates"].get(single)) for case in cases]
        pooled = all_rates(result, key)
        lines.append((RATES[name], threads, typical(pooled), frame.spread(pooled), typical(times)))
    header = ("product", "threads", "GFLOP/s", "quartiles", "x one thread")
    return Table("The machine's own rate, in the same rounds", header, lines)


def all_rates(result: Result, key: str) -> list[float]:
    """One of the machine's rates in GFLOP/s, of all rounds of the run."""
    return [v for case in result["training"] for v in known(case["rates"].get(key))]


def noise(result: Result) -> Result:
    """How even the machine was: the sgemm rate at T threads over all rounds, and how often the rate of one thread."""
    T, rates = result["settings"]["threads"], [case["rates"] for case in result["training"]]
    scaling = [ratio(rate.get(f"sgemm-{T}"), rate.get("sgemm-1")) for rate in rates]
    middle = frame.median(all_rates(result, f"sgemm-{T}"))
    return {"median": middle, "scaling": frame.median(scaling)}
