"""A pytest plugin on top of nbval: what nbval lets pass, hang or scatter is red, quick and kept together.

What it changes (each has a test that shows plain nbval beside it, tests/notebooks/test_notebooks_strict.py):
- a cell that takes too long is red even if it swallows the interrupt, and the cells after it are red too, at once;
- a kernel that dies is noticed within seconds, red, and so are the cells after it;
- the reply of the kernel counts: a cell that failed without showing it is red, as is one that should raise and did not;
- a cell without an execution count is red: nbval compares nothing there; tags that skip a cell are red;
- a cell picked with -k, or run out of order, first gets the cells above it;
- xdist never scatters the cells of a notebook;
- the whole notebook has a limit of processor time (ini notebook_seconds), so that lessons stay short;
- when its kernel has ended, no process that it started may be left.
Text is compared exactly after sanitising; of HTML and images only the presence is. Where a cell's output may vary
(nbval-ignore-output), something of the same kind must still be shown.
"""

import difflib
import re
import time
from pathlib import Path
from typing import Any

import pytest
from nbval.plugin import IPyNbCell, IPyNbFile, find_comment_markers, find_metadata_tags

from course_tools.notebooks import kernels, outputs
from course_tools.notebooks.leftovers import left_running, slowness
from course_tools.notebooks.notebook_totals import PROPERTY

PRESENCE = ("text/html", "image/", "application/vnd.jupyter.widget-view", "application/javascript")
SCATTERING = ("load", "worksteal", "loadgroup")
CELL_SECONDS = 120.0
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


class NotebookRed(Exception):
    """A cell is wrong; the text says it all."""


def pytest_addoption(parser):
    words = "folders put first on the PYTHONPATH of kernels"
    parser.addini("notebook_pythonpath", words, type="paths", default=[])
    words = "the longest that one cell may take"
    parser.addini("notebook_cell_seconds", words, default=str(CELL_SECONDS))
    words = "lines `folder seconds`: the processor time that a notebook there may take"
    parser.addini("notebook_seconds", words, type="linelist", default=[])


def pytest_configure(config):
    option = config.option
    if option.nbval_lax:
        refused = "--nbval-lax compares next to nothing: it is not for this course"
        raise pytest.UsageError(f"{refused}; use --nbval")
    sanitize = option.nbval_sanitize_with
    if sanitize and not Path(sanitize).is_file() and (config.rootpath / sanitize).is_file():
        option.nbval_sanitize_with = str(config.rootpath / sanitize)
    if getattr(option, "dist", "no") in SCATTERING:
        option.dist = "loadfile"
        config.stash[_SWITCHED] = True


def pytest_report_header(config):
    switched = config.stash.get(_SWITCHED, False)
    return "notebooks: --dist loadfile keeps the cells of each together" if switched else None


_SWITCHED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path, parent):
    found = yield
    ours = Notebook.from_parent
    return [ours(parent, path=file_path) if type(one) is IPyNbFile else one for one in found]


class Notebook(IPyNbFile):
    """A notebook whose cells run in order in one kernel, each when it is first asked for."""

    def collect(self):
        import nbformat

        try:
            self.nb = nbformat.reads(self.path.read_text(encoding="utf-8"), as_version=4)
            self.fresh = nbformat.reads(nbformat.writes(self.nb), as_version=4)
        except Exception as error:
            raise self.CollectError(f"{self.path} is not a notebook: {error}") from error
        self.folders = outputs.places(self.config.rootpath)
        self.code = [i for i, cell in enumerate(self.nb.cells) if cell.cell_type == "code"]
        self.ran: dict = {}
        self.lost: tuple = ()
        for number, index in enumerate(self.code):
            cell = self.nb.cells[index]
            options = {"check": True} | dict(find_metadata_tags(cell.metadata))
            options |= dict(find_comment_markers(cell.source))
            name = cell.get("id", f"cell-{number}")
            item = Cell.from_parent(self, name=name, cell_num=number, cell=cell, options=options)
            item.index = index
            yield item
        yield Whole.from_parent(self, name="whole-notebook")

    def setup(self):
        import nbformat

        self.setup_sanitize_files()
        self.fresh = nbformat.reads(nbformat.writes(self.nb), as_version=4)
        first = [str(path) for path in self.config.getini("notebook_pythonpath")]
        env = kernels.environment(self.config.rootpath, first)
        limit = _cell_seconds(self.config)
        self.session = kernels.Session(self.fresh, self.path.parent, env, limit)
        self.session.__enter__()

    def teardown(self):
        session = self.__dict__.pop("session", None)
        if session:
            session.close()

    def result(self, index):
        """(reply, tidy outputs, seconds) of a cell, after running it and those above it where that is still to do."""
        for i in self.code:
            if i <= index and i not in self.ran:
                self._run(i)
        return self.ran[index]

    def _run(self, i):
        if self.lost:
            raise NotebookRed(f"not run: the kernel was lost in cell {self.lost[0]}")
        cell, began, used = (
            self.fresh.cells[i],
            time.perf_counter(),
            self.session.processor_seconds(),
        )
        try:
            reply = self.session.run(cell, i)
        except kernels.KernelLost as lost:
            self.lost = (cell.get("id", i), str(lost))
            raise NotebookRed(str(lost)) from None
        tidied, _ = outputs.tidy(cell.outputs, cell.execution_count, self.folders)
        # On a busy machine a cell waits for others: what counts is the time it took, or worked if that is less.
        took = min(time.perf_counter() - began, self.session.processor_seconds() - used)
        self.ran[i] = reply, tidied, max(0.0, took)


