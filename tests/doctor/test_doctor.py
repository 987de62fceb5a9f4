"""The doctor never crashes or hangs, whatever the machine is like, and tells the truth about what can run."""

import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from course_tools import doctor
from course_tools.doctor import chapters as ch
from course_tools.doctor import probes
from course_tools.doctor.finding import NO, UNKNOWN, YES, Finding, ask, look, look_all

ROOT = Path(__file__).resolve().parents[2]


def machine(**changes):
    """Findings of an ordinary laptop; `changes` replaces some of them."""
    found = {
        "Python": Finding("Python", YES, "3.12.1"),
        "cores": Finding("cores", YES, "8", facts={"usable": 8}),
        "BLAS": Finding("BLAS", YES, "OpenBLAS", facts={"name": "OpenBLAS", "threads": 8}),
        "C++ compiler": Finding("C++ compiler", YES, "g++ 12", facts={"name": "g++"}),
        "GPU": Finding("GPU", NO, "no NVIDIA GPU", facts={"name": "", "pycuda": False}),
        "MPI": Finding("MPI", YES, "MPICH 4", facts={"library": "MPICH 4"}),
        "Jupyter": Finding("Jupyter", YES, "jupyterlab 4"),
    }
    return found | {
        name.replace("_", " ").replace("Cxx", "C++"): value for name, value in changes.items()
    }


# Probes that misbehave


@pytest.mark.parametrize(
    "error", [RuntimeError("strange"), OSError(5, "no"), SystemExit(3), KeyboardInterrupt]
)
def test_a_probe_that_raises(error):
    def probe():
        raise error

    found = look("topic", probe, 5)
    name = error.__name__ if isinstance(error, type) else type(error).__name__
    assert found.there == UNKNOWN and name in found.text


def test_a_probe_that_hangs_does_not_stop_the_others():
    good, hangs = Finding("good", YES, "fine"), threading.Event()
    found = look_all({"hangs": hangs.wait, "good": lambda: good}, 0.3)
    hangs.set()  # only now: nobody has waited for its end
    assert [f.there for f in found] == [UNKNOWN, YES] and "0.3 s" in found[0].text


def test_programs_that_misbehave():
    assert ask("no-such-program-anywhere") is None
    assert ask(sys.executable, "-c", "raise SystemExit(3)") is None
    assert ask(sys.executable, "-c", "import time; time.sleep(30)", seconds=0.3) is None
    assert ask(sys.executable, "-c", "import os; os.abort()") is None
    assert ask(
        sys.executable, "-c", "import sys; sys.stdout.buffer.write(b'\\xff\\xfe ok')"
    ).endswith("ok")


def test_every_probe_broken(monkeypatch, capsys):
    def broken():
        raise OSError("everything is broken")

    monkeypatch.setattr(doctor, "PROBES", dict.fromkeys(doctor.PROBES, broken))
    assert doctor.main([]) in (0, 1)
    assert capsys.readouterr().out.count("everything is broken") >= len(doctor.PROBES)


def answers(monkeypatch, table):
    """Programs answer as in `table` (first word of the command, or Python's code -> text); the rest is missing."""

    def fake(*command, **options):
        return table.get(command[0] if command[0] != sys.executable else command[2])

    monkeypatch.setattr(probes, "ask", fake)


def test_gpu_with_pycuda(monkeypatch):
    smi = "NVIDIA H100, 570.1, 81559 MiB"
    works = "import pycuda.driver as d; d.init(); d.Device(0)"
    answers(
        monkeypatch, {"nvidia-smi": smi, probes.CUDA_QUESTION: "NVIDIA H100, CUDA 12.8", works: ""}
    )
    found = probes.gpu()
    assert (
        found.there == YES
        and found.facts == {"name": "NVIDIA H100", "pycuda": True}
        and not found.add
    )
    assert "570.1" in found.text


def test_gpu_without_pycuda_names_the_command(monkeypatch):
    answers(monkeypatch, {probes.CUDA_QUESTION: "NVIDIA T4, CUDA 12.8"})
    found = probes.gpu()
    assert (
        found.there == YES
        and not found.facts["pycuda"]
        and "pip install" in found.add
        and "pycuda" in found.add
    )


def test_gpu_with_a_broken_driver(monkeypatch):
    answers(monkeypatch, {"nvidia-smi": "NVIDIA T4, 570.1, 16 MiB"})
    assert probes.gpu().there == NO and "does not start" in probes.gpu().text


def test_no_compiler_names_the_command(monkeypatch):
    answers(monkeypatch, {})
    monkeypatch.setattr(probes, "installed", lambda package: None)
    monkeypatch.setattr(
        probes.shutil, "which", lambda name: "/usr/bin/apt-get" if name == "apt-get" else None
    )
    assert probes.compilers().there == NO and probes.compilers().add.endswith("apt-get install g++")
    monkeypatch.setattr(probes.shutil, "which", lambda name: None)
    assert "ziglang" in probes.compilers().add


def test_compilers_are_those_that_the_engine_would_take(monkeypatch):
    from course_lib.machines.cpu_engine import compiler

    monkeypatch.setattr(probes, "installed", lambda package: {"ziglang": "0.17.1"}.get(package))
    old = "g++ (Ubuntu 9.4.0-1ubuntu1~20.04.2) 9.4.0\nCopyright"
    answers(monkeypatch, {"g++": old})
    found = probes.compilers()
    assert found.there == YES and found.facts["name"] == "ziglang" and not found.add
    assert "9.4.0, which is too old for the CPU engine; ziglang 0.17.1" in found.text
    answers(monkeypatch, {"g++": "g++ (Debian 12.2.0-14) 12.2.0"})
    assert probes.compilers().facts["name"] == "g++" and "too old" not in probes.compilers().text
    assert probes.GCC_VERSION == compiler.GCC_VERSION


