"""The cell magic %%px, and how the output of ranks is shown: rank after rank, each line marked."""

import argparse
import shlex
import sys

from course_lib.errors import BadInput


def register(current):
    """Make %%px and %px work on the cluster that current() returns; nothing to do outside of IPython."""
    ipython = sys.modules.get("IPython")
    shell = ipython and ipython.get_ipython()
    if shell is None:
        return

    def px(line, cell=None):
        """`%%px [--targets 0,2] [--timeout 10]`: the cell on all ranks, or on those; `%px code` for one line."""
        options = _options(line if cell is not None else "")
        # lines are numbered as they are seen in the notebook, %%px being the first
        code = line if cell is None else cell if cell.lstrip().startswith("%%") else f"#\n{cell}"
        current().execute(code, options.targets, options.timeout)

    shell.register_magic_function(px, "line_cell", "px")


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        raise BadInput(f"%%px: {message}. It takes --targets 0,2 and --timeout 10")


def _options(line):
    parser = _Parser(prog="%%px", add_help=False)
    parser.add_argument("--targets", "-t", type=lambda text: [*map(int, text.split(","))])
    parser.add_argument("--timeout", type=float)
    return parser.parse_args(shlex.split(line))


def show(results, more):
    """What each rank printed, displayed and returned, in the order of the ranks, as plain text that can be compared.

    more: are the ranks still there, so that the rest of an output may be on its way?
    """
    for rank, result in sorted(results.items()):
        result.wait_for_output(1.0 if more and result.ready() else 0)
        _lines(rank, result.stdout, sys.stdout)
        _lines(rank, result.stderr, sys.stderr)
        for output in result.outputs:
            from IPython.display import publish_display_data

            publish_display_data(output["data"], output.get("metadata", {}))
        value = result.get() if result.ready() and result.successful() else None
        shown = getattr(value, "execute_result", None) or {}
        _lines(rank, (shown.get("data") or {}).get("text/plain", ""), sys.stdout)


def _lines(rank, text, stream):
    """All at once: each write becomes a message to the browser."""
    if text:
        lines = "".join(f"[rank {rank}] {line}\n" for line in text.splitlines())
        print(lines, end="", file=stream, flush=True)
