"""What a finding says: where, what, and one sentence on the likely cause."""

import math
import re
import tomllib
from pathlib import Path

from course_lib.machines.cuda_c.shared_memory import split

OF_WARP = re.compile(r"\b(?:load_matrix|store_matrix|mma)_sync\b")
DONE = {"load": "read", "store": "written", "atomic": "changed by an atomic"}
WORDS = Path(__file__).with_name("messages.toml").read_text(encoding="utf-8")
TEXTS = {
    tool: {kind: " ".join(text.split()) for kind, text in texts.items()}
    for tool, texts in tomllib.loads(WORDS).items()
}


def refused(kind, **words):
    """What is said of input that does not fit."""
    return TEXTS["input"][kind].format(**words)


def message(error, source_line):
    """Two or three sentences for one finding of a Report."""
    at_barrier = error["tool"] == "synccheck"
    alone = at_barrier and error["count"] == 1
    texts = TEXTS[error["tool"]] | (TEXTS["one thread"] if alone else {})
    text = texts.get(_kind(error)) or texts["otherwise"]
    if at_barrier and OF_WARP.search(source_line):
        text = text.replace("barrier", "warp-wide call")
    other, shape = error["other"], error["shape"]
    words = dict(error, element=_element(error), who=_who(error))
    words["there"] = f", which has {' x '.join(f'{n:,}' for n in shape) or 'no'} elements"
    words["far"] = _far(error, source_line)
    words["done"] = DONE.get(error["op"], "")
    if other:
        words.update(other_line=other["line"], other_thread=other["thread"], other_who=_who(other))
        words["elsewhere"] = _elsewhere(error)
        words["other_done"] = DONE.get(other["op"], "")
        near = other["warp"] == error["warp"]
        words["warp"] = " (threads of one warp need __syncwarp() too)" if near else ""
    counted = not at_barrier or error["index"] >= 0
    many = f" ({error['count']:,} times)" if error["count"] > 1 and counted else ""
    where = f"line {error['line']}" if error["line"] else "somewhere"
    return f"{error['tool']}, {where}{many}: {text.format(**words)}\n    {source_line.strip()}".rstrip()


def own_array(told, source_line):
    """{"array": name, "type": type} of a thread's own array, told as "float [8]@12": its type, and the column where its
    name begins (clang) or the bracket of the index closes (g++)."""
    kind, column = told.rsplit("@", 1)
    before, after = source_line[: int(column)], source_line[int(column) - 1 :]
    brackets = r"(\w+)(?:\s*\[(?:[^][]|\[[^][]*\])*\])+$"
    name = r"(?:\w+(?:\.|->))*(\w+)(?!\w*\s*\()"
    found = re.search(brackets, before) or re.match(name, after)
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
