# ruff: noqa: E501 (the table holds texts of cells)
"""Hostile and broken submissions of a small exercise: each gets the honest result, and the tasks beside it theirs."""

import dataclasses
import json
import textwrap

import pytest

from course_lib.checks import ch01
from course_tools.grading.intake import assemble, files, notebook
from course_tools.grading.release.manifest import Chapter, Release, Step
from course_tools.grading.rpc import control, peer
from course_tools.grading.sandbox import sandbox
from course_tools.grading.sandbox.fork_server import ForkServer
from course_tools.grading.verdict import runner, undecided

WHY_NOT = sandbox.available()
pytestmark = pytest.mark.skipif(bool(WHY_NOT), reason=f"no sandbox on this system: {WHY_NOT}")

SETUP = "import math\nimport numpy as np\nfrom course_lib.checks import ch01\n"
NEURON = "def neuron(x, w, b):\n    return 1 / (1 + math.exp(-(float(x @ w) + b)))\n"
WRONG = "def neuron(x, w, b):\n    return 0.5\n"
BLANK = "def neuron(x, w, b):\n    raise NotImplementedError('write neuron')\n"
SOFTMAX = (
    "def softmax(z):\n    e = np.exp(z - np.max(z, axis=-1, keepdims=True))\n"
    "    return e / e.sum(axis=-1, keepdims=True)\n"
)
CHAPTER = Chapter(
    "01-tiny",
    "Tiny",
    "",
    (
        Step("setup", "given", SETUP),
        Step("neuron", "task", BLANK, 2, 5),
        Step(
            "neuron-check",
            "check",
            "ch01.check_neuron(neuron)",
            of="neuron",
            check="ch01.check_neuron",
            name="neuron",
        ),
        Step("softmax", "task", "def softmax(z):\n    raise NotImplementedError\n", 3, 5),
        Step(
            "softmax-check",
            "check",
            "ch01.check_softmax(softmax)",
            of="softmax",
            check="ch01.check_softmax",
            name="softmax",
        ),
    ),
)
HIDDEN = "def check_neuron(neuron):\n    import numpy as np\n    assert neuron(np.zeros(2), np.zeros(2), 0.0) == 0.5\n"
LIMITS = sandbox.Limits(memory=700 << 20, disk=8 << 20, processes=60)


@pytest.fixture(scope="module")
def fork_server():
    """One for all."""
    with ForkServer(limits=LIMITS) as made:
        yield made


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    """The tiny chapter as a release, with a hidden check of the instructor's."""
    return Release(
        tmp_path_factory.mktemp("release"), "id", 1, {CHAPTER.name: CHAPTER}, {CHAPTER.name: HIDDEN}
    )


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """However busy the machine of these tests is: what comes to no end has come to none."""
    monkeypatch.setattr(undecided, "WAITED", 1e9)
    monkeypatch.setattr(undecided, "PATIENCE", 1)


def cell(name, text, kind="code", **more):
    return {
        "id": name,
        "cell_type": kind,
        "source": text,
        "metadata": {},
        "outputs": [],
        "execution_count": 1,
    } | more


def cells(neuron=NEURON, softmax=SOFTMAX):
    texts = {"neuron": textwrap.dedent(neuron), "softmax": softmax}
    return [cell(step.id, texts.get(step.id, step.text)) for step in CHAPTER.steps]


def graded(fork_server, release, given, seconds=20.0):
    """The runner, after all steps. given: cells, or the bytes of a file."""
    data = (
        given
        if isinstance(given, bytes)
        else json.dumps({"cells": given, "nbformat": 4, "metadata": {}}).encode()
    )
    read = notebook.read(files.File("tiny.ipynb", data))
    run = runner.Runner(fork_server, release, assemble.assemble(read, CHAPTER), seconds)
    try:
        for step in CHAPTER.steps:
            run.step(step)
    finally:
        run.close()
    return run


