"""`course class similar`: pairs of students whose answers resemble each other, with their cells side by side."""

from pathlib import Path

from course_lib.errors import BadInput
from course_tools.build import command as build
from course_tools.grading.intake import assemble, handed_in, newest, notebook
from course_tools.grading.marks import feedback
from course_tools.grading.release import make, manifest
from course_tools.grading.similarity import known, pairs
from course_tools.text import count, render

PAGE = Path(__file__).with_name("similar.html.jinja")


def add_arguments(parser):
    """The arguments of `class similar`."""
    parser.add_argument("submissions", type=Path, nargs="+", help="as for grade; last year's too")
    parser.add_argument("--release", type=Path, required=True, metavar="DIR")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.html")
    parser.add_argument("--most", type=int, default=50, metavar="N", help="pairs (%(default)s)")
    parser.add_argument("--root", type=Path, help="the clone (default: where chapters/ is)")


def command(args):
    """Write the page. Exit status: 0."""
    given = manifest.load(args.release)
    root = build.clone(args.root)
    found = texts(args.submissions, given)
    if not found:
        raise BadInput("none of the submissions has an answer to a task of this release")
    said = 0
    chapters = []
    for name, chapter in sorted(given.chapters.items()):
        (read,) = make.exercises(root, [name])
        mine = {(who, task): text for (who, one, task), text in found.items() if one == name}
        made = pairs.answers(mine, known.of_chapter(read, chapter))
        best = pairs.find(made, args.most)
        said += len(best)
        chapters.append((chapter, [_shown(pair, made) for pair in best], _students(mine)))
    build.write(args.out, page(chapters))
    print(f"{args.out}: {count(said, 'pair')} among {count(_students(found), 'student')}")
    return 0


def texts(places, given):
    """{(student, chapter, task): code}, of each chapter the file that counts."""
    made = {}
    for place in places:
        year = f" ({place.name})" if len(places) > 1 else ""
        for submission in handed_in.collect(place):
            for chapter, found in _assembled(submission, given).items():
                one = newest.last(found)[0][-1][1]
                for task, text in one.texts.items():
                    made[submission.student + year, chapter, task] = text
    return made


def _assembled(submission, given):
    found: dict[str, list] = {}
    for file in submission.files:
        read = notebook.read(file)
        chapter = assemble.chapter_of(read, given) if read.cells else None
        if chapter:
            found.setdefault(chapter.name, []).append((file, assemble.assemble(read, chapter)))
    return found


def _students(found):
    return len({key[0] for key in found})


def _shown(pair, made):
    """(pair, [(task, shared, share, lines of one, lines of the other)])"""
    rows = []
    for task, (shared, share) in sorted(pair.tasks.items(), key=lambda item: -item[1][0]):
        one, other = made[pair.one, task], made[pair.other, task]
        both = pairs.marked(one, other), pairs.marked(other, one)
        rows.append((task, shared, share, *both))
    return pair, rows


def page(chapters):
    """The page. chapters: [(manifest.Chapter, [of `_shown`], students)]."""
    values = {"shown": feedback.shown, "line": _line, "style": feedback.STYLE}
    return render(PAGE, chapters=chapters, title="Similar answers", **values)


def _line(text):
    """A line of a student's: feedback.shown would drop the spaces at the end and empty lines."""
    return feedback.shown(text, 400) or " "
