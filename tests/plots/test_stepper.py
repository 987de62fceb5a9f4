"""Steppers: what their frames show is what the instruments recorded, and they can be seen without a script."""

import base64
import itertools
import json
import re
import xml.etree.ElementTree as ET
from types import SimpleNamespace

import numpy as np
import pytest

from course_lib import mpi, plots, serial, threads
from course_lib.errors import BadInput
from course_lib.gpu import cpu_engine
from course_lib.gpu.mlp import Kernels, Mlp
from course_lib.mpi import blocking
from course_lib.plots.stepper import page, shapes
from course_lib.plots.style import number
from course_lib.serial import per_example

STRIDED = """
__global__ void strided(const float *A, float *out, int stride)
{
    __shared__ float s[1024];
    for (int j = threadIdx.x; j < 1024; j += 32) s[j] = A[j];
    __syncthreads();
    out[threadIdx.x] = A[stride * threadIdx.x];
    out[threadIdx.x] += s[stride * threadIdx.x];
}
"""


def ring(comm):
    """A ring allreduce that records its states."""
    p, r = comm.size, comm.rank
    x, got = np.arange(p) + 10**r, np.empty(1, int)
    states = [{"array": x.copy()}]
    for step in range(2 * (p - 1)):
        send, take = (r - step) % p, (r - step - 1) % p
        comm.Sendrecv(x[[send]], dest=(r + 1) % p, recvbuf=got, source=(r - 1) % p)
        x[take] = x[take] + got[0] if step < p - 1 else got[0]
        states.append({"array": x.copy(), "to": (r + 1) % p, "sent": [send]})
    return states


def all_wait(comm):
    got = np.empty(1)
    comm.Recv(got, source=(comm.rank - 1) % comm.size)
    comm.Send(got, dest=(comm.rank + 1) % comm.size)


def once_round(comm):
    """Rank 0 sends, everybody else passes on."""
    got = np.zeros(2)
    if comm.rank:
        comm.Recv(got, source=comm.rank - 1)
    if comm.rank < comm.size - 1:
        comm.Send(got, dest=comm.rank + 1)


def traced(stride):
    arrays = [np.ones(1024, np.float32), np.zeros(32, np.float32), np.int32(stride)]
    return cpu_engine.trace(STRIDED, "strided", 1, 32, arrays)


def texts(frame):
    return [shape["t"] for shape in frame.shapes if "t" in shape]


def boxes(frame, key=""):
    return [s for s in frame.shapes if s["s"] == "box" and s.get("k", "").startswith(key)]


def arrows(frame):
    return [shape for shape in frame.shapes if shape["s"] == "arrow"]


@pytest.fixture
def stepper():
    return plots.step_arrays(mpi.rehearse(ring, 3), title="A <ring>")


# What the frames say ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [2, 3, 5])
def test_last_frame_of_a_ring_is_the_result(p):
    report = mpi.rehearse(ring, p)
    stepper = plots.step_arrays(report)
    shown = {box["k"]: box["t"] for box in boxes(stepper.last)}
    arrays = [states[-1]["array"] for states in report.results]
    assert shown == {
        f"{r}.{i}": str(n) for r, array in enumerate(arrays) for i, n in enumerate(array)
    }
    assert f"{p * p} of {p * p} parts" in stepper.last.says
    assert all(box["c"].startswith("green") for box in boxes(stepper.last))


def test_arrows_of_a_ring_are_its_messages():
    """The arrow of the last rank comes in two pieces: out on the right, in on the left."""
    report = mpi.rehearse(ring, 4)
    frames = plots.step_arrays(report).frames
    drawn = sum(len(arrows(frame)) for frame in frames)
    assert drawn - (len(frames) - 1) == sum(report.messages) == 4 * 6
    assert not arrows(frames[0])


