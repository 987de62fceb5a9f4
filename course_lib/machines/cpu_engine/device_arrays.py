"""Many launches under the tracer, on arrays that stay on the device between them; and a table of what they did."""

import numpy as np

from course_lib.machines.cpu_engine.tracing import trace

NAMES = ("requests", "sectors", "ideal_sectors", "wavefronts", "ideal_wavefronts")


def trace_arrays(source, kernel, grid, block, args, **how):
    """As `trace`, but of device arrays (.gpudata, .get(), .set()), which are copied to the tracer and back.

    Arrays with the same memory are one. What neither the host nor a launch has written counts as unwritten on the CPU
    engine, through any number of launches: after one that was not traced, what still holds the pattern of fresh memory.
    On a GPU the tracer cannot know. Returns a Report; raises as `trace`.
    """
    arrays = {int(arg.gpudata): arg for arg in args if hasattr(arg, "gpudata")}
    # as it lies in memory
    host = {place: _host(array) for place, array in arrays.items()}
    given = [host[int(arg.gpudata)] if hasattr(arg, "gpudata") else arg for arg in args]
    report = trace(source, kernel, grid, block, given, **how)
    for place, array in arrays.items():
        data = np.ma.getdata(host[place])
        array.set(np.ndarray(array.shape, array.dtype, data, strides=array.strides))
        if hasattr(array, "set_written"):
            array.set_written(~np.ma.getmaskarray(host[place]))
    return report


def _host(array):
    data = array.get().ravel(order="K")
    return np.ma.array(data, mask=~array.written()) if hasattr(array, "written") else data


def summary(reports):
    """(header, rows) of a list of (kernel, Report): for each kernel its launches and the sums of their counts."""
    rows = []
    for kernel in dict(reports):
        chosen = [report for name, report in reports if name == kernel]
        worst = max((row["max_way"] for report in chosen for row in report.accesses), default=0)
        sums = (sum(report.total(name) for report in chosen) for name in NAMES)
        rows.append((kernel, len(chosen), *sums, worst))
    return ("kernel", "launches", *(name.replace("_", " ") for name in NAMES), "max way"), rows
