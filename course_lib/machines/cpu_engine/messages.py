"""What a finding says: where, what, and one sentence on the likely cause."""

import math
import re

from course_lib.machines.cuda_c.shared_memory import split

OF_WARP = re.compile(r"\b(?:load_matrix|store_matrix|mma)_sync\b")
DONE = {"load": "read", "store": "written", "atomic": "changed by an atomic"}
FIRST = "Likely cause: a sum, a maximum or a tile without a first value, as in `float sum = 0;`."
TEXTS = {
    ("memcheck", "outside"): "{who} goes to {element}{there}: outside of it{far}. Likely cause: a "
    "guard such as `if (i < n)` is missing or off by one, or the array is too small.",
    ("memcheck", "local"): "{who} uses index {index} for a `{type}`, its own array `{array}` or a "
    "part of it: outside of it. Likely cause: a loop that runs one step too far, or an array that is too small.",
    ("memcheck", "row"): "{who} goes past the end of a row, with an index too large for its "
    "dimension, and gets to {element}. Likely cause: swapped indices or a missing guard; if that is meant, go "
    "through a pointer.",
    ("memcheck", "constant"): "{who} writes to {element}, which is `__constant__`: kernels may "
    "only read it. Let the host set it, or make it `__device__`.",
    ("memcheck", "misaligned"): "{who} accesses {element} at an address that is not a multiple of "
    "the access size. Likely cause: a float2 or float4 at an index that is not divisible by 2 or 4.",
    ("memcheck", "tile"): "{who} passes the address of {element} for a fragment: it is not a "
    "multiple of 32 bytes (256 bits). Likely cause: a tile that starts at a column or row which is not a multiple "
    "of its size.",
    ("memcheck", "leading"): "{who} passes a leading dimension for a fragment of `{array}` that is "
    "not a multiple of 16 bytes (8 elements of half, 4 of float). Likely cause: rows of a ragged matrix: pad them, "
    "or stage the tile through shared memory.",
    ("memcheck", "lanes"): "{who} passes another address or leading dimension for a fragment of "
    "`{array}` than other lanes of its warp: all 32 must pass the same. Likely cause: threadIdx.x in it, where the "
    "warp's number should be.",
    ("memcheck", "copy"): "{who} asks for an asynchronous copy of a size that there is not: it "
    "takes 4, 8 or 16 bytes, of which the last `zfill` become 0.",
    ("memcheck", "to"): "{who} starts an asynchronous copy whose destination is not shared memory: "
    "it goes from global to shared memory. Likely cause: destination and source have changed places.",
    ("memcheck", "null"): "{who} dereferences a null pointer. Likely cause: None was passed for an "
    "array that the kernel uses.",
    ("memcheck", "wild"): "{who} accesses an address that belongs to no array. Likely cause: an "
    "index that has overflowed or was never set, or a pointer computed wrongly.",
    ("initcheck", "unset"): "{who} reads {element}, which nothing has written. "
    "Likely cause: the array was not filled, or only a part of it.",
    ("initcheck", "travels"): "{who} reads {element} while an asynchronous copy to it is on its "
    "way. Likely cause: `__pipeline_commit()` or `__pipeline_wait_prior(0)` is missing before the barrier, or stands "
    "behind it.",
    ("initcheck", "fragment"): "{who} uses {fragment}, which was never loaded or filled. "
    "Likely cause: fill_fragment(..., 0.0f) is missing before a loop, or load_matrix_sync in it.",
    ("initcheck", "variable"): "the variable `{array}` is used here, but was never given a value. "
    + FIRST,
    ("initcheck", "stored"): "{who} writes to {element} a value from a variable that was never "
    "initialised. " + FIRST,
    ("racecheck", "block"): "{element} is {done} by thread {thread} and {other_done} in line "
    "{other_line} by thread {other_thread} of the same block, and no barrier orders the two. Likely cause: a barrier "
    "is missing between the two, or it is on the wrong side{warp}.",
    ("racecheck", "together"): "{element} is written here by thread {thread} and by thread "
    "{other_thread} of the same block, with different values: which one remains is undefined. Likely cause: several "
    "threads compute the same index. A barrier cannot help here, because they write at the same time: give each "
    "thread its own element, let one thread write, or use an atomic.",
    ("racecheck", "statement"): "{element} is {done} by thread {thread} and {other_done} by thread "
    "{other_thread} of the same block in one statement, and nothing orders the two. Likely cause: all threads update "
    "one element, which needs an atomic; or each reads what another one writes, which needs a barrier in between: "
    "read into a variable, barrier, write{warp}.",
    ("racecheck", "same"): "{element} is written by {who} and by {other_who} in line {other_line}, "
    "with the same value: the result is right whichever writes last, but one thread would be enough.",
    ("racecheck", "blocks"): "{element} is {done} by {who} and {other_done} in line {other_line} "
    "by {other_who}: blocks run in any order, and nothing orders these two. Likely cause: two blocks access the same "
    "element; give each its own, or use an atomic.",
    ("synccheck", "different"): "some threads of block {block} wait at this barrier while "
    "{count} others wait at {elsewhere}. Likely cause: a barrier in both branches of an if; put one after it.",
    ("synccheck", "exited"): "{count} threads of block {block} (the first: {thread}) have returned "
    "when the others reach this barrier. Likely cause: an early return for threads without work, or a barrier inside "
    "an if: let those threads skip the work but still reach the barrier.",
    ("synccheck", "skipped"): "{count} threads of block {block} (the first: {thread}) went past "
    "this barrier while the others wait at it. Likely cause: a barrier inside an if or a loop that not all threads "
    "enter; put it where all threads reach it.",
    ("synccheck", "stuck"): "{count} threads of block {block} wait here forever, for threads that "
    "never come. Likely cause: a barrier, or a warp function's mask, that not all of its threads reach.",
    ("synccheck", ""): "{who} takes the value of lane {index}, which {kind}: the value is "
    "undefined, and the results depend on it. Likely cause: a loop of shuffles that starts too wide, a mask that "
    "does not match the lanes that take part, an early return, or a block whose size is not a multiple of 32.",
    (
        "synccheck",
        "part",
    ): "a fragment needs all 32 lanes of a warp, but this warp of block {block} "
    "has {count}. Likely cause: a block whose size is not a multiple of 32.",
    ("synccheck", "mask"): "{who} calls a warp function with a mask that leaves out its own lane.",
    ("crash", "assert"): "{who} fails the assertion in this line, which ends the kernel.",
    ("crash", "stack"): "{who} needs more than the 60 KB that a thread has here for its own "
    "variables. Likely cause: a large array (put it into shared or global memory), or a function that calls itself.",
    ("crash", ""): "the kernel crashed ({kind}) while {who} ran; its last traced access was here.",
    ("timeout", ""): "the kernel did not finish in time; {who} was running, and its last traced "
    "access was here. Likely cause: a loop whose condition never becomes false; or nothing is wrong, but there is "
    "more work than the tracer can do in that time: try a smaller grid and smaller arrays, or allow more time with "
    "timeout=.",
}
ONE = (
    ("{count} threads of block {block} (the first: {thread})", "{who}"),
    ("{count} threads", "a thread"),
    ("have returned", "has returned"),
    ("wait here forever", "waits here forever"),
    ("threads that never come", "others that never come"),
    ("{count} others wait", "another waits"),
)