def test_last_frame_of_a_deadlock_is_its_circle():
    report = mpi.rehearse(all_wait, 4)
    stepper, (error,) = plots.step(report), report.errors
    bold = [a for a in arrows(stepper.last) if a["c"].endswith("bold")]
    assert len(bold) == len(error["cycle"]) - 1 == 4
    assert "0 waits for 3, 3 waits for 2" in stepper.last.says
    assert len(stepper.frames) == 1 + 4 + 1
    assert {state["op"] for state in error["ranks"].values()} <= set(texts(stepper.last))


def test_last_frame_of_a_rehearsal_counts_what_was_sent():
    report = mpi.rehearse(once_round, 3)
    stepper = plots.step(report)
    assert len(stepper.frames) == 1 + len(report.events) + 1
    assert f"{sum(report.messages)} messages and {sum(report.bytes)} bytes" in stepper.last.says
    assert "nothing was found" in stepper.last.says


def test_a_rehearsal_with_a_clock_ends_with_it():
    report = mpi.rehearse(mpi.ring_allreduce, 4, np.zeros(4000), alpha=8e-6, beta=1e-9)
    stepper = plots.step(report)
    assert f"{1e6 * report.seconds:.4g} microseconds" in stepper.last.says
    assert len(boxes(stepper.last, "b")) == len(report.events) == sum(report.messages)


def test_last_frame_of_a_timeline_has_all_its_tasks():
    line = threads.simulate(threads.leapfrog_schedule(5, 2), 2, 1)
    stepper = plots.step(line, unit="units")
    assert len(boxes(stepper.last, "b")) == len(line)
    assert f"after {line.makespan:g} units: {len(line)} tasks done" in stepper.last.says
    widths = [box["w"] for box in boxes(stepper.last, "b")]
    wanted = [span.end - span.start for span in sorted(line, key=lambda s: (s.start, s.thread))]
    np.testing.assert_allclose(
        np.divide(widths, widths[0]), np.divide(wanted, wanted[0]), atol=0.01
    )


def test_a_timeline_in_the_middle_has_no_task_of_the_future():
    stepper = plots.step(
        [(0, "delta", 1, 0, 2), (1, "grad", 1, 2, 3), (0, "delta", 0, 2, 4)], unit="u"
    )
    first, second = stepper.frames[:2]
    assert len(boxes(first, "b")) == 1 and len(boxes(second, "b")) == 3
    assert second.says.startswith("At 2 u thread 0 begins delta 0, thread 1 begins grad 1; 1 of 3")


def test_schedules_say_their_makespans():
    def both(k):
        ways = {"leap": threads.leapfrog_schedule, "late": threads.deferred_schedule}
        return {name: threads.simulate(way(8, k), 1, 1) for name, way in ways.items()}

    cases = {f"k = {k}": both(k) for k in (1, 2, 4)}
    stepper = plots.step_schedules(cases)
    assert [frame.name for frame in stepper.frames] == list(cases)
    for frame, lines in zip(stepper.frames, cases.values(), strict=True):
        told = [f"{name} {line.makespan:g} units of time" for name, line in lines.items()]
        assert frame.says.lower() == ", ".join(told) + "."


def test_a_fork_join_says_the_models_speed_up_and_efficiency():
    def case(B, T, c=1e-4, s=1e-3, h=2e-4):
        one = [(0, "gradient", "", 0, B * c), (0, "update", "", B * c, B * c + s)]
        gradients = [(t, "gradient", "", h, h + B * c / T) for t in range(T)]
        ends = h + B * c / T
        return one, [*gradients, (0, "update", "", ends, ends + s)]

    cases = {f"B = {B}, T = {T}": case(B, T) for B in (4, 64) for T in (2, 3)}
    stepper = plots.step_fork_join(cases)
    assert [frame.name for frame in stepper.frames] == list(cases)
    gain = (64e-4 + 1e-3) / (2e-4 + 64e-4 / 3 + 1e-3)
    told = f"3 threads: {gain:.2f} times as fast, efficiency {gain / 3:.0%}."
    assert stepper.last.says.startswith(told)
    assert all(len(boxes(f, "several threads.gradient")) in (2, 3) for f in stepper.frames)
    assert max(shape.get("y", 0) for f in stepper.frames for shape in f.shapes) < stepper.size[1]


