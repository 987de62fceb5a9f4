"""What all benchmarks share: where results go, how they are read again, and what is said on standard error."""

import json
import os
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from course_lib.bench.dump import dump, rounded
from course_lib.bench.measuring import load
from course_lib.errors import BadInput

ROOT = Path(__file__).resolve().parents[2]
RESULTS = Path("benchmarks/results")
BUSY = 0.3  # of a core: above that, somebody else is at work


def folder(
    what: str, docs: bool, out: Path | None, option: str = "--docs", document: str = ""
) -> Path:
    """Where `bench what` writes, made if it is not there. docs: into the clone's results. Raises BadInput."""
    document = document or f"docs/bench-{what}.md"
    clone = (ROOT / document).is_file()
    if docs and not clone:
        raise BadInput(
            f"{option} needs a clone of the course: there is no {document} beside this course_lib"
        )
    if docs and out:
        raise BadInput(f"{option} writes to {RESULTS}: leave out --out")
    default = ROOT / RESULTS if docs else ROOT / RESULTS / "own" if clone else Path(f"bench-{what}")
    made = out or default
    try:
        made.mkdir(parents=True, exist_ok=True)
        if not os.access(made, os.W_OK):
            raise PermissionError(13, "it may not be written to")
    except OSError as error:
        raise BadInput(f"--out: no folder can be made at {made}: {error.strerror}") from None
    return made


def read(path: Path, what: str, schema: int) -> dict[str, Any]:
    """The result of `bench what` in a file. Raises BadInput for anything else."""
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(f"--reuse: {path} cannot be read as JSON: {error}") from None
    if not isinstance(result, dict) or (result.get("benchmark"), result.get("schema")) != (
        what,
        schema,
    ):
        raise BadInput(f"--reuse: {path} holds no result of `course bench {what}`, schema {schema}")
    return result


def text(result: dict[str, Any], targets: Callable[[dict[str, Any]], list[Any]]) -> str:
    """JSON with six digits a number, one list a line; the targets are judged by the digits that are kept."""
    kept = rounded(result)
    return dump({**kept, "targets": [t._asdict() for t in targets(kept)]})


def recorded(what: str, schema: int) -> list[dict[str, Any]]:
    """All results of `bench what` in benchmarks/results, by file name."""
    found = [
        json.loads(path.read_text(encoding="utf-8"))
        for path in sorted((ROOT / RESULTS).glob("*.json"))
    ]
    return [
        result
        for result in found
        if (result.get("benchmark"), result.get("schema")) == (what, schema)
    ]


def rewrite(
    document: Path, blocks: Mapping[str, Callable[[dict[str, Any]], str]], result: dict[str, Any]
) -> None:
    """The document of the clone, its made blocks anew."""
    from course_lib.bench.docs import written

    path = ROOT / document
    path.write_text(written(path.read_text(encoding="utf-8"), result, blocks), encoding="utf-8")


def slug(name: str) -> str:
    """The name of a device or machine as a file name."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def interpreter(option: str, python: str | None) -> str | None:
    """The program that an option names, or None where it is not given. Raises BadInput."""
    if python is not None and not (os.path.isfile(python) and os.access(python, os.X_OK)):
        raise BadInput(f"{option} must be a Python interpreter; {python!r} is no program")
    return python


def say(what: str, text: str) -> None:
    """A line on standard error."""
    print(f"course bench {what}: {text}", file=sys.stderr)


def warn_if_busy(what: str) -> None:
    """Say so if other programs are at work."""
    busy = load()
    if busy is not None and busy > BUSY:
        say(
            what,
            f"warning: the load average is {busy:g}: other programs are at work, and these times will show it",
        )
