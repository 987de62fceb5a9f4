"""Make outputs the same on every machine: streams merged, carriage returns applied, folders taken out."""

import os
import re
import sys
from itertools import groupby
from pathlib import Path

# Where ipykernel pretends that a cell's code is
CELL_FILE = re.compile(r"[^\s\"'(<]*[/\\]ipykernel_\d+[/\\]\d+\.py")
# Once in a fresh environment
NOISE = re.compile(r"Matplotlib is building the font cache; this may take a moment\.\n?")
SAME_LINE = re.compile(r"^.*\r(?=[^\n])", re.MULTILINE)


def places(root):
    """(folder, what to write in its place), the longest first."""
    pairs = {str(Path(root).resolve()): "<course>", str(root): "<course>"}
    pairs[os.path.dirname(os.__file__)] = "<python>"
    if sys.prefix != sys.base_prefix:  # a virtual environment; /usr stands in too many texts
        pairs[sys.prefix] = "<python>"
    if len(Path.home().parts) > 1:
        pairs.setdefault(str(Path.home()), "~")
    on_windows = {folder.replace("\\", "\\\\"): name for folder, name in pairs.items()}  # in a repr
    return sorted((pairs | on_windows).items(), key=lambda pair: -len(pair[0]))


def tidy(outputs, execution_count, folders):
    """A tidied copy of a cell's outputs, and the folders that had to be taken out of them."""
    import copy

    tidied: list = []
    found: set = set()
    for output in _merged(copy.deepcopy(outputs)):
        if "execution_count" in output:
            output["execution_count"] = execution_count
        if "text" in output:
            output["text"] = _lines(output["text"])
        for key in {"text", "ename", "evalue"} & set(output):
            output[key] = _scrub(output[key], folders, found)
        if "traceback" in output:
            output["traceback"] = [_scrub(line, folders, found) for line in output["traceback"]]
        for kind, value in output.get("data", {}).items():
            if isinstance(value, str) and not kind.startswith("image/"):
                output["data"][kind] = _scrub(value, folders, found)
        if output.get("output_type") != "stream" or output["text"]:
            tidied.append(output)
    return tidied, sorted(found)


def _merged(outputs):
    """Neighbouring streams become one a name, stdout first: they come in pieces cut by chance."""
    merged: list = []
    for is_stream, group in groupby(outputs, lambda output: output["output_type"] == "stream"):
        if not is_stream:
            merged += group
            continue
        run: dict = {}
        for output in group:
            if run.setdefault(output["name"], output) is not output:
                run[output["name"]]["text"] += output["text"]
        merged += [run[name] for name in sorted(run, reverse=True)]
    return merged


def _lines(text):
    """The text as a terminal shows it: what follows a carriage return replaces the line."""
    text = text.replace("\r\n", "\n")
    while True:
        shown = SAME_LINE.sub("", text)
        if shown == text:
            return text.replace("\r", "")
        text = shown


def _scrub(text, folders, found):
    text = NOISE.sub("", text)
    if "ipykernel_" in text:  # else the pattern takes quadratic time in each picture's base64
        text = CELL_FILE.sub("<cell>", text)
    for folder, name in folders:
        if folder in text:
            found.add(folder)
            text = text.replace(folder, name)
    return text
