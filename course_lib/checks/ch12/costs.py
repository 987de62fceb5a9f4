"""The checks of chapter 12 on bytes: of a step on a grid, on paper and counted, and the choice of the grid."""

from numbers import Real

import numpy as np

from course_lib import mpi
from course_lib.checks.kit.core import require
from course_lib.checks.kit.freeform import function_check, require_in_time
from course_lib.checks.kit.trees import a_thing
from course_lib.checks.kit.words import count
from course_lib.serial import Network

# step_bytes -----------------------------------------------------------------------------------------------------------


def paper(sizes, B, data, model):
    """The truth."""
    grads = wide = 0.0
    for layer, (n_in, n_out) in enumerate(zip(sizes, sizes[1:], strict=False)):
        column = layer % 2 == 0
        grads += n_in * n_out / model + (n_out / model if column else n_out)
        wide += n_in * (layer > 0) if column else n_out
    return 4 * (2 * (data - 1) / data * grads + 2 * (model - 1) / model * B / data * wide)


def _drawn(rng):
    found = []
    for data, model, layers in ((4, 1, 2), (1, 4, 2), (2, 2, 4), (3, 2, 4), (2, 3, 6), (16, 4, 4)):
        sizes = tuple(
            int(n) * data * model for n in rng.choice(np.arange(2, 12), layers + 1, replace=False)
        )
        found.append((sizes, int(rng.integers(2, 9)) * data * model, data, model))
    return found


@function_check("step_bytes")
def check_step_bytes(step_bytes, *, rng):
    """`step_bytes(sizes, B, data, model)`: by the formula, then held against a step that is counted."""
    drawn = _drawn(rng)
    given = [step_bytes(*args) for args in drawn]
    for got in given:
        require(isinstance(got, Real), "return a number", got=a_thing(got))
    given = [float(got) for got in given]
    truths = [paper(*args) for args in drawn]
    wrong = [not np.isclose(a, b, rtol=1e-9) for a, b in zip(given, truths, strict=True)]
    require(
        not any(wrong),
        f"the bytes of {sum(wrong)} of {count(len(wrong), 'grid')} are not right",
        got="; ".join(f"{got:,.1f}" for got in given),
        wanted="; ".join(f"{truth:,.1f}" for truth in truths),
        where="; ".join("{} with B = {} on {} x {}".format(*args) for args in drawn),
    )
    for args in drawn[2:4]:
        counted = _counted(rng, *args)
        require(
            np.isclose(counted, paper(*args)),
            "the formula and the count of a rehearsed step differ",
            got=counted,
        )
    return "six grids by the formula, two of them counted"


def _counted(rng, sizes, B, data, model):
    """Mean bytes a rank of a real step on rehearsed ranks."""
    net = Network(sizes)
    X, Y = (
        rng.random((B, sizes[0]), np.float32),
        np.eye(sizes[-1], dtype=np.float32)[rng.integers(0, sizes[-1], B)],
    )
    report = mpi.rehearse(_step, data * model, net, net.init_params(0), X, Y, data, model)
    late = any(error["tool"] == "timeout" for error in report.errors)
    require_in_time(not late, "the rehearsed step did not finish")
    return sum(report.bytes) / (data * model)


def _step(comm, net, params, X, Y, data, model):
    grid = mpi.Grid(comm, net, data, model, allreduce=mpi.ring_allreduce)
    grid.gradients(grid.model.split(params), X, Y)


# pick_grid ------------------------------------------------------------------------------------------------------------

NO_LIMIT = 1e15


