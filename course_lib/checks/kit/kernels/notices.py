"""What is noticed in a right kernel, said, and not held against it: `double`, and arrays that leave the registers."""

import re

from course_lib.checks.kit.kernels.compiling import line_of
from course_lib.checks.kit.kernels.source import without_comments

DOUBLE = re.compile(r"\bdouble\b|(?<![\w.])(?:\d+\.\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.])")
COUNTED = re.compile(r"\bfor\s*\(\s*(?:int|unsigned)\s+(\w+)\s*=\s*\d+\s*;\s*\1\s*<=?\s*\d+\s*;")


def notices(source):
    """Sentences, at most one of a kind."""
    bare = without_comments(source)
    return [said for said in (_double(bare), _local(bare)) if said]


def _double(bare):
    found = DOUBLE.search(bare)
    if not found:
        return None
    what = "double" if found[0] == "double" else f"{found[0]}, which is a double"
    return (
        f"line {line_of(bare, found.start())} has {what}: most GPUs compute with double many times more slowly "
        "than with float (2.0f is a float)"
    )


def _local(bare):
    """An array of a thread's own with an index that only the run knows."""
    counters = set(COUNTED.findall(bare))
    for name in _own_arrays(bare):
        for use in re.finditer(rf"\b{name}((?:\s*\[[^]]*\])+)", bare):
            words = set(re.findall(r"[A-Za-z_]\w*", use[1])) - counters
            if words and not words <= _constants(bare):
                return (
                    f"line {line_of(bare, use.start())} indexes {name} with a value known only at run time: a "
                    f"GPU then keeps {name} in local memory, not in registers"
                )
    return None


def _own_arrays(bare):
    """Names of the arrays of a thread: `float d[4][4] = {}, a[4];`"""
    lines = re.findall(r"(__shared__[^;]*|)\bfloat4?\s+([^;()]*\[[^;()]*);", bare)
    own = [text for shared, text in lines if not shared]
    return [name for text in own for name in re.findall(r"(\w+)\s*\[\s*\d+\s*\]", text)]


def _constants(bare):
    return set(re.findall(r"#\s*define\s+(\w+)", bare)) | set(
        re.findall(r"\bconst(?:expr)?\s+int\s+(\w+)\s*=\s*\d+\s*[;,]", bare)
    )
