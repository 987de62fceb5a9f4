"""As pycuda.driver: module functions, Context, Device, DeviceAllocation, argument handlers, exceptions."""

import ctypes
import os
import sys
from pathlib import Path
from typing import ClassVar

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[2]))  # tests/
from fake_gemm import run_gemm

SCENE = os.environ.get("FAKE_PYCUDA", "")
if SCENE == "no-libcuda":
    raise ImportError("libcuda.so.1: cannot open shared object file: No such file or directory")
calls: list = []
streams: list = []  # of the launches


class Error(Exception):
    pass


class LogicError(Error):
    pass


class LaunchError(Error):
    pass


class CompileError(Error):
    def __init__(self, msg, command_line, stdout=None, stderr=None):
        self.msg, self.command_line, self.stdout, self.stderr = msg, command_line, stdout, stderr


class device_attribute:
    MULTIPROCESSOR_COUNT, MAX_THREADS_PER_BLOCK, MAX_SHARED_MEMORY_PER_BLOCK = 16, 1, 8


class Context:
    stack: ClassVar[list] = []

    def push(self):
        calls.append("push")
        Context.stack.append(self)

    @staticmethod
    def pop():
        calls.append("pop")
        Context.stack.pop()

    def detach(self):
        calls.append("detach")

    @staticmethod
    def get_device():
        return Device(0)

    @staticmethod
    def synchronize():
        calls.append("synchronize")
        if SCENE == "later":
            raise LaunchError("cuCtxSynchronize failed: an illegal memory access was encountered")


class Device:
    def __init__(self, number):
        self.number = number

    @staticmethod
    def count():
        return 0 if SCENE == "no-device" else 1

    def name(self):
        return "Fake GPU"

    def total_memory(self):
        return 40 << 30

    def get_attribute(self, which):
        return {16: 108, 1: 1024, 8: 49152}[which]

    def compute_capability(self):
        return 8, 0

    def retain_primary_context(self):
        calls.append("retain")
        return Context()


def init(flags=0):
    calls.append("init")
    if SCENE == "no-driver":
        raise LogicError("cuInit failed: no CUDA-capable device is detected")


class DeviceAllocation:
    def __init__(self, nbytes):
        self.bytes = bytearray(nbytes)

    def __int__(self):
        return id(self)


def mem_alloc(size):
    return DeviceAllocation(size)


def memcpy_htod(dest, src):
    dest.bytes[:] = memoryview(np.asarray(src).ravel(order="A")).cast("B")


def memcpy_htod_async(dest, src, stream=None):
    calls.append(("copy", len(memoryview(src).cast("B")), stream))
    dest.bytes[: len(memoryview(src).cast("B"))] = memoryview(src).cast("B")


def pagelocked_empty(shape, dtype, order="C", mem_flags=0):
    return np.empty(shape, dtype, order)


def memcpy_dtoh(dest, src):
    dest.ravel(order="A").view(np.uint8)[...] = np.frombuffer(src.bytes, np.uint8)


def memcpy_dtod(dest, src, size):
    dest.bytes[:size] = src.bytes[:size]


def memset_d8(dest, data, size):
    dest.bytes[:size] = bytes([data]) * size


def memset_d32(dest, data, size):
    dest.bytes[: 4 * size] = int(data).to_bytes(4, "little") * size


def to_device(bf_obj):
    result = mem_alloc(len(memoryview(bf_obj).tobytes()))
    memcpy_htod(result, bf_obj)
    return result


def from_device(devptr, shape, dtype, order="C"):
    result = np.empty(shape, dtype, order)
    memcpy_dtoh(result, devptr)
    return result


def from_device_like(devptr, other_ary):
    return from_device(devptr, other_ary.shape, other_ary.dtype)


class ArgumentHandler:
    def __init__(self, ary):
        self.array = ary


class In(ArgumentHandler):
    pass


class Out(ArgumentHandler):
    pass


class InOut(In, Out):
    pass


class Event:
    def record(self, stream=None):
        calls.append(("record", self, stream))
        return self

    def synchronize(self):
        return self

    def time_till(self, event):
        return 1.0

    def time_since(self, event):
        return 1.0


class Stream:
    def __init__(self, flags=0):
        """Flag 0: it and the default stream, which memcpy_htod and memcpy_dtoh use, wait for each other."""

    @property
    def handle(self):
        return id(self)

    def synchronize(self):
        pass

    def wait_for_event(self, event):
        calls.append(("wait", event, self))


class Function:
    num_regs = 32

    def __init__(self, name):
        self.name = name

    def __call__(self, *args, **kwargs):
        if not {*kwargs} <= {"grid", "stream", "block", "shared", "texrefs", "time_kernel"}:
            raise ValueError("extra keyword arguments")
        kwargs = {"grid": (1, 1), "block": None, **kwargs}
        if kwargs["block"] is None:
            raise ValueError("must specify block size")
        for i, arg in enumerate(args):
            known = isinstance(arg, np.number | DeviceAllocation | ArgumentHandler)
            if not known and not hasattr(arg, "gpudata"):
                raise TypeError(f"invalid type on parameter #{i} (0-based)")
        if SCENE == "launch":
            raise LogicError("cuLaunchKernel failed: invalid argument")
        calls.append(("launch", self.name, args, kwargs["block"], kwargs["grid"]))
        streams.append(kwargs.get("stream"))
        if self.name.startswith("gemm_"):
            run_gemm(
                args,
                lambda array, kind: np.frombuffer(array.gpudata.bytes, kind),
                SCENE == "inexact",
            )


class Module:
    def get_function(self, name):
        if name == "missing":
            raise LogicError("cuModuleGetFunction failed: named symbol not found")
        return Function(name)

    def get_global(self, name):
        return 4096, 16


class Libcuda:
    """The driver's library, for its graphs: every function records its call; an address is found where it is wanted."""

    def __getattr__(self, name):
        def called(*args):
            for arg in args:
                if hasattr(arg, "_obj"):  # ctypes.byref of what is filled in
                    arg._obj.value = 4096
            calls.append((name, *(getattr(arg, "value", None) for arg in args)))
            return 0

        return called


class CDLL(ctypes.CDLL):
    def __new__(cls, name=None, *args, **how):
        return Libcuda() if name == "libcuda.so.1" else super().__new__(cls)


ctypes.CDLL = CDLL
