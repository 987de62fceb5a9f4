"""The sandbox for one submission: what it must not see, what it must not use up, and that nothing of it survives."""

import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from course_tools.grading.sandbox import check_stubs, resources, sandbox, syscalls

ROOT = Path(__file__).resolve().parents[2]
WHY_NOT = sandbox.available()
pytestmark = pytest.mark.skipif(bool(WHY_NOT), reason=f"no sandbox on this system: {WHY_NOT}")
USERS = ["root", "ordinary"] if os.getuid() == 0 else ["ordinary"]

INSIDE = """
import sys; sys.path.insert(0, {root!r})
sys.modules.setdefault("numpy", type(sys)("numpy"))  # not needed, and an ordinary user's Python may have none
import json, os, socket, subprocess, time
from pathlib import Path
from course_tools.grading.sandbox import sandbox
from course_tools.grading.sandbox import syscalls
sandbox.enter(sandbox.python_folders(), sandbox.Limits(disk=2 << 20, processes=40, space=3 << 30), {hidden!r})
said = {{}}
def attempt(name, what):
    try:
        said[name] = what()
    except BaseException as error:
        said[name] = type(error).__name__
{body}
print(json.dumps(said), flush=True)
os._exit(0)
"""


def as_user(user):
    """Arguments of subprocess.run for root, or for somebody else."""
    return (
        {"user": 4321, "group": 4321, "extra_groups": []}
        if user == "ordinary" and os.getuid() == 0
        else {}
    )


def inside(body, user=USERS[0], hidden=(), **more):
    """What `body` put into `said`, run in a sandbox."""
    text = INSIDE.format(root=str(ROOT), body=body, hidden=list(hidden))
    done = subprocess.run(
        [PYTHON[user], "-I", "-c", text],
        capture_output=True,
        text=True,
        timeout=60,
        cwd="/",
        env={"PATH": "/usr/bin:/bin", "SECRET": "of the user's"} | more,
        **as_user(user),
    )
    assert done.stdout, done.stderr[-2000:]
    return json.loads(done.stdout)


def _python_of(user, module="course_tools.grading.sandbox.sandbox"):
    """An interpreter that this user may run: this one, if it does not lie in another's home. It has that module."""
    for python in (sys.executable, "/usr/bin/python3"):
        try:
            text = INSIDE.split("import json")[0].format(root=str(ROOT))
            text += f"import {module}"
            done = subprocess.run(
                [python, "-I", "-c", text], cwd="/", capture_output=True, **as_user(user)
            )
            if done.returncode == 0:
                return python
        except OSError:
            continue
    return ""


PYTHON = {user: _python_of(user) for user in USERS}


@pytest.fixture(params=USERS)
def user(request):
    """Who starts the sandbox: root, and somebody else."""
    if not PYTHON[request.param]:
        pytest.skip("an ordinary user may not read this Python")
    return request.param


def test_packages_beside_this_python_are_shown_and_what_holds_the_clone_is_not(
    monkeypatch, tmp_path
):
    """As .pth files name them: an editable install of something else; the clone itself; folders above it."""
    packages, release = tmp_path / "packages", tmp_path / "spring" / "release"
    another, installed = tmp_path / "another", tmp_path / "site-packages"
    homes = [Path(pwd.getpwuid(os.getuid()).pw_dir), tmp_path / "home of a hub"]
    monkeypatch.setenv("HOME", str(homes[1]))
    for folder in (
        homes[1],
        packages,
        release,
        another / "course_lib",
        installed / "course_lib" / "checks",
    ):
        folder.mkdir(parents=True)
    (installed / "course_tools").mkdir()
    not_shown = [
        another,
        ROOT,
        ROOT.parent,
        ROOT / "solutions",
        ROOT / "chapters",
        *homes,
        Path("/"),
        release.parent,
    ]
    relative = ["", ".", "solutions", str(tmp_path / "gone")]
    monkeypatch.setattr(
        sys, "path", [str(packages), str(installed), *map(str, not_shown), *relative, *sys.path]
    )
    shown = sandbox.python_folders([release])
    assert str(packages) in shown and str(ROOT / "course_lib") in shown
    assert not set(map(str, not_shown)) & set(shown) and not set(relative) & set(shown)
    hidden = check_stubs.hidden_folders()
    assert str(installed) in shown and str(installed / "course_lib" / "checks") in hidden
    assert {str(installed / "course_tools"), str(ROOT / "course_tools")} <= set(hidden)
    assert str(ROOT / "course_tools") not in shown
    assert {str(ROOT / "course_lib" / name) for name in ("checks",)} <= set(hidden)