AFTER = "\n" + WRONG
# name -> (cell of neuron, status that is honest; several where it is a matter of the moment)
CELLS = {
    "right": (NEURON, "pass"),
    "wrong": (WRONG, "wrong"),
    "blank": (BLANK, "missing"),
    "empty": ("", "missing"),
    "no Python": ("def neuron(:", "missing"),
    "prints the green line": ('print("✔ neuron: 6 cases right")' + AFTER, "wrong"),
    "patched checks": (
        "ch01.check_neuron = lambda fn: None\nimport sys\n"
        "sys.modules['course_lib.checks.ch01'].check_neuron = print" + AFTER,
        "wrong",
    ),
    "patched NumPy and builtins": (
        "import builtins\nnp.abs = np.isclose = np.array_equal = lambda *a, **k: True\n"
        "builtins.isinstance = lambda *a: True\nbuiltins.abs = lambda x: 0.0" + AFTER,
        "wrong crashed",
    ),
    "overridden operators": (
        "class Always(float):\n    __eq__ = __le__ = __ge__ = lambda *a: True\n    __ne__ = __lt__ = "
        "__gt__ = lambda *a: False\n    __sub__ = __rsub__ = lambda *a: 0.0\n"
        "def neuron(x, w, b): return Always(0.5)",
        "wrong",
    ),
    "an object that agrees": (
        "class Yes:\n    __eq__ = __contains__ = __call__ = lambda *a: True\n    __len__ = lambda s: 1\n"
        "    __getitem__ = lambda s, k: k\n    __array_priority__ = 9.0\n"
        "    __array__ = lambda s, *a, **k: np.array(1.0)\ndef neuron(x, w, b): return Yes()",
        "wrong",
    ),
    "looks for the reference in memory": (
        "import gc, sys\ndef neuron(x, w, b):\n    found = [f for f in gc.get_objects() if getattr(f, '__name__', '') == '_neuron']\n"
        "    return found[0](x, w, b) if found else 0.5",
        "wrong",
    ),
    "imports the reference": (
        "from course_lib.checks.ch01.forward import _neuron as neuron",
        "wrong",
    ),
    "reads the reference": (
        "import course_lib, pathlib\n"
        "text = (pathlib.Path(course_lib.__file__).parent / 'checks' / 'ch01' / 'forward.py').read_text()\n"
        "exec(text[text.index('def _neuron('):])\nneuron = _neuron",
        "missing",
    ),
    "looks for the check in frames": (
        "import sys\ndef neuron(x, w, b):\n    frame = sys._getframe()\n    while frame:\n        for name in ('want', 'wanted', "
        "'reference', 'seed', 'case'):\n            if name in frame.f_locals: return frame.f_locals[name]\n"
        "        frame = frame.f_back\n    return 0.5",
        "wrong",
    ),
    "spoils its inputs": (
        "def neuron(x, w, b):\n    x[:] = 0; w[:] = 0\n    return 1 / (1 + math.exp(-b))",
        "wrong",
    ),
    "only warns": ("import warnings\ndef neuron(x, w, b):\n    warnings.warn('not yet')", "wrong"),
    "warns and is right": (
        NEURON.replace("    return", "    np.float64(1) / np.float64(0)\n    return"),
        "pass",
    ),
    "endless loop in the cell": (
        "while True: pass" + AFTER,
        "missing timeout",
    ),  # interrupted, if it is heard in time
    "loop that swallows interrupts": (
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
        "timeout missing",
    ),
    "loop that ignores interrupts": (
        "import signal\nsignal.signal(2, signal.SIG_IGN)\nwhile True: pass",
        "timeout",
    ),
    "endless loop in the answer": ("def neuron(x, w, b):\n    while True: pass", "timeout"),
    "exit in the cell": ("exit()\nraise SystemExit" + AFTER, "wrong missing"),
    "os._exit in the cell": ("import os; os._exit(0)", "crashed"),
    "os._exit in the answer": ("import os\ndef neuron(x, w, b): os._exit(0)", "crashed"),
    "SystemExit in the answer": ("def neuron(x, w, b): raise SystemExit(0)", "wrong"),
    "KeyboardInterrupt in the answer": (
        "def neuron(x, w, b): raise KeyboardInterrupt",
        "wrong crashed",
    ),
    "BaseException in the answer": ("def neuron(x, w, b): raise BaseException('x')", "wrong"),
    "GeneratorExit in the answer": ("def neuron(x, w, b): raise GeneratorExit", "wrong"),
    "StopIteration in the answer": ("def neuron(x, w, b): raise StopIteration", "wrong"),
    "ConnectionError in the answer": ("def neuron(x, w, b): raise ConnectionResetError", "wrong"),
    "segfault": ("import ctypes; ctypes.string_at(0)", "crashed"),
    "kills its parents": (
        "import os\nfor pid in (os.getppid(), 1, -1):\n    try: os.kill(pid, 9)\n    except OSError: pass"
        + AFTER,
        "wrong crashed",
    ),
    "memory bomb": ("held = []\nwhile True: held.append(np.ones(1 << 20))", "crashed"),
    "memory bomb of many": (
        "import os\nfor _ in range(20):\n    if os.fork() == 0:\n        held = np.ones(12 << 20)\n"
        "        while True: pass\nimport time; time.sleep(60)",
        "crashed",
    ),
    "memory in a nameless file": (
        "import os\nh = os.memfd_create('x')\nwhile True: os.write(h, bytes(1 << 20))",
        "crashed",
    ),
    "memory in sockets": (
        "import os, socket, time\nfor _ in range(30):\n    if os.fork() == 0: break\nkept = []\nwhile True:\n    try:\n"
        "        a, b = socket.socketpair(); a.setblocking(False); kept += [a, b]\n"
        "        while True: a.send(bytes(1 << 16))\n    except BlockingIOError: pass\n    except OSError: time.sleep(60)",
        "crashed",
    ),
    "memory on its way": (
        "import os, socket, time\na, b = socket.socketpair()\nfor n in range(10):\n    h = os.memfd_create('x'); os.write(h, bytes(20 << 20))\n"
        "    socket.send_fds(a, [b'x'], [h]); os.close(h)\ntime.sleep(60)",
        "crashed",
    ),
    "memory in segments": (
        "import ctypes\nfor _ in range(99):\n    h = ctypes.CDLL(None).shmget(0, ctypes.c_size_t(1 << 30), 0o1600)\n"
        "    ctypes.memset(ctypes.CDLL(None).shmat(h, None, 0), 1, 1 << 30)" + AFTER,
        "crashed",
    ),
    "memory in files": (
        "for place in ('/dev/shm/x', '/tmp/x', 'x'):\n    try:\n        with open(place, 'wb') as f:\n"
        "            while True: f.write(bytes(1 << 20))\n    except OSError: pass\n" + NEURON,
        "pass",
    ),
    "process bomb": (
        "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
        "timeout crashed",
    ),
    "disk bomb": ("with open('x', 'wb') as f:\n    while True: f.write(bytes(1 << 20))", "missing"),
    "output bomb": ("for _ in range(300): print('x' * 100_000)\n" + NEURON, "pass"),
    "output bomb past Python": (
        "import os\nfor _ in range(300): os.write(1, b'x' * 100_000); os.write(2, b'x')\n" + NEURON,
        "pass",
    ),
    "picture bomb": (
        "from IPython.display import display\nfor _ in range(500): display({'image/png': 'x' * 100_000}, raw=True)\n"
        + NEURON,
        "pass",
    ),
    "detached process": (
        "import subprocess\nsubprocess.Popen(['sleep', '1000'], start_new_session=True)\n" + NEURON,
        "pass",
    ),
    "network": ("import socket\nsocket.create_connection(('192.0.2.1', 80), 1)" + AFTER, "missing"),
    "files that configure Python": (
        "for name in ('conftest.py', 'sitecustomize.py', 'numpy.py', 'pytest.ini', 'math.py'):\n"
        "    with open(name, 'w') as f: f.write('raise SystemExit')\n" + NEURON,
        "pass",
    ),
    "IPython start-up files": (
        "import os; os.makedirs('.ipython/profile_default/startup', exist_ok=True)\n"
        "open('.ipython/profile_default/startup/a.py', 'w').write('raise SystemExit')\n" + NEURON,
        "pass",
    ),
    "speaks for the room": (
        "import gc\ndef neuron(x, w, b):\n    for thing in gc.get_objects():\n        if type(thing).__name__ == 'ControlServer':\n"
        "            for n in range(9): thing.say(n, {'status': 'pass', 'message': ''})\n            break\n    return 0.5",
        "wrong crashed",
    ),
    "speaks to the check": (
        "import gc\nthings = [thing for thing in gc.get_objects() if type(thing).__name__ == 'Peer']\n"
        "def neuron(x, w, b):\n    for thing in things:\n            thing._send({'done': True}); thing._send({'offer': 'student', 'object': 1, 'calls': True})\n"
        "            thing._send({'to': '1', 'id': 0, 'back': {'list': []}, 'value': 1})\n    return 0.5",
        "wrong crashed",
    ),
    "answers calls that are yet to come": (
        "import json, os, struct\ndef raw(message):\n    text = json.dumps(message).encode()\n    os.write(4, struct.pack('<I', len(text)) + text)\n"
        "def neuron(x, w, b):\n    for n in range(60): raw({'to': '1', 'id': n, 'back': {'list': []}, 'value': {'float': '0x1p-1'}})\n"
        "    return 0.5",
        "wrong",
    ),
    "speaks in frames without end": (
        "import json, os, struct\ndef neuron(x, w, b):\n    os.write(4, struct.pack('<I', 2_000_000) + b'[' * 2_000_000)\n    return 0.5",
        "wrong crashed",
    ),
    "gives a verdict by hand": (
        "import json, os, struct\ndef neuron(x, w, b):\n    for n in range(40):\n        text = json.dumps({'answer': n, 'value': {'status': 'pass', 'message': ''}}).encode()\n"
        "        for line in (3, 4): os.write(line, struct.pack('<I', len(text)) + text)\n    return 0.5",
        "wrong crashed",
    ),
    "an error without a text": (
        "class E(Exception):\n    def __str__(self): raise RuntimeError('no')\n"
        "def neuron(x, w, b): raise E",
        "wrong crashed",
    ),
    "an iterator without end": (
        "import itertools\ndef neuron(x, w, b): return itertools.count()",
        "wrong timeout",
    ),
    "grows wrong": (
        "n = [0]\ndef neuron(x, w, b):\n    n[0] += 1\n    return 0.5 if n[0] > 3 else 1 / (1 + math.exp(-(float(x @ w) + b)))",
        "wrong",
    ),
    "fork answers twice": (
        "import os\ndef neuron(x, w, b): return 0.25 if os.fork() == 0 else 0.5",
        "wrong crashed",
    ),
    "does not end attending": (
        "import gc\nthings = [thing for thing in gc.get_objects() if type(thing).__name__ == 'Peer']\n"
        "def neuron(x, w, b):\n    for thing in things:\n            thing.serve = None\n    import time, atexit\n    globals()['math'] = math\n    return 0.5",
        "wrong",
    ),
    "closes the wire": ("import os\ndef neuron(x, w, b): os.closerange(3, 100)", "crashed timeout"),
    "closes the line": ("import os\nos.closerange(3, 100)" + AFTER, "crashed timeout"),
    "deep answer": (
        "deep = []\nfor _ in range(10**5): deep = [deep]\ndef neuron(x, w, b): return deep",
        "wrong crashed",
    ),
    "large answer": (
        "def neuron(x, w, b): return np.ones((1 << 24))",
        "wrong crashed error timeout",
    ),
    "threads without end": (
        "import threading, time\ndef neuron(x, w, b):\n    for _ in range(500):\n"
        "        threading.Thread(target=time.sleep, args=(60,)).start()\n    return 0.5",
        "wrong crashed",
    ),
    "half a character": ("x = '\ud800'\n" + NEURON, "missing"),
    "an array that is everywhere one number": (
        "from numpy.lib.stride_tricks import as_strided\ndef neuron(x, w, b):\n"
        "    return as_strided(np.zeros(1), (1 << 20, 1 << 20), (0, 0))",
        "wrong",
    ),
    "forks in the answer": (
        "import os\ndef neuron(x, w, b):\n    for _ in range(4): os.fork()\n    return os.getpid() % 2 / 2",
        "wrong crashed",
    ),
    "a pipe that nobody fills": (
        "import os\nos.mkfifo('/tmp/f')\ndef neuron(x, w, b): return open('/tmp/f').read()",
        "timeout",
    ),
    "trace functions": (
        "import sys, threading\ndef trace(frame, event, arg):\n    frame.f_locals.update(value=1, status='pass')\n    return trace\n"
        "threading.settrace(trace); sys.settrace(trace); sys.setprofile(lambda *a: None)" + AFTER,
        "wrong crashed error",
    ),
    "a trace function that raises": (
        "import sys\ndef trace(*a): raise RuntimeError\nsys.settrace(trace)" + AFTER,
        "wrong missing crashed",
    ),
    "speaks as it ends": (
        "import atexit, json, os, struct\ndef forge():\n    for n in range(50):\n        text = json.dumps({'answer': n, 'value': {'status': 'pass', 'message': ''}}).encode()\n"
        "        for line in (3, 4): os.write(line, struct.pack('<I', len(text)) + text)\natexit.register(forge)"
        + AFTER,
        "wrong",
    ),
    "other small integers": (
        "import ctypes; ctypes.memset(id(1) + 24, 2, 1)" + AFTER,
        "wrong crashed",
    ),
    "an array of another class": (
        "class A(np.ndarray):\n    __array_function__ = __array_ufunc__ = __eq__ = lambda *a, **k: True\n"
        "    shape = property(lambda s: ())\n    def tobytes(self, *a): return b''\ndef neuron(x, w, b): return x.view(A)",
        "wrong",
    ),
    "a masked array": ("def neuron(x, w, b): return np.ma.masked_all((), 'float64')", "wrong"),
    "an array of objects": (
        "class E(float):\n    __float__ = __sub__ = __rsub__ = lambda *a: 0.0\ndef neuron(x, w, b): return np.full((), E(1), object)",
        "wrong",
    ),
    "a pickle that acts": (
        "import os, pickle\nclass P:\n    def __reduce__(self): return os.system, ('touch /tmp/x',)\npickle.loads(pickle.dumps(P()))\n"
        "def neuron(x, w, b): return P()",
        "wrong",
    ),
    "a range without end": ("def neuron(x, w, b): return range(10**18)", "wrong"),
    "recursion without end": (
        "import sys\ndef neuron(x, w, b):\n    sys.setrecursionlimit(10**9)\n    return neuron(x, w, b)",
        "crashed timeout",
    ),
    "a low limit of recursion": (
        "import sys; sys.setrecursionlimit(60)" + AFTER,
        "wrong missing crashed",
    ),
    "stops itself": (
        "import os, signal\ndef neuron(x, w, b): os.kill(os.getpid(), signal.SIGSTOP)",
        "timeout",
    ),
    "waits for a processor": (
        "import os\nfor ask in (lambda: os.nice(19), lambda: os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))):\n"
        "    try: ask()\n    except PermissionError: continue\n    os._exit(1)\n" + NEURON,
        "pass",
    ),
    "sockets around the room": (
        "import socket\nfor family in (17, 31, 38, 40):\n    try: socket.socket(family, socket.SOCK_SEQPACKET)\n"
        "    except PermissionError: continue\n    raise SystemExit(family)\n" + NEURON,
        "pass",
    ),
    "locks that other rooms see": (
        "import fcntl, os\nh = os.open(os.__file__, os.O_RDONLY)\nfor ask in (lambda: fcntl.lockf(h, fcntl.LOCK_SH), lambda: fcntl.fcntl(h, 1024, 0),\n"
        "            lambda: fcntl.fcntl(h, fcntl.F_GETLK, bytes(32)), lambda: fcntl.fcntl(h, 37, bytes(32))):\n"
        "    try: ask()\n    except PermissionError: continue\n    os._exit(1)\n" + NEURON,
        "pass",
    ),
    "files without end": (
        "import os\ntry:\n    for n in range(30_000): open(f'/dev/shm/{n}', 'w').close()\nexcept OSError: pass\n"
        "try:\n    for n in range(30_000): os.mkdir('d'); os.chdir('d')\nexcept OSError: pass\n"
        + NEURON,
        "pass",
    ),
    "an error of a hundred megabytes": (
        "def neuron(x, w, b): raise ValueError('x' * 10**8)",
        "wrong",
    ),
    "a chain of errors": (
        "def neuron(x, w, b):\n    e = None\n    for n in range(20_000):\n        f = ValueError(n); f.__cause__ = e; e = f\n    raise e",
        "wrong",
    ),
    "an error whose class has no name": (
        "class M(type): __name__ = property(lambda c: 1 / 0)\nclass E(Exception, metaclass=M): pass\ndef neuron(x, w, b): raise E",
        "wrong crashed",
    ),
    "forks in its cell": ("import os; os.fork()" + AFTER, "wrong crashed"),
    "patches its own end": (
        "import sys\nfor n, m in list(sys.modules.items()):\n    if n.startswith('course_tools'):\n        for k in ('pack', 'unpack', 'frame', 'plain'):\n"
        "            if hasattr(m, k): setattr(m, k, lambda *a, **k: {'value': 1})" + AFTER,
        "wrong crashed",
    ),
    "spoils the wire for the next": (
        "import gc\ndef neuron(x, w, b):\n    for thing in gc.get_objects():\n        if type(thing).__name__ == 'Peer':\n"
        "            thing._send = lambda m, send=type(thing)._send, t=thing: send(t, m | {'value': {'fraction': ['1e999999999', '1']}} if 'value' in m else m)\n"
        "    return 1.0",
        "wrong error",
    ),
    "letters of another alphabet": (NEURON.replace("neuron", "n\u0435uron"), "missing"),
    "letters of full width": (NEURON.replace("neuron", "\uff4eeuron"), "pass"),
    "hooks of the cells after it": (
        "ip = get_ipython()\nip.events.register('post_run_cell', lambda *a: 1 / 0)\nip.input_transformers_post.append(lambda lines: lines)\n"
        + NEURON,
        "pass",
    ),
    "finds a shell variable": ("%env COURSE_SEED\n!ls / ~\n" + NEURON, "pass"),
}
SLOW = {
    "endless loop in the cell",
    "loop that swallows interrupts",
    "loop that ignores interrupts",
    "endless loop in the answer",
    "process bomb",
    "closes the wire",
    "closes the line",
    "a pipe that nobody fills",
    "stops itself",
}