@pytest.mark.parametrize("stride", [1, 3, 8, 31])
def test_requests_are_the_engines_counts(stride):
    accesses = traced(stride).accesses
    loads = [row for row in accesses if row["op"] == "load" and row["requests"] == 1]
    (wide,) = (row for row in loads if row["array"] == "A")
    (bank,) = (row for row in loads if row["space"] == "shared")
    frames = plots.step_requests({"device": wide, "shared": bank}).frames
    assert f" {wide['sectors']} sectors, {32 * wide['sectors']} bytes moved" in frames[0].says
    turns = bank["wavefronts"]
    assert f"takes {turns} turn{'s' * (turns > 1)}." in frames[1].says
    assert len(boxes(frames[0], "place")) == wide["sectors"]
    assert max(int(box.get("t", 0)) for box in boxes(frames[1], "place")) == bank["max_way"]


def test_a_traced_kernel_has_a_frame_for_each_line():
    report = traced(2)
    stepper = plots.step(report, title="mine")
    assert len(stepper.frames) == len(report.accesses) and stepper.title == "mine"


@pytest.fixture(scope="module")
def launched():
    """The kernels of one training step under the tracer."""
    kernels, net = Kernels(each=1, traced=True), serial.Network((9, 7, 3))
    rng = np.random.default_rng(0)
    X, Y = rng.random((5, 9), np.float32), np.eye(3, dtype=np.float32)[rng.integers(0, 3, 5)]
    Mlp(net, net.init_params(0), 0.1, kernels=kernels).step(X, Y)
    return kernels.reports


def test_launches_are_those_of_the_reports(launched):
    stepper = plots.step(launched)
    assert len(stepper.frames) == len(launched) + 1
    so_far = 0
    for (kernel, report), frame in zip(launched, stepper.frames, strict=False):
        so_far += 32 * report.total("sectors", space="global")
        assert f", {kernel}: loads " in frame.says and f"So far {so_far:,} bytes." in frame.says
        stores = [row for row in report.accesses if row["op"] == "store" and row["sectors"]]
        assert f"stores {stores[0]['array']} " in frame.says
        assert [bar["k"] for bar in boxes(frame) if "bold" in bar["c"]][-1][:5] == "store"


def test_last_frame_of_launches_has_all_bytes(launched):
    last = plots.step(launched).last
    loads, stores = (
        32 * sum(report.total("sectors", space="global", op=op) for _, report in launched)
        for op in ("load", "store")
    )
    total = f"{len(launched)} launches asked for {loads + stores:,} bytes"
    assert last.says == f"The end: {total}, {loads:,} in loads and {stores:,} in stores."
    drawn = [*boxes(last, "load"), *boxes(last, "store")]
    assert len(drawn) == 2 * len(launched) and not any("bold" in bar["c"] for bar in drawn)
    width = {op: sum(bar["w"] for bar in boxes(last, op)) for op in ("load", "store")}
    assert width["store"] / width["load"] == pytest.approx(stores / loads, abs=0.05)


def test_orders_are_those_that_lose():
    def acts(total, part):
        old = total[0]
        yield "reads", old
        total[0] = old + part
        yield "writes", total[0]

    def run_in(order):
        total = [0.0]
        waiting = [acts(total, 3.0), acts(total, 4.0)]
        return [(t, *next(waiting[t])) for t in order], total[0]

    runs = [run_in(order) for order in sorted(set(itertools.permutations([0, 0, 1, 1])))]
    stepper = plots.step_orders([told for told, _ in runs], right=7.0)
    assert [
        f"The total is {total:g}:" in f.says
        for f, (_, total) in zip(stepper.frames, runs, strict=False)
    ] == [True] * 6
    marks = ["✓" if total == 7 else "✗" for _, total in runs]
    shown = [text for text in texts(stepper.last) if text.startswith("total")]
    assert shown == [
        f"total {total:g} {mark}" for (_, total), mark in zip(runs, marks, strict=True)
    ]
    assert stepper.last.says.startswith(f"{marks.count('✓')} of 6 orders are right")


