"""Launches of the network's kernels, and its products: fused, by the ladder's best rung, or in slices of K."""

from functools import cache

import numpy as np

from course_lib.errors import BadInput, check_count
from course_lib.gpu import device
from course_lib.gpu.costs import up
from course_lib.gpu.gemm import RUNGS
from course_lib.gpu.mlp.activations import source
from course_lib.gpu.mlp.choice import RUNG, choose, in_one
from course_lib.gpu.mlp.slices import in_slices
from course_lib.machines.cpu_engine import trace_arrays


class Products:
    """Launches on the engine of `device`, a GPU or the CPU engine, all in one stream, for which .get() and .set() wait.

    sms: each product is computed as `choice.choose` says for a GPU of that many multiprocessors; by default the GPU's
        own. The CPU engine has none to fill: without a number it runs the fused kernels.
    each: the fused kernels, whatever the size; a thread computes each x each elements: 1, 2, 4 or 8.
    options: more options for the compiler. traced: under the tracer of the CPU engine; `reports` then is a list of
    (kernel, Report), one a launch, which `cpu_engine.summary` adds up. `launched` counts launches.
    """

    def __init__(self, each=None, options=(), traced=False, sms=None):
        if each not in (None, 1, 2, 4, 8):
            why = "a block's tile has 32 x 32 elements"
            raise BadInput(f"each must be 1, 2, 4 or 8, not {each!r}: {why}")
        self.each, self.options, self.stream = each, tuple(options), device.Stream()
        self.sms = None if sms is None else check_count("sms", sms)
        if sms is None and not traced and device.engine_name() == "cuda":
            self.sms = device.attributes()["multiprocessors"]
        self.traced, self.reports, self.launched, self._parts = traced, [], 0, None

    def choice(self, shape, K):
        """The Choice for a product of that shape with sums over K."""
        M, N = shape
        if self.each is None and self.sms is not None:
            return choose(M, N, K, self.sms)
        return in_one(M, N, self.each or 4)

    def _partial(self, chosen, A, B, out, own=False):
        """A B, or that product for each slice of K, one behind the other, each stored as out is: the device array.

        It is out itself where there is one slice, unless it must have memory of its own.
        """
        part, size = out, chosen.slices * out.size
        if chosen.slices > 1 or own:
            if self._parts is None or self._parts.size < size:
                self._parts = device.gpuarray.empty((size,), np.float32)
            part = self._parts
        into = (part, *at(out)[1:])
        if chosen.kernel == RUNG:
            self._rung(chosen, A, B, 1, 0, None, into, out.shape)
        else:  # mlp_update takes any strides, so it is the product with small tiles
            args = (A.shape[1], 1.0, *at(A.T), *at(B), 0.0, None, 0, 0, *into)
            self._tiles("tiles", None, chosen, out.shape, *args)
        return part

    def _rung(self, chosen, A, B, alpha, beta, C, into, shape=None):
        """The ladder's kernel. into: memory and strides, which C shares."""
        (M, N), (D, *strides) = shape or C.shape, into
        down, across = (up(n, side) for n, side in zip((M, N), RUNGS[RUNG].tile, strict=True))
        args = (M, N, A.shape[1], float(alpha), *at(A), *at(B), float(beta), C, D, *strides)
        self._launch(RUNG, None, (across, down, chosen.slices), RUNGS[RUNG].block, *args)

    def _gather(self, chosen, activation, part, Z, F, alpha=1, beta=0, C=None, b=None):
        """Z = alpha (the sum of the slices) + b + beta C, F = f(Z); C: stored as it likes, Z and F alike."""
        out = at(F if Z is None else Z)
        # b: every row of the matrix that it stands for
        b = (None, 0, 0) if b is None else (b, 0, at(b)[1])
        C = (None, 0, 0) if C is None else at(C)
        M, N = out[0].shape
        if out[2] != 1:  # transposed, so that neighbouring threads have neighbours in memory
            M, N, (b, C, out) = N, M, ((X, column, row) for X, row, column in (b, C, out))
        args = (M, N, chosen.slices, float(alpha), part, *b, float(beta), *C, Z, F, *out[1:])
        self._launch("gather", activation, (up(M * N, 256), 1), (256, 1, 1), *args)

    def _tiles(self, kernel, activation, chosen, shape, *args):
        """A block for each 32 x 32 elements and each slice; each thread has each x each of them."""
        (M, N), side = shape, 32 // chosen.each
        options = (f"-DTM={chosen.each}", f"-DTN={chosen.each}")
        grid = (up(N, 32), up(M, 32), chosen.slices)
        self._launch(kernel, activation, grid, (side, side, 1), M, N, *args, options=options)

    def _launch(self, kernel, activation, grid, block, *args, options=()):
        """A kernel of `_text`. Ints become int32, floats float32, None a null pointer."""
        given = [C_TYPES.get(type(arg), _unchanged)(arg) for arg in args]
        options, self.launched = (*options, *self.options), self.launched + 1
        if self.traced:
            launch = *_text(kernel, activation), grid, block, given
            self.reports.append((kernel, trace_arrays(*launch, options=options)))
        else:
            function = _function(device.engine_name(), kernel, activation, options)
            given = [np.uint64(0) if arg is None else arg for arg in given]
            function(*given, block=block, grid=grid, stream=self.stream)


C_TYPES = {int: np.int32, float: np.float32}  # of a number that a kernel is given


def _unchanged(arg):
    return arg


@cache
def _function(engine, kernel, activation, options):
    text, name = _text(kernel, activation)
    return device.SourceModule(text, options).get_function(name)


def _text(kernel, activation):
    """(source, name in it): mlp_{kernel}, the rung in slices of K, or mlp_update in slices."""
    if kernel in (RUNG, "tiles"):
        name = f"gemm_{RUNG}" if kernel == RUNG else "mlp_update"
        return in_slices(name), name
    return source(kernel, activation), f"mlp_{kernel}"


def at(X):
    """A device array as a kernel takes it: where it lies, and how many numbers apart its neighbours are."""
    return (X, *(step // 4 for step in X.strides))
