"""Device memory and arrays on the CPU engine, under PyCUDA's names. Fresh memory holds NaN, and counts as not written."""

import weakref
from functools import cache

import numpy as np

from course_lib.errors import BadInput, check_count

from .cpu_engine.memory import Arena

arena = cache(Arena)  # one for all modules: an address means the same in each


class DeviceAllocation:
    """Device memory; its address is int(it). Freed by .free(), or when nothing refers to it any more."""

    def __init__(self, nbytes):
        self._address = arena().alloc(check_count("bytes", nbytes, 1))
        self.free = weakref.finalize(self, arena().free, self._address)

    def __int__(self):
        if not self.free.alive:
            raise BadInput("this device memory has been freed")
        return self._address

    __index__ = __int__


mem_alloc = DeviceAllocation


class Symbol:
    """Where a __constant__ or __device__ variable lies: in the process that runs its module."""

    def __init__(self, module, name):
        self.module, self.name = module, name

    def write(self, raw):
        self.module.process.write_symbol(self._start(raw.size), raw.tobytes())
        self.module.written[self.name] = raw.tobytes()

    def read(self, nbytes):
        return np.frombuffer(self.module.process.read_symbol(self._start(nbytes), nbytes), np.uint8)

    def _start(self, nbytes):
        start, size, _ = self.module.known["symbols"][self.name]
        if nbytes > size:
            raise BadInput(f"{self.name} has {size} bytes, not {nbytes}")
        return start


def address(value, what="the pointer"):
    """A device address as an int, from device memory, a device array, or a NumPy integer of 8 bytes."""
    value = getattr(value, "gpudata", value)
    if isinstance(value, DeviceAllocation) or (isinstance(value, np.integer) and value.itemsize == 8):
        return int(value)
    raise BadInput(f"{what} must be device memory, a device array, or In, Out or InOut around a NumPy array, not {type(value).__name__}")


def memcpy_htod(dest, src):
    """Copies an array's memory, as it lies, to the device."""
    dest.write(_raw(src)) if isinstance(dest, Symbol) else arena().write(_anywhere(dest), _raw(src))


def memcpy_dtoh(dest, src):
    """Fills an array with device memory."""
    raw = _raw(dest)
    raw[...] = src.read(raw.size) if isinstance(src, Symbol) else arena().read(_anywhere(src), raw.size)


def memcpy_dtod(dest, src, size):
    arena().write(_anywhere(dest), arena().read(_anywhere(src), size))


def memset_d8(dest, data, size):
    arena().write(_anywhere(dest), np.full(size, data, np.uint8))


def memset_d32(dest, data, size):
    arena().write(_anywhere(dest), np.full(size, data, np.uint32))


def to_device(bf_obj):
    """Fresh device memory with a copy of an array, row by row."""
    return to_gpu(np.ascontiguousarray(bf_obj)).gpudata


def from_device(devptr, shape, dtype, order="C"):
    result = np.empty(shape, dtype, order)
    memcpy_dtoh(result, devptr)
    return result


def from_device_like(devptr, other_ary):
    return from_device(devptr, other_ary.shape, other_ary.dtype, "F" if other_ary.flags.fnc else "C")


class Argument:
    """A NumPy array as a kernel's argument: copied to the device before the launch, back after it, or both."""

    def __init__(self, ary):
        self.array, self.nbytes = ary, _raw(ary).size

    def on_device(self):
        memory = mem_alloc(self.nbytes)
        if not isinstance(self, Out):
            memcpy_htod(memory, self.array)
        return memory

    def back(self, memory):
        if not isinstance(self, In):
            memcpy_dtoh(self.array, memory)


class In(Argument):
    pass


class Out(Argument):
    pass


class InOut(Argument):
    pass


class GPUArray:
    """An array in device memory: .shape, .dtype, .strides (bytes), .size, .nbytes, .gpudata, .get(), .set(array), .T."""

    def __init__(self, shape, dtype, gpudata=None, strides=None, order="C"):
        host = np.empty(shape, dtype, order)
        self.shape, self.dtype, self.size, self.nbytes = host.shape, host.dtype, host.size, host.nbytes
        self.strides = strides or host.strides
        self.gpudata = mem_alloc(self.nbytes) if gpudata is None else gpudata

    def get(self):
        """A copy of it as a NumPy array, stored in the same order."""
        return np.ndarray(self.shape, self.dtype, from_device(self.gpudata, self.nbytes, np.uint8), strides=self.strides)

    def set(self, ary):
        """Copies an array of the same shape, dtype and order to the device."""
        mine, its = (self.shape, self.dtype, self.strides), (ary.shape, ary.dtype, ary.strides)
        if mine != its:  # PyCUDA copies memory as it lies, whatever the order
            raise BadInput(f"the array must have shape, dtype and strides {mine}, not {its}")
        memcpy_htod(self.gpudata, ary)

    T = property(lambda self: GPUArray(self.shape[::-1], self.dtype, self.gpudata, self.strides[::-1]))


empty = GPUArray


def to_gpu(ary):
    result = GPUArray(ary.shape, ary.dtype, None, ary.strides)
    memcpy_htod(result.gpudata, ary)
    return result


def zeros(shape, dtype, order="C"):
    return to_gpu(np.zeros(shape, dtype, order))


def _anywhere(pointer):
    return pointer if type(pointer) is int else address(pointer)  # memcpy takes int(memory) + offset, as in PyCUDA


def _raw(array):
    """The bytes of an array, in the order in which they lie in memory."""
    array = np.asarray(array)
    if not array.flags.forc:
        raise BadInput(f"an array of shape {array.shape} has gaps in memory: copy it with np.ascontiguousarray(...)")
    return (array if array.flags.c_contiguous else array.T).reshape(-1).view(np.uint8)
