"""`python -m course_lib COMMAND` hands over to `course_tools`, by name: the library imports no tool."""

import importlib
import sys

if __name__ == "__main__":
    sys.exit(importlib.import_module("course_tools.__main__").main())
