"""docs/engine.md: its example gives what stands there, and its tables name every option and every field."""

import argparse
import json
import re
import shlex
from pathlib import Path

import pytest
from engine_runs import needs_compiler

from course_tools.__main__ import main
from course_tools.trace import add_arguments

TEXT = (Path(__file__).resolve().parents[2] / "docs/engine.md").read_text(encoding="utf-8")
BLOCKS = dict(re.findall(r"^```(cuda|text)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL))
CALLS = re.findall(r"^    course (trace .*)$", TEXT, re.MULTILINE)


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sums.cu").write_text(BLOCKS["cuda"])

    def run(call, *more):
        status = main([*shlex.split(call), *more])
        return status, capsys.readouterr().out

    return run


@needs_compiler
def test_the_example(run):
    first, second = CALLS
    assert run(first) == (2, "")
    status, out = run(second)
    assert status == 1
    assert [line.rstrip() for line in out.splitlines()] == BLOCKS["text"].splitlines()


@needs_compiler
def test_what_it_says_mends_the_kernel(run, tmp_path):
    step = "        if (t < half) part[t] += part[t + half];\n"
    barrier = "        __syncthreads();\n"
    fixed = (
        BLOCKS["cuda"].replace(step + barrier, barrier + step).replace("x[i];", "i < n ? x[i] : 0;")
    )
    (tmp_path / "sums.cu").write_text(fixed)
    status, out = run(CALLS[1])
    assert status == 0 and out.startswith("no check found anything\n")


@needs_compiler
def test_every_field_is_named(run):
    told = json.loads(run(CALLS[1], "--json")[1])
    rows = dict(
        re.findall(r"^\| (`[^|]*?) \| (.*) \|$", TEXT.partition("### As JSON")[2], re.MULTILINE)
    )
    named = {name for cell in rows for name in re.findall(r"`(\w+)`", cell)}
    assert set(told) == named
    for field in ("errors", "accesses"):
        words = set(re.findall(r"`(\w+)`", rows[f"`{field}`"]))
        assert {key for row in told[field] for key in row} == words


def test_every_option_is_named():
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    options = {
        name
        for action in parser._actions
        for name in action.option_strings
        if name.startswith("--")
    }
    assert options - {"--help"} <= set(re.findall(r"--[a-z-]+", TEXT))
