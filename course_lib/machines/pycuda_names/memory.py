"""Device memory and arrays on the CPU engine, under PyCUDA's names. Fresh memory holds NaN and counts as unwritten."""

import weakref
from functools import cache, partial

import numpy as np

from course_lib.errors import BadInput, check_count
from course_lib.machines.cpu_engine.memory import Arena

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


class Symbol:
    """Where a __constant__ or __device__ variable lies: in the process that runs its module."""

    def __init__(self, module, name):
        self.module, self.name = module, name

    def copy(self, raw, to_device):
        start, size, *_ = self.module.known["symbols"][self.name]
        if raw.size > size:
            raise BadInput(f"{self.name} has {size} bytes, not {raw.size}")
        if to_device:
            self.module.written[self.name] = raw.tobytes()
            self.module.process.write_symbol(start, raw.tobytes())
        else:
            raw[...] = np.frombuffer(self.module.process.read_symbol(start, raw.size), np.uint8)


def address(value, what="the pointer"):
    """A device address as an int, from device memory, a device array, or a NumPy integer of 8 bytes."""
    value = getattr(value, "gpudata", value)
    is_pointer = isinstance(value, np.integer) and value.itemsize == 8
    if is_pointer or isinstance(value, DeviceAllocation):
        return int(value)
    wanted = "device memory, a device array, or In, Out or InOut around a NumPy array"
    raise BadInput(f"{what} must be {wanted}, not {type(value).__name__}")


def memcpy_htod(dest, src):
    """Copies an array's memory, as it lies, to the device."""
    if isinstance(dest, Symbol):
        dest.copy(_raw(src), True)
    else:
        arena().write(_anywhere(dest), _raw(src))


def memcpy_htod_async(dest, src, stream=None):
    """As memcpy_htod: it has ended when the call returns."""
    memcpy_htod(dest, src)


def memcpy_dtoh(dest, src):
    """Fills an array with device memory."""
    if isinstance(src, Symbol):
        src.copy(_raw(dest), False)
    else:
        _raw(dest)[...] = arena().read(_anywhere(src), dest.nbytes)


def memcpy_dtod(dest, src, size):
    flags = arena().flags(_anywhere(src), size)
    arena().write(_anywhere(dest), arena().read(_anywhere(src), size))
    arena().set_written(_anywhere(dest), size, flags)


def memset_d8(dest, data, size, dtype=np.uint8):
    arena().write(_anywhere(dest), np.full(size, data, dtype))


def to_device(bf_obj):
    """Fresh device memory with a copy of an array, row by row."""
    return to_gpu(np.ascontiguousarray(bf_obj)).gpudata


def from_device(devptr, shape, dtype, order="C"):
    return from_device_like(devptr, np.empty(shape, dtype, order))


def from_device_like(devptr, other_ary):
    result = np.empty_like(other_ary)
    memcpy_dtoh(result, devptr)
    return result


class Argument:
    """A NumPy array as a kernel's argument: copied to the device before the launch, back after it, or both."""

    def __init__(self, before, after, ary):
        self.before, self.after, self.array, self.nbytes = before, after, ary, _raw(ary).size

    def on_device(self):
        memory = mem_alloc(self.nbytes)
        if self.before:
            memcpy_htod(memory, self.array)
        return memory

    def back(self, memory):
        if self.after:
            memcpy_dtoh(self.array, memory)


class GPUArray:
    """An array in device memory: .shape, .dtype, .strides (bytes), .size, .nbytes, .gpudata, .get(), .set(), .T."""

    def __init__(self, shape, dtype, gpudata=None, strides=None, order="C"):
        host = np.empty(shape, dtype, order)
        self.shape, self.dtype = host.shape, host.dtype
        self.size, self.nbytes = host.size, host.nbytes
        self.strides = strides or host.strides
        self.gpudata = mem_alloc(self.nbytes) if gpudata is None else gpudata

    def get(self):
        """A copy of it as a NumPy array, stored in the same order."""
        raw = from_device(self.gpudata, self.nbytes, np.uint8)
        return np.ndarray(self.shape, self.dtype, raw, strides=self.strides)

    def set(self, ary):
        """Copies an array to the device. Its order must be the same: PyCUDA copies memory as it lies."""
        mine, its = ((X.shape, X.dtype, X.strides) for X in (self, ary))
        if mine != its:
            raise BadInput(f"the array must have shape, dtype and strides {mine}, not {its}")
        memcpy_htod(self.gpudata, ary)

    def written(self):
        """Which elements, in the order of memory, something has written: for the tracer."""
        return arena().written(int(self.gpudata), self.nbytes, self.dtype.itemsize)

    def set_written(self, flags):
        """Says which elements, in the order of memory, count as written."""
        arena().set_written(int(self.gpudata), self.nbytes, np.repeat(flags, self.dtype.itemsize))

    @property
    def T(self):
        return GPUArray(self.shape[::-1], self.dtype, self.gpudata, self.strides[::-1])


def to_gpu(ary):
    result = GPUArray(ary.shape, ary.dtype, strides=ary.strides)
    memcpy_htod(result.gpudata, ary)
    return result


def zeros(shape, dtype, order="C"):
    return to_gpu(np.zeros(shape, dtype, order))


mem_alloc, empty, memset_d32 = DeviceAllocation, GPUArray, partial(memset_d8, dtype=np.uint32)
pagelocked_empty = np.empty  # shape, dtype, order: any memory will do
In = partial(Argument, True, False)
Out = partial(Argument, False, True)
InOut = partial(Argument, True, True)


def _anywhere(pointer):
    # memcpy takes int(memory) + offset, as in PyCUDA
    return pointer if type(pointer) is int else address(pointer)


def _raw(array):
    """The bytes of an array, in the order in which they lie in memory."""
    if not (array := np.asarray(array)).flags.forc:
        what = f"an array of shape {array.shape} has gaps in memory"
        raise BadInput(f"{what}: copy it with np.ascontiguousarray(...)")
    return (array if array.flags.c_contiguous else array.T).reshape(-1).view(np.uint8)
