"""`course bench papers`: options, what is written where, and in which form it is printed."""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from course_lib.bench.dump import dump, rounded
from course_lib.bench.files import folder, interpreter, read, rewrite, say, slug, warn_if_busy
from course_lib.errors import BadInput
from course_lib.measure import machine
from course_tools.bench.papers import recorded, rows
from course_tools.bench.papers.measuring import measure_papers
from course_tools.bench.papers.settings import PARTS, QUICK, SCHEMA, Settings

DOCUMENT, ERRATA = Path("docs/papers.md"), Path("docs/errata.md")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `bench papers`."""
    parser.description = (
        "Every number of the five texts that the course rests on, listed with where it stands, and measured again: "
        "training by batch size, leapfrogging, ranks, a GPU where there is one, counts by the CPU engine, MNIST, KDD "
        "Cup 1999, Fashion-MNIST. In one run; about 9 minutes, where there is a GPU twice as long."
    )
    add = parser.add_argument
    text = "threads for all that have several (default: usable processors)"
    add("--threads", type=int, metavar="N", help=text)
    text = f"measure these alone, of {','.join(PARTS)}; with --reuse the others are kept"
    add("--parts", type=_parts, metavar="P,P", help=text)
    text = "about a minute: Net-1h, few examples, short runs. A glance, no more"
    add("--quick", action="store_true", help=text)
    add("--json", action="store_true", help="print the JSON instead of the claims")
    text = (
        "where papers-<machine>.json and the figures go (default: benchmarks/results/own in a clone, "
        "else bench-papers)"
    )
    add("--out", type=Path, metavar="FOLDER", help=text)
    text = f"write to benchmarks/results and rewrite the made blocks of {DOCUMENT} and {ERRATA}"
    add("--record", action="store_true", help=text)
    text = "measure nothing but --parts: the rest comes from this JSON"
    add("--reuse", type=Path, metavar="FILE", help=text)
    add("--torch-python", metavar="PATH", help="a Python with PyTorch, if that is not this one")


def command(options: argparse.Namespace) -> int:
    """Run it; 0 when everything was measured or said to be missing, 1 where something failed."""
    from course_tools.bench.papers.tables import machine_name

    known = read(options.reuse, "papers", SCHEMA) if options.reuse else None
    settings = _settings(options)
    if options.record and (settings.quick or _glance(known)):
        raise BadInput("--record keeps whole runs: leave out --quick")
    out = folder("papers", options.record, options.out, "--record", DOCUMENT.as_posix())
    made = known if known and not options.parts else measure_papers(settings, known)
    path = out / f"papers-{slug(machine_name(made))}.json"
    path.write_text(text(made), encoding="utf-8")
    return _show(options, read(path, "papers", SCHEMA), path)  # the six digits that are kept


def text(result: dict[str, Any]) -> str:
    """The result as it is kept, with its rows, which are made from the digits that are kept."""
    kept = rounded(result)
    return dump({**kept, "rows": [row._asdict() for row in rows(kept)]})


def _show(options: argparse.Namespace, result: dict[str, Any], path: Path) -> int:
    """Figures, document, what is printed; what failed."""
    from course_tools.bench.papers.documents import errata_blocks, papers_blocks, report
    from course_tools.bench.papers.tables import drawn

    for name, figure in drawn(result).items():
        figure.save(path.parent / name)
    if options.record:
        rewrite(DOCUMENT, papers_blocks(recorded()), {})
        rewrite(ERRATA, errata_blocks(), {})
    print(text(result) if options.json else report(result))
    failed = failures(result)
    for line in (*failed, f"{path.name} is in {path.parent}"):
        say("papers", line)
    return 1 if failed else 0


def failures(result: dict[str, Any]) -> list[str]:
    """What did not work, each in a line; what is not installed or not there is no failure."""
    return [line for line in _errors(result["parts"], "") if "failed: " in line]


def _errors(value: Any, where: str) -> Iterator[str]:
    """(path: error) of every "error" in a result."""
    if isinstance(value, dict):
        if "error" in value:
            yield f"{where}: {value['error']}"
        for key, item in value.items():
            yield from _errors(item, f"{where}/{key}" if where else str(key))
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from _errors(item, f"{where}[{i}]")


def _glance(known: dict[str, Any] | None) -> bool:
    return any(part["quick"] for part in known["parts"].values()) if known else False


def _parts(text: str) -> tuple[str, ...]:
    return tuple(part for part in text.split(",") if part)


def _settings(options: argparse.Namespace) -> Settings:
    threads = min(machine().usable or 1, 64) if options.threads is None else options.threads
    python = interpreter("--torch-python", options.torch_python)
    how = QUICK if options.quick else {}
    settings = Settings(threads, options.parts or PARTS, torch_python=python, **how)
    if not options.reuse or options.parts:
        warn_if_busy("papers")
    return settings
