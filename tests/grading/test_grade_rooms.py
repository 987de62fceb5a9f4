"""A session: cells run in one process, checks in another, both within their time; nothing is shared but data."""

import os
import time
from pathlib import Path

import pytest

from course_tools.build import source
from course_tools.grading.sandbox import check_stubs, resources, sandbox
from course_tools.grading.sandbox.fork_server import ForkServer
from course_tools.grading.verdict import undecided
from course_tools.grading.verdict.session import Session, SessionLost

ROOT = Path(__file__).resolve().parents[2]
WHY_NOT = sandbox.available()
pytestmark = pytest.mark.skipif(bool(WHY_NOT), reason=f"no sandbox on this system: {WHY_NOT}")


@pytest.fixture(scope="module")
def fork_server():
    """One for all."""
    with ForkServer(limits=sandbox.Limits(memory=700 << 20)) as made:
        yield made


@pytest.fixture
def session(fork_server):
    """Fresh ones for each test."""
    with Session(fork_server, 1) as made:
        yield made


def test_a_cell(session):
    reply = session.run("print('a'); 6 * 7", 20)
    assert (reply["status"], reply["printed"], reply["outputs"]) == (
        "ok",
        "a\n",
        [{"text/plain": "42"}],
    )
    assert session.run("1 / 0", 20)["error"].startswith("ZeroDivisionError")
    assert session.run(
        "%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1]); plt.show()", 20
    )["outputs"]
    assert session.run("!echo $HOME", 20)["printed"].strip() == sandbox.HOME


def test_a_loop_is_interrupted_and_the_room_goes_on(session, monkeypatch):
    monkeypatch.setattr(undecided, "WAITED", 1e9)  # however busy this machine is
    monkeypatch.setattr(undecided, "PATIENCE", 1)
    assert "KeyboardInterrupt" in session.run("x = 1\nwhile True: pass", 0.5)["error"]
    assert session.run("x", 20)["outputs"] == [{"text/plain": "1"}]


def test_nothing_open_is_inherited(session):
    code = (
        "import os\nhere = '/proc/self/fd/'\nplaces = [here + n for n in os.listdir(here)]\n"
        "[os.readlink(n) for n in places if os.path.lexists(n)]"
    )
    links = eval(session.run(code, 20)["outputs"][0]["text/plain"])
    assert sum("socket:" in link for link in links) == 2  # to the grader, to the checks
    assert not [
        link for link in links if link.startswith("/") and not link.startswith(("/dev/", "/proc/"))
    ]


def test_the_environment_tells_nothing(session):
    names = eval(session.run("import os; sorted(os.environ)", 20)["outputs"][0]["text/plain"])
    ours = (
        "PATH",
        "HOME",
        "LANG",
        "COURSE_",
        "MPL",
        "OMP",
        "NUMBA",
        "PYTHONHASHSEED",
        "OPENBLAS",
        "MKL",
        "IPYTHONDIR",
    )
    assert not {name for name in names if not name.startswith(ours)} & set(os.environ)


def test_the_students_room_has_no_checks(session):
    text = """
import sys, gc, os, course_lib
found = [f for f in gc.get_objects() if str(getattr(f, "__module__", "")).startswith("course_lib.checks")]
folder = os.path.dirname(course_lib.__file__)
print(len(found), [n for n in sys.modules if n.startswith("course_lib.checks")],
      [os.listdir(os.path.join(folder, n)) for n in ("checks",)])
tools = os.path.join(os.path.dirname(folder), "course_tools")
print(os.path.exists(tools) and os.listdir(tools))
from course_lib.checks import ch01, ch05
from course_lib.checks.ch07.hazards import MIRROR
print("__global__" in MIRROR)
"""
    assert session.run(text, 20)["printed"] == "0 [] [[]]\nFalse\nTrue\n"


def test_given_cells_take_nothing_else_from_the_checks():
    for path in source.find(ROOT, []):
        for line in (
            path.read_text(encoding="utf-8").splitlines() if path.stem == "exercise" else ()
        ):
            words = line.split()
            if (
                words[:1] == ["from"]
                and words[1].startswith(check_stubs.CHECKS + ".")
                and words[2] == "import"
            ):
                assert words[3] in check_stubs.texts()[words[1]], line


