"""The words of a report: Markdown with all that a check's author needs, and no folder of the student's machine."""

import platform
import re
import subprocess
import tempfile

from course_lib import __version__
from course_tools.doctor import look_all
from course_tools.doctor.probes import PROBES
from course_tools.notebooks.outputs import places

LOOKS = ("processor", "cores", "BLAS", "C++ compiler", "GPU", "MPI")
SECONDS = 25


def notice(task):
    """What the student is told beside the text."""
    return (
        f"This text holds your cell {task!r} and nothing else of yours. Nothing was sent. Read it, add what was really "
        "wrong, and paste it into a message: to your teacher where the exercise counts, for others could copy the "
        'answer; else into the form "A check misled me" of the course\'s repository'
    )


def report(said, second, root):
    """The whole text. said: a kept verdict; second: what became of it with the same seed."""
    parts = [
        f"### A check misled me: chapter {said['chapter'][:2]}, task `{said['task']}`",
        _judgement(said),
        "**What was really wrong, or why nothing was:** (write it here)",
        "What the check said:",
        fenced(_message(said, second), "text"),
        "My cell:",
        fenced(said.get("source") or "(not kept)", "python"),
        "\n".join(f"- {row}" for row in (_again(said, second), *versions(root))),
    ]
    return "\n\n".join(parts)


def fenced(words, language):
    """A block of code that its own content cannot end."""
    longest = max((len(ticks) for ticks in re.findall(r"`{3,}", words)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{words.rstrip()}\n{fence}"


def _judgement(said):
    if said["right"]:
        return "The check accepted this answer. If it is wrong, the check has a gap."
    return "The check refused this answer. If it is right, or the cause is not the cause, the check is wrong."


def _message(said, second):
    """The check's own words; of an answer that it accepted, the line that it printed the second time."""
    first = said.get("message") or "(not kept)"
    return second.message or first if said["right"] and second.right else first


def _again(said, second):
    """The seed, and what it shows again."""
    seed = said.get("seed")
    given = "it drew nothing" if seed is None else str(seed)
    return f"Seed: {given}. {_once_more(said, second)}"


def _once_more(said, second):
    if second.right is None:
        return f"It could not be tried again: {second.message}"
    verdict = "accepted" if second.right else "refused"
    if second.right != said["right"]:
        return f"Tried again with it, in a fresh kernel, it is {verdict}:\n\n{_indented(second.message)}\n"
    if second.right or second.message.strip() == (said.get("message") or "").strip():
        return f"Tried again with it, in a fresh kernel, it is {verdict} in the same way."
    return f"Tried again with it, it is {verdict} in other words:\n\n{_indented(second.message)}\n"


def _indented(words):
    return "\n".join(f"  {row}" for row in fenced(words, "text").splitlines())


def versions(root):
    """What ran it: the course, Python, and the parts of the doctor's table that a check can rest on."""
    commit = _commit(root)
    yield f"course {__version__}" + (f", commit {commit}" if commit else "")
    yield f"Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    for finding in look_all({name: PROBES[name] for name in LOOKS}, SECONDS):
        yield f"{finding.topic}: {finding.text}"


def _commit(root):
    line = ["git", "-C", str(root), "rev-parse", "--short=10", "HEAD"]
    try:
        done = subprocess.run(line, capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def without_places(words, root):
    """Without the folders of this machine, in which a user's name may stand."""
    for folder, name in [*places(root), (tempfile.gettempdir(), "<temporary>")]:
        words = words.replace(folder, name)
    return words
