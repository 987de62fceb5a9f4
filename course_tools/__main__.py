"""The command line: `python -m course_lib COMMAND`, also installed as `course`.

Exit status: 0 done, 1 something checked is wrong, 2 the call is wrong.
"""

import argparse
import importlib
import sys

COMMANDS = {
    "doctor": (
        "course_tools.doctor",
        "what this machine has, what each chapter runs on, how to add what is missing",
    ),
    "progress": (
        "course_lib.progress.command",
        "which of your tasks are right, your points, and where to go on",
    ),
    "report": (
        "course_tools.report",
        "a check misled you: what it said, its seed and your cell as a text to send",
    ),
    "trace": (
        "course_tools.trace",
        "run a kernel of your own on the CPU: what is wrong with it, how it uses memory",
    ),
    "bench": (
        "course_tools.bench",
        "measure side by side: `bench` threads, gpu, mpi, grade or papers",
    ),
    "check": (
        "course_tools.grading.commands.check",
        "for students: the public checks of an exercise as it was saved",
    ),
    "release": (
        "course_tools.grading.commands.release",
        "make what students get and what the grader needs",
    ),
    "grade": ("course_tools.grading.commands.grade", "grade what students handed in"),
    "class": (
        "course_tools.grading.commands.of_class",
        "around the grades: similar answers, texts graded by eye, feedback in bulk, Gradescope",
    ),
    "build": ("course_tools.build.command", "make the notebooks from chapters/"),
    "book": (
        "course_tools.book.command",
        "make the web book from the built notebooks, docs/ and docstrings",
    ),
}


def main(argv=None):
    """Run one command; return its exit status. Only that command's modules are imported."""
    argv = list(sys.argv[1:] if argv is None else argv)
    _utf8()
    if not argv or argv[0] in ("-h", "--help"):
        print(_usage(), file=sys.stdout if argv else sys.stderr)
        return 0 if argv else 2
    if argv[0] == "--version":
        from course_lib import __version__

        print(__version__)
        return 0
    if argv[0] not in COMMANDS:
        print(f"course: no command {argv[0]!r}; there are: {', '.join(COMMANDS)}", file=sys.stderr)
        return 2
    return _run(argv[0], argv[1:])


def _run(name, rest):
    module = importlib.import_module(COMMANDS[name][0])
    try:
        if not hasattr(module, "add_arguments"):
            return module.main(rest) or 0
        parser = argparse.ArgumentParser(prog=f"course {name}")
        module.add_arguments(parser)
        return module.command(parser.parse_args(rest))
    except ValueError as error:
        from course_lib.errors import (
            BadInput,
        )  # here, because the doctor also works where NumPy is missing

        if not isinstance(error, BadInput):
            raise
        print(f"course {name}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"course {name}: stopped", file=sys.stderr)
        return 130


def _usage():
    width = max(map(len, COMMANDS))
    rows = "\n".join(f"  {name:{width}}  {text}" for name, (_, text) in COMMANDS.items())
    head = "usage: course COMMAND [options]   (or python -m course_lib COMMAND; COMMAND --help for its options)"
    return f"{head}\n\n{rows}"


def _utf8():
    """A console with another encoding shows replacements instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


if __name__ == "__main__":
    sys.exit(main())
