"""Is a gradient right? Compare it with central differences of the loss, in float64.

    numeric = (J(theta + h) - J(theta - h)) / 2h       h = cbrt(eps) max(1, |theta|), about 6e-6

The differences err by about h^2 |J'''| / 6 (the Taylor series cut off) plus eps |J| / h (the two values of J
rounded); with this h each is near 4e-11 or below for a well-scaled J. Hence the comparison, entry by entry:

    relative error = |analytic - numeric| / max(|analytic|, |numeric|, floor)  <=  tolerance = 1e-6 + h^2

with floor * tolerance = 10 eps max(1, |J|) / h: what rounding alone can put between two equal gradients.
So a gradient of 1e-3 is confirmed to about six digits, one of 1e-8 to one or two.
"""

import math
from dataclasses import dataclass

import numpy as np

from course_lib.errors import check_array, check_count, check_number
from course_lib.serial.minibatch import loss_of
from course_lib.serial.network import backward as our_backward
from course_lib.serial.network import check_grads, check_params, forward


@dataclass(frozen=True)
class GradientReport:
    """The entry that agrees worst. `where` is (layer, "W" or "b", index); `ok`: it is within `tolerance`."""

    max_relative_error: float
    tolerance: float
    where: tuple
    analytic: float
    numeric: float
    checked: int
    skipped: int
    n_params: int

    @property
    def ok(self) -> bool:
        """True only where some entry was checked and none is off; False where the gradient holds a NaN."""
        return self.checked > 0 and self.max_relative_error <= self.tolerance

    def __str__(self):
        if self.checked == 0:
            return f"gradient check: nothing could be checked ({self.skipped} entries lie on a kink of relu)"
        layer, name, index = self.where
        verdict = "right" if self.ok else "WRONG"
        skipped = f", {self.skipped} more skipped on a kink of relu" if self.skipped else ""
        return (
            f"gradient check: {verdict}. {self.checked} of {self.n_params} entries compared{skipped}; "
            f"largest relative error {self.max_relative_error:.1e} (allowed {self.tolerance:.1e})\n"
            f"worst: layer {layer}, d{name}[{', '.join(map(str, index))}]: "
            f"analytic {self.analytic:.9g}, numeric {self.numeric:.9g}"
        )

    __repr__ = __str__


def gradient_check(net, params, X, Y, eps=None, samples=200, seed=0, backward=None):
    """Compare `backward` with central differences in float64; the formulas stand at the head of this module.

    params, X (B, n0), Y (B, nL): as for forward and backward; float32 is copied to float64, nothing is changed.
    eps: the h of the formula, instead of cbrt(machine epsilon). samples: entries to compare, spread over every W and b
    (all of them where there are no more); drawn by default_rng(seed). backward: your own function
    (params, cache, Y) -> list of (dW, db) instead of ours.
    relu: where the two perturbed runs switch a neuron on or off, the difference straddles a kink and says nothing
    about the derivative: such an entry is skipped and counted, never passed. Returns a GradientReport.
    """
    check_params(params, net)
    params = [(W.astype(np.float64), b.astype(np.float64)) for W, b in params]
    X = check_array("X", X, finite=True).astype(np.float64)
    Y = check_array("Y", Y, finite=True).astype(np.float64)
    h = check_number("eps", np.cbrt(np.finfo(np.float64).eps) if eps is None else eps)
    cache = forward(params, X, net)
    loss = loss_of(params, cache, Y)
    grads = check_grads((backward or our_backward)(params, cache, Y), params)
    rounding = 10 * np.finfo(np.float64).eps * max(1.0, abs(loss)) / h
    results, skipped = [], 0
    for layer, which, index in _entries(params, check_count("samples", samples), seed):
        numeric = _central_difference(net, params, X, Y, params[layer][which], index, h)
        if numeric is None:
            skipped += 1
        else:
            analytic = float(grads[layer][which][index])
            results.append(((layer, "Wb"[which], index), analytic, numeric))
    return _report(results, skipped, 1e-6 + h * h, rounding, net.n_params)


def _entries(params, samples, seed):
    """(layer, 0 for W or 1 for b, index): all entries, or an equal share from each array."""
    rng = np.random.default_rng(seed)
    arrays = [array for pair in params for array in pair]
    few = sum(array.size for array in arrays) <= samples
    for number, array in enumerate(arrays):
        layer, which = divmod(number, 2)
        share = array.size if few else min(array.size, max(1, samples // len(arrays)))
        for flat in np.sort(rng.choice(array.size, share, replace=False)):
            yield layer, which, tuple(int(i) for i in np.unravel_index(flat, array.shape))


def _central_difference(net, params, X, Y, array, index, h):
    """(J(theta + h) - J(theta - h)) / 2h for one entry theta; None where a relu switches in between."""
    theta = array[index]
    h = h * max(1.0, abs(theta))
    caches, losses = [], []
    for moved in (theta + h, theta - h):
        array[index] = moved
        caches.append(forward(params, X, net))
        losses.append(loss_of(params, caches[-1], Y))
    array[index] = theta
    if net.activation == "relu" and _switched(*caches):
        return None
    return float((losses[0] - losses[1]) / ((theta + h) - (theta - h)))


def _switched(plus, minus):
    pairs = zip(plus.Z[:-1], minus.Z[:-1], strict=True)
    return any(np.any((p > 0) != (m > 0)) for p, m in pairs)


def _report(results, skipped, tolerance, rounding, n_params):
    if not results:
        return GradientReport(math.nan, tolerance, (), math.nan, math.nan, 0, skipped, n_params)
    floor = rounding / tolerance
    errors = [abs(a - n) / max(abs(a), abs(n), floor) for _, a, n in results]
    worst = int(np.argmax(errors))  # argmax takes the first NaN, if there is one
    found = (*results[worst], len(results), skipped, n_params)
    return GradientReport(errors[worst], tolerance, *found)
