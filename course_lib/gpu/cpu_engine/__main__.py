"""`python -m course_lib.gpu.cpu_engine` gets the compiler ready: that of ziglang builds its C++ library on first use.

That takes a minute or two, once for a user; with g++ or clang++ it is a few seconds. Ends well in any case: what is
missing is said, and only the GPU chapters need it.
"""

import time
from pathlib import Path

import numpy as np

from course_lib.errors import BadInput

from . import trace
from .compiler import build, compiler
from .rewrite import rewrite

SOURCE = "__global__ void ready(int *x) { x[threadIdx.x] = threadIdx.x; }"


def prepare():
    """One kernel compiled and run, plain and traced; a sentence on how it went."""
    start, x = time.monotonic(), np.zeros(32, np.int32)
    try:
        build(rewrite(SOURCE))
        trace(SOURCE, "ready", 1, 32, [x])
        if x.tolist() != list(range(32)):
            return "The CPU engine gives wrong numbers on this machine; please report it"
        return f"Prepared the CPU engine with {Path(compiler()[0]).name} in {time.monotonic() - start:.0f} s"
    except (BadInput, OSError) as error:
        return f"The CPU engine does not run here, so the GPU chapters need a GPU: {error}"


if __name__ == "__main__":
    print(prepare(), flush=True)
