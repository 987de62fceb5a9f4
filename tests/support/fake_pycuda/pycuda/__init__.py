"""A stand-in for PyCUDA 2026.1: the names, signatures and exceptions that course_lib.gpu.on_cuda relies on, and no GPU.

`driver.calls` records what was called. $FAKE_PYCUDA makes it fail: no-libcuda, no-driver, no-device, bad-source,
no-nvcc, launch, later, inexact.
"""

VERSION_TEXT = "2026.1"
