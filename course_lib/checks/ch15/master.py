"""The check of a step on float32 master weights that hands out float16 copies."""

import numpy as np

from course_lib.checks.kit.core import Case, Check, normal, ragged


def _case(rng, shapes, label, eta, mu, size=1.0, begun=1):
    """begun: 0 for velocities that begin at 0, as those of a training run do."""

    def arrays(size):
        return [normal(rng, *shape, scale=size) for shape in shapes]

    steps = [arrays(size), arrays(size)]
    velocities = [begun * v for v in arrays(size)]
    return Case((arrays(0.7), velocities, steps, eta, mu), label, scale=3.0)


def _cases(rng):
    a, b, c = ragged(rng, 3)
    eta, mu = float(rng.uniform(0.1, 0.3)), float(rng.uniform(0.6, 0.9))
    shapes = [(a, b), (b,), (b, c)]
    return [
        _case(rng, shapes, "two steps", eta, mu),
        _case(rng, shapes, "two steps from rest, too small for float16", eta, mu, 1e-4, begun=0),
        _case(rng, [(c, a)], "one array, no momentum", eta, 0.0),
    ]


def _steps(fn, masters, velocities, grads, eta, mu):
    """Two steps with the same arrays: what the caller then holds, and the copies of the last step."""
    held = [*masters], [*velocities]
    for step in grads:
        copies = fn(masters, velocities, step, eta, mu)
    return *held, copies


def _one_step(masters, velocities, grads, eta, mu):
    for master, velocity, grad in zip(masters, velocities, grads, strict=True):
        velocity *= mu
        velocity += grad
        master -= eta * velocity
    return [_copy(master) for master in masters]


def _copy(master):
    """By way of float32: the reference has float64, which would be rounded once less."""
    return master.astype(np.float32).astype(np.float16)


def _two_steps(masters, velocities, grads, eta, mu):
    return _steps(_one_step, masters, velocities, grads, eta, mu)


def _beside_masters(value):
    """Each copy as (its dtype, how far it is from its own master in float16)."""
    masters, velocities, copies = value
    pairs = zip(copies, masters, strict=True)
    told = [(c.dtype.name, c.astype(np.float64) - _copy(m)) for c, m in pairs]
    return masters, velocities, told


check_master_step = Check(
    "master_step",
    _cases,
    _two_steps,
    K=4,
    dtype=None,
    parts=("masters", "velocities", "copies"),
    may_change=(0, 1),
    post=_beside_masters,
    call=_steps,
)
