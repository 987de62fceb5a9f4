"""The JSON of a result: six digits a number, a list a line; where it goes, how it is read again, what failed in it."""

import json
import math
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from course_lib.errors import BadInput
from course_tools.bench.frame.tables import Result

ROOT = Path(__file__).resolve().parents[3]
RESULTS = Path("benchmarks/results")
SCHEMA = 1
NAMES = ("net", "B", "p", "size", "n", "shape", "which")  # by which a case is known


def folder(what: str, record: bool, out: Path | None, document: Path) -> Path:
    """Where `bench what` writes, made if it is not there. record: into the clone's results. Raises BadInput."""
    clone = (ROOT / document).is_file()
    if record and not clone:
        raise BadInput(f"--record needs a clone of the course: {document} is not beside course_lib")
    if record and out:
        raise BadInput(f"--record writes to {RESULTS}: leave out --out")
    own = ROOT / RESULTS / "own" if clone else Path(f"bench-{what}")
    made = out or (ROOT / RESULTS if record else own)
    try:
        made.mkdir(parents=True, exist_ok=True)
        if not os.access(made, os.W_OK):
            raise PermissionError(13, "it may not be written to")
    except OSError as error:
        raise BadInput(f"--out: no folder can be made at {made}: {error.strerror}") from None
    return made


def read(path: Path, what: str) -> Result:
    """The result of `bench what` in a file. Raises BadInput for anything else."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(f"--reuse: {path} cannot be read as JSON: {error}") from None
    if not _is(found, what):
        raise BadInput(f"--reuse: {path} holds no result of `course bench {what}`, schema {SCHEMA}")
    return found


def recorded(what: str) -> list[Result]:
    """All results of `bench what` in benchmarks/results, by file name."""
    paths = sorted((ROOT / RESULTS).glob("*.json"))
    found = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    return [result for result in found if _is(result, what)]


def _is(found: Any, what: str) -> bool:
    known = isinstance(found, dict)
    return known and (found.get("benchmark"), found.get("schema")) == (what, SCHEMA)


def dump(value: Any) -> str:
    """`value` as JSON text that people can read and compare, ending in a newline."""
    return _write(rounded(value), 0) + "\n"


def rounded(value: Any) -> Any:
    """`value` as it is kept: floats with six digits: a clock tells no more. NaN and infinity are no JSON."""
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} cannot stand in a result")
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(item) for item in value]
    return value


def _write(value: Any, depth: int) -> str:
    inner: Iterable[str]
    if isinstance(value, dict) and value:
        inner = [f"{json.dumps(key)}: {_write(item, depth + 1)}" for key, item in value.items()]
    elif isinstance(value, list) and any(isinstance(item, dict | list) for item in value):
        inner = [_write(item, depth + 1) for item in value]
    else:
        return json.dumps(value, ensure_ascii=False)
    start, end = "{}" if isinstance(value, dict) else "[]"
    space = "\n" + " " * (depth + 1)
    return start + space + ("," + space).join(inner) + "\n" + " " * depth + end


def slug(name: str) -> str:
    """The name of a device or machine as a file name."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def failures(result: Result) -> list[str]:
    """What did not work, each in a line; what is not installed or cannot be is no failure."""
    return [line for line in _errors(result, "") if ": failed: " in line]


def _errors(value: Any, where: str) -> Iterator[str]:
    """ "case: way: error" of every "error" in a result."""
    if isinstance(value, dict):
        if isinstance(value.get("error"), str):
            yield f"{where}: {value['error']}"
        for key, item in value.items():
            yield from _errors(item, key if where in ("", key) else f"{where}: {key}")
    elif isinstance(value, list):
        for item in (item for item in value if isinstance(item, dict)):
            called = [f"{name} = {item[name]}" for name in NAMES if name in item]
            yield from _errors(item, ", ".join([where, *called]))