def test_a_class_is_graded_by_an_ordinary_user(tmp_path):
    """Release and grade, by somebody who is not root and whose home nobody else may read."""
    user = "ordinary"
    python = _python_of(user, "nbval")
    if not python:
        pytest.skip("an ordinary user may not read this Python")
    home = Path(tempfile.mkdtemp(prefix="course-user-"))
    if os.getuid() == 0:
        os.chown(home, 4321, 4321)

    def course(*args):
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "PYTHONPATH": str(ROOT),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        return subprocess.run(
            [python, "-m", "course_lib", *map(str, args)],
            cwd=home,
            env=env,
            capture_output=True,
            text=True,
            timeout=300,
            **as_user(user),
        )

    try:
        made = course("release", "00", "--quick", "--out", home / "release")
        assert made.returncode == 0, made.stderr
        shutil.copytree(home / "release" / "exercises", home / "in" / "ann")
        shutil.copytree(
            ROOT / "solutions",
            home / "in" / "bob",
            ignore=shutil.ignore_patterns("[!0]*", "0[!0]*"),
        )
        done = course(
            "grade",
            home / "in",
            "--release",
            home / "release",
            "--out",
            home / "marks",
            "--untested",
            "--json",
        )
        assert done.returncode == 0, done.stderr
        points = {
            row["student"]: (row["points"], row["problems"])
            for row in json.loads(done.stdout)["rows"]
        }
        assert points == {"ann": (0, []), "bob": (4, [])}, points
        shutil.rmtree(home / "in" / "ann")
        done = course(
            "grade",
            home / "in",
            "--release",
            home / "release",
            "--out",
            home / "marks",
            "--untested",
            "--isolation",
            "none",
        )
        (row,) = json.loads((home / "marks" / "bob.json").read_text())["chapters"]
        assert done.returncode == 0 and (row["isolation"], row["points"]) == ("none", 4), (
            done.stderr
        )
        assert "without a sandbox" in (home / "marks" / "gradebook.csv").read_text(
            encoding="utf-8-sig"
        )
    finally:
        shutil.rmtree(home)


def test_what_is_seen(user, tmp_path):
    secret = tmp_path / "solutions.txt"
    secret.write_text("42")
    seen = inside(
        f"""
attempt("top", lambda: sorted(os.listdir("/")))
attempt("home", lambda: os.listdir("/home"))
attempt("tmp", lambda: os.listdir("/tmp"))
attempt("secret", lambda: Path({str(secret)!r}).read_text())
attempt("solutions", lambda: os.listdir({str(ROOT / "solutions")!r}))
attempt("chapters", lambda: os.listdir({str(ROOT / "chapters")!r}))
attempt("checks", lambda: os.listdir({str(ROOT / "course_lib" / "checks")!r}))
attempt("users", lambda: Path("/etc/passwd").read_text())
attempt("parents", lambda: os.listdir("/proc/1/root/old"))
attempt("processes", lambda: len([n for n in os.listdir("/proc") if n.isdigit()]))
attempt("rights", lambda: Path("/proc/self/status").read_text().split("CapEff:")[1].split()[0])
attempt("who", lambda: [os.getuid() != 0, os.getgroups()])
""",
        user,
        hidden=[str(ROOT / "course_lib" / "checks")],
    )
    shown = {Path(place).parts[1] for place in sandbox.python_folders()}
    system = {"bin", "dev", "etc", "home", "lib", "lib32", "lib64", "proc", "sbin", "tmp", "usr"}
    assert set(seen["top"]) <= system | shown
    assert seen["home"] == ["student"] and seen["checks"] == [] and seen["processes"] <= 2
    assert seen["tmp"] in ([], [ROOT.parts[2]])  # where the course itself lies below /tmp
    for name in ("secret", "solutions", "chapters", "users", "parents"):
        assert seen[name] in ("FileNotFoundError", "PermissionError", "NotADirectoryError"), name
    assert seen["rights"] == "0000000000000000" and seen["who"][0]


