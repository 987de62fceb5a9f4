"""Chapter 12: the facts that its text rests on, and its checks with other seeds.

That each planted wrong answer gets its message is tested with the chapter itself (course_tools.build.mutants).
"""

import ast
import itertools
import re
from pathlib import Path

import numpy as np
import pytest

from course_lib import mpi, serial
from course_lib.checks import ch12
from course_lib.checks.ch12 import costs as ch12_costs
from course_lib.checks.ch12 import cuts as ch12_cuts
from course_lib.mpi import cost
from course_lib.mpi.flat import shard

CHAPTER = Path(__file__).parents[3] / "chapters" / "12-mpi-model-parallelism"
LECTURE = (CHAPTER / "lecture.md").read_text(encoding="utf-8")
EXERCISE = (CHAPTER / "exercise.md").read_text(encoding="utf-8")


def names_of(cell, **known):
    """The names that a cell of the lecture defines."""
    code = re.search(
        rf"```{{code-cell}} ipython3\n:name: {cell}\n(?::.*\n)*(.*?)```", LECTURE, re.DOTALL
    )[1]
    exec(compile(ast.parse(code), cell, "exec"), known)
    return known


# Plans: what the lecture counts on paper, computed and counted ------------------------------------------------------


def gathered(comm, part, n):
    """My columns -> all n columns, by messages to everybody."""
    whole = np.empty((len(part), n), part.dtype)
    whole[:, shard(n, comm.size, comm.rank)] = part
    for r in (r for r in range(comm.size) if r != comm.rank):
        mine = shard(n, comm.size, r)
        got = np.empty((len(part), mine.stop - mine.start), part.dtype)
        comm.Sendrecv(np.ascontiguousarray(part), dest=r, recvbuf=got, source=r)
        whole[:, mine] = got
    return whole


def scattered(comm, summand):
    """My columns of the sum of all ranks' summands."""
    columns = [shard(summand.shape[1], comm.size, r) for r in range(comm.size)]
    total = summand[:, columns[comm.rank]].copy()
    for r in (r for r in range(comm.size) if r != comm.rank):
        got = np.empty_like(total)
        comm.Sendrecv(np.ascontiguousarray(summand[:, columns[r]]), dest=r, recvbuf=got, source=r)
        total += got
    return total


def planned(comm, params, plan, X, Y):
    """The whole gradient of a sigmoid net with cross-entropy, each layer computed as the plan says."""
    own = lambda n: shard(n, comm.size, comm.rank)  # noqa: E731
    A, cut, inputs = X, False, []
    for layer, ((W, b), kind) in enumerate(zip(params, plan, strict=True)):
        whole = gathered(comm, A, len(W)) if cut and kind != "row" else A
        part = whole if kind != "row" or cut else whole[:, own(len(W))]
        inputs.append((cut, A, part))
        if kind == "row":
            Z = mpi.ring_allreduce(comm, part @ W[own(len(W))]) + b
        else:
            Z = part @ (W[:, own(len(b))] if kind == "column" else W) + (
                b[own(len(b))] if kind == "column" else b
            )
        cut, A = kind == "column", Z if layer == len(params) - 1 else 1 / (1 + np.exp(-Z))
    logits = gathered(comm, A, len(b)) if cut else A
    e = np.exp(logits - logits.max(axis=1, keepdims=True))
    dZ, grads = (e / e.sum(axis=1, keepdims=True) - Y) / len(X), []
    dZ = dZ[:, own(len(b))] if cut else dZ
    for layer in reversed(range(len(params))):
        (W, b), kind, (cut, left, part) = params[layer], plan[layer], inputs[layer]
        grads.insert(0, (kind, part.T @ dZ, dZ.sum(axis=0)))
        if layer:
            dZ = (
                _dA(comm, W, kind, cut, dZ, own) * left * (1 - left)
            )  # as the layer below has left it
    return grads


def _dA(comm, W, kind, cut, dZ, own):
    if kind == "column":
        summand = dZ @ W[:, own(W.shape[1])].T
        return scattered(comm, summand) if cut else mpi.ring_allreduce(comm, summand)
    if kind == "row":
        mine = dZ @ W[own(len(W))].T
        return mine if cut else gathered(comm, mine, len(W))
    dA = dZ @ W.T
    return dA[:, own(len(W))] if cut else dA


def joined(parts):
    kind = parts[0][0]
    if kind == "every":
        return parts[0][1:]
    if kind == "row":
        return np.vstack([dW for _, dW, _ in parts]), parts[0][2]
    return np.hstack([dW for _, dW, _ in parts]), np.hstack([db for *_, db in parts])


