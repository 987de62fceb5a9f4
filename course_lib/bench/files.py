"""Until bench/papers moves: see course_tools/bench."""

from pathlib import Path

from course_tools.bench.frame import document as document_of
from course_tools.bench.frame import results
from course_tools.bench.frame.command import interpreter as interpreter
from course_tools.bench.frame.conditions import say as say
from course_tools.bench.frame.conditions import warn_if_busy as warn_if_busy
from course_tools.bench.frame.results import ROOT as ROOT
from course_tools.bench.frame.results import read as read
from course_tools.bench.frame.results import recorded as recorded
from course_tools.bench.frame.results import slug as slug


def folder(what, record, out, option="--record", document=""):
    return results.folder(what, record, out, Path(document or f"docs/bench-{what}.md"))


def rewrite(document, blocks, result):
    document_of.rewrite(document, blocks)
