"""Numbers that follow from the texts alone: sizes, bytes, flops, schedules. The claims' texts name them in braces."""

from bisect import bisect_left
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from course_lib import serial
from course_lib.gpu.data_sheets import DATA_SHEETS
from course_lib.measure import step_flops
from course_lib.mpi import cost
from course_lib.mpi.flat import shard
from course_lib.threads import leapfrog_schedule
from course_tools.bench.papers.settings import FASHION_ITERATIONS, FASHION_SIZES
from course_tools.bench.threads.schemes import LAYERS
from course_tools.bench.training.catalogue import NETS

MB = 4e-6  # of a number in single precision
NET = serial.Network(NETS["Net-1h"])


@cache
def numbers() -> dict[str, Any]:
    """All of them by name."""
    found = {"net1h": network(NETS["Net-1h"]), "net2h": network(NETS["Net-2h"])}
    found |= {"net004": network(FASHION_SIZES), "narrow": network((784, 128, 10))}
    return found | sizes() | messages() | schedules() | outputs() | {"average_off": average_off()}


def network(sizes: tuple[int, ...]) -> dict[str, Any]:
    """Of one network: parameters; MB of W, and of A and D for 1,024 examples; TB of the Hessian.

    again: the share that computing W A once more adds to a step. By batch size: products, their share of a step's
    operations; copied and work, microseconds of an A100 by its data sheet; flops_a_byte of the batch that is copied;
    reduced: additions that sum the gradients of 32 threads, beside the flops of the step's products.
    """
    n, A100 = serial.Network(sizes).n_params, DATA_SHEETS["A100"]
    steps = {B: step_flops(sizes, B) for B in (1, 64, 60_000)}
    copied = {B: 4 * B * (sizes[0] + sizes[-1]) for B in steps}  # bytes
    return {
        "parameters": n,
        "hessian": 4e-12 * n * n,
        "W": MB * n,
        "A": MB * 1024 * sum(sizes),
        "D": MB * 1024 * sum(sizes[1:]),
        "again": sum(steps[1].forward[:-1]) / steps[1].products,
        "products": {B: step.products / step.total for B, step in steps.items()},
        "copied": {B: 1e6 * size / A100.pcie for B, size in copied.items()},
        "work": {B: 1e6 * step.products / A100.flops for B, step in steps.items()},
        "flops_a_byte": {B: step.products / copied[B] for B, step in steps.items()},
        "reduced": {B: 31 * n / step_flops(sizes, B).products for B in (64, 1024)},
    }


def sizes() -> dict[str, Any]:
    """Weights, kernels, shapes; useful: the share of the multiply-adds with tiles of 32, by a layer's odd width."""
    from course_lib.gpu.mlp.kernels import SPECIFICATIONS

    drawn = serial.Network((4, 5, 3), loss="cross_entropy")  # [003] figure 4
    shapes = ", ".join(f"W {W.T.shape}, b {b.shape}" for W, b in drawn.init_params(0))
    (W1, _), (W2, _) = NET.init_params(0)
    return {
        "millions": 10**6 * 10**6,
        "other_kernels": len(SPECIFICATIONS) - 5,
        "figure_4": {"shapes": shapes, "parameters": drawn.n_params},
        "W1": MB * W1.size,
        "W2_share": W2.size / (W1.size + W2.size),
        "images": MB * 60_000 * 784,
        "triples": 64 * sum(a * b for a, b in pairwise(NET.sizes)),
        "useful": {n: n / (32 * -(-n // 32)) for n in (784, 1024, 10)},
        "updates": FASHION_ITERATIONS * -(-60_000 // 64),
    }


def messages() -> dict[str, Any]:
    """gradients: MB side by side, by ranks; stacked: numbers an example; last_cut: largest B where a model cut pays."""
    by_data = cost.step_bytes(NET, 1, 4, 1)  # the same for every B
    first = bisect_left(range(10**6), by_data, key=lambda B: cost.step_bytes(NET, B, 1, 4))
    return {
        "gradients": {p: MB * p * NET.n_params for p in (1, 2, 4, 16)},
        "stacked": sum(NET.sizes[1:]),
        "last_cut": first - 1,
    }


def exact_saving(k: int) -> float:
    """The share of f3 that k threads save, with the layers that the parent does alone."""
    return 1 - (k + -(-LAYERS // k) - 1) / LAYERS


def schedules() -> dict[str, Any]:
    """saved, printed: of f3, by k; missing: layers that [002]'s algorithm 1 leaves out; children: gradients of each."""
    printed = leapfrog_schedule(LAYERS, 3, form="algorithm 1")
    repaired = leapfrog_schedule(LAYERS, 3)
    threads = [task.thread for task in repaired[repaired.fork :] if task.kind == "grad"]
    return {
        "saved": {k: exact_saving(k) for k in (2, 3, 4, 6, 12)},
        "printed": {k: 1 - 1 / k for k in (2, 3, 4, 6, 12)},
        "missing": sum(times != 1 for times in printed.coverage().values()),
        "children": [threads.count(j) for j in range(3)],
    }


def outputs() -> dict[str, Any]:
    """sigmoid: at 0 and beside it; from_z, by_softmax (float32), by d: the cross-entropy of z = (0, -d) for label 1."""
    z = np.array([[-0.001], [0.0], [0.001]])
    from_z, by_softmax = {}, {}
    for d in (1, 50, 200):
        exponentials = np.exp(np.array([0, -d], np.float32))
        from_z[d] = d + np.log(exponentials.sum())
        with np.errstate(divide="ignore"):
            by_softmax[d] = -np.log(exponentials / exponentials.sum())[1]
    sigmoid = serial.forward([(np.ones((1, 1)), np.zeros(1))], z).A[-1][:, 0]
    return {"sigmoid": sigmoid, "from_z": from_z, "by_softmax": by_softmax}


def average_off() -> float:
    """How far the plain average of ranks' gradients is from the gradient, for 50 rows on 4 ranks."""
    net, rng = serial.Network((20, 16, 10)), np.random.default_rng(0)
    params = net.init_params(0, np.float64)
    X, Y = rng.random((50, 20)), np.eye(10)[rng.integers(0, 10, 50)]

    def gradient(rows: slice) -> np.ndarray:
        return serial.gradients(net, params, X[rows], Y[rows])[0][0]

    whole = gradient(slice(0, 50))
    mean = np.mean([gradient(shard(50, 4, r)) for r in range(4)], axis=0)
    return float(np.linalg.norm(mean - whole) / np.linalg.norm(whole))
