"""What a check says of an answer in a sandbox is what it says of it in the student's notebook, to the letter."""

import linecache

import pytest

from course_lib.checks import ch01, ch02, ch04
from course_lib.checks.kit.messages import CheckFailed
from course_tools.grading.sandbox import sandbox
from course_tools.grading.sandbox.fork_server import ForkServer
from course_tools.grading.verdict.session import Session

pytestmark = pytest.mark.skipif(
    bool(WHY := sandbox.available()), reason=f"no sandbox on this system: {WHY}"
)
SEED = 7
EPOCH = """def sgd_epoch(params, batches, gradient, eta):
    total, seen = 0.0, 0
    for xb, yb in batches:
        loss, grads = gradient(params, xb, yb)
        CHANGE
        total += loss * len(xb)
        seen += len(xb)
    RETURN(total / seen)
"""
REPLACED = "params[:] = [(W - eta * dW, b - eta * db) for (W, b), (dW, db) in zip(params, grads)]"
IN_PLACE = "for (W, b), (dW, db) in zip(params, grads): W -= eta * dW; b -= eta * db"
NEURONS = {
    "right": "return 1 / (1 + np.exp(-(x @ w + b)))",
    "wrong": "return 1 / (1 + np.exp(-(x @ w)))",
    "printed": "print(1 / (1 + np.exp(-(x @ w + b))))",
    "nothing": "pass",
    "blank": "raise NotImplementedError('write neuron')",
    "calls a blank": "return sigmoid(x @ w + b)\ndef sigmoid(z):\n    raise NotImplementedError('later')",
    "raised": "z = x @ w\n    return 1 / (1 + np.exp(-z)) + nothing",
    "raised in NumPy": "z = np.reshape(x, (3, 17))\n    return z",
    "a text": "return 'half'",
    "a list": "return [x, w]",
    "changed": "w *= 0\n    return 0.5",
    "a function": "return np.exp",
}
ANSWERS = {
    f"neuron: {name}": (
        ch01.check_neuron,
        "ch01.check_neuron",
        "neuron",
        f"def neuron(x, w, b):\n    {body}\n",
    )
    for name, body in NEURONS.items()
} | {
    f"sgd_epoch: {name}": (
        ch02.check_sgd_epoch,
        "ch02.check_sgd_epoch",
        "sgd_epoch",
        EPOCH.replace("CHANGE", change).replace("RETURN", how),
    )
    for name, change, how in (
        ("right", IN_PLACE, "return"),
        ("replaced", REPLACED, "return"),
        ("printed", IN_PLACE, "print"),
        ("never", "pass", "return"),
    )
}


@pytest.fixture(scope="module")
def session():
    """Session for all of these answers: none of them harms another."""
    with ForkServer() as fork_server, Session(fork_server, 1) as made:
        made.run("import numpy as np", 30)
        yield made


def in_the_notebook(check, name, text):
    """(status, message) of the check in this process."""
    space: dict = {}
    linecache.cache["<cell>"] = len(text), None, text.splitlines(True), "<cell>"
    exec(compile("import numpy as np\n", "<setup>", "exec"), space)
    exec(compile(text, "<cell>", "exec"), space)
    try:
        check(space[name], seed=SEED)
    except CheckFailed as failed:
        return "missing" if type(failed).__name__ == "NotWritten" else "wrong", str(failed)
    return "pass", ""


@pytest.mark.parametrize("which", ANSWERS)
def test_the_same_words(session, which):
    check, path, name, text = ANSWERS[which]
    session.run(text, 30)
    verdict = session.check(path, name, SEED, 30)
    status, message = in_the_notebook(check, name, text)
    assert verdict["status"] == status, verdict
    assert status == "pass" or verdict["message"] == message


def test_what_is_no_value(session):
    """An object of a class of one's own cannot be graded; that is said, and is nobody's broken check."""
    session.run(
        "class Yes:\n    def __eq__(self, other): return True\n"
        "def neuron(x, w, b): return Yes()\ndef sgd_epoch(*args): return Yes()",
        30,
    )
    for path, name in (("ch01.check_neuron", "neuron"), ("ch02.check_sgd_epoch", "sgd_epoch")):
        verdict = session.check(path, name, SEED, 30)
        assert verdict["status"] == "wrong" and "an object of the class Yes" in verdict["message"]
    session.run("def minibatches(*args, **named): return Yes()", 30)
    verdict = session.check("ch02.check_minibatches", "minibatches", SEED, 30)
    assert verdict["status"] == "wrong" and "an object of the class Yes" in verdict["message"], (
        verdict
    )
    assert "not your fault" not in verdict["message"]