@pytest.fixture
def walked():
    """A 2-3-2 network: what forward and backward say of one example, and its stepper."""
    params = serial.init_params((2, 3, 2), 5, np.float64)
    x, y = np.array([1.0, -2.0]), np.array([0.0, 1.0])
    Z, A = per_example.forward_example(params, x)
    grads = per_example.backward_example(params, x, y)
    return params, x, y, grads, plots.step_backprop(params, Z, A, grads, y)


def test_last_frame_of_backprop_is_the_gradient(walked):
    params, x, y, _, stepper = walked
    net = serial.Network((2, 3, 2))
    grads = net.backward(params, net.forward(params, x[None]), y[None])
    (dW, db), _ = grads
    assert f" = {number(dW[0, 0])}. All gradients are known;" in stepper.last.says
    told = ", ".join(number(value) for value in db)
    assert stepper.last.says.endswith(f"db of layer 0 is ({told}).")
    for layer, (dW, db) in enumerate(grads):
        shown = [box["t"] for box in boxes(stepper.last, f"dW{layer}.")]
        assert shown == [number(value) for value in np.vstack([dW, db]).ravel()]


def test_a_frame_of_backprop_for_each_operation(walked):
    params, x, y, _, stepper = walked
    starts = [frame.says.split(" = ")[0] for frame in stepper.frames[1:]]
    forward = [f"Forward, layer {layer}: {kind}" for layer in (0, 1) for kind in "za"]
    steps = ("Backward, layer {}: δ", "Gradients, layer {}: dW")
    assert starts == forward + [step.format(layer) for layer in (1, 0) for step in steps]
    loss = serial.loss_value(serial.Network((2, 3, 2)), params, x[None], y[None])
    assert stepper.frames[4].says.endswith(f"is {number(loss)}.")
    shown = [len(boxes(frame, "δ")) for frame in stepper.frames]
    assert shown == [0, 0, 0, 0, 0, 2, 2, 5, 5]


SHARED = """
#define LOG(act, word, value) log[atomicAdd(clock, 1)] = make_float4(t, act, word, value)
__global__ void shared(const float *x, float4 *log, int *clock, int side)
{
    __shared__ float s[6];
    const int t = threadIdx.x, other = t + side;
    s[t] = x[t];
    LOG(0, t, x[t]);
    BARRIER
    if (other >= 0 && other < 6) LOG(1, other, s[other]);
}
"""


def acts_of(barrier, side):
    """What six threads did, in the order of the run, and how many races the engine counts."""
    log, clock = np.zeros((18, 4), np.float32), np.zeros(1, np.int32)
    x, source = np.arange(1, 7, dtype=np.float32), SHARED.replace("BARRIER", barrier)
    report = cpu_engine.trace(source, "shared", 1, 6, [x, log, clock, np.int32(side)])
    acts = [(t, ("writes", "reads", "waits")[int(a)], word, v) for t, a, word, v in log[: clock[0]]]
    return acts, sum(error["count"] for error in report.errors)


@pytest.mark.parametrize("side", [1, -1])
def test_a_shared_array_is_read_as_the_engine_ran_it(side):
    """Threads run one after the other: a look ahead comes too early, a look back does not; both are races."""
    acts, races = acts_of("", side)
    stepper = plots.step_shared(acts)
    early = [frame for frame in stepper.frames if "before any thread has written it" in frame.says]
    assert races == 5 and len(early) == (races if side == 1 else 0)
    assert stepper.last.says.endswith(f"Of {races} reads {len(early)} came before the write.")
    assert len(stepper.frames) == len(acts) == 6 + 5 == sum(map(len, map(arrows, stepper.frames)))
    assert [box["t"] for box in boxes(stepper.last, "s")] == list("123456")


