"""`python -m course_lib build`: chapters/ to notebooks/, exercises/ and solutions/; runs only what changed."""

import json
import os
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from course_lib.errors import BadInput
from course_tools.build import ids, source
from course_tools.notebooks import kernels, notebook, outputs

TIMEOUT = 300.0
NOTICEABLE = 2.0  # seconds: slower cells get a line of their own where the output is not a terminal


class CellFailed(RuntimeError):
    """A cell of a lecture or a solution raised, or took the kernel with it."""


@dataclass
class Row:
    """One notebook in the table. state: current, built, text, missing, stale, edited, orphaned, failed, wrong."""

    file: str
    state: str
    detail: str = ""
    seconds: float | None = None
    notes: list = field(default_factory=list)

    @property
    def good(self):
        """Is this notebook what its source says?"""
        return self.state in ("current", "built", "text", "added")


@dataclass(frozen=True)
class Options:
    """What the command line chose."""

    root: Path
    force: bool = False
    drop_ids: bool = False
    timeout: float = TIMEOUT
    quiet: bool = False


def build(options, wanted=()):
    """Build what changed; return the rows of the table, one a notebook."""
    rows = []
    for path in source.find(options.root, wanted):
        rows += _build_file(path, options)
    return rows + _orphans(options.root)


def check(options, wanted=()):
    """Compare every built notebook with its source; write and run nothing."""
    rows = []
    for path in source.find(options.root, wanted):
        try:
            read = source.read(path)
        except source.SourceError as error:
            rows.append(Row(_short(path, options.root), "wrong", "\n".join(error.problems)))
            continue
        rows += [_row_of(read, kind, options.root) for kind in notebook.kinds(read)]
        rows += [_id_row(r, "gone") for r in ids.lost(options.root, read)]
        rows += [_id_row(r, "not recorded") for r in ids.new(options.root, read)]
    rows += [_id_row(r, "gone") for r in ids.homeless(options.root)]
    return rows + _lonely(options.root, wanted) + _orphans(options.root)


def target(read, kind, root):
    """The file of a built notebook."""
    return Path(root) / notebook.FOLDERS[kind] / f"{read.chapter}.ipynb"


def state(read, kind, root):
    """(state, detail, stored notebook or None) of a built notebook: current, missing, stale or edited."""
    file = target(read, kind, root)
    if not file.is_file():
        return "missing", "not built yet", None
    try:
        stored = _load(file)
        intact = stored.metadata.get("course", {}).get("digest") == notebook.digest(stored)
    except Exception as error:
        return "edited", f"not a notebook: {error}", None
    if not intact:
        return (
            "edited",
            "it was changed by hand, or run and saved; the source is in chapters/",
            stored,
        )
    want = notebook.skeleton(read, kind)
    if stored.metadata["course"].get("source") != want.metadata["course"]["source"]:
        return "stale", "its source has changed since it was built", stored
    if notebook.without_outputs(stored) != notebook.without_outputs(want):
        return "edited", "it does not hold what its source gives", stored
    return "current", "", stored


