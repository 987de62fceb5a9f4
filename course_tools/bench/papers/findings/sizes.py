"""Claims about how large things are: networks, matrices, messages; and the machine."""

from course_lib import serial
from course_lib.bench.catalogue import NETS
from course_lib.bench.report import machine_line
from course_tools.bench.papers.claim import Result
from course_tools.bench.papers.findings.wording import layers
from course_tools.bench.papers.settings import FASHION_ITERATIONS, FASHION_SIZES

PARAMETERS = {net: serial.Network(sizes).n_params for net, sizes in NETS.items()}
MB = 4e-6  # of a number in single precision


def parameters(_: Result) -> str:
    """Weights and biases of the two nets."""
    told = ", ".join(f"{net} {n:,}" for net, n in PARAMETERS.items())
    return f"{told}, biases included"


def neurons(_: Result) -> str:
    """Neurons of a hidden layer, and the weights between two layers as large as the text's largest."""
    told = ", ".join(f"{sizes[1]:,} in each hidden layer of {net}" for net, sizes in NETS.items())
    return f"{told}; between two layers of a million there are {10**6 * 10**6:,} weights"


def hessian(_: Result) -> str:
    """The size of the Hessian of each net."""
    return "; ".join(
        f"{net} {n:,} x {n:,} numbers, {4e-12 * n * n:.1f} TB in single precision"
        for net, n in PARAMETERS.items()
    )


def machine(result: Result) -> str:
    """What this result was measured on."""
    return machine_line(result)


def kernels(_: Result) -> str:
    """The kernels of course_lib.gpu.mlp."""
    from course_lib.gpu.mlp.kernels import SPECIFICATIONS

    five = ("forward", "output_delta", "transposed", "hadamard", "update")
    rest = len(SPECIFICATIONS.keys() - set(five))
    return f"ours, as its equations 7 to 10: {', '.join(five)}; and {rest} for softmax, losses and sums"


def matrices(_: Result) -> str:
    """Megabytes of W, A and D of a whole net."""
    B, told = 1024, []
    for net, sizes in NETS.items():
        W, A, D = (MB * n for n in (PARAMETERS[net], B * sum(sizes), B * sum(sizes[1:])))
        told.append(f"{net} {W:.1f} MB of W and b, {A:.1f} MB of A and {D:.1f} MB of D")
    return f"B = {B:,}, single precision: {'; '.join(told)}"


def figure_4(_: Result) -> str:
    """Shapes and parameters of figure 4's network."""
    net = serial.Network((4, 5, 3), loss="cross_entropy")
    shapes = ", ".join(f"W {W.T.shape}, b {b.shape}" for W, b in net.init_params(0))
    return f"as [003] writes them: {shapes}; {net.n_params} parameters"


def fat_matrix(_: Result) -> str:
    """W2's share of the parameters."""
    (W1, _), (W2, _) = serial.Network(NETS["Net-1h"]).init_params(0)
    return f"in 784-1024-10 it is 10 x 1024, {W2.size / (W1.size + W2.size):.1%} of the weights"


def gathered(_: Result) -> str:
    """Bytes of the gradients that one process holds after a gather, and after a reduction."""
    n = MB * PARAMETERS["Net-1h"]
    told = ", ".join(f"{p * n:.1f} MB on {p} processes" for p in (2, 4, 16))
    return f"gradients of 784-1024-10 side by side: {told}; their sum {n:.1f} MB on any number"


def hundreds(_: Result) -> str:
    """The updates of [004]'s own program in the other reading of an iteration: a pass in mini-batches."""
    n = FASHION_ITERATIONS
    updates = n * -(-60_000 // 64)
    return f"{n} iterations: as passes over 60,000 images in batches of 64, {updates:,} updates"


def updated(_: Result) -> str:
    """Parameters of the network that we take for [004]'s."""
    n = serial.Network(FASHION_SIZES).n_params
    return f"{layers(FASHION_SIZES)}: {n:,} parameters, {FASHION_ITERATIONS} updates or passes"


def sharing_images(_: Result) -> str:
    """Bytes of the input images, sent once to all, beside those of W1."""
    images, W1 = 4e-6 * 60_000 * 784, 4e-6 * 784 * 1024
    return f"all 60,000 images as float32: {images:,.0f} MB on each rank; W1 is {W1:.1f} MB"
