"""As pycuda.tools: a context on the first device that works, made by the caller's function."""

from pycuda import driver


def make_default_context(ctx_maker=None):
    if driver.Device.count() == 0:
        raise RuntimeError("No CUDA enabled device found. Please check your installation.")
    return ctx_maker(driver.Device(0))


def clear_context_caches():
    driver.calls.append("caches cleared")