RACE = """import threading
def shared_sum(part_of, T, total):
    lock = threading.Lock()
    def work(t):
        part = part_of(t)
        with lock:
            new = total + part
        BETWEEN
            total[:] = new
    threads = [threading.Thread(target=work, args=(t,)) for t in range(T)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
"""


def test_a_race_comes_to_light_in_a_room_as_well(session):
    """Two sections under the lock are one too many, and a write outside of it is a race, too."""
    for between in ("with lock:", "if True:"):
        session.run(RACE.replace("BETWEEN", between), 30)
        verdict = session.check("ch03.check_shared_sum", "shared_sum", SEED, 60)
        assert verdict["status"] == "wrong" and "a lost update" in verdict["message"], verdict


def test_an_error_keeps_what_it_was_raised_over(session):
    session.run(
        """def neuron(x, w, b):
    try:
        1 / 0
    except ZeroDivisionError as error:
        raise RuntimeError("a shard failed") from error""",
        30,
    )
    verdict = session.check("ch01.check_neuron", "neuron", SEED, 30)
    assert (
        "RuntimeError: a shard failed" in verdict["message"]
        and "line 5 of neuron" in verdict["message"]
    )


CHILDREN = """import threading
def leapfrog_backward(parent, children, dZ, walk):
    ready, deltas, faults = threading.Event(), [], []
    def work(tasks, j):
        WAIT
        try:
            walk(tasks, deltas[j])
        except Exception as error:
            KEEP
    threads = [threading.Thread(target=work, args=(tasks, j)) for j, tasks in enumerate(children)]
    def start():
        for thread in threads: thread.start()
    FIRST
    deltas.extend(walk(parent, dZ))
    THEN
    for thread in threads: thread.join()
    if faults: raise faults[0]
"""
LEFT = {  # answer -> what waits, what is kept of an error, when the children start; words of the check
    "right": ("pass", "faults.append(error)", "pass", "start()", ""),
    "children wait for ever where the parent fails": (
        "ready.wait()", "faults.append(error)", "start()", "ready.set()", "still waited when the exception came"),
    "an error of a child is lost": ("pass", "raise", "pass", "start()", "an exception in a thread was lost"),
}  # fmt: skip


@pytest.mark.parametrize("which", LEFT)
def test_what_a_call_leaves_behind_is_known_in_a_room_as_well(session, which):
    wait, keep, first, then, words = LEFT[which]
    text = (
        CHILDREN.replace("WAIT", wait)
        .replace("KEEP", keep)
        .replace("FIRST", first)
        .replace("THEN", then)
    )
    session.run(text, 30)
    verdict = session.check("ch04.check_leapfrog_backward", "leapfrog_backward", SEED, 60)
    status, message = in_the_notebook(ch04.check_leapfrog_backward, "leapfrog_backward", text)
    assert (verdict["status"], status) == (("wrong", "wrong") if words else ("pass", "pass")), (
        verdict
    )
    assert words in message and words in verdict["message"]


DEVICE = """import numpy as np
def repeat_saxpy(device, saxpy, a, x, y, times):
    d_x, d_y, result = device.mem_alloc(x.nbytes), device.mem_alloc(y.nbytes), np.empty_like(y)
    device.memcpy_htod(d_x, x)
    device.memcpy_htod(d_y, y)
    for _ in range(times):
        saxpy(np.int32(len(x)), np.float32(a), d_x, d_y, block=BLOCK, grid=(-(-len(x) // 64), 1))
    device.memcpy_dtoh(result, d_y)
    return result
"""


@pytest.mark.parametrize(
    ("block", "status", "words"),
    [
        ("(64, 1, 1)", "pass", ""),
        ("64", "wrong", "block must be a tuple of three"),
    ],
)
def test_the_device_lies_with_the_checks(session, block, status, words):
    """What a call of the device raises there is the fault of the answer that made the call, as in the notebook."""
    session.run(DEVICE.replace("BLOCK", block), 30)
    verdict = session.check("ch05.check_repeat_saxpy", "repeat_saxpy", SEED, 60)
    assert verdict["status"] == status and words in verdict["message"], verdict