def test_with_a_barrier_no_read_is_early():
    acts, races = acts_of("LOG(2, 0, 0); __syncthreads();", 1)
    frames = plots.step_shared(acts).frames
    assert (
        races == 0
        and frames[-1].says
        == "Thread 4 reads s[5] and finds 6. Of 5 reads 0 came before the write."
    )
    assert frames[1].says == "Thread 0 waits at the barrier." and not arrows(frames[1])
    assert [box["t"] for box in boxes(frames[0], "s")] == ["1", *"?????"]


def spans_of(work, seconds):
    """What runs when, by the model of chapter 11: one message at a time, the last layer first."""
    ready = end = 0.0
    for layer in reversed(range(len(work))):
        begin, ready = ready, ready + work[layer]
        yield 0, "compute", layer, begin, ready
        begin = max(ready, end)
        end = begin + seconds[layer]
        yield 1, "allreduce", layer, begin, end


def layer_by_layer(comm, work, floats, overlap):
    """That model's program."""
    flying = []
    for seconds, size in zip(reversed(work), reversed(floats), strict=True):
        mpi.compute(comm, seconds)
        mine, total = np.ones(size, np.float32), np.empty(size, np.float32)
        if overlap:
            flying.append((comm.Iallreduce(mine, total), mine, total))
        else:
            comm.Allreduce(mine, total)
    for request, _, _ in flying:
        request.Wait()


def test_overlap_ends_with_the_clock_of_the_rehearsal():
    floats, work, network = [4000, 3000, 2000], [3e-5, 2e-5, 2e-5], {"alpha": 1e-6, "beta": 2e-9}
    seconds = [
        mpi.rehearse(layer_by_layer, 4, [0.0], [n], False, **network).seconds for n in floats
    ]
    in_turn, overlapped = (
        mpi.rehearse(layer_by_layer, 4, work, floats, how, **network).seconds
        for how in (False, True)
    )
    assert overlapped < in_turn
    stepper = plots.step_overlap(spans_of(work, seconds), in_turn)
    told = [
        f"{1e6 * time:.4g} microseconds" for time in (overlapped, in_turn, in_turn - overlapped)
    ]
    wanted = (
        f"The end, after {told[0]}: 3 gradients summed. In turn it takes {told[1]}; overlap "
        f"hides {told[2]} of that, {1 - overlapped / in_turn:.0%}."
    )
    assert stepper.last.says == wanted
    assert len(boxes(stepper.last, "0.")) == len(boxes(stepper.last, "1.")) == 3
    assert not boxes(stepper.last, "w")


def test_overlap_shows_what_waits_and_nothing_of_the_future():
    stepper = plots.step_overlap(spans_of([1, 1, 1], [2, 4, 1]), in_turn=10, unit="u")
    says = [frame.says for frame in stepper.frames]
    assert says[:4] == [
        "At 0 u the rank computes layer 2 and the link is idle; 0 of 3 are summed.",
        "At 1 u the rank computes layer 1 and the link carries layer 2; 0 of 3 are summed.",
        "At 2 u the rank computes layer 0 and the link carries layer 1; 1 of 3 are summed.",
        "At 3 u the rank has nothing left to compute and the link carries layer 1, waiting: 0; "
        "1 of 3 are summed.",
    ]
    assert [len(boxes(frame, "1.")) for frame in stepper.frames] == [0, 1, 2, 2, 3, 3]
    assert [len(boxes(frame, "w")) for frame in stepper.frames] == [0, 0, 0, 1, 0, 0]


