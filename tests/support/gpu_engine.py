"""`engine`: a test runs on the CPU engine and, marked `gpu`, again on a GPU where there is one. `cpu`: only there."""

import pytest
from engine_runs import no_compiler, no_gpu

from course_lib.errors import BadInput
from course_lib.gpu import device
from course_lib.gpu.gemm import _function
from course_lib.gpu.gemm_half import _function as _function_of_half


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def engine(request, monkeypatch):
    monkeypatch.setenv("COURSE_GPU", request.param)
    forget()
    if request.param == "cuda":
        try:
            device.engine_name()
        except BadInput as error:
            no_gpu(error)
    elif why := no_compiler():  # the only reason for which the CPU engine may stay untested
        pytest.skip(why)
    yield request.param
    forget()


@pytest.fixture
def cpu(monkeypatch):
    if why := no_compiler():
        pytest.skip(why)
    monkeypatch.setenv("COURSE_GPU", "cpu")
    forget()
    yield
    forget()


def forget():
    """The next test chooses its engine anew."""
    device._engine.cache_clear()
    _function.cache_clear()
    _function_of_half.cache_clear()
