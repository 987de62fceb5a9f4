"""All that is made from result files: gradebook, feedback, pictures, and grades for Canvas, Moodle and Gradescope.

    out/gradebook.csv                      one row a student
    out/index.html, out/feedback/*.html    for the instructor; a page for each student
    out/points-NN.png, out/mistakes-NN.png pictures of the class
    out/canvas.csv, out/moodle-NN.csv      filled-in copies of what --canvas and --moodle name
    out/gradescope/NN/<student>.json       with --gradescope

Nothing is graded here, so it may run again whenever the points given by hand (out/manual.csv) have changed.
"""

import json
from pathlib import Path

from course_lib.errors import BadInput
from course_tools.build import command as build
from course_tools.grading.deadlines import clock, rules, worksheet
from course_tools.grading.deadlines.apply import apply
from course_tools.grading.marks import feedback, gradebook, lms, manual, marks, tables
from course_tools.grading.rubric import give
from course_tools.grading.verdict import results

HELP = {
    "--manual": "points and comments by hand (default: manual.csv or manual.json in --out)",
    "--canvas": "your export of Canvas's gradebook, to be filled in",
    "--column": "the Canvas assignment of a chapter, where its title does not tell",
    "--moodle": "your grading worksheet of Moodle, of one chapter, to be filled in",
    "--deadlines": "take off what this file says of lateness, such as RELEASE/deadlines.toml",
    "--words": "what the page of `class words` has saved; once for each who reads",
    "--gradescope": "write a results.json for each submission",
}


def add_arguments(parser):
    """The options of `grade` that say what is exported."""
    always = "gradebook.csv and feedback/ always are"
    group = parser.add_argument_group("what is made from the results", always)

    def add(name, **how):
        group.add_argument(name, help=HELP[name], **how)

    _add_marks(add)
    add("--canvas", type=Path, metavar="FILE")
    add("--column", action="append", default=[], metavar="NN=TITLE")
    add("--moodle", action="append", default=[], metavar="[NN=]FILE")
    add("--gradescope", action="store_true")


def add_marks(parser):
    """The options of what reads the results of a run and changes nothing: --marks, and what points hang on."""
    parser.add_argument(
        "--marks", type=Path, required=True, metavar="DIR", help="what `grade` had as --out"
    )
    _add_marks(lambda name, **how: parser.add_argument(name, help=HELP[name], **how))
    words = "Moodle's, for the times in it, as `grade` had it as --moodle"
    parser.add_argument("--worksheet", action="append", default=[], metavar="[NN=]FILE", help=words)


def _add_marks(add):
    add("--manual", type=Path, metavar="FILE")
    add("--words", type=Path, action="append", default=[], metavar="FILE")
    add("--deadlines", type=Path, metavar="FILE")


def collected(args):
    """(`Marks`, what is to be said) of a folder of results, for a parser with `add_marks`."""
    made = marks.collect(args.marks, args.manual)
    return made, [*made.problems, *_by_rules(args.marks, made, args, args.worksheet)]


def look(args, chapters):
    """Read what the options name, before anything is graded. chapters: those of the releases. Raises BadInput."""
    if args.manual:
        manual.read(args.manual)
    for given in args.moodle:
        name, _, file = _moodle_option(given)
        lms.look_at_moodle(file)
        if name:
            chapter_of(chapters, name)
    for file in args.words:
        give.entries(file)
        give.key_of(args.out)
    if args.deadlines:
        rules.read(args.deadlines)
    columns = {chapter_of(chapters, name): title for name, title in _columns(args)}
    if args.canvas:
        lms.look_at_canvas(args.canvas, chapters, columns)


def write(args):
    """Write everything that `args` (of `add_arguments`, with `out`) asks for; the list of what is to be said.

    Raises BadInput for a file that is not of its form.
    """
    out = args.out
    made = marks.collect(out, args.manual)
    said = list(made.problems)
    said += _by_rules(out, made, args, args.moodle)
    sheets = [_sheet(made, given) for given in args.moodle]
    missing = _absent(made, args.canvas, sheets)
    gradebook.write(out, made, missing)
    if args.canvas:
        said += _canvas(out, made, args)
    for chapter, file in sheets:
        said += _moodle(out, made, chapter, file)
    if args.gradescope:
        _gradescope(out, made)
    made.problems = said
    feedback.write(out, made, _pictures(out, made), missing)
    return said