def test_no_network(user):
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_UNIX) as nameless,
    ):
        nameless.bind("\0course-test")
        nameless.listen()
        said = inside(
            f"""
attempt("neighbour", lambda: socket.create_connection({server.getsockname()!r}, 2))
attempt("outside", lambda: socket.create_connection(("192.0.2.1", 80), 2))
attempt("abstract", lambda: socket.socket(socket.AF_UNIX).connect("\\0course-test"))
attempt("names", lambda: socket.gethostbyname("example.org"))
attempt("raw", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
own = socket.create_server(("127.0.0.1", 0))
attempt("itself", lambda: bool(socket.create_connection(own.getsockname(), 2)))
""",
            user,
        )
    assert said.pop("itself") is True  # MPI ranks and kernels talk to each other
    assert all(kind.endswith("Error") or kind == "gaierror" for kind in said.values()), said


def test_nothing_but_its_home_can_be_written(user):
    said = inside(
        f"""
def write(place):
    Path(place, "x-of-a-test").write_text("x")
    return "written"
for place in ("/", "/usr", "/bin", "/proc", "/dev", {str(ROOT / "course_lib")!r}, sys.prefix):
    attempt(place, lambda: write(place))
attempt("home", lambda: write("."))
attempt("tmp", lambda: write("/tmp"))
attempt("setuid", lambda: subprocess.run("cp /bin/true t; chmod 4755 t; ./t", shell=True).returncode)
attempt("namespaces", lambda: subprocess.run(["unshare", "-U", "true"], stderr=-3).returncode)
attempt("mount", lambda: subprocess.run(["mount", "-t", "tmpfs", "x", "/tmp"], stderr=-3).returncode)
""",
        user,
    )
    assert said.pop("home") == said.pop("tmp") == "written"
    assert said.pop("namespaces") != 0 and said.pop("mount") != 0
    said.pop("setuid")
    assert set(said.values()) <= {"OSError", "PermissionError", "FileNotFoundError"}, said


def test_bombs(user):
    said = inside(
        """
def disk():
    with open("bomb", "wb") as file:
        for mb in range(100):
            file.write(bytes(1 << 20)); file.flush()
    return mb
def files():
    for n in range(100_000):
        open(f"/tmp/{n}", "w").close()
    return n
def forks():
    children = []
    try:
        while len(children) < 500:
            child = os.fork()
            if child == 0:
                time.sleep(60); os._exit(0)
            children.append(child)
    except OSError:
        return len(children)
    return len(children)
def memory():
    return len(bytearray(4 << 30))
for what in (disk, files, memory, forks):
    attempt(what.__name__, what)
""",
        user,
    )
    assert (
        said["disk"] == "OSError" and said["files"] == "OSError" and said["memory"] == "MemoryError"
    )
    assert said["forks"] < 45


def start(body, user):
    """A sandbox that runs `body` and goes on: its outermost process."""
    text = INSIDE.format(root=str(ROOT), body=body, hidden=[])
    process = subprocess.Popen(
        [PYTHON[user], "-I", "-c", text],
        stdout=subprocess.PIPE,
        text=True,
        cwd="/",
        env={"PATH": "/usr/bin:/bin"},
        **as_user(user),
    )
    assert process.stdout.readline() == "begun\n"
    return process


