"""Give a chapter another number: folders, checks, tests, ids, links and sentences that name it.

    python -m course_tools.maintenance.renumber 13-capstone 14

Only before a class has been taught: submissions carry a chapter's number. To make room in the middle, begin with the
last chapter. CHANGELOG.md keeps the old number. What is built is to be built again, and the lecture before may need
another last sentence.
"""

import argparse
import re
import subprocess
from contextlib import suppress
from pathlib import Path

from course_lib.errors import BadInput

ROOT = Path(__file__).parents[2]
HERE = ("course_tools/maintenance/renumber.py", "tests/maintenance/test_renumber.py")
LEFT = ("CHANGELOG.md", *HERE)  # history, and examples
LIST = r"((?:\d\d(?:, | and | to ))*)"  # of chapters, before the one in question


def new_text(text, name, number, own=False):
    """The text with the chapter `name` (such as 13-capstone) under another number. own: it is the chapter's own."""
    old, topic = name.split("-", 1)
    text = re.sub(rf"\b{name}\b", f"{number}-{topic}", text)
    text = re.sub(rf"(?<![a-z])ch{old}(?!\d)", f"ch{number}", text)
    text = re.sub(rf"\b([Cc]hapters?) {LIST}{old}\b(?!\.\d)", rf"\1 \g<2>{number}", text)
    if own:
        text = re.sub(rf"\b(Exercise) {old}\b|^(#) {old}\b", rf"\1\2 {number}", text, flags=re.M)
        text = text.replace(f'"{old}"', f'"{number}"')
    return text


def new_path(path, name, number):
    """Where a file of the chapter lies afterwards; others stay."""
    return new_text(path, name, number)


def renumber(name, number, root=ROOT):
    """Move and rewrite the tracked files of a clone; returns their paths. Raises BadInput where that cannot be."""
    root = Path(root)
    if not (root / "chapters" / name).is_dir():
        raise BadInput(f"{name} is not a folder in chapters/")
    if not re.fullmatch(r"\d\d", number):
        raise BadInput(f"a chapter's number has two digits, not {number!r}")
    if taken := list((root / "chapters").glob(f"{number}-*")):
        raise BadInput(f"{taken[0].name} has this number")
    changed = []
    for path in _tracked(root):
        where = new_path(path, name, number)
        if where != path:
            (root / where).parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(["git", "mv", path, where], cwd=root, check=True)
            with suppress(OSError):  # the last file of its folder
                (root / path).parent.rmdir()
        if _rewritten(root / where, name, number) or where != path:
            changed.append(where)
    return changed


def _tracked(root):
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, check=True)
    return [path for path in listed.stdout.decode().split("\0") if path and path not in LEFT]


def _rewritten(path, name, number):
    """Was there anything to change? What is no text stays."""
    if path.is_symlink() or not path.is_file():
        return False
    try:
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        return False
    own = {f"{number}-{name.split('-', 1)[1]}", f"ch{number}"} & set(path.parts)
    made = new_text(text, name, number, bool(own))
    if made != text:
        path.write_bytes(made.encode("utf-8"))
    return made != text


def main(argv=None):
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("name", help="the chapter as its folder is named, such as 13-capstone")
    parser.add_argument("number", help="its new number, two digits")
    given = parser.parse_args(argv)
    try:
        changed = renumber(given.name, given.number)
    except BadInput as error:
        raise SystemExit(f"renumber: {error}") from None
    print("\n".join(changed))


if __name__ == "__main__":
    main()
