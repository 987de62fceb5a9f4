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


def values(activation, z):
    """f(z) and df(z, f(z)) as the engine computes them. z: (n,) float32."""
    a, slope = np.full_like(z, np.nan), np.full_like(z, np.nan)
    traced(BOTH + activation.source, "both", -(-len(z) // 64), 64, [np.int32(len(z)), z, a, slope])
    return a, slope


def _points(rng):
    return np.concatenate(
        [rng.uniform(-4, 4, 60), rng.uniform(-25, -9, 20), [-100, 100, 95, -95, 0]]
    ).astype(np.float32)


def _first(wrong, z, got, want):
    """The first point that is no number, if there is one, else the first that is wrong: what the cause speaks of."""
    at = int(np.flatnonzero(wrong if np.isfinite(got).all() else ~np.isfinite(got))[0])
    return {"where": f"z = {z[at]:.6g}", "got": f"{got[at]:.7g}", "wanted": f"{want[at]:.7g}"}


def _cause_of_f(z, a, want, wrong):
    if not np.isfinite(a[z > 80]).all():
        return "expf(100) is infinite in float32: no exponent above 0, then. Take max(z, 0) out of the logarithm"
    if (z[wrong] < -8).all():
        return "1 + expf(-20) is 1 in float32, and its logarithm 0: log1pf(x) is log(1 + x) without adding up"
    return "softplus(z) = log(1 + exp(z)) = max(z, 0) + log(1 + exp(-|z|))"


def _cause_of_df(activation, z, slope):
    if not np.isfinite(slope).all():
        return "infinity over infinity: write the sigmoid with exp(-z), 1 / (1 + expf(-z))"
    near = np.linspace(-3, 3, 61).astype(np.float32)
    a, d = values(activation, near)
    if np.allclose(d, (1 - 1 / (1 + np.exp(-near))), atol=1e-3):
        return "the sign of z: this is 1 - sigmoid(z)"
    if np.allclose(d, a * (1 - a), atol=1e-3):
        return "a (1 - a) is the sigmoid's slope: here a is softplus(z), not a sigmoid"
    if np.allclose(d, a, atol=1e-3):
        return "this is f itself"
    if np.allclose(d, 1 / (1 + np.exp(-near)), rtol=1e-5):
        return (
            "right on paper, but 1 minus a number that is nearly 1 leaves few digits, and at z = -20 none: "
            "1 / (1 + expf(-z)), or from a, -expm1f(-a)"
        )
    return "differences of your f say something else: d/dz log(1 + exp(z)) = 1 / (1 + exp(-z))"


def _measured(activation, z):
    try:
        return values(activation, z)
    except CompileError as error:
        said = [line for line in str(error).splitlines() if "error" in line]
        require(
            False,
            "the compiler does not take it",
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
    a, slope = _measured(activation, z)
    wide = z.astype(np.float64)
    want, bend = np.maximum(wide, 0) + np.log1p(np.exp(-abs(wide))), 1 / (1 + np.exp(-wide))
    wrong = ~(abs(a - want) <= 2e-5 * want + 1e-30)
    if wrong.any():
        require(
            False,
            "f is not softplus",
            **_first(wrong, z, a, want),
            cause=_cause_of_f(z, a, want, wrong),
        )
    wrong = ~(abs(slope - bend) <= 2e-5 * bend + 1e-30)
    if wrong.any():
        require(
            False,
            "df is not the derivative of f",
            **_first(wrong, z, slope, bend),
            cause=_cause_of_df(activation, z, slope),
        )
    return f"f and df right at {len(z)} points, from -100 to 100"
