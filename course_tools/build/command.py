"""`python -m course_lib build`: chapters/ to notebooks/, exercises/ and solutions/; runs only what changed."""

import json
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

from course_lib.errors import BadInput
from course_tools.build import around, deeper, ids, notebook, planted, source
from course_tools.build.files import add_root, clone, short, write
from course_tools.build.progress import CellProgress
from course_tools.notebooks import kernels, outputs

__all__ = ["CellProgress", "Options", "Path", "Row", "add_arguments", "build", "check", "clone"]
__all__ += ["command", "state", "target", "write"]

TIMEOUT = 300.0


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
    rows = _rows(options.root, wanted, lambda read: _build_file(read, options))
    return rows + _orphans(options.root)


def check(options, wanted=()):
    """Compare every built notebook with its source; write and run nothing."""
    root = options.root
    rows = _rows(root, wanted, lambda read: _check_file(read, root))
    rows += [_id_row(row, "gone") for row in ids.homeless(root)]
    folders = sorted({path.parent for path in source.find(root, wanted)})
    files = [folder / f"{kind}.md" for folder in folders for kind in source.KINDS]
    lonely = "every chapter has a lecture and an exercise"
    rows += [Row(short(file, root), "missing", lonely) for file in files if not file.is_file()]
    return rows + _orphans(root)


def _rows(root, wanted, of_source):
    """The rows that `of_source` makes of each source file that keeps the rules; one for each that breaks them."""
    rows = []
    for path in source.find(root, wanted):
        try:
            rows += of_source(source.read(path))
        except source.SourceError as error:
            rows.append(Row(short(path, root), "wrong", str(error)))
    return rows


def target(read, kind, root):
    """The file of a built notebook."""
    return Path(root) / notebook.FOLDERS[kind] / f"{read.chapter}.ipynb"


def state(read, kind, root):
    """(state, detail, stored notebook or None) of a built notebook: current, missing, stale or edited."""
    file = target(read, kind, root)
    if not file.is_file():
        return "missing", "not built yet", None
    try:
        stored = notebook.load(file)
        intact = stored.metadata.get("course", {}).get("digest") == notebook.digest(stored)
    except Exception as error:
        return "edited", f"not a notebook: {error}", None
    if not intact:
        by_hand = "it was changed by hand, or run and saved; the source is in chapters/"
        return "edited", by_hand, stored
    want = notebook.skeleton(read, kind)
    if stored.metadata["course"].get("source") != want.metadata["course"]["source"]:
        return "stale", "its source has changed since it was built", stored
    if notebook.without_outputs(stored) != notebook.without_outputs(want):
        return "edited", "it does not hold what its source gives", stored
    return "current", "", stored


# Building -----------------------------------------------------------------------------------------


def _refuse_deeper(read):
    """SourceError where a task rests on what is folded away."""
    if read.kind == "exercise":
        near = around.chapters(read.path.parent.parent)
        found = [f"{read.path}:{line}: {text}" for line, text in deeper.rests(read, near)]
        if found:
            raise source.SourceError(found)


def _build_file(read, options):
    _refuse_deeper(read)
    gone = ids.lost(options.root, read) if not options.drop_ids else []
    if gone:
        names = ", ".join(row[2] for row in gone)
        advice = "Submissions are matched by them: keep the names, or retire them: --drop-ids"
        detail = f"ids have disappeared: {names}. {advice}"
        return [Row(short(read.path, options.root), "wrong", detail)]
    if taken := ids.revived(options.root, read):
        names = ", ".join(row[2] for row in taken)
        detail = f"ids have retired, and belong to tasks that are no more: {names}. Choose others"
        return [Row(short(read.path, options.root), "wrong", detail)]
    if read.kind == "exercise":
        _record_ids(read, options)
        planted.record(options.root, read)
    return [_build_one(read, kind, options) for kind in notebook.kinds(read)]


def _record_ids(read, options):
    text, file = ids.record(options.root, read, options.drop_ids), ids.path_of(options.root)
    if not file.is_file() or file.read_text(encoding="utf-8") != text:
        write(file, text)


def _build_one(read, kind, options):
    file = target(read, kind, options.root)
    row = Row(short(file, options.root), "built")
    what, detail, stored = state(read, kind, options.root)
    if what in ("current", "edited") and not options.force:
        kept = f"{detail}. Not overwritten: pass --force to lose those changes"
        row.state, row.detail = what, kept if what == "edited" else ""
        return row
    made = notebook.skeleton(read, kind)
    try:
        if kind != "exercise":
            _fill(made, stored, read, kind, options, row)
    except CellFailed as error:
        row.state, row.detail = "failed", str(error)
        return row
    made.metadata["course"]["digest"] = notebook.digest(made)
    write(file, notebook.text_of(made))
    return row


def _fill(made, stored, read, kind, options, row):
    """Put outputs in: the stored ones where only text has changed, else those of a run."""
    if not options.force and _reused(made, stored):
        row.state, row.detail = "text", "only text changed: outputs kept"
    else:
        row.seconds = _run(made, read, kind, options, row)


def _reused(made, stored):
    """Take the stored outputs over where only text has changed; False where the code must run."""
    code = made.metadata["course"]["code"]
    if stored is None or stored.metadata["course"].get("code") != code:
        return False
    old = {cell.id: cell for cell in stored.cells}
    for cell in notebook.code_cells(made):
        cell.outputs = notebook.outputs_of(old[cell.id])
        cell.execution_count = old[cell.id].execution_count
    return True