@pytest.mark.parametrize("sizes", [(100, 784, 1024), (9, 30, 8)])
def test_cuts_end_with_the_numbers_that_the_library_counts(sizes):
    stepper, p = plots.step_cuts(*sizes, ranks=4), 4
    moved = [blocking.layer_moved(*sizes, cut) for cut in ((p, 1, 1), (1, p, 1), (1, 1, p))]
    i, k, j = (f"{sum(numbers.values()):,}" for numbers in moved)
    wanted = f"{i} of W and dW along i; {k} of dZ and Z along k; {j} of X and dX along j."
    assert stepper.last.says == f"A step moves, by cut: {wanted}"
    assert len(stepper.frames) == 3 * p + 1


@pytest.mark.parametrize("axis", "ikj")
def test_cuts_show_the_sum_that_slabs_leave_open(axis):
    """Each rank works with its range of one index alone: of which product does it have only a summand?"""
    rng, at = np.random.default_rng(0), "ikj".index(axis)
    X, W, dZ = (rng.random(shape) for shape in ((6, 8), (8, 10), (6, 10)))
    mine = [slice(0, 2) if name == axis else slice(None) for name in "ikj"]
    i, k, j = mine
    parts = {"Z": X[i, k] @ W[k, j], "dX": dZ[i, j] @ W[k, j].T, "dW": X[i, k].T @ dZ[i, j]}
    whole = {"Z": (6, 10), "dX": (6, 8), "dW": (8, 10)}
    (summed,) = (name for name, part in parts.items() if part.shape == whole[name])
    frames = plots.step_cuts(6, 8, 10, ranks=2).frames[2 * at : 2 * at + 2]
    for r, frame in enumerate(frames):
        assert frame.says.endswith(f"summand {r + 1} of 2 of {summed}.")
        (uncut,) = (box["k"] for box in boxes(frame) if box["c"] == "orange bold")
        assert uncut == summed.removeprefix("d")
        own = {box["k"] for box in boxes(frame) if box["c"] == "blue bold"}
        assert own == {f"{face}.{r}" for face in "XWZ" if face != uncut}


# What a page shows -----------------------------------------------------------------------------------------------


def test_without_a_script_the_telling_frame_is_there(stepper):
    html = re.sub(r"<script.*?</script>", "", stepper.html(), flags=re.DOTALL)
    assert re.search(r'<img alt="A &lt;ring&gt;. Step 4 of 4: [^"]+"', html)
    svg = base64.b64decode(re.search(r"base64,([^\"]+)", html)[1]).decode()
    drawn = [node.text for node in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]
    assert drawn == texts(stepper.last)
    assert html.count("<li>") == len(stepper.frames)


def test_data_hold_every_frame(stepper):
    kept = re.search(r'<script type="application/json">(.*?)</script>', stepper.html())[1]
    data = json.loads(kept)
    for frame, stored in zip(stepper.frames, data["frames"], strict=True):
        assert [data["shapes"][n] for n in stored["shows"]] == frame.shapes
        assert stored["says"] == frame.says


def test_data_cannot_end_their_element():
    stepper = plots.Stepper(
        "t", [plots.Frame("</script><b>", [shapes.words(0, 0, "</script>")])], (9, 9)
    )
    html = page.without_script(stepper.html())
    assert html.count("</script>") == 1 and "<b>" not in html


def test_the_same_run_gives_the_same_output(stepper):
    again = plots.step_arrays(mpi.rehearse(ring, 3), title="A <ring>")
    assert again._repr_mimebundle_() == stepper._repr_mimebundle_()


def test_text_has_every_sentence(stepper):
    assert all(frame.says in repr(stepper) for frame in stepper.frames)


def test_script_is_small_and_plain():
    """A classic script in the book: it may hold no import and no export; and no comment is left that hides code."""
    script = page.script()
    assert len(script.encode()) < 40_000 and "//" not in script.replace("http://www.w3.org", "")
    assert not re.search(r"^\s*(import|export)\b", script, re.MULTILINE)
    assert "</script" not in script


