"""Claims that need no clock: sizes of networks, the machine, arithmetic of flops, bytes and means."""

from typing import Any

import numpy as np

from course_lib import serial
from course_lib.bench.catalogue import NETS
from course_lib.bench.papers.claim import COMPUTED, MEASURED, NOT_MEASURED, Finding
from course_lib.bench.report import machine_line


def parameters(result: dict[str, Any]) -> Finding:
    """Weights and biases of the two nets."""
    told = ", ".join(f"{net} {serial.Network(sizes).n_params:,}" for net, sizes in NETS.items())
    return Finding(COMPUTED, f"{told}, biases included")


def neurons(result: dict[str, Any]) -> Finding:
    """Neurons of a hidden layer, and the weights between two layers as large as the text's largest."""
    told = ", ".join(f"{sizes[1]:,} in each hidden layer of {net}" for net, sizes in NETS.items())
    return Finding(
        COMPUTED, f"{told}; between two layers of a million there are {10**6 * 10**6:,} weights"
    )


def hessian(result: dict[str, Any]) -> Finding:
    """The size of the Hessian of each net."""
    told = []
    for net, sizes in NETS.items():
        n = serial.Network(sizes).n_params
        told.append(f"{net} {n:,} x {n:,} numbers, {4e-12 * n * n:.1f} TB in single precision")
    return Finding(COMPUTED, "; ".join(told))


def machine(result: dict[str, Any]) -> Finding:
    """What this result was measured on."""
    return Finding(MEASURED, machine_line(result))


def kernels(result: dict[str, Any]) -> Finding:
    """The kernels of course_lib.gpu.mlp."""
    from course_lib.gpu.mlp.kernels import SPECIFICATIONS

    five = ("forward", "output_delta", "transposed", "hadamard", "update")
    rest = len(SPECIFICATIONS.keys() - set(five))
    told = f"ours, as its equations 7 to 10: {', '.join(five)}; and {rest} for softmax, losses and sums"
    return Finding(COMPUTED, told)


def matrices(result: dict[str, Any]) -> Finding:
    """Megabytes of W, A and D of a whole net."""
    told = []
    for net, sizes in NETS.items():
        W, A = 4e-6 * serial.Network(sizes).n_params, 4e-6 * 1024 * sum(sizes)
        told.append(
            f"{net} {W:.1f} MB of W and b, {A:.1f} MB of A and {A - 4e-6 * 1024 * sizes[0]:.1f} MB of D"
        )
    return Finding(COMPUTED, f"B = 1,024, single precision: {'; '.join(told)}")


def recompute(result: dict[str, Any]) -> Finding:
    """What computing W A + b of the hidden layers once more adds to a step."""
    from course_lib.measure import step_flops

    told = []
    for net, sizes in NETS.items():
        step = step_flops(sizes, 1)
        told.append(f"{net} {sum(step.forward[:-1]) / step.products:.0%}")
    return Finding(
        COMPUTED,
        f"computing W A again for the hidden layers adds to a step's products: {', '.join(told)}",
    )


def hybrid(result: dict[str, Any]) -> Finding:
    """Both parallelizations at once."""
    return Finding(NOT_MEASURED, "this command does not time it")


def figure_4(result: dict[str, Any]) -> Finding:
    """Shapes and parameters of figure 4's network."""
    net = serial.Network((4, 5, 3), loss="cross_entropy")
    shapes = ", ".join(f"W {W.T.shape}, b {b.shape}" for W, b in net.init_params(0))
    return Finding(COMPUTED, f"as [003] writes them: {shapes}; {net.n_params} parameters")


def fat_matrix(result: dict[str, Any]) -> Finding:
    """W2's share of the parameters."""
    (W1, _), (W2, _) = serial.Network(NETS["Net-1h"]).init_params(0)
    return Finding(
        COMPUTED,
        f"in 784-1024-10 it is 10 x 1024, {W2.size / (W1.size + W2.size):.1%} of the weights",
    )


def half(result: dict[str, Any]) -> Finding:
    """The sigmoid at 0 and on both sides of it."""
    z = np.array([[-0.001], [0.0], [0.001]])
    a = serial.forward([(np.ones((1, 1)), np.zeros(1))], z).A[-1][:, 0]
    return Finding(
        COMPUTED, f"f(-0.001) = {a[0]:.5f}, f(0) = {a[1]:g}, f(0.001) = {a[2]:.5f}, and f increases"
    )


def entropy(result: dict[str, Any]) -> Finding:
    """The cross-entropy of z = (0, -d) for label 1, worked out from z, and by way of a softmax in float32."""
    told = []
    for d in (1, 50, 200):
        z = np.array([0, -d], np.float32)
        with np.errstate(divide="ignore"):
            by_softmax = -np.log(np.exp(z) / np.exp(z).sum())[1]
        told.append(f"{-z[1] + np.log(np.exp(z).sum()):g} and {by_softmax:g} at -{d}")
    return Finding(
        COMPUTED,
        f"-log 1 = {abs(np.log(1)):g}; of a label whose z is lower than the other one's, from z "
        f"and by a softmax in float32: {', '.join(told)}",
    )