def gone(numbers, seconds=60.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end and any(Path(f"/proc/{n}").exists() for n in numbers):
        time.sleep(0.02)
    return not any(Path(f"/proc/{n}").exists() for n in numbers)


DETACHED = """
signal = __import__("signal")
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        for number in (1, 2, 15): signal.signal(number, signal.SIG_IGN)
        if os.fork() == 0:
            print("begun", flush=True) if _ == 2 else None
            time.sleep(100)
        os._exit(0)
time.sleep(0.5)
"""


@pytest.mark.parametrize("end", ["outermost is killed", "first one exits"])
def test_nothing_survives(user, end):
    process = start(DETACHED + ("time.sleep(100)" if "killed" in end else "os._exit(3)"), user)
    time.sleep(0.1)
    numbers = resources.below(process.pid)
    if "killed" in end:
        assert len(numbers) >= 5
        os.kill(process.pid, signal.SIGKILL)
    process.wait(10)
    assert gone(numbers)
    process.stdout.close()


@pytest.mark.skipif(not syscalls.available(), reason="this system has no filter of system calls")
def test_memory_that_no_process_and_no_file_holds(user):
    """System V's segments and messages stay without a process."""
    said = inside(
        """
import ctypes
call = ctypes.CDLL(None, use_errno=True)
attempt("segment", lambda: call.shmget(0, ctypes.c_size_t(64 << 20), 0o1600))
attempt("messages", lambda: call.msgget(0, 0o1600))
attempt("keys", lambda: call.syscall(syscalls.REFUSED[os.uname().machine][5], 0, 0))
attempt("memfd", lambda: os.memfd_create("the engine needs it") > 0)
""",
        user,
    )
    assert said == {"segment": -1, "messages": -1, "keys": -1, "memfd": True}


def test_what_waits_in_sockets_counts(user):
    process = start(
        """
pairs = [socket.socketpair() for _ in range(100)]
for one, other in pairs:
    one.setblocking(False)
    try:
        while True: one.send(bytes(1 << 16))
    except BlockingIOError: pass
print("begun", flush=True)
time.sleep(100)
""",
        user,
    )
    try:
        assert resources.used_by(process.pid) > 200 * 200_000
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_memory_of_all_is_seen_from_outside(user):
    process = start(
        """
if os.fork() == 0:
    held = bytearray(60 << 20); held[::4096] = b"x" * len(held[::4096])
    handle = os.memfd_create("x")
    for _ in range(40): os.write(handle, bytes(1 << 20))
    print("begun", flush=True)
time.sleep(100)
""",
        user,
    )
    try:
        assert 100 << 20 < resources.used_by(process.pid) < 400 << 20
        with pytest.raises(resources.TooMuchMemory):
            resources.MemoryWatch(process.pid, 90 << 20)()
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_the_process_of_the_checks_cannot_be_looked_into(user):
    """What a student's CUDA C starts in the checks' sandbox is a process beside that of the checks."""
    said = inside(
        """
sandbox.unreadable()
look = '\\n'.join(["import os; p = os.getppid()", "for name in ('mem', 'maps', 'environ', 'fd/0', 'cwd'):",
                  "    try: open(f'/proc/{p}/{name}'); print(name)", "    except OSError: pass"])
call = "import ctypes, os; c = ctypes.CDLL(None); "
steal = call + "print(c.syscall(438, c.syscall(434, os.getppid(), 0), 1, 0))"  # pidfd_getfd(pidfd_open(...))
trace = call + "print(c.ptrace(16, os.getppid(), 0, 0))"
for name, text in dict(look=look, steal=steal, trace=trace).items():
    attempt(name, lambda: subprocess.run([sys.executable, "-I", "-c", text], stdout=-1, text=True).stdout.split())
""",
        user,
    )
    assert said == {"look": [], "steal": ["-1"], "trace": ["-1"]}
