"""What the tests of the benches share: the command line, what a result must not say, processes that must be gone."""

import json
import os
import platform
import re
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import psutil
import pytest

from course_tools.__main__ import main
from course_tools.bench.frame.document import blocks, written
from course_tools.bench.frame.results import RESULTS, failures, recorded

ROOT = Path(__file__).resolve().parents[2]
SUPPORT = Path(__file__).resolve().parents[1] / "support"  # where the stand-ins are
SLOW = float(os.environ.get("COURSE_SLOW", "1"))
posix = pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")


def bench(*arguments, **more):
    command = [sys.executable, "-m", "course_lib", "bench", *map(str, arguments)]
    how = {"cwd": ROOT, "capture_output": True, "text": True, "encoding": "utf-8"}
    return subprocess.run(command, **how, **more)


def called(arguments):
    """The exit status of the command line, in this process."""
    try:
        return main(["bench", *map(str, arguments)])
    except SystemExit as end:  # argparse's way out
        return end.code


def refused(arguments, words, capsys):
    """One error, the status of a wrong call, nothing on standard output."""
    status, said = called(arguments), capsys.readouterr()
    assert status == 2 and words in said.err and not said.out
    lines = said.err.splitlines()
    assert len([line for line in lines if "error:" in line or "course bench:" in line]) == 1


def names_no_place(said):
    """No path and no name of this machine."""
    for private in (str(ROOT), f"{Path.home()}/", sys.executable, platform.node()):
        assert private not in said, f"{private} stands in the JSON"
    assert not re.search(r"[\"( ]/(home|root|tmp|work|usr|opt)\b", said)


def committed(one):
    """The recorded results of a bench: whole, nothing failed, written again the same text, and the document's."""
    found = recorded(one.name)
    assert found
    for result in found:
        assert not result["settings"]["quick"] and failures(result) == []
        said = (ROOT / RESULTS / f"{one.stem(result)}.json").read_text(encoding="utf-8")
        assert one.text(result) == said, "written again it is the same text"
        names_no_place(said)
    document = (ROOT / one.documents[0]).read_text(encoding="utf-8")
    again = (
        f"make it again: course bench {one.name} --record --reuse benchmarks/results/<file>.json"
    )
    assert written(document, blocks(one, found)) == document, again
    return found


def quick_run(folder, name, *arguments):
    """(the command's words, its result, the file) of a run that goes well; the JSON it prints is the file's."""
    mark = uuid.uuid4().hex
    env = os.environ | {"COURSE_TEST_MARK": mark}
    done = bench(name, "--quick", "--json", "--out", folder, *arguments, env=env)
    assert done.returncode == 0, done.stderr
    assert "part 1 of" in done.stderr, "progress is shown on standard error"
    assert gone(mark), "no process outlives the command"
    (path,) = Path(folder).glob("*.json")
    result = json.loads(done.stdout)
    assert result == json.loads(path.read_text(encoding="utf-8"))
    assert (result["schema"], result["benchmark"]) == (1, name) and result["versions"]["numpy"]
    names_no_place(done.stdout)
    return done, result, path


def interrupted(folder, *arguments, processes=1):
    """Ctrl-C while that many processes are at work: it stops, and leaves none of them."""
    mark = uuid.uuid4().hex
    command = [sys.executable, "-m", "course_lib", "bench", *arguments, "--out", str(folder)]
    env = os.environ | {"COURSE_TEST_MARK": mark}
    run = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True, env=env)
    assert run.stderr is not None
    while "part 1" not in run.stderr.readline():
        assert run.poll() is None
    while len(alive(mark)) <= processes:
        assert run.poll() is None
    run.send_signal(signal.SIGINT)
    assert "stopped" in run.communicate(timeout=60 * SLOW)[1]
    assert run.returncode == 130 and gone(mark)


def alive(mark):
    """Processes that were started, at any depth, with this mark in their environment."""
    found = []
    for process in psutil.process_iter():
        try:
            known = process.environ().get("COURSE_TEST_MARK") == mark
            if known and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
        except psutil.Error:
            continue
    return found


def gone(mark, seconds=10):
    """Are they all gone within that time?"""
    end = time.monotonic() + seconds * SLOW
    while alive(mark) and time.monotonic() < end:
        time.sleep(0.1)
    return not alive(mark)