def test_what_attacks_reach_for_is_there():
    """An attack on a name that nothing bears any more would prove nothing."""
    used = [text for text, _ in CELLS.values() if "gc.get_objects()" in text]
    assert sum("'ControlServer'" in text or "'Peer'" in text for text in used) == 4
    assert callable(control.ControlServer.say)
    assert callable(peer.Peer._send) and callable(peer.Peer.serve)


@pytest.mark.parametrize("name", CELLS)
def test_cell(fork_server, release, name):
    text, honest = CELLS[name]
    run = graded(fork_server, release, cells(text), 3.0 if name in SLOW else 120.0)
    neuron, softmax = run.tasks["neuron"], run.tasks["softmax"]
    assert neuron.status in honest.split(), neuron
    assert (
        (neuron.points > 0) == (honest == "pass")
        and softmax.status == "pass"
        and softmax.points == 3
    ), softmax
    json.dumps([vars(neuron), vars(softmax), run.problems], ensure_ascii=False).encode()


LATE = "import os, threading, ctypes, signal, time, faulthandler\n"
SLEEPY = "import time; time.sleep(1.5)\n" + SOFTMAX
# What strikes while the next task's cell sleeps -> what the culprit's own task is then
STRIKES = {
    "timer that exits": ("threading.Timer(0.7, os._exit, (0,)).start()\n", "crashed"),
    "thread that stops all others": ("threading.Timer(0.7, ctypes.PyDLL(None).sleep, (1000,)).start()\n", "crashed"),
    "process that kills": (
        "if os.fork() == 0:\n    time.sleep(0.7); os.kill(os.getppid(), 9); os._exit(0)\n", "crashed"),
    "alarm": ("signal.alarm(1)\n", "pass"),
    "handler that raises": ("def stop(*args): raise KeyError('struck')\nsignal.signal(signal.SIGALRM, stop)\n"
                            "signal.setitimer(signal.ITIMER_REAL, 0.7, 0.7)\n", "pass"),
    "watchdog": ("faulthandler.dump_traceback_later(0.7, exit=True, file=open('x', 'w'))\n", "pass"),
}  # fmt: skip


