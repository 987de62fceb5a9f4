"""The two tables on rehearsals in docs/mpi.md: the calls that a rehearsal has, and the faults that it finds.

    .venv/bin/python -m course_tools.maintenance.rehearsal_tables --write

runs the corpus of tests/machines/rehearsal/faults, once, on pretend ranks. What other columns know stands in
record.json beside it: `first`, the rehearsal's verdict at first contact, before it was changed for the corpus, and
`real`, that of real ranks; each {program: words}, as far as it was recorded.
"""

import argparse
import importlib
import json
import sys
from pathlib import Path
from typing import Any

from course_lib import mpi

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "mpi.md"
RECORD = ROOT / "tests" / "machines" / "rehearsal" / "faults" / "record.json"
# columns after the rehearsal's own: key in the record, head
COLUMNS = (("first", "rehearsal at first contact"), ("real", "real ranks"))
CLASSES = ("Comm", "Intracomm", "Topocomm", "Cartcomm", "Group", "Request", "Prequest", "Message")
MADE = (
    "f2py",
    "py2f",
    "handle",
    "fromhandle",
    "toint",
    "fromint",
)  # no calls, but other names of a thing


def ours():
    """{class of mpi4py.MPI: what stands for it in a rehearsal}."""
    from course_lib.machines.rehearsal.calls.groups import Group
    from course_lib.machines.rehearsal.calls.more_calls import Message
    from course_lib.machines.rehearsal.calls.persistent import Prequest
    from course_lib.machines.rehearsal.comm import Cartcomm, Comm
    from course_lib.machines.rehearsal.requests import Request

    stand_ins = (Comm, Comm, Cartcomm, Cartcomm, Group, Request, Prequest, Message)
    return dict(zip(CLASSES, stand_ins, strict=True))


def calls():
    """{class: (names that a rehearsal has, names that it has not)}, of all that mpi4py has."""
    from mpi4py import MPI

    found = {}
    for name, own in ours().items():
        kind = getattr(MPI, name)
        theirs = {n for n in vars(kind) if n[0] != "_" and n not in MADE}
        theirs -= {n for base in kind.__mro__[1:] for n in vars(base)}
        here = {n for n in theirs if hasattr(own, n) or n in ("dims", "periods")}
        found[name] = sorted(here), sorted(theirs - here)
    return found


def calls_table():
    """The calls as Markdown."""
    from course_lib.machines.rehearsal.calls.names import ABSENT

    lines = ["| of mpi4py's | rehearsed | only on real ranks |", "|---|---|---|"]
    for name, (here, absent) in calls().items():
        lines.append(f"| `{name}` | {_listed(here)} | {_listed(absent)} |")
    lines.append(f"| `MPI` | all else | {_listed(ABSENT)} |")
    return lines


def programs():
    """The corpus: a list of `rank_faults.Program`."""
    support = str(ROOT / "tests" / "support")
    if support not in sys.path:
        sys.path.insert(0, support)
    return importlib.import_module("rank_faults").programs()


def verdict(program) -> str:
    """What the rehearsal says of a program: the tool and the line, or "nothing"."""
    report = mpi.rehearse(program.fn, program.n, show=False, **program.how)
    error: Any = next((e for e in report.errors if e["tool"] in program.finds), None)
    error = error or next(iter(report.errors), None)
    return f"{error['tool']}: `{error['code']}`" if error else "nothing"


def faults_table(said):
    """The corpus as Markdown. said: {program: verdict}."""
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    kept = [(key, head) for key, head in COLUMNS if record.get(key)]
    heads = ["class", "program", "ranks", "rehearsal", *(head for _, head in kept)]
    lines = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    for program in sorted(programs(), key=lambda one: (not one.finds, one.kind)):
        told = said[program.name].replace("|", "\\|")
        more = [record[key].get(program.name, "") for key, _ in kept]
        cells = [program.kind, program.name.replace("_", " "), str(program.n), told, *more]
        lines.append(f"| {' | '.join(cells)} |")
    return [*_summary(said, record, kept), "", *lines]


def _summary(said, record, kept):
    faulty = [p for p in programs() if p.finds]
    right = [p for p in programs() if not p.finds]
    found = sum(said[p.name].split(":")[0] in p.finds for p in faulty)
    blamed = sum(said[p.name] != "nothing" for p in right)
    kinds = len({p.kind for p in faulty})
    first = record.get("first", {})
    missed = sum(first.get(p.name) == "missed" for p in faulty)
    text = (
        f"{len(faulty)} faulty programs of {kinds} classes: {found} are found and named. Of {len(right)} right "
        f"ones {blamed} are blamed."
    )
    if first:
        text += (
            f" At first contact, before the rehearsal was changed for them, {missed} were missed."
        )
    if real := record.get("real", {}):
        told = sum(real.get(p.name, "nothing") != "nothing" for p in faulty)
        harmed = sum(real.get(p.name, "nothing") != "nothing" for p in right)
        text += (
            f" Real ranks (`mpi.cluster`) end or name {told} of the faulty ones and blame {harmed} of the right "
            "ones; the others run to their end on this MPI, by its buffers and by luck. The cell after each was right."
        )
    return [text]


def _listed(names):
    return ", ".join(f"`{name}`" for name in names)


def replaced(text, name, lines):
    """The page with new lines between the marks of that name."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    head, _, rest = text.partition(begin)
    _, _, tail = rest.partition(end)
    return "\n".join([head + begin, "", *lines, "", end + tail])


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="write the tables into docs/mpi.md")
    asked = parser.parse_args(argv)
    said = {program.name: verdict(program) for program in programs()}
    tables = {"rehearsed calls": calls_table(), "faults": faults_table(said)}
    if not asked.write:
        print("\n".join(line for lines in tables.values() for line in lines))
        return 0
    text = PAGE.read_text(encoding="utf-8")
    for name, lines in tables.items():
        text = replaced(text, name, lines)
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
