"""The English of what people read: no misspelling that codespell knows, and the course's own rules.

Read are the text of chapters (not their code), what planted answers say, hints, README, CONTRIBUTING and docs/. A
quotation of a paper keeps its words: a line that begins with ">", and cells of tables that quote one.
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RULES = tomllib.loads(Path(__file__).with_name("house_style.toml").read_text("utf-8"))["rule"]
FENCES = re.compile(r"^(`{3,}|~{3,}).*?^\1`*[ \t]*$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?<=\n\n) {4}\S[^\n]*(?:\n {4}[^\n]*)*")
SPANS = re.compile(
    r"`[^`\n]+`|\$[^$\n]+\$|\]\([^)\n]*\)|<!--.*?-->|^>.*$|^ *(?:- )?(?:name|replace|with|expect):.*$|\"[^\"\n]*\"",
    re.M,
)


def read_by_people():
    """(path, text) of everything that people read as text."""
    paths = [*(ROOT / "chapters").rglob("*.md"), *(ROOT / "docs").glob("*.md")]
    paths += [ROOT / name for name in ("README.md", "CONTRIBUTING.md")]
    return sorted(paths)


def prose(text):
    """The text with its code, formulas, addresses and quotations blanked: every line keeps its number."""
    for pattern in (FENCES, INDENTED, SPANS):
        text = pattern.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    return text


def breaches(text, rules=RULES):
    """(line, words, what to write) for each place in which a rule is broken."""
    for rule in rules:
        for found in re.finditer(rule["find"], text, re.IGNORECASE):
            yield text.count("\n", 0, found.start()) + 1, found[0], rule["use"]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["bad"])
def test_each_rule_finds_its_example_and_not_the_better_words(rule):
    assert list(breaches(rule["bad"], [rule])) and not list(breaches(rule["good"], RULES))


def test_code_formulas_and_quotations_are_not_read():
    text = "a\n```python\nmend\n```\n`mend` $mend$ [x](mend.md)\n> mend\n\nmend it\n"
    assert [line for line, _, _ in breaches(prose(text))] == [8]


@pytest.mark.parametrize("path", read_by_people(), ids=lambda path: str(path.relative_to(ROOT)))
def test_house_style(path):
    found = list(breaches(prose(path.read_text(encoding="utf-8"))))
    told = [f"{path.name}:{line}: {words!r}: write {use}" for line, words, use in found]
    assert not told, "\n".join(told)


def test_spelling():
    """codespell's own list of common misspellings; what it may not touch is in pyproject.toml."""
    command = [
        sys.executable,
        "-m",
        "codespell_lib",
        "chapters",
        "docs",
        "course_lib",
        "course_tools",
    ]
    command += ["start.py", "README.md", "CONTRIBUTING.md", "CHANGELOG.md"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
