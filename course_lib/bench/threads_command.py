"""`course bench threads`: options, what is written where, and in which form it is printed."""

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

from ..errors import BadInput
from ..measure import machine
from .measuring import SCHEMA, Settings, load, measure_threads

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = Path("docs/bench-threads.md")
RESULTS = Path("benchmarks/results")
NAME = "threads.json"
BUSY = 0.3  # of a core: above that, somebody else is at work


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `bench threads`."""
    parser.description = (
        "Train Net-1h and Net-2h on MNIST in every way of chapters 01 to 04, and with PyTorch and scikit-learn, in one "
        "run on the same cores; compare the schemes of chapter 04 on a deep net; profile GridStep. Up to 10 minutes."
    )
    add = parser.add_argument
    add("--threads", type=int, metavar="N", help="threads for all that have several (default: usable processors)")
    add("--batches", type=_batches, metavar="B,B", help="mini-batch sizes (64,256,1024; with --quick 64,256)")
    add("--quick", action="store_true", help="under a minute: Net-1h, few and short runs. A glance, not a measurement")
    add("--json", action="store_true", help="print the JSON instead of the tables")
    add("--out", type=Path, metavar="FOLDER", help="where threads.json and the figures go (default: "
        "benchmarks/results/own in a clone, else bench-threads)")  # fmt: skip
    add("--torch-python", metavar="PATH", help="a Python with PyTorch, if that is not this one")
    add("--docs", action="store_true", help=f"write to {RESULTS} and rewrite the made blocks of {DOCUMENT}")
    add("--reuse", type=Path, metavar="FILE", help="measure nothing: make tables, figures and docs from this JSON")


def command(options: argparse.Namespace) -> int:
    """Run it; 0 when everything was measured or said to be missing, 1 where a way failed."""
    source = _read(options.reuse) if options.reuse else _settings(options)
    out = _folder(options)  # before the measuring: nobody waits ten minutes for a folder that cannot be made
    _write(measure_threads(source) if isinstance(source, Settings) else source, out)
    result = _read(out / NAME)  # tables and document from the six digits that are kept, not from those that are lost
    if options.docs:
        _write_docs(result)
    from .report import report

    print(_text(result) if options.json else report(result))
    print(f"course bench threads: {NAME} and the figures are in {out}", file=sys.stderr)
    return 1 if failures(result) else 0


def failures(result: dict[str, Any]) -> list[str]:
    """What did not work, each in a line; what is not installed or cannot be is no failure."""
    cases = result["training"]
    found = [f"{c['net']}, B = {c['B']}: {k}: {w.get('error')}" for c in cases for k, w in c["ways"].items()]
    found += [f"B = {c['B']}: {k}: {r.get('error')}" for c in result["schemes"] for k, r in c["runs"].items()]
    found += [f"{c.get('B')}: {c.get('error')}" for c in (*result["schemes"], *result["profile"])]
    return [line for line in found if ": failed: " in line]


def _batches(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no list of whole numbers such as 64,256,1024") from None


def _settings(options: argparse.Namespace) -> Settings:
    usable = machine().usable or 1
    threads = usable if options.threads is None else options.threads
    batches = options.batches or ((64, 256) if options.quick else (64, 256, 1024))
    python = options.torch_python
    if python is not None and not (os.path.isfile(python) and os.access(python, os.X_OK)):
        raise BadInput(f"--torch-python must be a Python interpreter; {python!r} is no program")
    quick: dict[str, Any] = {}
    if options.quick:
        quick = {"nets": ("Net-1h",), "rounds": 3, "seconds": 0.05, "scheme_batches": (128,), "quick": True}
    settings = Settings(threads, batches, torch_python=python, **quick)
    _warn(threads, usable)
    return settings


def _warn(threads: int, usable: int) -> None:
    busy = load()
    if threads > usable:
        say(f"warning: {threads} threads on {usable} usable processors: they will wait for each other")
    if busy is not None and busy > BUSY:
        say(f"warning: the load average is {busy:g}: other programs are at work, and these times will show it")


def say(text: str) -> None:
    """A line on standard error."""
    print(f"course bench threads: {text}", file=sys.stderr)


def _folder(options: argparse.Namespace) -> Path:
    clone = (ROOT / DOCUMENT).is_file()
    if options.docs and not clone:
        raise BadInput(f"--docs needs a clone of the course: there is no {DOCUMENT} beside this course_lib")
    if options.docs and options.out:
        raise BadInput(f"--docs writes to {RESULTS}: leave out --out")
    default = ROOT / RESULTS if options.docs else ROOT / RESULTS / "own" if clone else Path("bench-threads")
    folder = options.out or default
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK):
            raise PermissionError(13, "it may not be written to")
    except OSError as error:
        raise BadInput(f"--out: no folder can be made at {folder}: {error.strerror}") from None
    return folder


def _read(path: Path) -> dict[str, Any]:
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(f"--reuse: {path} cannot be read as JSON: {error}") from None
    if not isinstance(result, dict) or (result.get("benchmark"), result.get("schema")) != ("threads", SCHEMA):
        raise BadInput(f"--reuse: {path} holds no result of `course bench threads`, schema {SCHEMA}")
    return result


def _write(result: dict[str, Any], out: Path) -> None:
    from .figures import save

    (out / NAME).write_text(_text(result), encoding="utf-8")
    save(result, out)


def _write_docs(result: dict[str, Any]) -> None:
    from .docs import written

    path = ROOT / DOCUMENT
    path.write_text(written(path.read_text(encoding="utf-8"), result), encoding="utf-8")


def _text(result: dict[str, Any]) -> str:
    """JSON with six digits a number, one list a line; the targets are judged by the digits that are kept."""
    from .dump import dump, rounded
    from .targets import targets

    kept = rounded(result)
    return dump({**kept, "targets": [t._asdict() for t in targets(kept)]})
