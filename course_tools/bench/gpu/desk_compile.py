"""What the first launch of a kernel costs: the CPU engine's compile, with nothing in its cache."""

import shutil
import time
from pathlib import Path

import numpy as np

from course_lib.gpu.gemm import RUNGS
from course_lib.machines.cpu_engine import compiler
from course_lib.machines.cuda_c.rewrite import rewrite


class CompileDesk:
    """$COURSE_CACHE is an empty folder, $COURSE_CXX says which compiler, if not the first that is found."""

    def __init__(self):
        self.fresh = 0

    def hello(self):
        return {"numpy": np.__version__}

    def ready(self):
        """Compile the engine's own parts, plain and traced. Seconds, and the compiler's words about itself."""
        start = time.perf_counter()
        for traced in (False, True):
            compiler.build(rewrite("__global__ void nothing() {}"), traced=traced)
        seconds = time.perf_counter() - start
        return {"seconds": seconds, "compiler": compiler._version().partition("\n")[0]}

    def first(self, traced):
        """Seconds of the very first compile on a machine: nothing is there."""
        shutil.rmtree(compiler._folder())
        compiler._folder().mkdir(mode=0o700)
        start = time.perf_counter()
        compiler.build(rewrite(RUNGS["naive"].source), traced=traced)
        return time.perf_counter() - start

    def kernel(self, rung, traced):
        """Seconds to compile a rung; each time with another macro, so that it is never found in the cache."""
        self.fresh += 1
        start = time.perf_counter()
        source = f"{RUNGS[rung].source}\n#define FRESH {self.fresh}"
        path = compiler.build(rewrite(source), traced=traced)
        seconds = time.perf_counter() - start
        Path(path).unlink()
        return seconds