def write(file, text):
    """Write a text file whole or not at all, with "\\n" line ends."""
    file = Path(file)
    file.parent.mkdir(parents=True, exist_ok=True)
    half = file.with_name(f".{file.name}.{os.getpid()}.new")
    try:
        with open(half, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
        os.replace(half, file)
    finally:
        half.unlink(missing_ok=True)


# Building -------------------------------------------------------------------------------------------------------


def _build_file(path, options):
    try:
        read = source.read(path)
    except source.SourceError as error:
        return [Row(_short(path, options.root), "wrong", "\n".join(error.problems))]
    gone = ids.lost(options.root, read) if not options.drop_ids else []
    if gone:
        names = ", ".join(row[2] for row in gone)
        text = f"ids have disappeared: {names}. Submissions are matched by them: keep the names, or pass --drop-ids"
        return [Row(_short(path, options.root), "wrong", text)]
    if read.kind == "exercise":
        _record_ids(read, options)
    return [_build_one(read, kind, options) for kind in notebook.kinds(read)]


def _record_ids(read, options):
    text, file = ids.record(options.root, read, options.drop_ids), ids.path_of(options.root)
    if not file.is_file() or file.read_text(encoding="utf-8") != text:
        write(file, text)


def _build_one(read, kind, options):
    name = _short(target(read, kind, options.root), options.root)
    what, detail, stored = state(read, kind, options.root)
    if what == "current" and not options.force:
        return Row(name, "current")
    if what == "edited" and not options.force:
        return Row(name, "edited", f"{detail}. Not overwritten: pass --force to lose those changes")
    made = notebook.skeleton(read, kind)
    row = Row(name, "built")
    try:
        if kind != "exercise" and not _reused(made, stored, options):
            row.seconds = _run(made, read, kind, options, row)
        elif kind != "exercise":
            row.state, row.detail = "text", "only text changed: outputs kept"
    except CellFailed as error:
        return Row(name, "failed", str(error))
    made.metadata["course"]["digest"] = notebook.digest(made)
    write(target(read, kind, options.root), notebook.text_of(made))
    return row


def _reused(made, stored, options):
    """Take the stored outputs over where only text has changed; False where the code must run."""
    if (
        stored is None
        or options.force
        or stored.metadata["course"].get("code") != made.metadata["course"]["code"]
    ):
        return False
    old = {cell.id: cell for cell in stored.cells if cell.cell_type == "code"}
    for cell in made.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = old[cell.id].outputs, old[cell.id].execution_count
    return True


def _run(made, read, kind, options, row):
    """Run all cells in order and store tidy outputs. Return the seconds."""
    began, folders = time.perf_counter(), outputs.places(options.root)
    folder = target(read, kind, options.root).parent
    folder.mkdir(parents=True, exist_ok=True)
    code = [(i, cell) for i, cell in enumerate(made.cells) if cell.cell_type == "code"]
    with (
        Progress(f"{read.chapter} {kind}", len(code), options.quiet) as progress,
        kernels.Session(
            made, folder, kernels.environment(options.root), options.timeout
        ) as session,
    ):
        for number, (index, cell) in enumerate(code, 1):
            progress.begin(number, cell.id)
            _run_cell(session, cell, index, number, read)
            cell.outputs, found = outputs.tidy(cell.outputs, number, folders)
            row.notes += [f"{cell.id}: the folder {f} was taken out of its output" for f in found]
            progress.end()
    return time.perf_counter() - began


def _run_cell(session, cell, index, number, read):
    line = next(c.line for c in read.cells if c.name == cell.id)
    where = f"{read.path}:{line}: cell {cell.id}"
    try:
        reply = session.run(cell, index)
    except kernels.KernelLost as lost:
        raise CellFailed(f"{where}: {lost}") from None
    allowed = "raises-exception" in cell.metadata.get("tags", [])
    if reply["status"] == "error" and not allowed:
        raise CellFailed(f"{where} raised:\n" + "\n".join(reply["traceback"]))
    if reply["status"] == "ok" and allowed:
        raise CellFailed(f"{where} has the tag raises-exception and raised nothing")
    cell.execution_count = number


class Progress:
    """One updating line on a terminal; elsewhere a line for the notebook and for each slow cell. On stderr."""

    def __init__(self, title, total, quiet=False, stream=None):
        self.title, self.total, self.quiet, self.stream = title, total, quiet, stream or sys.stderr
        self.live = self.stream.isatty()

    def __enter__(self):
        self.began = time.perf_counter()
        return self

    def __exit__(self, kind, *_):
        seconds = time.perf_counter() - self.began
        if self.live and not self.quiet:
            self.stream.write("\r\x1b[2K")
        if kind is None:
            self._say(f"{self.title}: {source.count(self.total, 'cell')} in {seconds:.1f} s")

    def begin(self, number, name):
        """A cell starts."""
        self.name, self.cell_began = name, time.perf_counter()
        if self.live and not self.quiet:
            seconds = time.perf_counter() - self.began
            self.stream.write(
                f"\r\x1b[2K{self.title}: {number}/{self.total} {name}  ({seconds:.0f} s)"
            )
            self.stream.flush()

    def end(self):
        """A cell has ended."""
        seconds = time.perf_counter() - self.cell_began
        if not self.live and seconds >= NOTICEABLE:
            self._say(f"{self.title}: {self.name} took {seconds:.1f} s")

    def _say(self, text):
        if not self.quiet:
            print(text, file=self.stream, flush=True)


# Checking -------------------------------------------------------------------------------------------------------


def _row_of(read, kind, root):
    what, detail, _ = state(read, kind, root)
    return Row(_short(target(read, kind, root), root), what, detail)


def _id_row(row, what):
    chapter, kind, name = row
    return Row("chapters/ids.txt", "wrong", f"{chapter}: the {kind} {name} is {what}")


def _lonely(root, wanted):
    """Chapters without a lecture or without an exercise."""
    folders = {path.parent for path in source.find(root, wanted)}
    return [
        Row(
            _short(folder / f"{kind}.md", root),
            "missing",
            "every chapter has a lecture and an exercise",
        )
        for folder in sorted(folders)
        for kind in source.KINDS
        if not (folder / f"{kind}.md").is_file()
    ]


def _orphans(root):
    rows = []
    for kind, folder in notebook.FOLDERS.items():
        needs = "lecture.md" if kind == "lecture" else "exercise.md"
        for file in sorted((Path(root) / folder).glob("*.ipynb")):
            if not (Path(root) / "chapters" / file.stem / needs).is_file():
                detail = (
                    f"there is no chapters/{file.stem}/{needs}: delete it, or name the chapter so"
                )
                rows.append(Row(_short(file, root), "orphaned", detail))
    return rows


def _load(file):
    import nbformat

    with open(file, encoding="utf-8") as stream:
        return nbformat.reads(stream.read(), as_version=4)


def _short(path, root):
    try:
        return Path(path).relative_to(root).as_posix()
    except ValueError:
        return str(path)


# The command ----------------------------------------------------------------------------------------------------


def add_arguments(parser):
    """The arguments of `build`."""
    parser.description = (
        "Build notebooks/, exercises/ and solutions/ from chapters/. Only notebooks whose source changed are made "
        "again, and only changed code runs. A change in course_lib is not seen here: the tests compare every stored "
        "output with a fresh run; after such a change use --force."
    )
    parser.add_argument(
        "chapters", nargs="*", metavar="NN", help="chapters by number or name; all if none is given"
    )
    parser.add_argument(
        "--check", action="store_true", help="run and write nothing; fail if a built file differs"
    )
    parser.add_argument(
        "--force", action="store_true", help="run everything again, and overwrite hand-made changes"
    )
    parser.add_argument(
        "--drop-ids", action="store_true", help="allow ids of tasks and checks to disappear"
    )
    parser.add_argument(
        "--timeout",
        type=float,
        default=TIMEOUT,
        metavar="S",
        help="seconds for a cell (%(default)g)",
    )
    parser.add_argument("--json", action="store_true", help="print the table as JSON")
    parser.add_argument(
        "--root", type=Path, default=None, help="the clone (default: where chapters/ is)"
    )


def command(args):
    """Run `build` with parsed arguments; return the exit status."""
    root = clone(args.root)
    if not args.timeout > 0:
        raise BadInput(f"--timeout must be more than 0 seconds, not {args.timeout:g}")
    options = Options(root, args.force, args.drop_ids, args.timeout, quiet=args.json)
    rows = (check if args.check else build)(options, args.chapters)
    if args.json:
        print(json.dumps([row.__dict__ for row in rows], indent=1))
    else:
        _print(rows, args.check)
    return 0 if all(row.good for row in rows) else 1


def clone(root=None):
    """The folder that holds chapters/: the given one, this one, or the one course_lib was imported from."""
    tried = [Path(root)] if root else [Path.cwd(), Path(__file__).resolve().parents[2]]
    for folder in tried:
        if (folder / "chapters").is_dir():
            return folder.resolve()
    raise BadInput(
        f"no folder chapters/ in {tried[0]}: run this in the clone of the course, or pass --root"
    )


def _print(rows, checking):
    width = max((len(row.file) for row in rows), default=0)
    for row in rows:
        seconds = f"  {row.seconds:.1f} s" if row.seconds is not None else ""
        detail = "\n    ".join(row.detail.splitlines())
        separator = "\n    " if "\n" in row.detail else "  " if row.detail else ""
        print(f"{row.file:{width}}  {row.state:8}{seconds}{separator}{detail}".rstrip())
        for note in row.notes:
            print(f"    warning: {note}")
    bad = sum(not row.good for row in rows)
    if bad:
        print(
            f"{source.count(bad, 'problem')}"
            + ("; build again: python -m course_lib build" if checking else "")
        )
    elif not rows:
        print("no chapters yet")
