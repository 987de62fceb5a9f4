"""The package vgre, a "virtual GPU runtime engine": CUDA C compiled and run on the CPU by its own engine."""

import numpy as np
from vgre import _native as vgre

from course_lib.gpu.gemm import RUNGS
from course_tools.bench.gpu.catalogue import WAY
from course_tools.bench.gpu.products import Product, ProductDesk

WHOLE = 256  # at 512 an eighth of the blocks is run, and the time scaled


class VgreDesk(ProductDesk):
    def __init__(self):
        super().__init__()
        vgre.native_init()
        self.kernels = {}

    def hello(self):
        from importlib.metadata import version

        return {"vgre": version("vgre")}

    def make(self, key, problem):
        rung = RUNGS[WAY[key].kernel]
        if rung.name not in self.kernels:
            self.kernels[rung.name] = vgre.native_register_kernel(f"gemm_{rung.name}", rung.source)
        kernel, (M, N, K) = self.kernels[rung.name], problem.shape
        D = np.full((M, N), np.nan, np.float32)
        numbers = [M, N, K, 1.0, problem.A, K, 1, problem.B, N, 1, 0.0, D, D, N, 1]
        if rung.by_columns:  # D^T = B^T A^T, as course_lib.gpu.gemm does it
            numbers = [N, M, K, 1.0, problem.B, 1, N, problem.A, 1, K, 0.0, D, D, 1, N]
        grid = rung.grid(*numbers[:2])
        whole = max(problem.shape) <= WHOLE or rung.by_columns
        part = grid if whole else (grid[0], max(1, grid[1] // 8))

        def call():
            vgre.native_launch_kernel(kernel, (*part, 1), rung.block, numbers)
            vgre.native_synchronize()
            return D[: part[1] * rung.tile[0]] if part != grid else D

        note = "" if part == grid else "timed on an eighth of the blocks"
        return Product(call, part[1] / grid[1], note)

    def close(self):
        vgre.native_shutdown()