def products(result: dict[str, Any]) -> Finding:
    """The share of the matrix products in the operations of a step of the network that we take for [004]'s."""
    from course_lib.bench.papers.fashion import SIZES
    from course_lib.measure import step_flops

    told = [
        f"{(step := step_flops(SIZES, B)).products / step.total:.1%} at B = {B:,}"
        for B in (1, 64, 60_000)
    ]
    return Finding(COMPUTED, f"{_layers(SIZES)}, share of a step's operations: {', '.join(told)}")


def copying(result: dict[str, Any]) -> Finding:
    """Copying a batch to a GPU, and its products there, by the A100's data sheet."""
    from course_lib.bench.papers.fashion import SIZES
    from course_lib.gpu.data_sheets import DATA_SHEETS
    from course_lib.measure import step_flops

    sheet, told = DATA_SHEETS["A100"], []
    for sizes, B in ((SIZES, 64), (SIZES, 60_000), (NETS["Net-2h"], 64)):
        copied, work = (
            4 * B * (sizes[0] + sizes[-1]) / sheet.pcie,
            step_flops(sizes, B).products / sheet.flops,
        )
        told.append(
            f"{_layers(sizes)}, B = {B:,}: {1e6 * copied:,.0f} us to copy the batch, {1e6 * work:,.0f} us of "
            "products"
        )
    return Finding(COMPUTED, f"by the data sheet of an A100: {'; '.join(told)}")


def gathered(result: dict[str, Any]) -> Finding:
    """Bytes of the gradients that one process holds after a gather, and after a reduction."""
    n = 4e-6 * serial.Network(NETS["Net-1h"]).n_params
    told = ", ".join(f"{p * n:.1f} MB on {p} processes" for p in (2, 4, 16))
    return Finding(
        COMPUTED,
        f"gradients of 784-1024-10 side by side: {told}; their sum {n:.1f} MB on any number",
    )


def averaged(result: dict[str, Any]) -> Finding:
    """How far the plain average of ranks' gradients is from the gradient, for 50 rows on 4 ranks."""
    from course_lib.mpi.flat import shard

    net, rng = serial.Network((20, 16, 10)), np.random.default_rng(0)
    params, X, Y = (
        net.init_params(0, np.float64),
        rng.random((50, 20)),
        np.eye(10)[rng.integers(0, 10, 50)],
    )

    def gradient(rows: slice) -> np.ndarray:
        return serial.gradients(net, params, X[rows], Y[rows])[0][0]

    whole = gradient(slice(0, 50))
    mean = np.mean([gradient(shard(50, 4, r)) for r in range(4)], axis=0)
    off = np.linalg.norm(mean - whole) / np.linalg.norm(whole)
    told = f"50 rows on 4 ranks (13, 13, 12, 12): the average is off by {off:.1%}; with 48 rows by nothing"
    return Finding(COMPUTED, told)


def stacked(result: dict[str, Any]) -> Finding:
    """Numbers that cross for each example, stacked after each layer, and with columns, then rows."""
    _, hidden, out = NETS["Net-1h"]
    return Finding(
        COMPUTED, f"784-1024-10: {hidden + out:,} numbers an example stacked, against {out} summed"
    )


def flops_a_byte(result: dict[str, Any]) -> Finding:
    """Flops of a training step for each byte of the batch that is copied."""
    from course_lib.measure import step_flops

    told = [
        f"{step_flops((784, h, 10), B).products / (4 * 794 * B):.0f} with h = {h}, B = {B:,}"
        for h, B in ((128, 1), (128, 60_000), (1024, 64))
    ]
    return Finding(COMPUTED, f"784-h-10, flops for each byte copied: {', '.join(told)}")


def hundreds(result: dict[str, Any]) -> Finding:
    """The updates of [004]'s own program in the other reading of an iteration: a pass in mini-batches."""
    from course_lib.bench.papers.fashion import ITERATIONS

    return Finding(
        COMPUTED,
        f"{ITERATIONS} iterations: as passes over 60,000 images in batches of 64, "
        f"{ITERATIONS * -(-60_000 // 64):,} updates",
    )


def updated(result: dict[str, Any]) -> Finding:
    """Parameters of the network that we take for [004]'s."""
    from course_lib.bench.papers.fashion import ITERATIONS, SIZES

    n = serial.Network(SIZES).n_params
    return Finding(COMPUTED, f"{_layers(SIZES)}: {n:,} parameters, {ITERATIONS} updates or passes")


def _layers(sizes: tuple[int, ...]) -> str:
    return "-".join(map(str, sizes))
