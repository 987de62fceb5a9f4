"""One launch of a check: its arguments made ready, run under the tracer, and on a GPU where there is one."""

import contextlib
import io
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from course_lib.checks.kit.kinds import CLOCK
from course_lib.checks.kit.messages import CheckFailed, Report
from course_lib.checks.kit.runs import Tried
from course_lib.errors import BadInput
from course_lib.gpu import device
from course_lib.machines.cpu_engine import Report as Traced
from course_lib.machines.cpu_engine import trace
from course_lib.machines.cpu_engine.tracing import compiled

POISON = {
    2: 0x7E5D,
    4: 0x7FC0DEAD,
    8: 0x7FF800000000DEAD,
}  # as a float it is a NaN that no computation makes
SECONDS = 5.0  # a launch may take


@dataclass(frozen=True)
class Launch:
    """One launch of a kernel.

    grid, block: as in trace. args: in the order of the kernel's parameters, by name: NumPy arrays stored by rows (C
    order), NumPy scalars of the parameters' types, None for a null pointer; one array under two names is one buffer.
    out: the arrays that the kernel fills: they arrive full of NaN. inout: those that it reads and changes.
    label: for messages. shared: bytes of dynamic shared memory. K: additions in the longest sum. scale: as in Case.
    owner: (launch, *index) -> (block, thread), tuples of one to three numbers: who should write that element of an
    output; `x_across` is the usual one. symbols: arrays for `__constant__` and `__device__` variables, by name.
    axes: names for the axes of the output, where this launch has others than the check.
    """

    grid: tuple | int
    block: tuple | int
    args: dict
    out: tuple = ()
    label: str = ""
    shared: int = 0
    K: int = 1
    scale: float | str | None = None
    inout: tuple = ()
    owner: Callable | None = None
    symbols: dict = field(default_factory=dict)
    axes: tuple = ()

    def __post_init__(self):
        for name in self.outs:
            if not isinstance(self.args.get(name), np.ndarray):
                raise BadInput(
                    f"Launch: {name!r} is an output, so args must hold an array of that name"
                )
        for name, value in self.args.items():
            if not (value is None or isinstance(value, np.ndarray | np.generic)):
                raise BadInput(
                    f"Launch: {name} is {value!r}: pass an array, a NumPy scalar such as np.int32, or None"
                )
        if not self.outs or set(self.out) & set(self.inout):
            raise BadInput(
                "Launch: name the arrays that the kernel fills in out, those it reads and changes in inout"
            )

    @property
    def outs(self):
        """Names of all arrays that the kernel may change."""
        return (*self.out, *self.inout)

    def prepared(self):
        """Copies of the arguments, outputs poisoned. An array that stands under two names still does."""
        copies: dict = {}
        for name, value in self.args.items():
            if isinstance(value, np.ndarray) and id(value) not in copies:
                copies[id(value)] = (
                    poisoned(value) if name in self.out else np.array(value, order="C")
                )
        return {name: copies.get(id(value), value) for name, value in self.args.items()}


@dataclass
class Run(Tried):
    """What a launch gave: the engine's Report, and the arguments before and after."""

    launch: Launch
    report: Traced
    before: dict
    after: dict
    wrong: list = field(default_factory=list)


def traced(*args, **named):
    """`trace` of a launch that must end for the check to say anything. Raises CheckFailed (clock) where it does not."""
    report = trace(*args, **named)
    late = next((error for error in report.errors if error["tool"] == "timeout"), None)
    if late:
        said = Report("the check did not finish").add("what", late["message"])
        raise CheckFailed(said, CLOCK)
    return report


def poisoned(array):
    """An array of that shape and dtype which nobody has written yet: NaN of a kind that no computation gives."""
    bits = POISON.get(array.itemsize, 0xA5)
    return np.full(array.shape, bits, bits_of(array).dtype).view(array.dtype)


def bits_of(array):
    """The same memory as unsigned integers."""
    return np.ascontiguousarray(array).view(f"u{array.itemsize}")


def on_engine(source, kernel, launch, seconds=SECONDS, program=None):
    """A `Run`, traced, which is stopped after so many seconds. program: the source, compiled (`tracing.compiled`).

    Raises CompileError, BadInput.
    """
    program = program or compiled(source, no_extern_c=False)  # as PyCUDA compiles it
    before, after = launch.prepared(), launch.prepared()
    report = trace(
        source,
        kernel,
        launch.grid,
        launch.block,
        list(after.values()),
        launch.shared,
        timeout=seconds,
        symbols={name: value.copy() for name, value in launch.symbols.items()},
        program=program,
    )
    report.errors.extend(report.notes)  # one element, one thread: the course is stricter than a GPU
    _by_the_tasks_names(report, program[0].kernels[kernel], launch)
    return Run(launch, report, before, after)


def _by_the_tasks_names(report, names, launch):
    """Limits and causes ask for arrays by the names of the task; a student may have given the parameters others.
    What the engine says in words keeps the student's."""
    known = dict(zip(names, launch.args, strict=True))
    for row in (*report.accesses, *report.errors):
        row["array"] = known.get(row["array"], row["array"])


@contextlib.contextmanager
def silently():
    """A use of `device` that prints nothing, so that a notebook which asks later is still told what runs."""
    chosen = device._engine.cache_info().currsize
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            yield
    finally:
        if not chosen:
            device._engine.cache_clear()


def gpu_at_hand():
    """Is there a GPU to run on?"""
    with silently():
        return device.engine_name() == "cuda"


@silently()
def on_gpu(source, kernel, launch):
    """The arguments after the same launch on the GPU. Raises CompileError, BadInput, LaunchFailed, PyCUDA's errors."""
    after, sent = launch.prepared(), {}
    for value in after.values():
        if isinstance(value, np.ndarray) and id(value) not in sent:
            sent[id(value)] = device.to_device(value)
    args = [
        np.uint64(0) if value is None else sent.get(id(value), value) for value in after.values()
    ]
    module = device.SourceModule(source)
    for name, value in launch.symbols.items():
        device.memcpy_htod(module.get_global(name)[0], np.ascontiguousarray(value))
    function = module.get_function(kernel)
    function(*args, grid=triple(launch.grid), block=triple(launch.block), shared=launch.shared)
    device.synchronize()
    for value in after.values():
        if isinstance(value, np.ndarray):
            value[...] = device.from_device_like(sent[id(value)], value)
    return after


def triple(shape):
    """A grid or a block, given as one to three numbers, as three."""
    parts = tuple(shape) if isinstance(shape, tuple | list) else (shape,)
    return tuple(int(n) for n in (*parts, 1, 1)[:3])


def owner_of(launch, index):
    """(block, thread), three numbers each, as the launch's `owner` says; None where it does not."""
    if launch.owner is None:
        return None
    try:
        block, thread = launch.owner(launch, *index)
        return tuple(int(n) for n in (*block, 0, 0)[:3]), tuple(int(n) for n in (*thread, 0, 0)[:3])
    except (TypeError, ValueError):  # an owner for another output
        return None


def x_across(launch, *index):
    """(block, thread) that owns an element where x runs along the last axis, y along the one before it, then z."""
    block, along = triple(launch.block), (*reversed(index), 0, 0)[:3]
    pairs = [divmod(int(i), n) for i, n in zip(along, block, strict=True)]
    return tuple(b for b, _ in pairs), tuple(t for _, t in pairs)


def padded(matrix, extra, fill=np.nan):
    """A copy (rows, columns + extra) of a matrix whose rows are longer than its width; the rest holds `fill`."""
    return np.pad(matrix, ((0, 0), (0, extra)), constant_values=fill)
