"""JSON that people can read and compare: lists of numbers on one line, six digits."""

import json
import math
from typing import Any


def dump(value: Any) -> str:
    """`value` as JSON text, ending in a newline."""
    return _write(rounded(value), 0) + "\n"


def rounded(value: Any) -> Any:
    """`value` as it is kept: floats with six digits: a clock tells no more. NaN and infinity are no JSON."""
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} cannot stand in a result")
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(item) for item in value]
    return value


def _write(value: Any, depth: int) -> str:
    if isinstance(value, dict) and value:
        inner = [f"{json.dumps(key)}: {_write(item, depth + 1)}" for key, item in value.items()]
    elif isinstance(value, list) and any(isinstance(item, dict | list) for item in value):
        inner = [_write(item, depth + 1) for item in value]
    else:
        return json.dumps(value, ensure_ascii=False)
    start, end = "{}" if isinstance(value, dict) else "[]"
    space = "\n" + " " * (depth + 1)
    return start + space + ("," + space).join(inner) + "\n" + " " * depth + end