class Cell(IPyNbCell):
    """A code cell: run, then judged."""

    def setup(self):
        """nbval marks cells after a time-out as expected to fail; here they are red."""

    def runtest(self):
        if self.options.get("skip"):
            proof = "a cell that is not run proves nothing; take the mark off"
            raise NotebookRed(f"it is marked to be skipped: {proof}")
        reply, fresh, _ = self.parent.result(self.index)
        raised, may = reply["status"] == "error", bool(self.options.get("check_exception"))
        if raised and not may:
            trace = reply.get("traceback", [reply.get("evalue", "")])
            raise NotebookRed("it raised:\n" + "\n".join(trace))
        if may and not raised:
            raise NotebookRed("it has the tag raises-exception and raised nothing")
        if self.cell.execution_count is None:
            unrun = "it has no execution count, so it was stored without being run"
            raise NotebookRed(f"{unrun}: build it again")
        stored, _ = outputs.tidy(self.cell.outputs, self.cell.execution_count, self.parent.folders)
        (self._compare if self.options["check"] else _compare_shapes)(stored, fresh)

    def _compare(self, stored, fresh):
        was, now = (_as_lines(side, self.sanitize) for side in (stored, fresh))
        if was != now:
            names = "stored in the notebook", "this run"
            diff = difflib.unified_diff(was, now, *names, lineterm="", n=2)
            raise NotebookRed("its output differs from the stored one:\n" + "\n".join(diff))

    def repr_failure(self, excinfo):
        if not isinstance(excinfo.value, NotebookRed):
            return super(IPyNbCell, self).repr_failure(excinfo)
        code = "\n".join("    " + line for line in self.cell.source.split("\n"))
        what = COLOUR.sub("", str(excinfo.value))
        return f"{self.parent.path.name}, cell {self.name}: {what}\n\nthe cell:\n{code}"

    def reportinfo(self):
        return self.path, 0, f"{self.parent.name}, cell {self.name}"


class Whole(pytest.Item):
    """The notebook as a whole: it has code, keeps to the time limit of its folder, and leaves nothing running."""

    def runtest(self):
        notebook: Any = self.parent
        if not notebook.code:
            raise NotebookRed("there is no code cell in it: nothing was tested")
        notebook.result(notebook.code[-1])
        seconds = sum(row[2] for row in notebook.ran.values())
        self.user_properties.append((PROPERTY, seconds))
        limit = _limit(self.config, notebook.path)
        if not seconds <= limit:
            slow = sorted(notebook.ran.items(), key=lambda pair: -pair[1][2])[:5]
            words = ", ".join(
                f"{notebook.nb.cells[i].get('id', i)} {row[2]:.1f} s" for i, row in slow
            )
            raise NotebookRed(
                f"its cells took {seconds:.0f} s; {limit:.0f} s are allowed. The slowest: {words}"
            )
        notebook.session.close()
        if left := left_running(notebook.session.mark):
            raise NotebookRed("its kernel has ended, but not what it started:\n" + "\n".join(left))

    def repr_failure(self, excinfo, style=None):
        if not isinstance(excinfo.value, NotebookRed):
            return super().repr_failure(excinfo, style)
        return f"{self.path.name}: {excinfo.value}"

    def reportinfo(self):
        return self.path, 0, f"{self.path.name}, as a whole"


def _cell_seconds(config):
    given = float(config.option.nbval_cell_timeout)
    return (
        given if given != 2000 else float(config.getini("notebook_cell_seconds"))
    )  # 2000: nbval's default


def _limit(config, path):
    """The processor seconds a notebook may take, times COURSE_SLOW on a slow machine; no limit for other folders."""
    for line in config.getini("notebook_seconds"):
        folder, seconds = line.split()
        if (config.rootpath / folder).resolve() == path.parent.resolve():
            return float(seconds) * slowness()
    return float("inf")


def _compare_shapes(stored, fresh):
    was, now = (" ".join(_shape(side)) or "nothing" for side in (stored, fresh))
    if was != now:
        vanished = f"stored is {was}; this run gave {now}"
        raise NotebookRed(f"its output may vary but not vanish: {vanished}")


def _shape(cell_outputs):
    """What is shown, without what it says: printed text, and the kinds of each display in order."""
    printed = any(o["output_type"] == "stream" and o["name"] == "stdout" for o in cell_outputs)
    kinds = [f"[{', '.join(sorted(o['data']))}]" for o in cell_outputs if "data" in o]
    return ["text"] + kinds if printed else kinds


def _as_lines(cell_outputs, sanitize):
    """Outputs as lines to compare: text as it is, of HTML and images only that they are there."""
    lines = []
    for output in cell_outputs:
        kind = output["output_type"]
        if kind == "stream":
            text = sanitize(output["text"])
            lines += [f"[{output['name']}]", *text.split("\n")] if text else []
        elif kind == "error":
            lines += [f"[error] {output['ename']}", *sanitize(output["evalue"]).split("\n")]
        else:
            lines.append(f"[{kind}]")
            for mime, value in sorted(output["data"].items()):
                lines.append(f"[{mime}]")
                if not mime.startswith(PRESENCE):
                    lines += sanitize(value if isinstance(value, str) else repr(value)).split("\n")
    return lines
