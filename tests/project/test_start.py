"""start.py: what it does when all goes well, and the one line it says when something does not.

No network is used: the tools that install (venv, pip, uv) are replaced by fakes that do what start.py relies on.
.ci/fresh_clone.py does the real thing.
"""

import ast
import errno
import glob
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = (ROOT / "start.py").read_text(encoding="utf-8")


def load(folder):
    """start.py as a module, its clone in `folder`."""
    spec = importlib.util.spec_from_file_location("start_under_test", folder / "start.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def make_clone(folder):
    folder.mkdir(parents=True)
    for name in (
        "start.py",
        "pyproject.toml",
        *(path.name for path in ROOT.glob("requirements*.txt")),
    ):
        shutil.copy(ROOT / name, folder / name)
    built = Path("labextension", "built")
    (folder / built).mkdir(parents=True)
    shutil.copy(ROOT / built / "sources.sha256", folder / built)
    return folder


class Fake:
    """Stands in for start.run_step: records the steps; step `fail_at` ends as `fault` says."""

    def __init__(self, start):
        self.start, self.steps, self.fail_at, self.fault = start, [], None, KeyboardInterrupt

    def __call__(self, title, command, held):
        self.steps.append(command)
        if title.startswith(f"[{self.fail_at}/"):
            raise self.fault
        if "--clear" in command:
            shutil.rmtree(self.start.VENV, ignore_errors=True)
            os.makedirs(self.start.SCRIPTS)
            os.symlink(sys.executable, self.start.PYTHON)

    def verbs(self):
        """What the steps did, in a word each; forgets them."""
        known = ("venv", "sync", "-e", "uv", "install")
        words = [next(w for w in known if w in step) for step in self.steps]
        words = [
            "pip" if "pip" in step[:3] else word
            for word, step in zip(words, self.steps, strict=True)
        ]
        self.steps = []
        return words


@pytest.fixture
def start(tmp_path, monkeypatch):
    module = load(make_clone(tmp_path / "a clone"))
    module.fake = Fake(module)
    monkeypatch.setattr(module, "run_step", module.fake)
    monkeypatch.setattr(
        module.shutil, "which", lambda name: f"/usr/bin/{name}"
    )  # there is a compiler
    return module


FRESH, ADDED = ["venv", "pip", "sync", "-e"], ["pip", "uv", "-e"]


# Which Python


def old_pythons():
    names = [f"python{v}" for v in ("2.7", "3.6", "3.7", "3.8", "3.9", "3.10")]
    found = [path for path in map(shutil.which, names) if path and "shims" not in path]
    found += glob.glob(os.path.expanduser("~/.pyenv/versions/[23].*/bin/python"))
    return [path for path in found if _version(path) and _version(path) < (3, 11)]


def _version(path):
    try:
        said = subprocess.run(
            [path, "-c", "import sys; print(list(sys.version_info[:2]))"], capture_output=True
        )
        return tuple(json.loads(said.stdout or b"null") or ())
    except OSError:
        return ()


def test_old_pythons_get_one_line():
    pythons = old_pythons()
    if not pythons:
        pytest.skip(
            "no Python older than 3.11 on this machine; the syntax is checked by the next test all the same"
        )
    for python in pythons:
        done = subprocess.run(
            [python, "-E", "start.py", "lab"], cwd=ROOT, capture_output=True, text=True
        )
        lines = done.stderr.splitlines()
        assert (done.returncode, len(lines), done.stdout) == (1, 1, ""), f"{python}: {done.stderr}"
        assert "the course needs Python 3.11, 3.12 or 3.13" in lines[0]


def test_syntax_is_that_of_python_2():
    SOURCE.encode("ascii")
    new = (
        ast.JoinedStr,
        ast.AnnAssign,
        ast.NamedExpr,
        ast.Nonlocal,
        ast.AsyncFunctionDef,
        ast.YieldFrom,
        ast.MatMult,
    )
    for node in ast.walk(ast.parse(SOURCE)):
        assert not isinstance(node, new), f"line {node.lineno}: too new for Python 2.7"
        if isinstance(node, ast.FunctionDef):
            annotated = [a for a in node.args.args if a.annotation] + [node.returns] * bool(
                node.returns
            )
            assert not (annotated or node.args.kwonlyargs or node.args.posonlyargs), (
                f"line {node.lineno}"
            )
        if isinstance(node, ast.Raise):
            assert node.cause is None, f"line {node.lineno}: raise ... from"


def test_standard_library_alone():
    names = {
        a.name for n in ast.walk(ast.parse(SOURCE)) if isinstance(n, ast.Import) for a in n.names
    }
    names |= {n.module for n in ast.walk(ast.parse(SOURCE)) if isinstance(n, ast.ImportFrom)}
    assert names <= set(sys.stdlib_module_names)


@pytest.mark.parametrize(
    "version, good", [((3, 10), 0), ((3, 11), 1), ((3, 13), 1), ((3, 14), 0), ((4, 0), 0)]
)
def test_range_of_versions(start, monkeypatch, capsys, version, good):
    monkeypatch.setattr(sys, "version_info", (*version, 0, "final", 0))
    if good:
        return start.check_python()
    with pytest.raises(SystemExit):
        start.check_python()
    assert f"this is Python {version[0]}.{version[1]};" in capsys.readouterr().err


def test_no_ensurepip_names_the_package(start, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "ensurepip", None)
    monkeypatch.setattr(os.path, "exists", lambda path: path == "/etc/debian_version")
    with pytest.raises(SystemExit):
        start.main(["lab"])
    assert f"apt install python3.{sys.version_info[1]}-venv" in capsys.readouterr().err
    assert start.fake.steps == []


@pytest.mark.parametrize(
    "arguments, status", [([], 2), (["labs"], 2), (["--help"], 0), (["-h"], 0)]
)
def test_wrong_call(arguments, status):
    done = subprocess.run(
        [sys.executable, "start.py", *arguments], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == status
    assert "start.py lab" in done.stdout and "start.py test" in done.stdout


# Set-up: once, again, interrupted, moved, added to


def test_second_run_does_nothing(start):
    start.ready("lab")
    assert start.fake.verbs() == FRESH
    start.ready("lab")
    assert start.fake.verbs() == []


def test_lab_accepts_what_test_made(start):
    start.ready("test")
    assert start.PINNED["test"] in start.fake.steps[2]
    assert start.fake.verbs() == FRESH
    start.ready("lab")
    assert start.fake.verbs() == []


def test_test_adds_to_a_lab_in_use_and_removes_nothing(start):
    start.ready("lab")
    start.fake.verbs()
    start.ready("test")
    assert (
        "--clear" not in [word for step in start.fake.steps for word in step]
        and start.fake.verbs() == ADDED
    )
    start.ready("test")
    start.ready("lab")
    assert start.fake.verbs() == []


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-setup.txt", "pyproject.toml"])
def test_changed_pins_are_installed(start, name):
    start.ready("lab")
    start.fake.verbs()
    with open(os.path.join(start.ROOT, name), "a") as file:
        file.write("# changed\n")
    start.ready("lab")
    assert start.fake.verbs() == ADDED


@pytest.mark.parametrize(
    "before, step", [(None, 1), (None, 2), (None, 3), (None, 4), ("lab", 2), ("lab", 3), ("lab", 4)]
)
def test_interrupted_set_up_heals(start, before, step):
    if before:
        start.ready(before)
    start.fake.fail_at = step
    with pytest.raises(KeyboardInterrupt):
        start.ready("test")
    start.fake.fail_at = None
    start.fake.verbs()
    start.ready("test")
    assert start.fake.verbs() == FRESH, "a half-made environment must be made from nothing"


def test_moved_clone_heals(start, monkeypatch):
    start.ready("lab")
    there = Path(start.ROOT).with_name("moved")
    os.rename(start.ROOT, there)
    moved = load(there)
    moved.fake = Fake(moved)
    monkeypatch.setattr(moved, "run_step", moved.fake)
    moved.ready("lab")
    assert moved.fake.verbs() == FRESH


@pytest.mark.parametrize("damage", ["", "{", "[]", "null", '{"place": 1}'])
def test_damaged_stamp_heals(start, damage):
    start.ready("lab")
    start.fake.verbs()
    Path(start.STAMP).write_text(damage)
    start.ready("lab")
    assert start.fake.verbs() == FRESH


def test_lost_python_heals(start):
    start.ready("lab")
    start.fake.verbs()
    os.remove(start.PYTHON)
    start.ready("lab")
    assert start.fake.verbs() == FRESH


def test_another_python_in_range_keeps_the_environment(start, monkeypatch):
    start.ready("lab")
    start.fake.verbs()
    other = 12 if sys.version_info[1] != 12 else 13
    monkeypatch.setattr(sys, "version_info", (3, other, 0, "final", 0))
    start.ready("lab")
    assert start.fake.verbs() == []
    start.ready("test")
    assert start.fake.verbs() == ADDED
    assert start.read_stamp()["test"], (
        "the stamp must name .venv's Python, not the one that ran start.py"
    )


# Two at once


def holder(folder, seconds=60):
    """A process that holds the clone's lock through a child of a step, as uv would, until the file `go` is there."""
    child = "import os, time; print('Installed', flush=True); end = time.time() + {}\n"
    child += "while time.time() < end and not os.path.exists({!r}): time.sleep(0.05)"
    child = child.format(seconds, str(folder / "go"))
    code = f"import sys; sys.path.insert(0, {str(folder)!r}); import start; held = start.lock(); "
    code += f"start.run_step('step', [sys.executable, '-c', {child!r}], held)"
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    while "Installed" not in process.stdout.readline():
        assert process.poll() is None
    return process


def lets_go(start, said):
    """What the holder waits for comes with the first words; they are kept, with the steps done before them."""

    def say(words):
        said.append((words, start.fake.steps[:]))
        Path(start.ROOT, "go").touch()

    return say


def test_one_set_up_waits_for_another(start, monkeypatch):
    first, said = holder(Path(start.ROOT)), []
    monkeypatch.setattr(start, "say", lets_go(start, said))
    start.ready("lab")
    assert first.wait(60) == 0
    ((_, done),) = [pair for pair in said if "waiting for it" in pair[0]]
    assert done == [] and start.fake.verbs() == FRESH


@pytest.mark.skipif(os.name == "nt", reason="Windows hands no lock to a child")
def test_killed_set_up_is_waited_for_until_its_children_are_gone(start, monkeypatch):
    first, said = holder(Path(start.ROOT)), []
    monkeypatch.setattr(start, "say", lets_go(start, said))
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    start.lock().close()
    assert "waiting for it" in said[0][0]


# Clear words when something fails

# what venv, pip and uv print, and what must be said then
OUTPUTS = [
    (
        "Failed to establish a new connection: [Errno -3] Temporary failure in name resolution'",
        "no network",
    ),
    ("error: Failed to fetch: `...`\ncause: error sending request\ncause: dns error", "no network"),
    (
        "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device",
        "disk",
    ),
    (
        "error: Failed to install: scipy\ncause: failed to copy file: No space left on device (os error 28)",
        "disk",
    ),
    ("cause: There is not enough space on the disk. (os error 112)", "disk"),
    (
        "cause: failed to create directory `/home/x/.cache/uv`: Permission denied (os error 13)",
        "cannot be written",
    ),
    ("Error: [Errno 30] Read-only file system: '/clone/.venv'", "cannot be written"),
    ("cause: invalid peer certificate: UnknownIssuer", "certificate"),
    ("error: Hash mismatch for `numpy==2.4.6`", "not the one that was pinned"),
    (
        "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.",
        "not the one that was pinned",
    ),
    (
        "cause: Because numba==0.61 has no usable wheels and you require numba==0.61",
        "no ready-built file",
    ),
    (
        "Error: Command '[...]' returned non-zero exit status 1: -m ensurepip --upgrade",
        "cannot make an environment",
    ),
]


@pytest.mark.parametrize("printed, said", OUTPUTS)
def test_causes(start, printed, said):
    why = start.why(printed.splitlines())
    assert said in why and "{" not in why and "\n" not in why


def test_unknown_cause_shows_the_last_lines(start):
    assert "line 99" in start.why([f"line {n}" for n in range(100)])


def test_failed_step_is_one_line_and_a_log(tmp_path, capsys):
    start = load(make_clone(tmp_path / "clone"))
    code = "print('Downloading x (1 MB)\\nfirst\\nPermission denied (os error 13)'); raise SystemExit(1)"
    step = [sys.executable, "-c", code]
    with start.lock() as held, pytest.raises(SystemExit) as stopped:
        start.run_step("[3/4] packages", step, held)
    said = capsys.readouterr()
    assert (
        stopped.value.code == 1
        and len(said.err.splitlines()) == 1
        and "cannot be written" in said.err
    )
    assert said.out.splitlines() == ["[3/4] packages ...", "    Downloading x (1 MB)"]
    assert "first" in (tmp_path / "clone/.venv.log").read_text()


def test_full_disk_is_seen_before(start, monkeypatch, capsys):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(10**12, 10**12, 10**8))
    with pytest.raises(SystemExit) as stopped:
        start.main(["lab"])
    assert (
        stopped.value.code == 1 and "2000 MB" in capsys.readouterr().err and start.fake.steps == []
    )


@pytest.mark.parametrize(
    "number, said", [(errno.ENOSPC, "2000 MB"), (errno.EROFS, "write"), (errno.EACCES, "write")]
)
def test_system_errors_are_one_line(start, monkeypatch, capsys, number, said):
    def fail(*args):
        raise OSError(number, os.strerror(number), "some file")

    monkeypatch.setattr(start, "write_stamp", fail)
    with pytest.raises(SystemExit) as stopped:
        start.main(["lab"])
    err = capsys.readouterr().err
    assert stopped.value.code == 1 and said in err and len(err.splitlines()) == 1


def test_missing_file_of_the_clone_is_one_line(start, capsys):
    os.remove(os.path.join(start.ROOT, "requirements.txt"))
    with pytest.raises(SystemExit):
        start.main(["lab"])
    err = capsys.readouterr().err
    assert "requirements.txt" in err and len(err.splitlines()) == 1


def test_interrupt_is_one_line(start, capsys):
    start.fake.fail_at = 3
    with pytest.raises(SystemExit) as stopped:
        start.main(["lab"])
    assert stopped.value.code == 130 and "run the same command again" in capsys.readouterr().err


# What is started


def started(start, monkeypatch, arguments):
    calls = []
    monkeypatch.setattr(os, "execve", lambda *call: calls.append(call))
    monkeypatch.setattr(os, "chdir", lambda folder: None)
    assert start.main(arguments) == 0
    return calls[0]


@pytest.mark.parametrize("user, allowed", [(0, True), (1000, False)])
def test_lab_opens_chapter_00(start, monkeypatch, user, allowed):
    monkeypatch.setattr(os, "geteuid", lambda: user)
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    path, line, env = started(start, monkeypatch, ["lab", "--no-browser"])
    assert (
        path == start.PYTHON
        and line[1:3] == ["-m", "course_tools.notebooks.lab"]
        and line[-1] == "--no-browser"
    )
    assert "--LabApp.default_url=/lab/tree/notebooks/00-start-here.ipynb" in line
    assert f"--ServerApp.root_dir={start.ROOT}" in line and ("--allow-root" in line) == allowed
    assert (
        env["JUPYTER_PREFER_ENV_PATH"] == "1"
        and env["UV_PYTHON_DOWNLOADS"] == "never"
        and "PYTHONPATH" not in env
    )
    assert env["JUPYTER_CONFIG_PATH"].split(os.pathsep)[0] == os.path.join(start.ROOT, ".jupyter")
    assert env["PATH"].startswith(start.SCRIPTS + os.pathsep)


def test_test_runs_the_tests(start, monkeypatch):
    _, line, _ = started(start, monkeypatch, ["test", "-k", "mnist"])
    assert line[1:] == ["-m", "course_tools.maintenance.run_tests", "-k", "mnist"]


def test_installing_is_pinned(start):
    start.ready("test")
    _, pip, sync, course = start.fake.steps
    assert {"--require-hashes", "--only-binary", ":all:"} <= set(pip) & set(sync)
    assert start.SETUP in pip and start.PYTHON in sync
    assert {"--offline", "--no-deps", "--no-build-isolation"} <= set(course)


def test_windows_paths(monkeypatch):
    monkeypatch.setattr(os, "name", "nt")
    names = {"__name__": "start", "__file__": "/clone/start.py"}
    exec(compile(SOURCE, "start.py", "exec"), names)
    assert names["PYTHON"].endswith(os.path.join(".venv", "Scripts", "python.exe"))
