"""The check of an activation in two lines of CUDA C: its values on the engine, and df against differences of f."""

import numpy as np

from course_lib.checks.kit.core import require
from course_lib.checks.kit.freeform import function_check
from course_lib.checks.kit.kernels.running import traced
from course_lib.checks.kit.kinds import kind_of
from course_lib.errors import BadInput
from course_lib.gpu.mlp import Activation
from course_lib.machines.cpu_engine import CompileError

BOTH = r"""
static __device__ __forceinline__ float f(float z);
static __device__ __forceinline__ float df(float z, float a);

__global__ void both(int n, const float *z, float *a, float *slope)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    a[i] = f(z[i]);
    slope[i] = df(z[i], a[i]);
}
"""

EXP_OVERFLOWS = 88.8
NOT_A_NUMBER = (
    "expf(z) is infinite above z = 88.7 and df is NaN there, as of infinity over infinity, or times 0: write the "
    "sigmoid with exp(-z)",
    "expf(-z) is infinite below z = -88.7 and df is NaN there, as of infinity over infinity, or times 0: write the "
    "sigmoid with one exp(-z), below the fraction bar",
)


def values(activation, z):
    """f(z) and df(z, f(z)) as the engine computes them. z: (n,) float32."""
    a, slope = np.full_like(z, np.nan), np.full_like(z, np.nan)
    traced(BOTH + activation.source, "both", -(-len(z) // 64), 64, [np.int32(len(z)), z, a, slope])
    return a, slope


def _points(rng):
    spans = ((-4, 4, 60), (4, 12, 20), (-9, -4, 10), (-25, -9, 20))
    some = [rng.uniform(low, high, n) for low, high, n in spans]
    return np.concatenate([*some, [-100, 100, 95, -95, 0]]).astype(np.float32)


def _hold(what, z, got, want, nan=None):
    """Fail unless the values are right to four digits, with the first that is no number, or else is wrong.

    nan: the causes of a NaN where expf(z) overflows, and where expf(-z) does.
    """
    wrong = ~(abs(got - want) <= 2e-5 * want + 1e-30)
    if not wrong.any():
        return
    at = int(np.flatnonzero(wrong if np.isfinite(got).all() else ~np.isfinite(got))[0])
    span = f"from z = {z[wrong].min():.4g} to {z[wrong].max():.4g}"
    overflow = np.isnan(got[at]) and abs(z[at]) > EXP_OVERFLOWS
    require(
        False,
        f"{what}: {wrong.sum()} of {len(z)} points, {span}",
        where=f"z = {z[at]:.6g}",
        got=f"{got[at]:.6g}",
        wanted=f"{want[at]:.6g}",
        cause=nan[int(z[at] < 0)] if nan and overflow else None,
    )


def _measured(activation, z):
    try:
        return values(activation, z)
    except CompileError as error:
        said = [line for line in str(error).splitlines() if "error" in line]
        require(
            False,
            "it does not compile",
            got=(said or [str(error)])[0].strip()[:300],
            cause="f is an expression in z, df one in z and a, without a semicolon; functions of float32 end in f",
            kind=kind_of(error),
        )
    except BadInput as error:
        require(False, str(error), kind=kind_of(error))
    return None


@function_check("softplus")
def check_softplus(fn, *, rng):
    """f and df against softplus and the sigmoid in float64."""
    activation, z = fn(), _points(rng)
    require(
        isinstance(activation, Activation),
        f"softplus() must return an Activation, not {type(activation).__name__}",
        cause='return Activation("softplus", f="...", df="...")',
    )
    require(
        activation.name == "softplus",
        f'the activation must have the name "softplus", not "{activation.name}"',
        cause="the name is the first argument of Activation",
    )
    a, slope = _measured(activation, z)
    wide = z.astype(np.float64)
    _hold("f is not softplus", z, a, np.maximum(wide, 0) + np.log1p(np.exp(-abs(wide))))
    _hold("df is not the derivative of f", z, slope, 1 / (1 + np.exp(-wide)), NOT_A_NUMBER)
    return f"f and df right at {len(z)} points, from -100 to 100"
