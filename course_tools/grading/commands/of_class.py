"""`python -m course_lib class WHAT`: what a class needs around its grades; `grade` itself is a command of its own."""

import importlib

WHAT = {
    "similar": (
        "course_tools.grading.similarity.command",
        "pairs of students whose answers resemble each other, cells side by side",
    ),
    "words": (
        "course_tools.grading.rubric.command",
        "what students wrote in words: a page to grade it without names, by keyboard",
    ),
    "feedback": (
        "course_tools.grading.platforms.feedback_zip",
        "all feedback in one zip, as Canvas or Moodle takes it back",
    ),
    "gradescope": (
        "course_tools.grading.platforms.gradescope",
        "the zip of an autograder for Gradescope",
    ),
    "github": (
        "course_tools.grading.platforms.github",
        "a workflow for GitHub Classroom with the public checks",
    ),
    "exchange": (
        "course_tools.grading.platforms.exchange",
        "exercises into nbgrader's exchange on a JupyterHub",
    ),
}


def add_arguments(parser):
    """A subcommand for each thing."""
    parser.description = __doc__.split("\n")[0]
    kinds = parser.add_subparsers(dest="what", required=True, metavar="WHAT")
    for name, (module, text) in WHAT.items():
        one = kinds.add_parser(name, help=text, description=text)
        importlib.import_module(module).add_arguments(one)


def command(args):
    """Run the one that is named. Exit status: 0 done, 1 something is wrong, 2 the call is wrong."""
    return importlib.import_module(WHAT[args.what][0]).command(args)
