"""`course class github`: a workflow for GitHub Classroom, which runs the public checks at each push.

After the documentation of GitHub Actions and of the actions autograding-command-grader and autograding-grading-reporter
(github.com/classroom-resources). Hidden checks never go to GitHub: grade the class's repositories with `grade`.
"""

import json
import re
from pathlib import Path

from course_lib.errors import BadInput
from course_tools.build import command as build
from course_tools.grading.marks import export
from course_tools.grading.release import manifest
from course_tools.text import render

TEMPLATE = Path(__file__).with_name("classroom.yml.jinja")


def add_arguments(parser):
    """The arguments of `class github`."""
    parser.add_argument("chapter", metavar="NN")
    parser.add_argument("--release", type=Path, required=True, metavar="DIR")
    words = "where GitHub finds this course, which students' repositories do not hold"
    parser.add_argument("--course", required=True, metavar="OWNER/NAME", help=words)
    parser.add_argument("--ref", default="main", help="its branch, tag or commit (%(default)s)")
    words = "such as .github/workflows/classroom.yml in the template repository"
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.yml", help=words)


def command(args):
    """Write the workflow. Exit status: 0."""
    release = manifest.load(args.release)
    chapter = release.chapters[export.chapter_of(sorted(release.chapters), args.chapter)]
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", args.course):
        raise BadInput(f"--course takes OWNER/NAME, not {args.course!r}")
    build.write(args.out, text(chapter, args.course, args.ref))
    print(f"{args.out}: {len(chapter.tasks)} tasks of {chapter.name}")
    return 0


def text(chapter, course, ref):
    """The workflow."""
    tasks = [(step.id, step.points) for step in chapter.tasks]
    values = {"chapter": chapter.name, "tasks": tasks, "course": course, "ref": ref}
    values["runners"] = ",".join(f"task-{name}" for name, _ in tasks)
    return render(TEMPLATE, quoted=json.dumps, **values)  # JSON's texts are YAML's
