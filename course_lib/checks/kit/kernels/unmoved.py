"""A limit: no load stands before the guard that it needs. The engine's compiler may move it behind the guard, and then
no tool of the engine sees it; another compiler need not."""

from course_lib.checks.kit.kernels.limits import limit
from course_lib.checks.kit.kernels.running import traced
from course_lib.machines.cpu_engine.compiler import unmoved

CAUSE = (
    "the load stands before the guard, so threads read what does not exist. This compiler would move it "
    "into the branch, another one need not: load only what exists"
)


def loads_behind_the_guard(kernel):
    """The limit: the launch is traced once more, and every load stays where the source has it."""

    @limit("")
    def check(report, launch):
        shape = launch.grid, launch.block, list(launch.prepared().values()), launch.shared
        symbols = {name: value.copy() for name, value in launch.symbols.items()}
        how = {"options": unmoved(), "no_extern_c": False, "symbols": symbols}
        found = traced(report.source, kernel, *shape, **how)
        outside = [e for e in found.errors if e["tool"] == "memcheck" and e["array"]]
        if not outside:
            return None
        first = outside[0]
        place = f"{first['array']}[{first['index']}]"
        return f"memcheck: {place} is read, and it does not exist", CAUSE, first["line"]

    return check
