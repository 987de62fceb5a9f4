"""What the cells of a notebook take in plain IPython, with no grader about: `python cells.py FILE` prints seconds.

Run as a program of its own, in a process for each notebook. An error ends a cell, not the notebook.
"""

import contextlib
import io
import json
import sys
import time


def main(file: str) -> None:
    """Run the code cells of a notebook; print the seconds of all."""
    from IPython.core.interactiveshell import InteractiveShell

    with open(file, encoding="utf-8") as stream:
        cells = [cell for cell in json.load(stream)["cells"] if cell["cell_type"] == "code"]
    shell, took = InteractiveShell.instance(), 0.0
    for cell in cells:
        began = time.perf_counter()
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            shell.run_cell("".join(cell["source"]))
        took += time.perf_counter() - began
    print(took)


if __name__ == "__main__":
    main(sys.argv[1])