def grid_costs(sizes, B, p):
    """{(data, model): bytes} of every way to write p."""
    return {(p // m, m): paper(sizes, B, p // m, m) for m in range(1, p + 1) if p % m == 0}


def weights_of(sizes):
    return sum(n_in * n_out for n_in, n_out in zip(sizes, sizes[1:], strict=False))


def possible(sizes, p, memory, gradients=2):
    neurons = min(sizes[1::2])
    return [
        (p // m, m)
        for m in range(1, p + 1)
        if p % m == 0 and m <= neurons and gradients * 4 * weights_of(sizes) / m <= memory
    ]


def best(sizes, B, p, memory):
    """The truth."""
    costs = grid_costs(sizes, B, p)
    return min(possible(sizes, p, memory), key=lambda grid: costs[grid])


def best_exchanged(sizes, B, p, memory):
    """The choice of one who exchanges data and model in the costs."""
    costs = grid_costs(sizes, B, p)
    return min(possible(sizes, p, memory), key=lambda grid: costs[grid[::-1]])


def _pick_cases(rng):
    def width(low, high):
        return int(rng.integers(low, high))

    two = (width(700, 800), 1000 + width(0, 60), 10)
    deep = (width(700, 800), *(1000 + width(0, 60) for _ in range(3)), 10)
    narrow = (width(300, 400), 3, 10)
    later = (width(300, 400), 1000 + width(0, 60), width(300, 400), 3, 10)
    between = (width(700, 800), 1000 + width(0, 60), 5, 1000 + width(0, 60), 10)
    all_of = 8 * weights_of(deep)
    return [
        ("two layers", two, 100, 4, NO_LIMIT),
        ("a large batch", deep, 100_000, 16, NO_LIMIT),
        ("a middling batch", deep, 3000, 12, NO_LIMIT),
        ("a grid of threes", deep, 1600, 9, NO_LIMIT),
        ("few neurons", narrow, 12, 12, NO_LIMIT),
        ("few neurons in n3", later, 12, 12, NO_LIMIT),
        ("few neurons where none are cut", between, 64, 16, NO_LIMIT),
        ("little memory", deep, 100_000, 16, all_of / 3),
        ("memory for the weights alone", deep, 100_000, 16, 0.75 * all_of),
        ("memory that is just enough for a half", deep, 100_000, 16, all_of / 2),
        ("one rank", two, 50, 1, NO_LIMIT),
    ]


@function_check("pick_grid")
def check_pick_grid(pick_grid, *, rng):
    """`pick_grid(sizes, B, p, memory)` -> (data, model)."""
    cases = _pick_cases(rng)
    given = [pick_grid(*args) for _, *args in cases]
    for got, (_, _, _, p, _) in zip(given, cases, strict=True):
        _a_grid(got, p)
    truths = [best(*args) for _, *args in cases]
    require(
        [tuple(got)[::-1] for got in given] != truths,
        "all grids are the wrong way around",
        got=tuple(given[0]),
        wanted=truths[0],
        cause="(data, model): the number of groups first. They are swapped",
    )
    if [tuple(got) for got in given] != truths:
        _own_step_bytes(pick_grid, cases)
        mirrored = [best_exchanged(*args) for _, *args in cases]
        require(
            [tuple(got) for got in given] != mirrored,
            "these grids do not send the fewest bytes",
            cause="step_bytes is called with model first, then data: they are swapped",
        )
    for got, (label, sizes, B, p, memory) in zip(given, cases, strict=True):
        where = f"{label}: {'-'.join(map(str, sizes))}, B = {B:,}, p = {p}" + (
            f", memory {memory:,.0f}" if memory < NO_LIMIT else ""
        )
        _possible(got, sizes, p, memory, where)
    for got, (label, sizes, B, p, memory) in zip(given, cases, strict=True):
        costs, truth = grid_costs(sizes, B, p), best(sizes, B, p, memory)
        if not costs[tuple(got)] <= costs[truth] * (1 + 1e-9):
            _not_the_best(
                tuple(got),
                truth,
                costs,
                f"{label}: {'-'.join(map(str, sizes))}, B = {B:,}, p = {p}",
            )
    return f"{len(cases)} networks, each with the grid that sends the fewest bytes"


def _own_step_bytes(pick_grid, cases):
    """Is it the student's step_bytes that pick_grid goes wrong with?"""
    theirs = getattr(pick_grid, "__globals__", {}).get("step_bytes")
    try:
        right = theirs is None or all(
            np.isclose(theirs(sizes, B, *grid), paper(sizes, B, *grid), rtol=1e-9)
            for _, sizes, B, p, _ in cases
            for grid in grid_costs(sizes, B, p)
        )
    except Exception:
        return
    require(right, "your step_bytes, of task 6, is not right: mend it first, and see again")


def _a_grid(got, p):
    pair = (
        isinstance(got, tuple | list)
        and len(got) == 2
        and all(isinstance(n, int | np.integer) for n in got)
    )
    require(pair, "return a pair (data, model) of whole numbers", got=a_thing(got))
    require(got[0] * got[1] == p, "data * model is not p", got=tuple(got), where=f"p = {p}")


def _possible(got, sizes, p, memory, where):
    model, grids = got[1], possible(sizes, p, memory)
    if model > min(sizes[1::2]):
        cause = f"{model} model ranks cannot share a layer of {min(sizes[1::2])} neurons: look at n1, n3, ..."
    else:
        size = 8 * weights_of(sizes) / model
        cause = f"weights and gradients take {size:,.0f} bytes on a rank: that does not fit"
        if size * model / p <= memory:  # it would, if all ranks shared them
            cause += f"; only the model ranks share them, here {model}, not all {p}"
        if size / 2 <= memory:  # it would, without one of the two
            cause += "; each weight takes 4 bytes, and so does its gradient"
    require(
        tuple(got) in grids, "this grid is not possible", got=tuple(got), where=where, cause=cause
    )


def _not_the_best(got, truth, costs, where):
    require(
        False,
        "this grid does not send the fewest bytes",
        got=f"{got}, {costs[got]:,.0f} bytes a rank",
        wanted=f"{truth}, {costs[truth]:,.0f} bytes",
        where=where,
        cause=f"not the fewest: {truth} is possible, too. Its {truth[1]} model ranks share n1, n3, ... and no others, "
        "and its weights fit. Take the minimum of step_bytes over all divisors of p",
    )
