"""`python -m course_lib COMMAND` hands over to `course_tools`, by name: the library imports no tool."""

import importlib
import sys


def main(argv=None):
    """The command line's exit status; argv: the words after `course`, by default those of this process."""
    return importlib.import_module("course_tools.__main__").main(argv)


if __name__ == "__main__":
    sys.exit(main())
