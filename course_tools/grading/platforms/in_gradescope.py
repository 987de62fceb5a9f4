"""What runs in Gradescope's container for each submission: from /autograder/submission to results.json.

A container has a sandbox where its host lets it make namespaces; where not, the submission runs as the user `grader`
without one, and the result says so.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from course_tools.grading.verdict import results

WHO = "submission"
USER = "grader"  # made by setup.sh
OPEN = "graded without a sandbox: this container cannot make one"
NOTHING = "no notebook (.ipynb) was handed in"


def main(argv):
    """argv: the folder that is /autograder in Gradescope, the chapter. Exit status: 0 where results.json is written."""
    place, chapter = Path(argv[0]), argv[1]
    from course_tools.grading.sandbox import sandbox

    why_not = sandbox.available()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        shutil.copytree(place / "submission", work / "in" / WHO, symlinks=True)
        done = subprocess.run(
            call(place, work, bool(why_not), os.getuid() == 0), capture_output=True, text=True
        )
        made = result(work / "marks", chapter, done)
    if made is None:
        print(done.stdout, done.stderr, sep="\n")
        return 1
    if why_not:
        made["output"] = f"{made['output']}\n{OPEN}".strip()
    file = place / "results" / "results.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    return 0


def call(place, work, is_open, as_root):
    """The command that grades what lies in work/in."""
    words = [sys.executable, "-m", "course_lib", "grade", str(work / "in")]
    words += ["--release", str(place / "source" / "release"), "--out", str(work / "marks")]
    words += ["--gradescope", "--workers", "1", *["--isolation", "none"] * is_open]
    if is_open and as_root:
        subprocess.run(["chown", "-R", USER, str(work)], check=True)
        words = ["runuser", "-u", USER, "--", *words]
    return words


def result(marks, chapter, done):
    """What goes into results.json; None where grading itself failed, which Gradescope then shows to the instructor."""
    file = results.file_of(marks / "gradescope" / chapter[:2], WHO)
    if file.is_file():
        return json.loads(file.read_text(encoding="utf-8"))
    found = results.load(results.file_of(marks, WHO))
    if found:
        there = [f"{one.file}: {problem}" for one in found for problem in one.problems]
        others = [f"this is exercise {one.chapter}" for one in found if one.chapter]
        return nothing("\n".join([*there, *others]))
    return nothing(NOTHING) if "there is no notebook" in done.stderr else None


def nothing(why):
    """No points, and the reason."""
    return {"score": 0, "output": why, "visibility": "visible", "tests": []}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
