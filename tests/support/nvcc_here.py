"""Is nvcc 13.0 here, with which the figures of chapter 08 and of the library were noted?"""

import subprocess

import pytest

from course_lib.gpu.inspect import available


def is_nvcc_13_0():
    tool = available()
    return (
        bool(tool)
        and "nvrtc" not in tool
        and "release 13.0"
        in subprocess.run([tool, "--version"], capture_output=True, text=True).stdout
    )


needs_nvcc = pytest.mark.skipif(
    not is_nvcc_13_0(), reason="the figures in chapter 08 were noted with nvcc 13.0"
)