@pytest.mark.parametrize("sizes", [(7, 9, 5), (6, 8, 7, 5)])
def test_every_plan_is_right_and_sends_what_the_lecture_counts(sizes):
    plan_items = names_of(
        "plan-items",
        stacked_items=names_of(
            "stacking-by-hand", net=serial.Network((784, 1024, 10)), my_stacking_factor=0
        )["stacked_items"],
    )["plan_items"]
    net, rng, B, p = serial.Network(sizes, loss="cross_entropy"), np.random.default_rng(0), 6, 3
    params = [(W, rng.standard_normal(b.shape)) for W, b in net.init_params(0, np.float64)]
    X, Y = rng.standard_normal((B, sizes[0])), np.eye(sizes[-1])[rng.integers(0, sizes[-1], B)]
    exact = serial.gradients(net, params, X, Y)
    for plan in itertools.product(("column", "row", "every"), repeat=net.n_layers):
        report = mpi.rehearse(planned, p, params, plan, X, Y)
        assert not report.errors, (plan, str(report))
        for layer, (dW, db) in enumerate(exact):
            got = joined([result[layer] for result in report.results])
            assert np.allclose(got[0], dW, atol=1e-12) and np.allclose(got[1], db, atol=1e-12), (
                plan,
                layer,
            )
        assert sum(report.bytes) == (p - 1) * B * 8 * plan_items(sizes, plan), plan


# What the text says -------------------------------------------------------------------------------------------------


def test_alexnet_is_that_of_torchvision():
    """61,100,840 parameters, torchvision's documentation says; 10,344 of them are biases."""
    layers = names_of("alexnet")["LAYERS"]
    assert (
        sum(j * k for j, k, *_ in layers.values()) + sum(j for j, *_ in layers.values())
        == 61_100_840
    )
    ends = [(j * positions) for name, (j, _, positions, _) in layers.items() if name == "conv 5"]
    assert ends == [256 * 13 * 13] and layers["dense 6"][1] == 256 * 6 * 6


def test_model_parallelism_of_two_layers_wins_at_every_batch_of_mnist():
    net = serial.Network((784, 1024, 10))
    for p in (2, 3, 4, 16, 1000):
        assert cost.step_bytes(net, 60_000, 1, p) < cost.step_bytes(net, 60_000, p, 1)
        assert cost.step_bytes(net, 81_409, 1, p) == pytest.approx(
            cost.step_bytes(net, 81_409, p, 1)
        )


@pytest.mark.parametrize("data, model", [(1, 1), (4, 1), (1, 4), (2, 3), (6, 2)])
def test_the_checks_formula_is_the_librarys(data, model):
    for sizes in ((12, 24, 36), (24, 12, 36, 48, 12)):
        assert ch12_costs.paper(sizes, 24, data, model) == pytest.approx(
            cost.step_bytes(serial.Network(sizes), 24, data, model)
        )


def test_what_crosses_is_what_slabs_show():
    size, rng = {"i": 5, "k": 4, "j": 3}, np.random.default_rng(1)
    found = names_of("slab", rng=rng, shard=shard)["slab"]
    for axis in size:
        shapes = {name: part.shape for name, (_, part) in found(axis, 0, 3).items()}
        whole = {"Z": (10, 6), "dX": (10, 8), "dW": (8, 6)}
        full = [name for name in whole if shapes[name] == whole[name]]
        assert [name for name in full if axis not in ch12_cuts.INDICES[name]] == full and len(
            full
        ) == 1


def test_the_exercise_shows_the_faulty_function_that_is_to_be_mended():
    assert "dA = dZ @ W.T\n                dZ = dA * A[layer] * (1 - A[layer])" in EXERCISE


@pytest.mark.parametrize("seed", range(1, 6))
def test_the_grids_that_the_check_wants_differ(seed):
    """Each reason for a choice is needed in some case: bytes, memory, neurons, divisors that are no powers of two."""
    drawn = ch12_costs._pick_cases(np.random.default_rng(seed))
    wanted = {label: ch12_costs.best(*args) for label, *args in drawn}
    assert (
        wanted["two layers"] == (1, 4)
        and wanted["a large batch"] == (16, 1)
        and wanted["few neurons"] == (4, 3)
    )
    assert wanted["few neurons in n3"] == (4, 3) and wanted["few neurons where none are cut"] == (
        1,
        16,
    )
    assert wanted["memory that is just enough for a half"] == (8, 2)
    assert wanted["little memory"] == (4, 4) and wanted["memory for the weights alone"] == (8, 2)
    assert wanted["a grid of threes"] == (3, 3) and any(
        n % 3 == 0 for n in wanted["a middling batch"]
    )


def test_all_checks_are_tried_in_the_exercise():
    assert set(re.findall(r"ch12\.(check_\w+)\(", EXERCISE)) == set(ch12.__all__)