def test_mpi_that_cannot_start(monkeypatch):
    answers(monkeypatch, {})
    assert probes.mpi().there == NO and probes.mpi().add == probes.SET_UP


def test_sandbox_elsewhere_than_linux(monkeypatch):
    monkeypatch.setattr(probes.sys, "platform", "darwin")
    assert probes.sandbox().there == NO and "Linux" in probes.sandbox().text


@pytest.mark.skipif(sys.platform != "linux", reason="the rooms are made of Linux namespaces")
def test_sandbox_is_that_of_the_grader(monkeypatch):
    from course_tools.grading.sandbox import sandbox

    assert (probes.sandbox().there == YES) == (sandbox.available() == "")
    monkeypatch.setattr(probes, "ask", lambda *command: "unshare: Operation not permitted")
    assert probes.sandbox().there == NO and "Operation not permitted" in probes.sandbox().text
    monkeypatch.setattr(probes, "ask", lambda *command: None)
    assert probes.sandbox().there == NO and "failed" in probes.sandbox().text


def test_little_memory_and_disk(monkeypatch):
    import course_lib.measure as measure

    small = type("Small", (), {"memory": 2**30})()
    monkeypatch.setattr(measure, "machine", lambda: small)
    assert probes.memory().there == NO
    monkeypatch.setattr(
        probes.shutil, "disk_usage", lambda path: type("Usage", (), {"free": 10**8})()
    )
    assert probes.disk().there == NO


# What each chapter runs on


@pytest.mark.parametrize(
    "needs, changes, runs, says",
    [
        ("cpu", {}, True, "OpenBLAS with 8 threads"),
        (
            "cpu",
            {"BLAS": Finding("BLAS", NO, "NumPy is not installed")},
            False,
            "NumPy is not installed",
        ),
        ("cpu", {"BLAS": Finding("BLAS", UNKNOWN, "?")}, True, "the CPU"),
        (
            "cpu",
            {"Jupyter": Finding("Jupyter", NO, "not installed: jupyterlab")},
            False,
            "jupyterlab",
        ),
        ("threads", {}, True, "8 CPU threads"),
        (
            "threads",
            {"cores": Finding("cores", YES, "1", facts={"usable": 1})},
            True,
            "no speed-up",
        ),
        ("threads", {"cores": Finding("cores", UNKNOWN, "?")}, True, "CPU threads"),
        ("gpu", {}, True, "CPU engine, built with g++"),
        (
            "gpu",
            {"GPU": Finding("GPU", YES, "", facts={"name": "T4", "pycuda": True})},
            True,
            "the GPU: T4",
        ),
        (
            "gpu",
            {"GPU": Finding("GPU", YES, "", facts={"name": "T4", "pycuda": False})},
            True,
            "T4 stays idle",
        ),
        (
            "gpu",
            {"Cxx_compiler": Finding("C++ compiler", NO, "none")},
            False,
            "needs a C++ compiler",
        ),
        ("mpi", {}, True, "MPICH 4"),
        ("mpi", {"MPI": Finding("MPI", UNKNOWN, "gave no answer within 25 s")}, False, "no answer"),
        ("all", {"MPI": Finding("MPI", NO, "none")}, True, "but the MPI part"),
    ],
)
def test_runs_on(needs, changes, runs, says):
    got_runs, on = ch.runs_on(needs, machine(**changes))
    assert got_runs is runs and says in on


def test_chapters_of_this_edition_come_from_the_folder(tmp_path):
    (tmp_path / "chapters/01-serial-backprop").mkdir(parents=True)
    rows = ch.plan(list(machine().values()), tmp_path)
    assert [row.number for row in rows if row.here] == ["01"] and len(rows) == 16
    text = doctor.report(list(machine().values()), rows)
    assert "02 minibatch-and-blas" in text and "not in this edition yet" in text


def test_names_are_those_of_the_folders():
    there = {path.name for path in (ROOT / "chapters").glob("[0-9][0-9]-*")}
    assert there <= {f"{number}-{name}" for number, name, _ in ch.CHAPTERS}


def test_report_wraps_and_joins_commands():
    found = [Finding("a", NO, "word " * 60, "do this"), Finding("b", NO, "short", "do this")]
    text = doctor.report(found, [], width=80)
    assert max(map(len, text.splitlines())) <= 80 and text.count("do this") == 1 and "a, b:" in text


# The command


def course(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "course_lib", *arguments], cwd=ROOT, capture_output=True, text=True
    )


def test_this_machine():
    done = course("doctor", "--json")
    said = json.loads(done.stdout)
    assert done.returncode == 0 and said["ok"], done.stdout
    assert {"Python", "cores", "BLAS", "GPU", "MPI", "sandbox", "Jupyter"} <= {
        f["topic"] for f in said["machine"]
    }
    assert all(
        f["there"] == YES
        for f in said["machine"]
        if f["topic"] in ("Python", "BLAS", "MPI", "Jupyter")
    )
    assert [row["number"] for row in said["chapters"]] == [f"{n:02}" for n in range(16)]


def test_without_numpy():
    bare = [sys.executable, "-S", "-E", "-m", "course_lib", "doctor"]
    done = subprocess.run(bare, cwd=ROOT, capture_output=True, text=True)
    assert (
        done.returncode == 1
        and "NumPy is not installed" in done.stdout
        and "start.py lab" in done.stdout
    )
    assert not done.stderr


def test_wrong_call():
    done = course("doctor", "--no")
    assert done.returncode == 2 and "--no" in done.stderr
