"""Claims that a formula settles: flops, bytes, messages, schedules, means."""

from bisect import bisect_left
from itertools import pairwise

import numpy as np

from course_lib import serial
from course_lib.bench.catalogue import LAYERS, NETS
from course_lib.measure import step_flops
from course_lib.mpi import cost
from course_tools.bench.papers.claim import Result
from course_tools.bench.papers.findings.wording import layers
from course_tools.bench.papers.settings import FASHION_SIZES

NET = serial.Network((784, 1024, 10), loss="cross_entropy")  # [003]'s two layers, [000]'s width


def exact_saving(k: int) -> float:
    """The share of f3 that k threads save, with the layers that the parent does alone."""
    return 1 - (k + -(-LAYERS // k) - 1) / LAYERS


def limits(_: Result) -> str:
    """What k threads save of f3, by the exact cost, for LAYERS equal layers."""
    told = (f"k = {k}: {exact_saving(k):.0%} (printed {1 - 1 / k:.0%})" for k in (2, 3, 4, 6, 12))
    return f"of f3, {LAYERS} layers, a core each: {', '.join(told)}"


def coverage(_: Result) -> str:
    """Which layers algorithm 1 covers as printed, and how many gradients a thread computes."""
    from course_lib.threads import leapfrog_schedule

    printed = leapfrog_schedule(LAYERS, 3, form="algorithm 1").coverage()
    missing = sum(times != 1 for times in printed.values())
    repaired = leapfrog_schedule(LAYERS, 3)
    threads = [task.thread for task in repaired[repaired.fork :] if task.kind == "grad"]
    return (
        f"{LAYERS} layers, k = 3: as printed {missing} layer without a gradient, the output; repaired "
        f"none; gradients of the three children: {', '.join(str(threads.count(j)) for j in range(3))}"
    )


def recompute(_: Result) -> str:
    """What computing W A + b of the hidden layers once more adds to a step."""
    told = []
    for net, sizes in NETS.items():
        step = step_flops(sizes, 1)
        told.append(f"{net} {sum(step.forward[:-1]) / step.products:.0%}")
    return f"computing W A again for the hidden layers adds to a step's products: {', '.join(told)}"


def half(_: Result) -> str:
    """The sigmoid at 0 and on both sides of it."""
    z = np.array([[-0.001], [0.0], [0.001]])
    a = serial.forward([(np.ones((1, 1)), np.zeros(1))], z).A[-1][:, 0]
    return f"f(-0.001) = {a[0]:.5f}, f(0) = {a[1]:g}, f(0.001) = {a[2]:.5f}, and f increases"


def entropy(_: Result) -> str:
    """The cross-entropy of z = (0, -d) for label 1, worked out from z, and by way of a softmax in float32."""
    told = []
    for d in (1, 50, 200):
        z = np.array([0, -d], np.float32)
        with np.errstate(divide="ignore"):
            by_softmax = -np.log(np.exp(z) / np.exp(z).sum())[1]
        told.append(f"{-z[1] + np.log(np.exp(z).sum()):g} and {by_softmax:g} at -{d}")
    return (
        f"-log 1 = {abs(np.log(1)):g}; of a label whose z is lower than the other one's, from z and by a "
        f"softmax in float32: {', '.join(told)}"
    )


def products(_: Result) -> str:
    """The share of the matrix products in the operations of a step of the network that we take for [004]'s."""
    told = []
    for B in (1, 64, 60_000):
        step = step_flops(FASHION_SIZES, B)
        told.append(f"{step.products / step.total:.1%} at B = {B:,}")
    return f"{layers(FASHION_SIZES)}, share of a step's operations: {', '.join(told)}"


def copying(_: Result) -> str:
    """Copying a batch to a GPU, and its products there, by the A100's data sheet."""
    from course_lib.gpu.data_sheets import DATA_SHEETS

    sheet, told = DATA_SHEETS["A100"], []
    for sizes, B in ((FASHION_SIZES, 64), (FASHION_SIZES, 60_000), (NETS["Net-2h"], 64)):
        copied = 1e6 * 4 * B * (sizes[0] + sizes[-1]) / sheet.pcie
        work = 1e6 * step_flops(sizes, B).products / sheet.flops
        told.append(
            f"{layers(sizes)}, B = {B:,}: {copied:,.0f} us to copy the batch, {work:,.0f} us of products"
        )
    return f"by the data sheet of an A100: {'; '.join(told)}"


def averaged(_: Result) -> str:
    """How far the plain average of ranks' gradients is from the gradient, for 50 rows on 4 ranks."""
    from course_lib.mpi.flat import shard

    net, rng = serial.Network((20, 16, 10)), np.random.default_rng(0)
    params = net.init_params(0, np.float64)
    X, Y = rng.random((50, 20)), np.eye(10)[rng.integers(0, 10, 50)]

    def gradient(rows: slice) -> np.ndarray:
        return serial.gradients(net, params, X[rows], Y[rows])[0][0]

    whole = gradient(slice(0, 50))
    mean = np.mean([gradient(shard(50, 4, r)) for r in range(4)], axis=0)
    off = np.linalg.norm(mean - whole) / np.linalg.norm(whole)
    return f"50 rows on 4 ranks (13, 13, 12, 12): the average is off by {off:.1%}; with 48 rows by nothing"


def stacked(_: Result) -> str:
    """Numbers that cross for each example, stacked after each layer, and with columns, then rows."""
    hidden, out = NETS["Net-1h"][1:]
    return f"784-1024-10: {hidden + out:,} numbers an example stacked, against {out} summed"


def flops_a_byte(_: Result) -> str:
    """Flops of a training step for each byte of the batch that is copied."""
    told = [
        f"{step_flops((784, h, 10), B).products / (4 * 794 * B):.0f} with h = {h}, B = {B:,}"
        for h, B in ((128, 1), (128, 60_000), (1024, 64))
    ]
    return f"784-h-10, flops for each byte copied: {', '.join(told)}"


def useful(_: Result) -> str:
    """The useful share of the multiply-adds with tiles of 32, layer by layer, at B = 64."""
    told = []
    for n_in, n_out in ((784, 1024), (1024, 1024), (1024, 10)):
        share = 1.0
        for n in (n_in, n_out):  # B = 64 fills its tiles
            share *= n / (32 * -(-n // 32))
        told.append(f"{n_in} x {n_out}: {share:.0%}")
    return f"useful share of the multiply-adds, B = 64: {', '.join(told)}"


def triples(_: Result) -> str:
    """One multiply-add for each triple (i, k, j), over the three products of a step."""
    B = 64
    forward = B * sum(a * b for a, b in pairwise(NET.sizes))
    return (
        f"784-1024-10, B = {B}: {forward:,} triples in the forward pass, two flops each; the update has "
        "the same ones, and the delta those of all layers but the first"
    )


def cut_sizes(_: Result) -> str:
    """Up to which batch size the model cut of 784-1024-10 sends less than the data cut."""
    by_data = cost.step_bytes(NET, 1, 4, 1)  # the same for every B
    first = bisect_left(range(10**6), by_data, key=lambda B: cost.step_bytes(NET, B, 1, 4))
    return (
        "W1 by rows and W2 by columns, one sum of B x 10 numbers a step, sends less than the sum of "
        f"{NET.n_params:,} for every B up to {first - 1:,}"
    )