@pytest.mark.parametrize("name", STRIKES)
def test_what_strikes_later_costs_its_own_task_alone(fork_server, release, name):
    text, honest = STRIKES[name]
    run = graded(fork_server, release, cells(LATE + text + NEURON, SLEEPY), 4.0)
    neuron, softmax = run.tasks["neuron"], run.tasks["softmax"]
    assert (neuron.status, neuron.points) == (honest, 2 if honest == "pass" else 0), neuron
    assert (softmax.status, softmax.points) == ("pass", 3), softmax
    assert "softmax" in neuron.message if honest == "crashed" else run.lost == 0


def test_threads_that_only_wait_cost_nobody_else(fork_server, release):
    """An answer leaves a thread behind; another ends the kernel: that one is lost."""
    idle = LATE + "threading.Thread(target=time.sleep, args=(100,), daemon=True).start()\n" + NEURON
    run = graded(fork_server, release, cells(idle, "import os\ndef softmax(z): os._exit(1)"))
    assert run.tasks["neuron"].points == 2 and run.tasks["softmax"].status == "crashed"


def changed(given, **more):
    return [one | more.get(one["id"].replace("-", "_"), {}) for one in given]


NOTEBOOKS = {
    "outputs edited": (
        changed(cells(WRONG), neuron_check={"outputs": [{"output_type": "stream", "text": "✔"}]}),
        "wrong",
        "",
    ),
    "outputs cleared": (changed(cells(WRONG), neuron_check={"execution_count": None}), "wrong", ""),
    "tags": (
        changed(
            cells(WRONG),
            neuron_check={"metadata": {"tags": ["nbval-skip", "raises-exception"]}},
            neuron={"metadata": {"tags": ["skip-execution", "raises-exception"]}},
        ),
        "wrong",
        "",
    ),
    "comments": (cells("# NBVAL_SKIP\n# NBVAL_IGNORE_OUTPUT\n" + WRONG), "wrong", ""),
    "check edited": (
        changed(cells(WRONG), neuron_check={"source": "print('right')"}),
        "wrong",
        "neuron-check",
    ),
    "check deleted": (
        [c for c in cells(WRONG) if c["id"] != "neuron-check"],
        "wrong",
        "neuron-check",
    ),
    "check retyped": (
        changed(cells(WRONG), neuron_check={"cell_type": "markdown"}),
        "wrong",
        "neuron-check",
    ),
    "check doubled": ([*cells(WRONG), cell("neuron-check", "pass")], "wrong", ""),
    "points changed": (changed(cells(), neuron={"metadata": {"points": 100}}), "pass", ""),
    "answer doubled": ([*cells(WRONG), cell("neuron", NEURON)], "wrong", "first one counts"),
    "answer deleted": ([c for c in cells() if c["id"] != "neuron"], "missing", ""),
    "answer retyped": (changed(cells(), neuron={"cell_type": "raw"}), "missing", ""),
    "answer without its id": (
        [c | {"id": "new"} if c["id"] == "neuron" else c for c in cells()],
        "pass",
        "lost its id",
    ),
    "moved": ([cells()[n] for n in (3, 4, 0, 1, 2)], "pass", "moved"),
    "setup edited": (changed(cells(), setup={"source": "math = None"}), "pass", ""),
    "a cell of its own that patches": (
        [*cells(WRONG)[:2], cell("mine", NEURON), *cells(WRONG)[2:]],
        "wrong",
        "",
    ),
    "ids that are none": (
        [*cells(), cell(5, "x"), cell(None, "x"), {"cell_type": "code"}, 7, None],
        "pass",
        "",
    ),
}


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebook(fork_server, release, name):
    given, honest, said = NOTEBOOKS[name]
    run = graded(fork_server, release, given)
    assert run.tasks["neuron"].status == honest, run.tasks["neuron"]
    assert (
        run.tasks["neuron"].points == (2 if honest == "pass" else 0)
        and run.tasks["softmax"].points == 3
    )
    assert said in "; ".join(run.problems), run.problems


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b"\xff\xfe",
        b"[" * 200_000,
        b'{"cells": 5, "nbformat": 4}',
        b'{"nbformat": 3, "worksheets": []}',
        b'{"cells": [{"id": 1, "cell_type": [], "source": {}}], "nbformat": 4}',
        b'{"nbformat": NaN, "cells": []}',
        b"1" * 9000,
        b'{"cells": [], "nbformat": 4, "n": ' + b"9" * 6000 + b"}",
        '{"cells": []}'.encode("utf-16"),
    ],
    ids=lambda data: str(data[:20]),
)
def test_files_that_are_no_notebook(data):
    read = notebook.read(files.File("x.ipynb", data))
    assert (read.problems or read.cells) and not [one for one in read.cells if one[2]]


