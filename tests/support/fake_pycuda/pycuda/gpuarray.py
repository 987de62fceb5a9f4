"""As pycuda.gpuarray: GPUArray, under the name empty too, and to_gpu."""

import numpy as np

from pycuda import driver


class GPUArray:
    def __init__(
        self,
        shape,
        dtype,
        allocator=driver.mem_alloc,
        base=None,
        gpudata=None,
        strides=None,
        order="C",
    ):
        host = np.zeros(shape, dtype, order)
        self.shape, self.dtype, self.strides = host.shape, host.dtype, host.strides
        self.nbytes, self.size = host.nbytes, host.size
        self.gpudata, self.order = allocator(host.nbytes) if gpudata is None else gpudata, order

    @property
    def T(self):
        """The same memory, seen the other way."""
        turned = {"C": "F", "F": "C"}[self.order]
        return GPUArray(self.shape[::-1], self.dtype, base=self, gpudata=self.gpudata, order=turned)

    def get(self):
        return driver.from_device(self.gpudata, self.shape, self.dtype, self.order)

    def set(self, ary):
        driver.memcpy_htod(self.gpudata, ary)


empty = GPUArray


def to_gpu(ary):
    """Stored as the array is: by rows, or by columns."""
    result = GPUArray(ary.shape, ary.dtype, order="C" if ary.flags.c_contiguous else "F")
    result.set(ary)
    return result


def zeros(shape, dtype=np.float64, allocator=driver.mem_alloc, order="C"):
    return GPUArray(shape, dtype, order=order)