def message(error, source_line):
    """Two or three sentences for one finding of a Report."""
    text = TEXTS.get((error["tool"], _kind(error))) or TEXTS[error["tool"], ""]
    if error["tool"] == "synccheck" and error["count"] == 1 and error["index"] < 0:
        for many, one in ONE:
            text = text.replace(many, one)
    if error["tool"] == "synccheck" and OF_WARP.search(source_line):
        text = text.replace("barrier", "warp-wide call")
    other = error["other"]
    shape = error["shape"]
    words = dict(error, element=_element(error), who=_who(error))
    words["there"] = f", which has {' x '.join(f'{n:,}' for n in shape)} elements" if shape else ""
    words["far"] = _far(error, source_line)
    words["done"] = DONE.get(error["op"], "")
    if other:
        words.update(other_line=other["line"], other_thread=other["thread"], other_who=_who(other))
        words["elsewhere"] = _elsewhere(error)
        words["other_done"] = DONE.get(other["op"], "")
        near = other["warp"] == error["warp"]
        words["warp"] = " (threads of one warp need __syncwarp() too)" if near else ""
    counted = error["tool"] != "synccheck" or error["index"] >= 0
    many = f" ({error['count']:,} times)" if error["count"] > 1 and counted else ""
    where = f"line {error['line']}" if error["line"] else "somewhere"
    return f"{error['tool']}, {where}{many}: {text.format(**words)}\n    {source_line.strip()}".rstrip()


def own_array(told, source_line):
    """{"array": name, "type": type} of a thread's own array, told as "float [8]@12": its type, and the column where its
    name begins (clang) or the bracket of the index closes (g++)."""
    kind, column = told.rsplit("@", 1)
    brackets = r"(\w+)(?:\s*\[(?:[^][]|\[[^][]*\])*\])+$"
    found = re.search(brackets, source_line[: int(column)]) or re.match(
        r"(?:\w+(?:\.|->))*(\w+)(?!\w*\s*\()", source_line[int(column) - 1 :]
    )
    return {"array": found[1] if found else "", "type": kind.strip("')")}


def fragment(which, source_line):
    """{"array": name, "fragment": what it is} of a fragment, told by its place: 1, 2, 3 of mma_sync, 4 of a store."""
    found = re.search(r"\b(?:mma|store_matrix)_sync\s*\((.*)\)\s*;", source_line)
    names = split(found[1]) if found else []
    at = 1 if which == 4 else which
    name = names[at] if at < len(names) else ""
    role = {1: "matrix_a", 2: "matrix_b"}.get(which, "accumulator")
    told = f"the fragment `{name}` ({role})" if name else f"a fragment of {role}"
    return {"array": name, "index": -1, "fragment": told}


def _elsewhere(error):
    if error["line"] == error["other"]["line"]:
        return "another one in this line, or came to it by another call"
    return f"the one in line {error['other']['line']}"


def _kind(error):
    """Which text: of a race in one line, it depends on what collides there."""
    if error["kind"].startswith("same "):
        return "same"
    if error["kind"] == "block" and error["line"] == error["other"]["line"]:
        return "together" if error["op"] == error["other"]["op"] == "store" else "statement"
    return error["kind"]


def _who(side):
    return f"thread {side['thread']} of block {side['block']}"


def _far(error, source_line):
    """How far outside of the array an access goes; and that the line does not name the array, where it does not."""
    behind = error["index"] + 1 - math.prod(error["shape"])
    far = f", {behind:,} elements past its last one" if error["shape"] and behind > 1 else ""
    if not re.search(rf"\b{re.escape(error['array'])}\b", source_line):
        far += " (this line gets at it through another name)"
    return far


def _element(error):
    """The element as the source would write it: As[3][5] for the 101st of a float As[32][32]."""
    index, inner = error["index"], error["shape"][1:]
    if index < 0:
        return f"{error['array']}, {-index} element{'s' * (index < -1)} before its start"
    parts = []
    for n in reversed(inner):
        parts.append(index % n)
        index //= n
    return error["array"] + "".join(f"[{i}]" for i in [index, *reversed(parts)])