def test_a_submission_has_a_budget_of_time(fork_server, release, monkeypatch):
    """Cells that each stay below the limit, run again after each lost kernel, would add up to hours."""
    monkeypatch.setattr(runner, "BUDGET", 0)
    tasks = graded(fork_server, release, cells()).tasks.values()
    assert {task.status for task in tasks} == {"timeout"}
    assert all("not tried" in task.message and not task.points for task in tasks)


def test_a_right_definition_and_then_an_endless_loop(fork_server, release):
    """What it had defined is graded, and it is said that the cell was interrupted."""
    loop = NEURON + "while True: pass"
    run = graded(fork_server, release, cells(loop), 3.0)
    assert run.tasks["neuron"].status == "pass" and run.tasks["softmax"].points == 3
    assert any("neuron" in line and "was interrupted" in line for line in run.problems)


KEEPS = """import os
def known():
    return os.path.exists("/tmp/seen") or len(CALLS) > 6
CALLS = []
def neuron(x, w, b):
    first = not known()
    CALLS.append(repr(x))
    open("/tmp/seen", "a").write(repr(x))
    {neuron}
"""
SHOWS = "raise ValueError(not known())"


@pytest.mark.parametrize(
    "neuron, softmax",
    [
        ("raise ValueError(first)", SOFTMAX),
        ("return 1 / (1 + math.exp(-(float(x @ w) + b)))", f"def softmax(z):\n    {SHOWS}\n"),
        ("return 1 / (1 + math.exp(-(float(x @ w) + b)))", SHOWS + "\n"),
        ("return 0.5", f"def softmax(z):\n    {SHOWS}\n"),
    ],
)
def test_what_an_answer_keeps_of_hidden_inputs_is_not_shown(fork_server, release, neuron, softmax):
    """Neither by its own public check nor by those of later tasks, nor by what a later cell raises."""
    release = dataclasses.replace(
        release, hidden={}
    )  # after an instructor's check all is new anyway
    run = graded(fork_server, release, cells(KEEPS.format(neuron=neuron), softmax))
    said = " ".join(task.message for task in run.tasks.values())
    assert "ValueError: True" in said and "ValueError: False" not in said, said


