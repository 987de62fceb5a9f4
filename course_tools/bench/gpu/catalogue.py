"""What `course bench gpu` measures: square products on the CPU, larger and ragged ones on a GPU; training; by whom."""

from typing import NamedTuple

from course_tools.bench.training import catalogue

_THREADS = (f"{kind}_8x8" for kind in ("register", "vector", "buffered"))
RUNGS = (
    "naive",
    "shared",
    "register_16x4",
    *_THREADS,
    "warptile",
    "async",
)  # as course_lib.gpu.gemm has them
SIZES = (64, 128, 256, 512)  # on the CPU: M = N = K
TRACED = 128  # the largest that is traced: at 256 a trace takes seconds
# on a GPU: M, N, K
SHAPES = (
    *((n, n, n) for n in (1024, 2048, 4096, 1000)),
    *((4095, 4097, 1023), (37, 4096, 2000), (4096, 10, 784)),
)


class Way(NamedTuple):
    """Who computes D = A B. library: whose worker process. kernel: a rung of the ladder, "" for a BLAS."""

    key: str
    label: str
    threads: str
    library: str
    kernel: str = ""
    most: int = 10**9  # no larger sizes
    slow: bool = False  # few rounds


def _ways():
    yield Way("blas", "NumPy's BLAS", "1", "engine")
    for kind, threads, words, most in (
        ("plain", "T", "", 10**9),
        ("single", "1", "", 10**9),
        ("traced", "1", ", traced", TRACED),
    ):
        for rung in RUNGS:
            yield Way(f"{kind}-{rung}", f"engine, {rung}{words}", threads, "engine", rung, most)
    for rung in RUNGS[:2]:
        label = f"Numba's CUDA simulator, {rung}"
        yield Way(f"numba-{rung}", label, "1", "numba-sim", rung, slow=True)
    for rung in RUNGS:
        yield Way(f"vgre-{rung}", f"vgre, {rung}", "T", "vgre", rung, slow=True)


WAYS = tuple(_ways())
WAY = {way.key: way for way in WAYS}
# on tensor cores, as in course_lib.gpu.gemm_half: A and B are rounded to half
HALF = {f"half-{name}": f"gemm_{name}, of half" for name in ("wmma", "wmma_shared")}
PEERS = {"cublas-cupy": "cuBLAS through CuPy", "cublas-torch": "cuBLAS through PyTorch"}  # on a GPU

BLOCKS = (32, 256, 1024)  # threads of a block, for the barrier
KERNELS = (
    *((256, kind, rung) for rung in RUNGS[:2] for kind in ("plain", "single")),
    *((128, kind, rung) for rung in RUNGS for kind in ("single", "traced")),
)  # of the engine, timed without the call around them: n, kind, rung

TRANSFERS = tuple(4**i for i in range(5, 14))  # bytes: 1 KiB to 64 MiB

BATCHES = (64, 256, 1024, 4096)  # of the training on a GPU
TORCH = "torch-gpu-training"
TRAINING_WAYS = (
    *(catalogue.WAY[key] for key in ("numpy", "grid", "torch-1", "torch")),
    catalogue.Way("mlp-paper", "our kernels as in Kamra 2016", "1", "mlp"),  # a thread an element
    catalogue.Way("mlp-tiles", "our kernels, 4 x 4 a thread", "1", "mlp"),
    catalogue.Way("mlp-chosen", "our kernels, chosen by size", "1", "mlp"),  # gpu.mlp's default
    catalogue.Way("torch-gpu-sent", "PyTorch, GPU, batches sent in", "1", TORCH),  # as ours
    catalogue.Way("torch-gpu-resident", "PyTorch, GPU, examples there", "1", TORCH),  # beforehand
)
SMALL = ("a small net", (784, 64, 10), 64)  # name, widths, batch size: on the CPU engine
ENGINE = "on the CPU engine"
ENGINE_WAYS = (
    *(catalogue.WAY[key] for key in ("numpy", "grid")),
    catalogue.Way("mlp-engine-paper", f"our kernels as in Kamra 2016, {ENGINE}", "T", "mlp-engine"),
    catalogue.Way("mlp-engine-tiles", f"our kernels, 4 x 4 a thread, {ENGINE}", "T", "mlp-engine"),
)
TRAINERS = {way.key: way for way in (*TRAINING_WAYS, *ENGINE_WAYS)}