def test_a_lost_room_is_empty(fork_server):
    with Session(fork_server, 1) as session:
        session.run(
            "import subprocess\nsubprocess.Popen(['sleep', '1000'], start_new_session=True)", 20
        )
        numbers = resources.below(session.student.pid)
        assert len(numbers) >= 4
        with pytest.raises(SessionLost) as lost:
            session.run("import os; os._exit(3)", 20)
        assert lost.value.status == "crashed"
    end = time.monotonic() + 60
    while time.monotonic() < end and any(Path(f"/proc/{n}").exists() for n in numbers):
        time.sleep(0.02)
    assert not any(Path(f"/proc/{n}").exists() for n in numbers)


def test_a_broken_check_passes_nobody(session):
    session.run("def f(): return 1", 20)
    for code in (
        "def check(f): raise SystemExit(0)",
        "def check(f): 1 / 0",
        "def other(f): pass",
        "def check(:",
        "import os\nraise BaseException",
        "def check(f): raise KeyboardInterrupt",
    ):
        assert session.check("x.check", "f", 1, 20, code)["status"] == "error", code
    assert session.check("x.check", "f", 1, 20, "def check(f): assert f() == 1")["status"] == "pass"
    assert session.check("x.check", "g", 1, 20, "def check(f): pass")["status"] == "missing"


def test_a_check_compares_with_what_it_handed_over(session):
    code = """
import numpy as np
def check(f):
    x = np.arange(1.0, 4.0)
    got = f(x)
    assert got == x.sum()
"""
    session.run("def f(x):\n    x[:] = 0\n    return 0.0", 20)
    assert session.check("x.check", "f", 1, 20, code)["status"] == "error"
    session.run("def h(x): return x.sum()", 20)
    assert session.check("x.check", "h", 1, 20, code)["status"] == "pass"


SHARED = """
from threading import Lock, Thread
def shared_sum(part_of, T, total):
    lock = Lock()
    def work(t):
        part = part_of(t)
        {body}
    threads = [Thread(target=work, args=(t,)) for t in range(T)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
"""


FORKED = """
from threading import Lock, Thread
def fork_join_gradient(gradient_sum, params, X, Y, T):
    lock, total, faults = Lock(), [(np.zeros_like(W), np.zeros_like(b)) for W, b in params], []
    ends = np.cumsum([0] + [len(X) // T + (t < len(X) % T) for t in range(T)]).tolist()
    def work(t):
        try:
            part = gradient_sum(params, X[ends[t]:ends[t + 1]], Y[ends[t]:ends[t + 1]])
            {guard}
                for (W, b), (dW, db) in zip(total, part):
                    W += dW
                    b += db
        except Exception as fault:
            faults.append(fault)
    threads = [Thread(target=work, args=(t,)) for t in range(T)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    if faults: raise faults[0]
    return [(W / np.float32(len(X)), b / np.float32(len(X))) for W, b in total]
"""


@pytest.mark.parametrize(
    ("guard", "status"), [("with lock:", "pass"), ("if True:", "wrong"), ("with Lock():", "wrong")]
)
def test_a_race_of_forked_threads(session, guard, status):
    """Threads of the student's add into one gradient of their own: the parts that they add hold them up."""
    session.run("import numpy as np\n" + FORKED.format(guard=guard), 20)
    verdict = session.check("ch03.check_fork_join_gradient", "fork_join_gradient", 5, 60)
    assert verdict["status"] == status, verdict


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("with lock: total[:] += part", "pass"),
        ("total[:] += part", "wrong"),
        ("total[:] = total + part", "wrong"),
        ("with lock: np.add(total, part, out=total)", "pass"),
        ("with lock: np.copyto(total, total + part)", "pass"),
        ("with lock: v = total[1:]; v += part[1:]; total[0] += part[0]", "pass"),
        ("with lock: total[:] = part", "wrong"),
        ("for i in range(len(total)): total[i] += part[i]", "wrong"),
        ("pass", "wrong"),
        ("with lock: np.add.at(total, np.arange(len(part)), part)", "pass"),
        ("total += part", "wrong"),
    ],
)
def test_shared_sum(session, body, status):
    """Threads of the student's write into an array that lies in the check process."""
    session.run("import numpy as np\n" + SHARED.format(body=body), 20)
    verdict = session.check("ch03.check_shared_sum", "shared_sum", 5, 60)
    assert verdict["status"] == status, verdict
