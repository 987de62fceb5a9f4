"""maintenance/with_gpu.py without a GPU: what it looks for, its commands in order, what it makes of failures."""

import importlib.util
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = "/driver/libcuda.so.1"
FAKE_DRIVER = """
extern "C" int cuInit(unsigned) { return 0; }
extern "C" int cuDeviceGetCount(int *count) { *count = DEVICES; return 0; }
extern "C" int cuDriverGetVersion(int *version) { *version = 13020; return 0; }
"""


@pytest.fixture
def tool(monkeypatch, tmp_path):
    spec = importlib.util.spec_from_file_location(
        "with_gpu", ROOT / "course_tools/maintenance/with_gpu.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for path in ("bin/nvcc", "include/cuda.h"):
        (tmp_path / path).parent.mkdir()
        (tmp_path / path).touch(0o755)
    monkeypatch.setenv("CUDA_ROOT", str(tmp_path))
    return module


@pytest.fixture
def ran(tool, monkeypatch):
    """Calls main, with a GPU pretended; failing: words of the commands that fail. (status, [(title, words, env)])."""

    def call(*argv, failing=()):
        steps = []

        def run(title, command, env):
            words = " ".join(map(str, command))
            steps.append((title, words, dict(env)))
            return not any(word in words for word in failing)

        monkeypatch.setattr(tool, "run", run)
        monkeypatch.setattr(tool, "look", lambda: (13, LIBRARY))
        return tool.main(list(argv)), steps

    return call


def test_all_steps_in_order(ran, tmp_path):
    status, steps = ran()
    titles = [title for title, _, _ in steps]
    assert status == 0 and titles == [
        "the environment",
        "is PyCUDA there?",
        "CuPy, for cuBLAS",
        "room for the peers",
        "PyTorch and vgre",
        "the tests that need a GPU",
        "chapters 05 to 09, and 15",
        "measuring",
    ]
    words = {title: words for title, words, _ in steps}
    assert "cupy-cuda13x[ctk]" in words["CuPy, for cuBLAS"] and words[
        "the tests that need a GPU"
    ].endswith("-m gpu")
    assert words["chapters 05 to 09, and 15"].count(".ipynb") == 12
    assert "bench gpu --record --peers-python" in words["measuring"]
    engine = {title: env.get("COURSE_GPU") for title, _, env in steps}
    assert (
        engine["the tests that need a GPU"] == engine["chapters 05 to 09, and 15"] == "cuda"
        and engine["measuring"] is None
    )
    assert all(env["PATH"].startswith(f"{tmp_path}/bin") for _, _, env in steps[1:])


def test_pycuda_is_built_where_it_does_not_work(ran, tool, monkeypatch):
    seen = {}

    def run(title, command, env):
        seen[title] = (
            {path.name: path for path in Path(env["HOME"]).iterdir()}
            if "minutes" in title
            else None
        )
        if seen[title]:
            assert (
                seen[title]["libcuda.so"].readlink() == Path(LIBRARY)
                and env["HOME"] in env["LIBRARY_PATH"]
            )
            assert "CURAND = False" in seen[title][".aksetup-defaults.py"].read_text()
        return "there?" not in title

    monkeypatch.setattr(tool, "run", run)
    assert tool.pycuda({"PATH": "/usr/bin"}, LIBRARY)
    assert list(seen) == ["is PyCUDA there?", "PyCUDA, two or three minutes", "does it work?"]


def test_without_pycuda_nothing_is_measured(ran, capsys):
    status, steps = ran(failing=["import pycuda"])
    assert status == 1 and steps[-1][0] == "does it work?" and "stopped" in capsys.readouterr().out


def test_a_red_test_is_told_and_the_measuring_goes_on(ran, capsys):
    status, steps = ran("--quick", "--no-peers", failing=["-m gpu"])
    assert status == 1 and steps[-1][1].endswith("bench gpu --quick")
    assert "tests: FAILED, chapters: all right, bench: all right" in capsys.readouterr().out


def test_without_a_toolkit_the_wheels_bring_nvcc(ran, tool, monkeypatch):
    monkeypatch.setattr(tool, "toolkit", lambda: None)
    status, steps = ran(failing=["nvidia-cuda-nvcc"])
    assert status == 1 and "nvidia-cuda-nvcc>=13,<14" in steps[-1][1]


@pytest.mark.skipif(
    not shutil.which("g++"), reason="no g++ to build a stand-in for the driver's library with"
)
@pytest.mark.parametrize("devices", [1, 0])
def test_what_the_driver_says(tool, monkeypatch, tmp_path, devices):
    library = tmp_path / "libcuda.so.1"
    command = ["g++", "-shared", "-fPIC", "-x", "c++", "-", f"-DDEVICES={devices}", "-o", library]
    subprocess.run(command, input=FAKE_DRIVER, text=True, check=True)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    if devices:
        assert tool.look() == (13, str(library))
    else:
        with pytest.raises(SystemExit, match="the driver finds no GPU"):
            tool.look()


@pytest.mark.parametrize(
    ("toolkit", "compiler", "says"),
    [
        (None, "/usr/bin/g++", "CUDA 12 at most"),
        (Path("/cuda"), None, "there is no g"),
    ],
)
def test_what_must_be_there(tool, monkeypatch, toolkit, compiler, says):
    answer = subprocess.CompletedProcess([], 0, f"12 {LIBRARY}\n", "")
    monkeypatch.setattr(tool.subprocess, "run", lambda *args, **how: answer)
    monkeypatch.setattr(tool.shutil, "which", lambda name: compiler)
    monkeypatch.setattr(tool, "toolkit", lambda: toolkit)
    with pytest.raises(SystemExit, match=says):
        tool.look()


def test_a_toolkit_is_found_beside_its_nvcc(tool, monkeypatch, tmp_path):
    monkeypatch.delenv("CUDA_ROOT")
    monkeypatch.setenv("PATH", f"{tmp_path}/bin")
    assert tool.toolkit() in (Path("/usr/local/cuda"), tmp_path)
    (tmp_path / "include/cuda.h").unlink()
    assert tool.toolkit() != tmp_path, "a script called nvcc is no toolkit"
