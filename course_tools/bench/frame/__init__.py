"""What every bench has, once; a bench adds its catalogue (`Bench`).

bench.py       what a bench is: its settings, what it measures, its sections of tables, its targets
command.py     its options, its files, its exit status
measure.py     one run: the JSON's dict with the machine, the versions, the load; what failed in it
results.py     the JSON: written, read again; where it goes
document.py    a report for the terminal, and the made blocks of docs/bench-*.md
tables.py      a table as text and as Markdown; numbers.py medians, quartiles, ratios; targets.py the verdicts
conditions.py  the machine, the versions, the noise, in words
processes.py   the parent's end of the processes that do the work, start_desk.py the child's; workers.py the libraries
rounds.py      runs of all ways in turn, round after round; progress.py what is seen meanwhile
"""
# ruff: noqa: F401  (what a catalogue needs of the frame)

from course_tools.bench.frame.bench import Bench, Result
from course_tools.bench.frame.conditions import load_line, machine_name, noise_note, say
from course_tools.bench.frame.numbers import Runs, known, median, quartiles, quickest, ratio, runs
from course_tools.bench.frame.processes import Group, WorkerError
from course_tools.bench.frame.progress import Progress
from course_tools.bench.frame.results import ROOT, slug
from course_tools.bench.frame.rounds import Series, interleave, kept
from course_tools.bench.frame.tables import Table, count, digits, spread, timed_row, typical
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
