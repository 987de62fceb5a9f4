"""What `course trace` takes, runs, prints and writes."""

import argparse
import difflib
import re
import sys
from html import escape
from pathlib import Path

import numpy as np

from course_lib.errors import BadInput, check_count
from course_lib.gpu.cpu_engine import compare, trace
from course_tools.trace.arguments import arguments, numbers, value
from course_tools.trace.kernel_file import read
from course_tools.trace.pages import as_json, standalone

HELP = """
SPEC of an argument, in the order of the kernel's parameters or as NAME=SPEC:
  float32[1024]          random numbers from -1 to 1; of integers, from 0 to 9 (--seed)
  float32[64,64]=ones    or zeros, arange, random, nan, unset (not written yet), or a number
  int32=5, or 5          a scalar; without a type it takes the parameter's
  file.npy               an array from a file
  null                   a null pointer

exit status: 0 nothing was found, 1 a check found something, 2 the call is wrong
"""
OPTIONS = (
    ("--kernel", "NAME", None, "may be left out where the file has one kernel"),
    ("--grid", "X[,Y[,Z]]", "1", "blocks (default: 1)"),
    ("--block", "X[,Y[,Z]]", "32", "threads of a block (default: 32)"),
    ("--blocks", "N,N,...", None, "run only these blocks of the grid"),
    ("--against", "KERNEL", None, "trace this one too, and put their counts side by side"),
    ("--against-grid", "X[,Y[,Z]]", None, "its grid, if another one"),
    ("--against-block", "X[,Y[,Z]]", None, "its block, if another one"),
    ("--out", "DIR", None, "write the arrays there afterwards, each as NAME.npy"),
    ("--html", "FILE", None, "write the report as a page"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Run one launch of a CUDA C kernel on the CPU: what memcheck, racecheck, initcheck, "
        "synccheck and ubsan find, and how its accesses coalesce."
    )
    parser.epilog, parser.formatter_class = HELP, argparse.RawDescriptionHelpFormatter
    add = parser.add_argument
    add("file", metavar="FILE.cu", help="CUDA C; functions of the host in it are left out")
    add("--arg", "-a", action="append", default=[], metavar="SPEC", help="once each; see below")
    for name, metavar, default, words in OPTIONS:
        add(name, metavar=metavar, default=default, help=words)
    add("--symbol", action="append", default=[], metavar="NAME=SPEC", help="a __constant__'s value")
    add("--define", "-D", action="append", default=[], metavar="NAME[=VALUE]", help="a macro")
    add("--shared", type=int, default=0, metavar="BYTES", help="dynamic shared memory")
    add("--seed", type=int, default=0, help="of random arguments (default: 0)")
    add("--timeout", type=float, default=30.0, metavar="S", help="seconds (default: 30)")
    add("--json", action="store_true", help="print the report as JSON")


def command(options: argparse.Namespace) -> int:
    """Trace, print, write what was asked for; the exit status."""
    _check(options)
    file = read(options.file)
    if file.left_out:
        places = ", ".join(f"{first} to {last}" for first, last in file.left_out)
        print(f"host code is left out: lines {places}", file=sys.stderr)
    if options.kernel is None and len(file.kernels) != 1:
        raise BadInput(f"{file.path} has {', '.join(file.kernels)}: choose one with --kernel")
    kernel = options.kernel or next(iter(file.kernels))
    launches = [(numbers("--grid", options.grid), numbers("--block", options.block))]
    traced = [_run(options, file, kernel, *launches[0])]
    if options.against:
        grid = numbers("--against-grid", options.against_grid or options.grid)
        block = numbers("--against-block", options.against_block or options.block)
        launches.append((grid, block))
        traced.append(_run(options, file, options.against, grid, block))
    comparison = compare(*traced) if options.against else None
    shown = [*([comparison] if comparison else []), *traced]
    if options.html:
        text = standalone(
            escape(f"{file.path.name}: {' and '.join(r.kernel for r in traced)}"), shown
        )
        _write(options.html, lambda path: path.write_text(text, encoding="utf-8"))
    print(as_json(traced, launches, comparison) if options.json else _text(traced, comparison))
    return 0 if all(report.ok for report in traced) else 1


def _check(options):
    """Raises BadInput for words that fit no file."""
    check_count("--seed", options.seed, 0)
    for macro in options.define:
        if not re.fullmatch(r"[A-Za-z_]\w*(\([\w, .]*\))?(=.*)?", macro, re.DOTALL):
            raise BadInput(f"--define {macro!r}: give NAME or NAME=VALUE")
    for text in options.symbol:
        if not re.fullmatch(r"[A-Za-z_]\w*=.+", text, re.DOTALL):
            raise BadInput(f"--symbol {text!r}: give NAME=SPEC, as factors=float32[4]=ones")


def _run(options, file, kernel, grid, block):
    """The Report of one launch; writes its arrays."""
    parameters = file.parameters(kernel)
    if parameters is None:
        near = difflib.get_close_matches(kernel, file.kernels, 1)
        guess = f"; did you mean {near[0]}?" if near else ""
        raise BadInput(
            f"{file.path} has no kernel {kernel!r}, but {', '.join(file.kernels)}{guess}"
        )
    if parameters and not options.arg:
        raise BadInput(_example(file, kernel, parameters))
    given = arguments(kernel, parameters, options.arg, options.seed)
    symbols = _symbols(options)
    report = trace(
        file.source, kernel, grid, block, given, shared=options.shared, timeout=options.timeout,
        blocks=None if options.blocks is None else numbers("--blocks", options.blocks),
        options=(*file.flags(), *(f"-D{macro}" for macro in options.define)),
        no_extern_c=True, symbols=symbols,
    )  # fmt: skip
    if options.out:
        named = zip([one.name for one in parameters], given, strict=True)
        for name, array in [*named, *symbols.items()]:
            if isinstance(array, np.ndarray):
                path = Path(options.out, kernel if options.against else "", f"{name}.npy")
                _write(path, lambda path, array=array: np.save(path, np.asarray(array)))
    return report


def _symbols(options):
    rng, found = np.random.default_rng(options.seed), {}
    for text in options.symbol:
        name, _, spec = text.partition("=")
        found[name] = np.atleast_1d(np.asarray(value(spec, name, rng)))
    return found


def _example(file, kernel, parameters):
    """What the kernel's parameters are, and a call that would do."""
    call = [f"course trace {file.path} --kernel {kernel} --grid 4 --block 128"]
    for one in parameters:
        kind = one.dtype.name if one.dtype else "float32"
        call.append(
            f"--arg '{one.name}={kind}[512]'" if one.is_pointer else f"--arg {one.name}=512"
        )
    texts = "; ".join(one.text for one in parameters)
    return f"{kernel} takes {len(parameters)} arguments: {texts}\nfor example: {' '.join(call)}"


def _write(path, write):
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        write(Path(path))
    except OSError as error:
        raise BadInput(f"{path} cannot be written: {error.strerror}") from None


def _text(traced, comparison):
    parts = [f"{report.kernel}\n{report}" if comparison else str(report) for report in traced]
    for report in traced:
        if report.printed:
            parts.append(f"printed by {report.kernel}:\n{report.printed.rstrip()}")
    return "\n\n".join([*parts, *([str(comparison)] if comparison else [])])
