"""The student process's IPython: no history, sockets, terminal or start-up files; outputs are kept, each capped."""

import io
import subprocess

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.text import SList
from traitlets.config import Config

PRINTED = 100_000  # characters kept of what a cell prints
SHOWN = 20  # outputs kept of a cell, of at most PRINTED characters each


class Capped(io.StringIO):
    """A text stream that keeps its beginning."""

    def write(self, text):
        left = PRINTED - self.tell()
        if left > 0:
            super().write(text[:left])
        return len(text)

    def fresh(self):
        """What was written since this was last asked for; the stream is empty then."""
        text = self.getvalue()
        self.seek(0)
        self.truncate()
        return text


class Publisher(DisplayPublisher):
    """Keeps what is displayed, text and pictures."""

    shown: list = []  # noqa: RUF012 (each cell sets its own)

    def publish(self, data, metadata=None, source=None, *, transient=None, update=False, **kwargs):
        if len(self.shown) < SHOWN:
            self.shown.append({kind: str(value)[:PRINTED] for kind, value in data.items()})

    def clear_output(self, wait=False):
        pass


class Shown(DisplayHook):
    """The value of a cell's last line."""

    shown: list = []  # noqa: RUF012

    def write_format_data(self, format_dict, md_dict=None):
        if len(self.shown) < SHOWN:
            self.shown.append({kind: str(value)[:PRINTED] for kind, value in format_dict.items()})

    def write_output_prompt(self):
        pass


class Shell(InteractiveShell):
    """Errors are returned, not printed; shell commands need no terminal."""

    displayhook_class = Shown

    def enable_gui(self, gui=None):
        pass

    def system(self, cmd):  # IPython's own wants a terminal, and the sandbox has none
        done = _shell_command(self.var_expand(cmd, depth=1))
        print(done.stdout, end="")
        self.user_ns["_exit_code"] = done.returncode

    def getoutput(self, cmd, split=True, depth=0):
        text = _shell_command(self.var_expand(cmd, depth=depth + 1)).stdout
        return SList(text.splitlines()) if split else text

    def showtraceback(self, *args, **kwargs):
        pass

    def showsyntaxerror(self, *args, **kwargs):
        pass


def _shell_command(text):
    """`!text` of a cell."""
    return subprocess.run(
        text,
        shell=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )


def make():
    """The shell, made once, before the fork."""
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    config.InteractiveShell.cache_size = 0
    return Shell.instance(config=config)
