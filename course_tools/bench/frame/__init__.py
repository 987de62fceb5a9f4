"""What every bench has, once; a bench adds its catalogue (`Bench`).

bench.py       what a bench is; its options, its files, its exit status, one run
results.py     the JSON: written, read again; where it goes; what failed in it
document.py    a report for the terminal, and the made blocks of docs/bench-*.md; the machine and the noise in words
tables.py      medians, quartiles, ratios; a table as text and as Markdown; targets.py the verdicts
processes.py   the parent's end of the processes that do the work, start_desk.py the child's; workers.py the libraries
rounds.py      runs of all ways in turn, round after round, and what is seen meanwhile
"""
# ruff: noqa: F401  (what a catalogue needs of the frame)

from course_tools.bench.frame.bench import Bench
from course_tools.bench.frame.document import load_line, machine_name, noise_note, say
from course_tools.bench.frame.processes import Group, WorkerError
from course_tools.bench.frame.results import ROOT, slug
from course_tools.bench.frame.rounds import Progress, Series, answered, by_name, interleave, kept
from course_tools.bench.frame.tables import (
    Result,
    Runs,
    Table,
    count,
    digits,
    known,
    median,
    medians,
    percent,
    quartiles,
    quickest,
    ratio,
    runs,
    spread,
    timed_row,
    tiny,
    typical,
)
from course_tools.bench.frame.targets import (
    Found,
    Target,
    alone,
    at_least,
    at_most,
    beyond,
    none_at_all,
    over,
)
from course_tools.bench.frame.workers import Worker, Workers, clear, needed, start
