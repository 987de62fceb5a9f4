"""Which networks are trained, and in which ways, in the order of the tables."""

from typing import NamedTuple

# [000] section 5.2, [001] "Network structures"
NETS = {"Net-1h": (784, 1024, 10), "Net-2h": (784, 1024, 1024, 10)}
EPOCH = 50_000  # training examples of MNIST as the papers divide it
ETA = 0.1


class Way(NamedTuple):
    """One way to train. threads: "1" or "T". library: whose worker process runs it. slow: few rounds, few examples."""

    key: str
    label: str
    threads: str
    library: str
    slow: bool = False


# fmt: off
WAYS = (
    Way("python", "Python loops", "1", "course", slow=True),       # [000] algorithms 4 and 5, neuron by neuron
    Way("loops", "Numba loops", "1", "course"),                    # the same compiled: what the papers call serial
    Way("loops-threads", "Numba loops in threads", "T", "course"),  # [000] algorithm 3: a thread for each shard
    Way("numpy", "NumPy, one BLAS thread", "1", "course"),         # course_lib.serial: three products a layer, sgd_step
    Way("numpy-blas", "NumPy, threads inside BLAS", "T", "course"),  # [001]'s second way, by BLAS's own threads
    Way("numpy-threads", "NumPy in threads", "T", "course"),       # DataParallel: [000] algorithm 3, persistent pool
    Way("grid-1", "GridStep, one thread", "1", "course"),          # our best step: in place, fused, nothing allocated
    Way("grid-examples", "GridStep, examples shared", "T", "course"),  # T groups of one thread: data parallelism
    Way("grid-products", "GridStep, products shared", "T", "course"),  # a group of T threads: [001]'s second way
    Way("grid-hybrid", "GridStep, both shared", "T", "course"),    # T/2 groups of 2: left by [001] as future work
    Way("grid", "GridStep, split chosen", "T", "course"),          # the split that choose_split found quickest
    Way("torch-1", "PyTorch, one thread", "1", "torch"),           # nn.Sequential, autograd, optim.SGD
    Way("torch", "PyTorch", "T", "torch"),                         # the same with T threads
    Way("sklearn", "scikit-learn", "T", "sklearn"),                # partial_fit; softmax and cross-entropy, not MSE
)
# fmt: on
WAY = {way.key: way for way in WAYS}

# The machine's own rate, measured in the same rounds
RATES = {
    "sgemm": "NumPy's product of two 1024 x 1024 float32 matrices",
    "sgemm-separate": "as many such products side by side as there are threads, each on one BLAS thread",
    "torch-sgemm": "PyTorch's product of the same matrices",
}


def ways(threads: int) -> list[Way]:
    """The ways that differ at that number of threads: the hybrid needs 4, an even number."""
    return [way for way in WAYS if way.key != "grid-hybrid" or (threads >= 4 and threads % 2 == 0)]
