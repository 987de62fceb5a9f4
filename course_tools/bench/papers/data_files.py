"""The data files, read and checked: claims/*.toml and errata.toml. What is wrong there names file and entry.

A claim has an id that stays, `where` it stands, and what the text `says`: its words or its number. `status`: measured,
counted, computed, noted or not measured. `find`: the function of findings/ that looks for our number in a result, its
options in `with`; or `found`, a text for every result, with numbers of arithmetic.py in braces (of what is not measured
it is the reason). `why` the two may differ. `like`: what is not said here is as in the claim of that id, further up.
"""

import tomllib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from course_lib.errors import BadInput
from course_tools.bench.papers.claim import (
    NOT_MEASURED,
    STATUSES,
    Claim,
    Erratum,
    NotMeasured,
    Result,
)

HERE = Path(__file__).parent
Entry = dict[str, Any]


def read(path: Path) -> Entry:
    """A TOML file. Raises BadInput where it is none."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(f"{path.name} cannot be read as TOML: {error}") from None


def check_fields(where: str, entry: Entry, required: tuple[str, ...], *optional: str) -> None:
    """Raise BadInput unless an entry has these fields, and no others, and all are texts."""
    for name in required:
        if name not in entry:
            raise BadInput(f"{where}: the field `{name}` is missing")
    for name, value in entry.items():
        if name not in (*required, *optional):
            known = ", ".join((*required, *optional))
            raise BadInput(f"{where}: there is no field `{name}`; there are {known}")
        if not isinstance(value, str) or not value.strip():
            raise BadInput(f"{where}: `{name}` must be a text that says something, not {value!r}")


def entries(path: Path, found: Any, kind: str, name: str) -> Iterator[tuple[str, Entry]]:
    """(file and entry for a message, entry) of an array of tables. Raises BadInput for a second entry of a name."""
    if not isinstance(found, list) or not all(isinstance(entry, dict) for entry in found):
        raise BadInput(f"{path.name}: the entries must be tables, each headed [[{kind}]]")
    names = set()
    for n, entry in enumerate(found, 1):
        said = entry.get(name)
        where = f"{path.name}, {kind} {n} ({said or f'without {name}'})"
        if said in names:
            raise BadInput(f"{where}: an entry above has the same {name}; choose another")
        names.add(said)
        yield where, entry


def read_claims(folder: Path = HERE / "claims") -> tuple[Claim, ...]:
    """All claims of the files in a folder, text by text."""
    files = sorted(folder.glob("*.toml"), key=lambda path: read_head(path)[0])
    return tuple(claim for path in files for claim in _claims(path))


def read_head(path: Path) -> tuple[str, str]:
    """(text, title) of a file of claims: ("[000]", its authors and its name)."""
    head = {name: value for name, value in read(path).items() if name != "claim"}
    check_fields(path.name, head, ("text", "title"))
    return head["text"], head["title"]


def _claims(path: Path) -> Iterator[Claim]:
    text, _ = read_head(path)
    known: dict[str, Entry] = {}
    for where, entry in entries(path, read(path).get("claim"), "claim", "id"):
        whole = _filled(where, entry, known)
        known[whole["id"]] = whole
        if not whole["id"].startswith(f"{text[1:-1]}-"):
            raise BadInput(f"{where}: the id of a claim of {text} begins with {text[1:-1]}-")
        said, find = (whole["id"], text, whole["where"], whole["says"]), _find(where, whole)
        yield Claim(*said, whole["status"], find, whole.get("why", ""))


def _filled(where: str, entry: Entry, known: dict[str, Entry]) -> Entry:
    """The entry, and what it takes over from the one that it is `like`. Raises BadInput for fields that do not fit."""
    texts, options = dict(entry), entry.get("with", {})
    texts.pop("with", None)
    check_fields(where, texts, ("id", "where", "says"), "like", "status", "find", "found", "why")
    if not isinstance(options, dict):
        raise BadInput(f"{where}: `with` must hold the function's options, not {options!r}")
    like = entry.get("like")
    if like is None:
        return {**texts, "with": options}
    if like not in known:
        raise BadInput(f"{where}: `like` names no claim above: {like}")
    return {**known[like], **texts, "with": known[like]["with"] | options}


def _find(where: str, entry: Entry) -> Callable[[Result], str]:
    """What gives the finding. Raises BadInput if nothing does, or two things do."""
    from course_tools.bench.papers.findings import finder

    if entry.get("status") not in STATUSES:
        raise BadInput(f"{where}: `status` must be one of {', '.join(STATUSES)}")
    if ("find" in entry) == ("found" in entry):
        raise BadInput(f"{where}: there must be `find` or `found`, and not both")
    if "find" in entry:
        return finder(where, entry["find"], entry["with"])
    return partial(_found, entry["status"], _filled_in(where, entry["found"]))


def _filled_in(where: str, text: str) -> str:
    """A text with the numbers that it names. Raises BadInput for a name, or a form, that does not exist."""
    from course_tools.bench.papers.arithmetic import numbers

    try:
        return text.format_map(numbers())
    except (LookupError, TypeError, ValueError) as error:
        raise BadInput(f"{where}: the number {error} in `found` does not exist") from None


def _found(status: str, text: str, _: Result) -> str:
    """The same for every result."""
    if status == NOT_MEASURED:
        raise NotMeasured(text)
    return text


def read_errata(path: Path = HERE / "errata.toml") -> tuple[Erratum, ...]:
    """All errata of a file, text by text; a text's array of tables is called as its file of claims."""
    found = read(path)
    if unknown := found.keys() - TEXT_OF.keys():
        raise BadInput(
            f"{path.name}: [[{min(unknown)}]] is no text; there are {', '.join(TEXT_OF)}"
        )
    return tuple(each for name in TEXT_OF for each in _errata(path, found.get(name, []), name))


def _errata(path: Path, found: Any, name: str) -> Iterator[Erratum]:
    for where, entry in entries(path, found, name, "name"):
        check_fields(where, entry, ("name", "where", "says", "right"))
        yield Erratum(entry["name"], TEXT_OF[name], entry["where"], entry["says"], entry["right"])


_HEADS = {path.stem: read_head(path) for path in (HERE / "claims").glob("*.toml")}
TEXTS = dict(sorted(_HEADS.values()))  # {"[000]": authors and name}
TEXT_OF = {name: text for text, name in sorted((text, name) for name, (text, _) in _HEADS.items())}
ERRATA = read_errata()