def _absent(made, canvas, sheets):
    """[(name, number)] of those on the class lists that are given who handed in nothing: each once."""
    lists = [lms.absent(made, canvas)] if canvas else []
    lists += [lms.absent_in_moodle(made, file) for _, file in sheets]
    found: list[tuple[str, str]] = []
    for one in lists:  # two of one name on one list are two; on two lists they are the same
        known = {way for name, _ in found for way in lms.both_ways(name)}
        found += [pair for pair in one if not lms.both_ways(pair[0]) & known]
    return found


def chapter_of(chapters, wanted):
    """The chapter that "03" or its name means. Raises BadInput."""
    found = [name for name in chapters if wanted in (name, name[:2], name[:2].lstrip("0") or "0")]
    if len(found) != 1:
        raise BadInput(
            f"there is no chapter {wanted!r} to be graded; there is {', '.join(chapters) or 'none'}"
        )
    return found[0]


def _columns(args):
    """[(chapter, title)] of --column."""
    pairs = [text.partition("=") for text in args.column]
    if any(not middle for _, middle, _ in pairs):
        raise BadInput("--column takes NN=TITLE, such as --column '03=Homework 3'")
    return [(name, title) for name, _, title in pairs]


def _moodle_option(given):
    """(chapter or "", "=", file) of --moodle."""
    return given.rpartition("=") if not Path(given).is_file() else ("", "", given)


def _canvas(out, made, args):
    columns = {chapter_of(made.columns, name): title for name, title in _columns(args)}
    table, said = lms.canvas(made, args.canvas, columns)
    _save(out / "canvas.csv", args.canvas, table)
    return [f"canvas: {line}" for line in said]


def _sheet(made, given):
    """(chapter, file) of a --moodle."""
    name, _, file = _moodle_option(given)
    if not name and len(made.columns) != 1:
        raise BadInput(
            f"--moodle {given}: say which chapter it is for, --moodle NN=FILE: {', '.join(made.columns)}"
        )
    return chapter_of(made.columns, name) if name else next(iter(made.columns)), file


def _moodle(out, made, chapter, file):
    table, said = lms.moodle(made, file, chapter)
    _save(out / f"moodle-{chapter[:2]}.csv", file, table)
    return [f"moodle: {line}" for line in said]


def _by_rules(out, made, args, worksheets):
    """What was read in words, then lateness; worksheets: of Moodle."""
    said = give.give(made, out, args.words) if args.words else []
    return said + (_deadlines(out, made, args, worksheets) if args.deadlines else [])


def _deadlines(out, made, args, worksheets):
    given = rules.read(args.deadlines)
    lms_times = {}
    for option in worksheets if made.columns else ():
        name, _, file = _moodle_option(option)
        chapter = chapter_of(made.columns, name) if name else next(iter(made.columns))
        lms_times[chapter] = worksheet.times(file, given.zone)
    return apply(made, given, clock.load(out), lms_times)


def _save(file, original, table):
    if file.exists() and file.samefile(original):
        raise BadInput(f"{original} would be overwritten: keep your own export outside of --out")
    tables.write(file, table)


def _gradescope(out, made):
    for student in made.students:
        for name, chapter in student.chapters.items():
            file = out / "gradescope" / name[:2] / results.file_of(out, student.name).name
            build.write(file, json.dumps(lms.gradescope(chapter), indent=1) + "\n")


def _pictures(out, made):
    if not made.columns:
        return []
    from course_tools.grading.marks import picture  # here, since Matplotlib takes its time

    figures = picture.figures(made)
    for figure in figures:
        kind = "points" if "points by task" in figure.title else "mistakes"
        figure.save(out / f"{kind}-{figure.title[:2]}.png")
    return figures