def _run(made, read, kind, options, row):
    """Run all cells in order and store tidy outputs. Return the seconds."""
    began, folders = time.perf_counter(), outputs.places(options.root)
    folder = target(read, kind, options.root).parent
    folder.mkdir(parents=True, exist_ok=True)
    environment = kernels.environment(options.root)
    code = notebook.code_cells(made)
    progress = CellProgress(f"{read.chapter} {kind}", len(code), options.quiet)
    with progress, kernels.Session(made, folder, environment, options.timeout) as session:
        for number, cell in enumerate(code, 1):
            progress.begin(number, cell.id)
            _run_cell(session, cell, made.cells.index(cell), read)
            cell.execution_count = number
            cell.outputs, found = outputs.tidy(cell.outputs, number, folders)
            row.notes += [f"{cell.id}: the folder {f} was taken out of its output" for f in found]
            progress.end()
    return time.perf_counter() - began


def _run_cell(session, cell, index, read):
    line = next(c.line for c in read.cells if c.name == cell.id)
    where = f"{read.path}:{line}: cell {cell.id}"
    try:
        reply = session.run(cell, index)
    except kernels.KernelLost as lost:
        raise CellFailed(f"{where}: {lost}") from None
    raised, allowed = (
        reply["status"] == "error",
        "raises-exception" in cell.metadata.get("tags", []),
    )
    if raised and not allowed:
        raise CellFailed(f"{where} raised:\n" + "\n".join(reply["traceback"]))
    if allowed and not raised:
        raise CellFailed(f"{where} has the tag raises-exception and raised nothing")


# Checking -----------------------------------------------------------------------------------------


def _check_file(read, root):
    _refuse_deeper(read)
    rows = []
    for kind in notebook.kinds(read):
        what, detail, _ = state(read, kind, root)
        rows.append(Row(short(target(read, kind, root), root), what, detail))
    if read.kind == "exercise" and not planted.current(root, read):
        detail = "it does not hold the planted answers of its exercise"
        rows.append(Row(short(planted.path_of(root, read), root), "stale", detail))
    rows += [_id_row(row, "gone") for row in ids.lost(root, read)]
    rows += [_id_row(row, "retired") for row in ids.revived(root, read)]
    return rows + [_id_row(row, "not recorded") for row in ids.new(root, read)]


def _id_row(row, what):
    chapter, kind, name = row
    return Row("chapters/ids.txt", "wrong", f"{chapter}: the {kind} {name} is {what}")


def _orphans(root):
    rows = []
    for kind, folder in notebook.FOLDERS.items():
        for file in sorted((Path(root) / folder).glob("*.ipynb")):
            needs = f"chapters/{file.stem}/{'lecture' if kind == 'lecture' else 'exercise'}.md"
            if not (Path(root) / needs).is_file():
                detail = f"there is no {needs}: delete it, or name the chapter so"
                rows.append(Row(short(file, root), "orphaned", detail))
    return rows


# The command --------------------------------------------------------------------------------------


def add_arguments(parser):
    """The arguments of `build`."""
    parser.description = (
        "Build notebooks/, exercises/ and solutions/ from chapters/. Only notebooks whose source changed are made "
        "again, and only changed code runs. A change in course_lib is not seen here: the tests compare every stored "
        "output with a fresh run; after such a change use --force."
    )
    chapters = "chapters by number or name; all if none is given"
    parser.add_argument("chapters", nargs="*", metavar="NN", help=chapters)
    flags = {
        "--check": "run and write nothing; fail if a built file differs",
        "--force": "run everything again, and overwrite hand-made changes",
        "--drop-ids": "retire the ids of tasks and checks that have disappeared",
        "--json": "print the table as JSON",
    }
    for flag, words in flags.items():
        parser.add_argument(flag, action="store_true", help=words)
    words = "seconds for a cell (%(default)g)"
    parser.add_argument("--timeout", type=float, default=TIMEOUT, metavar="S", help=words)
    add_root(parser)


def command(args):
    """Run `build` with parsed arguments; return the exit status."""
    root = clone(args.root)
    if not args.timeout > 0:
        raise BadInput(f"--timeout must be more than 0 seconds, not {args.timeout:g}")
    options = Options(root, args.force, args.drop_ids, args.timeout, quiet=args.json)
    rows = (check if args.check else build)(options, args.chapters)
    if args.json:
        print(json.dumps([asdict(row) for row in rows], indent=1))
    else:
        _print(rows, args.check)
    return 0 if all(row.good for row in rows) else 1


def _print(rows, checking):
    width = max((len(row.file) for row in rows), default=0)
    for row in rows:
        seconds = f"  {row.seconds:.1f} s" if row.seconds is not None else ""
        separator = "\n    " if "\n" in row.detail else "  "
        detail = "\n    ".join(row.detail.splitlines())
        print(f"{row.file:{width}}  {row.state:8}{seconds}{separator}{detail}".rstrip())
        for note in row.notes:
            print(f"    warning: {note}")
    bad = sum(not row.good for row in rows)
    advice = "; build again: python -m course_lib build" if checking else ""
    if bad:
        print(source.count(bad, "problem") + advice)
    elif not rows:
        print("no chapters yet")
