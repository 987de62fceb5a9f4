"""deadlines.toml: when chapters are due, what lateness costs, and who has more time."""

import datetime
import tomllib
import zoneinfo
from dataclasses import dataclass, field
from pathlib import Path

from course_lib.errors import BadInput

TOP = {"timezone", "chapters", "late", "extension", "handed-in"}
LATE = {"grace": 0, "days": 0, "most": 0, "penalty": 0, "least": 0}
KEYS = {
    "chapters": {"due", "close"},
    "extension": {"student", "chapter", "due", "days", "reason"},
    "handed-in": {"student", "chapter", "at"},
}


@dataclass(frozen=True)
class Rules:
    """What a file says. chapters: {as written: {due, close}}; late: as LATE; the rest as written, times with zones."""

    file: str
    chapters: dict
    late: dict
    extensions: list = field(default_factory=list)
    times: list = field(default_factory=list)
    zone: datetime.tzinfo | None = None


def read(file):
    """The `Rules` in a file. Raises BadInput, which names the entry that is wrong."""
    file = Path(file)
    try:
        given = tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise BadInput(f"{file} cannot be read: {error}") from None
    _known(file, "", given, TOP)
    zone = _zone(file, given.get("timezone"))
    late = _numbers(file, given.get("late", {}))
    chapters = {
        str(name): _entry(file, f"chapters.{name}", row, "chapters", ("due",), zone)
        for name, row in _table(file, "chapters", given.get("chapters", {})).items()
    }
    both = ("student", "chapter")
    more = _list(file, given, "extension", both, zone)
    for row in more:
        if ("due" in row) == ("days" in row):
            raise BadInput(f"{file}: extension of {row['student']!r}: give either due or days")
    times = _list(file, given, "handed-in", (*both, "at"), zone)
    return Rules(file.name, chapters, late, more, times, zone)


def _zone(file, name):
    if name is None:
        return None
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, TypeError, OSError):
        raise BadInput(f"{file}: there is no time zone {name!r}; one is Europe/Berlin") from None


def _known(file, where, row, names):
    if strange := sorted(set(row) - set(names)):
        known = ", ".join(sorted(names))
        raise BadInput(f"{file}: {where or 'top'}: no entry is called {strange[0]!r}, but {known}")


def _table(file, where, given):
    if not isinstance(given, dict):
        raise BadInput(f"{file}: {where} must be a table")
    return given


def _numbers(file, given):
    _known(file, "late", _table(file, "late", given), LATE)
    for name, value in given.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
            raise BadInput(f"{file}: late.{name} must be a number from 0, not {value!r}")
        if name in ("penalty", "least") and value > 100:
            raise BadInput(f"{file}: late.{name} is in percent, at most 100, not {value!r}")
    return LATE | given


def _list(file, given, name, needed, zone):
    rows = given.get(name, [])
    if not isinstance(rows, list):
        raise BadInput(f"{file}: write [[{name}]] with two brackets, one for each student")
    return [_entry(file, f"{name} {i}", row, name, needed, zone) for i, row in enumerate(rows, 1)]


def _entry(file, where, row, kind, needed, zone):
    """A table with its times in a zone; every entry of the kind that is meant."""
    _known(file, where, _table(file, where, row), KEYS[kind])
    if lacking := [name for name in needed if name not in row]:
        raise BadInput(f"{file}: {where} lacks {', '.join(lacking)}")
    made = dict(row)
    for name in ("due", "close", "at"):
        if name in row:
            made[name] = _time(file, f"{where}.{name}", row[name], zone)
    for name in ("student", "chapter", "reason"):
        if name in row:
            made[name] = str(row[name])
    days = row.get("days", 0)
    if isinstance(days, bool) or not isinstance(days, int | float) or not 0 <= days < 1000:
        raise BadInput(f"{file}: {where}.days must be a number of days, not {days!r}")
    return made


def _time(file, where, given, zone):
    if not isinstance(given, datetime.datetime):
        raise BadInput(f"{file}: {where} must be a time such as 2026-11-20 23:59:00, not {given!r}")
    if given.tzinfo:
        return given
    return given.replace(tzinfo=zone) if zone else given.astimezone()
