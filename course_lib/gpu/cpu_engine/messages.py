"""What a finding says: where, what, and one sentence on the likely cause."""

from collections.abc import Mapping

ORDINAL = {"load": "read", "store": "written", "atomic": "changed by an atomic"}


def message(found: Mapping, source_line: str) -> str:
    """Two or three sentences for one finding of the tracer (`tool`, `kind`, and where)."""
    text = KINDS[found["tool"], found["kind"]](found)
    many = f" ({found['count']:,} times)" if found["count"] > 1 else ""
    where = f"line {found['line']}" if found["line"] else "somewhere"
    shown = f"\n    {source_line.strip()}" if source_line.strip() else ""
    return f"{found['tool']}, {where}{many}: {text}{shown}"


def _who(found):
    return f"thread {_triple(found['thread'])} of block {_triple(found['block'])}"


def _element(found):
    return f"{found['array']}[{found['index']}]" if found["index"] >= 0 else f"{found['array']}, {-found['index']} before its start"


def _triple(index):
    return "(" + ", ".join(map(str, index)) + ")"


def _outside(found):
    size = found.get("elements")
    there = f", which has {size:,} elements" if size else ""
    cause = "is a guard such as `if (i < n)` missing or off by one, or the array too small?"
    return f"{_who(found)} goes to {_element(found)}{there}: outside of it. Likely cause: {cause}"


def _race(found):
    other = found["other"]
    same_warp = found["thread_linear"] // 32 == other["thread_linear"] // 32
    cause = ("a barrier is missing between the two, or it is on the wrong side"
             + (" (threads of one warp need __syncwarp() too)" if same_warp else ""))  # fmt: skip
    return (f"{_element(found)} is {ORDINAL[found['op']]} by thread {_triple(found['thread'])} and {ORDINAL[other['op']]} in line "
            f"{other['line']} by thread {_triple(other['thread'])} of the same block, and no barrier orders the two. Likely cause: {cause}.")  # fmt: skip


def _race_blocks(found):
    other = found["other"]
    return (f"{_element(found)} is {ORDINAL[found['op']]} by {_who(found)} and {ORDINAL[other['op']]} in line {other['line']} by "
            f"thread {_triple(other['thread'])} of block {_triple(other['block'])}: blocks run in any order, and nothing orders these two. "
            "Likely cause: two blocks own one element; give each its own, or use an atomic.")  # fmt: skip


def _different(found):
    return (f"some threads of block {_triple(found['block'])} wait at this barrier while {found['count']} others wait at the one in line "
            f"{found['other']['line']}. Likely cause: __syncthreads() in both branches of an if; put one after it.")  # fmt: skip


KINDS = {
    ("memcheck", "outside"): _outside,
    ("memcheck", "misaligned"): lambda f: (
        f"{_who(f)} goes to {_element(f)} at an address that is no multiple of the access's size. "
        "Likely cause: a float2 or float4 at an index that is not divisible by 2 or 4."),
    ("memcheck", "null"): lambda f: (
        f"{_who(f)} goes through a null pointer. Likely cause: None was passed for an array that the kernel uses."),
    ("memcheck", "wild"): lambda f: (
        f"{_who(f)} goes to an address that belongs to no array at all. "
        "Likely cause: an index that has overflowed or was never set, or a pointer computed wrongly."),
    ("initcheck", "unset"): lambda f: (
        f"{_who(f)} reads {_element(f)}, which nothing has written. Likely cause: the array was not filled, "
        "or only a part of the threads filled it."),
    ("racecheck", "block"): _race,
    ("racecheck", "blocks"): _race_blocks,
    ("synccheck", "different"): _different,
    ("synccheck", "exited"): lambda f: (
        f"{f['count']} threads of block {_triple(f['block'])} have returned when the others reach this barrier. "
        "Likely cause: an early return for threads without work; let them skip the work and come to the barrier."),
    ("synccheck", "stuck"): lambda f: (
        f"{f['count']} threads of block {_triple(f['block'])} wait here for ever, for threads that never come. "
        "Likely cause: a barrier, or a warp function's mask, that not all of its threads reach."),
    ("crash", "crash"): lambda f: f"the kernel crashed ({f['array']}) while {_who(f)} ran.",
    ("timeout", "timeout"): lambda f: (
        f"the kernel did not end in time; {_who(f)} was running, and its last traced access was here. "
        "Likely cause: a loop whose condition never becomes false."),
}  # fmt: skip