SPEAKS = "import os, struct, time\n"
# What says something of the inputs as it fails, in a hidden run
TELLS = {
    "the name of a function": (
        "def neuron(x, w, b):\n    found = {}\n    exec(f'def n{x.tobytes()[:8].hex()}(): raise NotImplementedError', found)\n"
        "    next(f for n, f in found.items() if n[0] == 'n')()",
        "missing",
    ),
    "the length of a message": (
        SPEAKS
        + "def neuron(x, w, b):\n    size = int.from_bytes(x.tobytes()[:4], 'little') | 1 << 31\n"
        "    for line in (3, 4): os.write(line, struct.pack('<I', size) + b'x')\n    return 0.5",
        "crashed",
    ),
    "the place of a fault in a message": (
        SPEAKS
        + "def neuron(x, w, b):\n    text = b' ' * int.from_bytes(x.tobytes()[:2], 'little') + b'?'\n"
        "    os.write(4, struct.pack('<I', len(text)) + text)\n    return 0.5",
        "wrong crashed",
    ),
    "the megabytes that it takes": (
        SPEAKS
        + "def neuron(x, w, b):\n    held = np.ones((800 + x.tobytes()[0]) << 17)\n    time.sleep(9)",
        "crashed",
    ),
}


@pytest.mark.parametrize("name", TELLS)
def test_a_failure_tells_nothing_of_hidden_inputs(fork_server, release, name):
    """Neither in a student's words nor in numbers that a student has chosen."""
    text, status = TELLS[name]
    run = graded(fork_server, release, cells(text))
    task = run.tasks["neuron"]
    secret = ch01.check_neuron.draw(run.seed)[0].args[0].tobytes()
    numbers = [int.from_bytes(secret[:2], "little"), int.from_bytes(secret[:4], "little") | 1 << 31]
    told = f"{task.message} {run.problems}"
    assert task.status in status.split() and secret[:8].hex() not in told, task
    assert not any(f"{number + more}" in told for number in numbers for more in (0, 1, 2)), task
    assert name != "the megabytes that it takes" or str(LIMITS.memory >> 20) in told


def test_the_hidden_check_counts(fork_server, release):
    """Right on the public check's own seed, wrong where nobody has looked."""
    run = graded(
        fork_server,
        release,
        cells(NEURON.replace("    return", "    if not x.any(): return 0.7\n    return")),
    )
    task = run.tasks["neuron"]
    assert (
        task.points == 0
        and task.hidden["instructor's"] in ("wrong", "error")
        and task.hidden["fresh inputs"] == "pass"
    )
