"""The reference implementations that the notebooks import, small enough to be read."""

import importlib
import sys

__version__ = "0.1.0"

if (
    "IPython" in sys.modules
):  # in a notebook: what its checks say is kept, what was not guessed reads as "…"
    importlib.import_module("course_lib.progress.watch").begin()