def test_colours_of_page_and_picture_agree():
    style = page.MODULE.read_text(encoding="utf-8")
    for name, (fill, edge) in shapes.LOOKS.items():
        if fill != "none":
            assert f"svg .{name} {{ --fill: {fill}; --edge: {edge}; }}" in style


def test_the_book_leaves_the_script_out(stepper):
    html = page.without_script(stepper.html())
    assert 'type="module"' not in html and "application/json" in html
    assert len(html) < len(stepper.html()) - 5000


def backprop_of(sizes, spoil=False):
    params, x, y = serial.init_params(sizes, 0), np.ones(sizes[0]), np.ones(sizes[-1])
    Z, A = per_example.forward_example(params, x)
    grads = per_example.backward_example(params, x, y)
    return plots.step_backprop(params, Z, A, grads[::-1] if spoil else grads, y)


# What is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: plots.step(3), "no record that can be stepped"),
        (lambda: plots.step([]), "no record that can be stepped"),
        (lambda: plots.step([(0, "a", 1)]), "no record that can be stepped"),
        (lambda: plots.step(mpi.rehearse(lambda comm: None, 2)), "called nothing"),
        (lambda: plots.step(mpi.rehearse(once_round, 13)), "13 ranks are too many"),
        (lambda: plots.step([(0, "a", 1, n, n + 1) for n in range(121)]), "121 tasks"),
        (lambda: plots.step_arrays([[{"array": [1]}], []]), "steps with"),
        (lambda: plots.step_arrays([[3]]), "for each rank a list of dicts"),
        (lambda: plots.step_requests({}), "no accesses"),
        (lambda: plots.step_schedules({}), "no schedules"),
        (lambda: plots.step_fork_join({}), "no steps to compare"),
        (lambda: plots.step_fork_join({"B = 1": [3]}), "B = 1: give a pair"),
        (lambda: plots.step_fork_join({"B = 1": ([], [])}), "no schedules|0 tasks"),
        (lambda: plots.step_launches([]), "0 launches: a stepper shows"),
        (lambda: plots.step_launches([("f", SimpleNamespace(accesses=[]))]), "touches global"),
        (lambda: plots.step_orders([], 1), "0 runs: a stepper shows"),
        (lambda: plots.step_orders([[3]], 1), "a run is a list of acts"),
        (lambda: backprop_of((2, 3, 2), spoil=True), "not of one example and one network"),
        (lambda: backprop_of((2, 5, 2)), "at most 2 layers of at most 4 fit"),
        (lambda: backprop_of((2, 2, 2, 1)), "at most 2 layers of at most 4 fit"),
        (lambda: plots.step_shared([]), "no acts"),
        (lambda: plots.step_shared([[3]]), "an act is"),
        (lambda: plots.step_shared([(0, "eats", 0, 1)]), "an act must be one of"),
        (lambda: plots.step_shared([(16, "waits", 0, 0)]), "shows 0 to 15"),
        (lambda: plots.step_overlap([(2, "a", 0, 0, 1)], 1), "its row 0 or 1"),
        (lambda: plots.step_cuts(9, 9, 9, 1), "2 to 8 ranks"),
        (lambda: plots.step_cuts(9, 3, 9, 4), "each with a part"),
        (lambda: plots.step_overlap([(0, "a", 0, 0, 1)], 1), "one span on row 0 and one on row 1"),
        (lambda: plots.Stepper("t", [], (1, 1)), "no frames"),
        (lambda: shapes.box(0, 0, 1, 1, "red"), "a look must be one of"),
    ],
)
def test_what_is_refused(call, words):
    with pytest.raises(BadInput, match=words):
        call()


def test_too_much_data_are_refused():
    frames = [
        plots.Frame("f", [shapes.words(n, i, "x" * 40) for i in range(100)]) for n in range(40)
    ]
    with pytest.raises(BadInput, match="over 200,000: record a smaller run"):
        plots.Stepper("t", frames, (9, 9))
