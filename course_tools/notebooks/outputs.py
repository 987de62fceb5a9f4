"""Make outputs the same on every machine: streams merged, carriage returns applied, folders taken out."""

import os
import re
import sys
from pathlib import Path

CELL_FILE = re.compile(
    r"[^\s\"'(<]*[/\\]ipykernel_\d+[/\\]\d+\.py"
)  # where ipykernel pretends that a cell's code is
NOISE = re.compile(
    r"Matplotlib is building the font cache; this may take a moment\.\n?"
)  # once in a fresh environment
SAME_LINE = re.compile(r"^.*\r(?=[^\n])", re.MULTILINE)


def places(root):
    """(folder, what to write in its place), the longest first."""
    pairs = {
        str(Path(root).resolve()): "<course>",
        str(root): "<course>",
        os.path.dirname(os.__file__): "<python>",
    }
    if (
        sys.prefix != sys.base_prefix
    ):  # a virtual environment; /usr would be found in too many texts
        pairs[sys.prefix] = "<python>"
    if len(Path.home().parts) > 1:
        pairs.setdefault(str(Path.home()), "~")
    pairs |= {
        folder.replace("\\", "\\\\"): name for folder, name in pairs.items()
    }  # as repr shows them on Windows
    return sorted(pairs.items(), key=lambda pair: -len(pair[0]))


def tidy(outputs, execution_count, folders):
    """A tidied copy of a cell's outputs, and the folders that had to be taken out of them."""
    import copy

    tidied: list = []
    found: set = set()
    for output in _merged(copy.deepcopy(outputs)):
        if "execution_count" in output:
            output["execution_count"] = execution_count
        if "text" in output:
            output["text"] = _scrub(_lines(output["text"]), folders, found)
        for key in ("ename", "evalue"):
            if key in output:
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
    run: dict = {}
    for output in [*outputs, None]:
        if output is not None and output["output_type"] == "stream":
            if output["name"] in run:
                run[output["name"]]["text"] += output["text"]
            else:
                run[output["name"]] = output
            continue
        merged += [run[name] for name in sorted(run, reverse=True)]
        run = {}
        if output is not None:
            merged.append(output)
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
    if (
        "ipykernel_" in text
    ):  # else the pattern would crawl through each picture's base64, in quadratic time
        text = CELL_FILE.sub("<cell>", text)
    for folder, name in folders:
        if folder in text:
            found.add(folder)
            text = text.replace(folder, name)
    return text
