"""What real ranks say of the corpus of faulty programs, and whether the cell after each of them is right.

    .venv/bin/python -m course_tools.maintenance.rank_verdicts --write

runs every program of tests/machines/rehearsal/faults as a parallel cell (`mpi.cluster`), each followed by a right cell,
and writes the verdicts into record.json beside them, from where `rehearsal_tables` takes them. It takes minutes: after
most of the programs new ranks are started. Where a cell was late or its next cell wrong, nothing is written and the
exit status is 1. `--times 10 --load 4` runs all ten times, beside four programs that never rest. Most of the time is
waiting for deadlines: `--part 2/4` is every fourth program from the second on, so that four calls side by side, each
other's load, share the work.
"""

import argparse
import contextlib
import inspect
import io
import json
import re
import sys
import time

from course_lib import mpi
from course_tools.maintenance import under_load
from course_tools.maintenance.rehearsal_tables import RECORD, programs

SECONDS = 10  # a cell's deadline
SLACK = 3.0  # seconds after the deadline in which it must have ended
NEXT = """
from mpi4py import MPI
assert MPI.COMM_WORLD.allreduce(MPI.COMM_WORLD.rank) == sum(range(MPI.COMM_WORLD.size))
"""
# words of a rank's error, and what the table calls it; the first that is there
KINDS = (
    ("had not finished after", "stopped at the deadline, lines named"),
    ("all ranks finished this cell, but", "named at the end of the cell"),
    (" died in this cell", "the rank that ended is named"),
    ("raised", "exception"),
    ("nothing", "nothing"),
)


def cell(program):
    """The program as a cell: its module's text without the corpus's own decorators, and a call."""
    text = inspect.getsource(sys.modules[program.fn.__module__])
    text = re.sub(r"^from rank_faults import .*$", "", text, flags=re.MULTILINE)
    given = "fault = right = lambda *words, **more: lambda fn: fn\n"
    return f"{given}{text}\nresult = {program.name}(MPI.COMM_WORLD)\n"


def verdict(ranks, program):
    """(what was said, seconds, is the next cell right?)."""
    said, began = "nothing", time.monotonic()
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            ranks.execute(cell(program), timeout=SECONDS)
        except mpi.RankError as error:
            said = str(error)
        took = time.monotonic() - began
        try:
            ranks.execute(NEXT, timeout=60)
        except mpi.RankError as error:
            return said, took, str(error)
    return said, took, None


def in_a_word(message):
    """The table's word for a rank's error."""
    return next((word for told, word in KINDS if told in message), "another error")


def all_verdicts(chosen):
    """{program: words}, and the lines about cells that were late or whose next cell was wrong."""
    said, faults, found = {}, [], {}
    for n in sorted({program.n for program in chosen}):
        with mpi.cluster(n, timeout=60, progress=False) as ranks:
            for program in (one for one in chosen if one.n == n):
                message, took, wrong = found[program.name] = verdict(ranks, program)
                print(f"# {program.name} ({took:.1f} s): {message}", flush=True)
    for name, (message, took, wrong) in found.items():
        said[name] = in_a_word(message)
        if wrong:
            faults.append(f"after {name} the next cell is wrong: {wrong}")
        if took > SECONDS + SLACK:
            faults.append(f"{name} ended {took - SECONDS:.1f} s after its deadline")
    return said, faults


def repeated(chosen, times, load):
    """`all_verdicts` so many times beside so much load: the last verdicts, and the lines of all runs."""
    faults: list = []
    with under_load.busy(load):
        for number in range(1, times + 1):
            began = time.monotonic()
            said, found = all_verdicts(chosen)
            faults += [f"run {number}: {fault}" for fault in found] if times > 1 else found
            took = time.monotonic() - began
            print(f"# run {number} of {times}: {len(chosen)} programs, {took:.0f} s", flush=True)
    return said, faults


def main(argv=None):
    """Print the verdicts, or write them; return 1 where a cell was late or its next cell wrong."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="write them into the record")
    parser.add_argument(
        "--only", default="", metavar="WORDS", help="programs with this in their name or file's"
    )
    parser.add_argument("--times", type=int, default=1, help="how often each of them runs")
    parser.add_argument("--load", type=int, default=0, help="programs that count beside them")
    parser.add_argument(
        "--part", default="1/1", metavar="K/N", help="every Nth program, from the Kth on"
    )
    asked = parser.parse_args(argv)
    first, step = (int(number) for number in asked.part.split("/"))
    chosen = [one for one in programs() if asked.only in f"{one.fn.__module__} {one.name}"]
    chosen = chosen[first - 1 :: step]
    said, faults = repeated(chosen, asked.times, asked.load)
    if asked.write and not faults:  # the table says that the cell after each was right
        record = json.loads(RECORD.read_text(encoding="utf-8"))
        record["real"] = {**record.get("real", {}), **said}
        RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(f"{len(said)} programs, {len(faults)} faults", *faults, sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
