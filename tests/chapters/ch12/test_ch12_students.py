"""Chapter 12's checks with answers of other styles: right ones pass, wrong ones are refused with their cause."""

from fractions import Fraction

import numpy as np
import pytest

from course_lib import mpi
from course_lib.checks import ch12
from course_lib.checks.ch12 import deep
from course_lib.checks.kit.core import CheckFailed
from course_lib.mpi.flat import pack, shard, unpack


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def softmax(z):
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


# Right answers -----------------------------------------------------------------------------------------------------


def crossing_by_rule(axis):
    faces = {"X": "ik", "W": "kj", "Z": "ij"}
    name = next(name for name, indices in faces.items() if axis not in indices)
    return ["dZ", "Z"] if name == "Z" else [name, "d" + name]


def split_by_array_split(params, p, r):
    (W1, b1), (W2, b2) = params
    return [
        (np.array(np.array_split(W1, p, axis=1)[r]), np.array(np.array_split(b1, p)[r])),
        (np.array(np.array_split(W2, p)[r]), np.array(b2)),
    ]


def forward_lower_case(comm, local, X):
    (W1, b1), (W2, b2) = local
    A1 = sigmoid(X @ W1 + b1)
    return A1, comm.allreduce(A1 @ W2) + b2


def forward_by_ring(comm, local, X):
    (W1, b1), (W2, b2) = local
    A1 = sigmoid(X @ W1 + b1)
    return A1, mpi.ring_allreduce(comm, A1 @ W2) + b2


def forward_by_tree(comm, local, X):
    A1 = sigmoid(X @ local[0][0] + local[0][1])
    return A1, mpi.tree_allreduce(comm, A1 @ local[1][0]) + local[1][1]


def forward_by_doubling(comm, local, X):
    A1 = sigmoid(X @ local[0][0] + local[0][1])
    return A1, mpi.doubling_allreduce(comm, A1 @ local[1][0]) + local[1][1]


def forward_without_waiting(comm, local, X):
    A1 = sigmoid(X @ local[0][0] + local[0][1])
    summand = A1 @ local[1][0]
    total = np.empty_like(summand)
    comm.Iallreduce(summand, total).Wait()
    return A1, total + local[1][1]


def forward_in_place(comm, local, X):
    from mpi4py import MPI

    A1 = sigmoid(X @ local[0][0] + local[0][1])
    Z2 = A1 @ local[1][0]
    if comm.rank == 0:
        Z2 += local[1][1]  # the bias once, by one rank
    comm.Allreduce(MPI.IN_PLACE, Z2)
    return [A1, Z2]


def forward_a_share_of_the_bias(comm, local, X):
    A1 = sigmoid(X @ local[0][0] + local[0][1])
    summand = A1 @ local[1][0] + local[1][1] / np.float32(comm.size)
    total = np.zeros_like(summand)
    comm.Allreduce(summand, total)
    return A1, total


def backward_with_loops(comm, local, X, A1, Z2, Y):
    dZ2 = softmax(Z2)
    dZ2[Y == 1] -= 1
    dZ2 /= np.float32(len(Y))
    dZ1 = (dZ2 @ local[1][0].T) * (A1 - A1 * A1)
    ones = np.ones(len(X), X.dtype)
    return ((X.T @ dZ1, ones @ dZ1), (A1.T @ dZ2, ones @ dZ2))


def deep_slope_first(comm, local, kinds, A, dZ):
    grads = [None] * len(local)
    for n in range(len(local) - 1, -1, -1):
        grads[n] = (A[n].T @ dZ, dZ.sum(axis=0))
        if n == 0:
            break
        dZ = dZ @ local[n][0].T * A[n] * (1 - A[n])  # f' is linear in dA: the sum may come after it
        if kinds[n] == "column":
            dZ = comm.allreduce(dZ)
    return grads


def deep_by_ring(comm, local, kinds, A, dZ):
    ring = type(
        "Ring", (), {"allreduce": staticmethod(lambda part: mpi.ring_allreduce(comm, part))}
    )()
    return deep_slope_first(ring, local, kinds, A, dZ)


def bytes_as_fractions(sizes, B, data, model):
    return Fraction(round(bytes_by_library(sizes, B, data, model)))


def bytes_by_library(sizes, B, data, model):
    from course_lib.mpi import cost
    from course_lib.serial import Network

    return cost.step_bytes(Network(tuple(sizes)), B, data, model)


def bytes_by_arrays(sizes, B, data, model):
    n = np.array(sizes, float)
    weights = (n[:-1] * n[1:]).sum() / model + n[1::2].sum() / model + n[2::2].sum()
    crossing = n[2::2].sum() + n[2:-1:2].sum()
    return 8 * (1 - 1 / data) * weights + 8 * (1 - 1 / model) * B / data * crossing


def grid_by_create_key(comm, model, Z, dW):
    row, column = comm.Split(comm.rank // model), comm.Split(comm.rank % model)
    return row.allreduce(Z), column.allreduce(dW)


def grid_places_first(comm, model, Z, dW):
    """The keys run backwards, and the column comes first: nothing depends on either."""
    column, row = (
        comm.Split(comm.rank % model, -comm.rank),
        comm.Split(comm.rank // model, -comm.rank),
    )
    total = mpi.ring_allreduce(column, dW.copy())
    return mpi.tree_allreduce(row, Z.copy()), total


def pick_by(neurons, strict=False):
    """The grid with at most neurons(sizes) model ranks, and with a strict bound on the memory or not."""

    def pick_grid(sizes, B, p, memory):
        weights = sum(a * b for a, b in zip(sizes, sizes[1:], strict=False))
        fits = float.__lt__ if strict else float.__le__
        grids = [
            (p // m, m)
            for m in range(1, p + 1)
            if p % m == 0 and m <= neurons(sizes) and fits(8.0 * weights / m, float(memory))
        ]
        return min(grids, key=lambda grid: bytes_by_arrays(sizes, B, *grid))

    return pick_grid


def pick_with_a_loop(sizes, B, p, memory):
    from course_lib.checks.ch12.costs import paper

    best = None
    for data in range(1, p + 1):
        if p % data:
            continue
        model, weights = p // data, sum(a * b for a, b in zip(sizes, sizes[1:], strict=False))
        if model > min(sizes[1::2]) or 2 * weights * 4 > memory * model:
            continue
        cost = paper(sizes, B, data, model)
        if best is None or cost < best[0]:
            best = cost, [data, model]
    return best[1]


def train_with(forward, backward, split=split_by_array_split):
    def train_two(comm, params, X, Y, steps, B, eta, seed):
        local, rng = split(params, comm.size, comm.rank), np.random.default_rng(seed)
        for _ in range(steps):
            rows = rng.choice(len(X), B, replace=False)
            A1, Z2 = forward(comm, local, X[rows])
            flat = pack(backward(comm, local, X[rows], A1, Z2, Y[rows]))
            local = [
                (W - np.float32(eta) * dW, b - np.float32(eta) * db)
                for (W, b), (dW, db) in zip(local, unpack(flat, local), strict=True)
            ]
        return local

    return train_two


RIGHT = [
    (ch12.check_crossing, crossing_by_rule),
    (ch12.check_split_two, split_by_array_split),
    (ch12.check_forward_two, forward_lower_case),
    (ch12.check_forward_two, forward_by_ring),
    (ch12.check_forward_two, forward_in_place),
    (ch12.check_forward_two, forward_a_share_of_the_bias),
    (ch12.check_backward_two, backward_with_loops),
    (ch12.check_backward_deep, deep_slope_first),
    (ch12.check_step_bytes, bytes_by_library),
    (ch12.check_step_bytes, bytes_by_arrays),
    (ch12.check_grid_sums, grid_by_create_key),
    (ch12.check_grid_sums, grid_places_first),
    (ch12.check_forward_two, forward_by_tree),
    (ch12.check_forward_two, forward_by_doubling),
    (ch12.check_forward_two, forward_without_waiting),
    (ch12.check_backward_deep, deep_by_ring),
    (ch12.check_step_bytes, bytes_as_fractions),
    (ch12.check_pick_grid, pick_with_a_loop),
    (ch12.check_train_two, train_with(forward_lower_case, backward_with_loops)),
    (ch12.check_train_two, train_with(forward_by_ring, backward_with_loops)),
]


@pytest.mark.parametrize(
    "check, answer", RIGHT, ids=[f"{n}-{a.__name__}" for n, (_, a) in enumerate(RIGHT)]
)
def test_a_right_answer_of_another_style_passes(check, answer, capsys):
    for seed in range(1, 6):
        check(answer, seed=seed)
    assert capsys.readouterr().out.count("✔") >= 5


@pytest.mark.parametrize("seed", [0, 5000037])
def test_a_bias_of_one_neuron_whose_terms_cancel_is_not_asked_for(seed, capsys):
    """With these draws one rank's db was a single number near 0, and right answers missed it by rounding."""
    ch12.check_backward_deep(deep_slope_first, seed=seed)
    assert "✔" in capsys.readouterr().out


def test_no_draw_of_deeper_nets_has_a_bias_that_cancels():
    for seed in range(300):
        for case in deep._cases(np.random.default_rng(seed), 4):
            for layer in zip(*deep._reference(case.args), strict=True):
                sizes = [np.abs(db).max() for _, db in layer]
                assert min(sizes) >= 0.05 * max(sizes)


# Wrong answers -----------------------------------------------------------------------------------------------------


def forward_stacks(comm, local, X):
    """Right, but the hidden activations travel."""
    (W1, b1), (W2, b2) = local
    A1 = sigmoid(X @ W1 + b1)
    hidden, W = np.hstack(comm.allgather(A1)), np.vstack(comm.allgather(W2))
    return A1, hidden @ W + b2


def forward_gathers_once(comm, local, X):
    A1 = sigmoid(X @ local[0][0] + local[0][1])
    everything = comm.allgather((A1, local[1][0]))
    return A1, np.hstack([a for a, _ in everything]) @ np.vstack(
        [w for _, w in everything]
    ) + local[1][1]


def forward_gathers_summands(comm, local, X):
    A1 = sigmoid(X @ local[0][0] + local[0][1])
    return A1, sum(comm.allgather(A1 @ local[1][0])) + local[1][1]


def forward_hands_all_around(comm, local, X):
    p, r, A1 = comm.size, comm.rank, sigmoid(X @ local[0][0] + local[0][1])
    found = {r: (A1, local[1][0])}
    for step in range(p - 1):
        found[(r - step - 1) % p] = comm.sendrecv(
            found[(r - step) % p], dest=(r + 1) % p, source=(r - 1) % p
        )
    return A1, np.hstack([found[q][0] for q in range(p)]) @ np.vstack(
        [found[q][1] for q in range(p)]
    ) + local[1][1]


def forward_into_float64(comm, local, X):
    A1 = sigmoid(X @ local[0][0] + local[0][1])
    total = np.zeros((len(X), len(local[1][1])))
    comm.Allreduce(A1 @ local[1][0], total)
    return A1, total + local[1][1]


def forward_without_receive(comm, local, X):
    A1 = sigmoid(X @ local[0][0] + local[0][1])
    return A1, comm.Allreduce(A1 @ local[1][0]) + local[1][1]


def forward_takes_the_none(comm, local, X):
    A1 = sigmoid(X @ local[0][0] + local[0][1])
    total = np.empty((len(X), len(local[1][1])), X.dtype)
    return A1, comm.Allreduce(A1 @ local[1][0], total) + local[1][1]


def forward_reduces(comm, local, X):
    A1 = sigmoid(X @ local[0][0] + local[0][1])
    summand = A1 @ local[1][0]
    total = summand.copy()
    comm.Reduce(summand, total, root=0)
    return A1, total + local[1][1]


def forward_casts(comm, local, X):
    A1, Z2 = forward_lower_case(comm, local, X)
    return A1, Z2.astype(np.float64)


def forward_whole_activations(comm, local, X):
    A1, Z2 = forward_lower_case(comm, local, X)
    return np.hstack(comm.allgather(A1)), Z2


def forward_writes_into_the_bias(comm, local, X):
    (W1, b1), (W2, b2) = local
    A1 = sigmoid(X @ W1 + b1)
    Z2 = comm.allreduce(A1 @ W2)
    b2 += Z2[0] * 0 + 1
    return A1, Z2 + b2 - 1


def backward_sums_all(comm, local, X, A1, Z2, Y):
    return [
        (comm.allreduce(dW), comm.allreduce(db)) if n else (dW, db)
        for n, (dW, db) in enumerate(backward_with_loops(comm, local, X, A1, Z2, Y))
    ]


def backward_of_the_mean_square(comm, local, X, A1, Z2, Y):
    return backward_with_loops(comm, local, X, A1, Z2, Y)[:1]


def deep_two_layers_only(comm, local, kinds, A, dZ):
    return [
        (
            A[0].T @ (dZ @ local[1][0].T * A[1] * (1 - A[1])),
            (dZ @ local[1][0].T * A[1] * (1 - A[1])).sum(axis=0),
        ),
        (A[1].T @ dZ, dZ.sum(axis=0)),
    ]


def deep_sums_dZ_of_the_layer(comm, local, kinds, A, dZ):
    grads = []
    for layer in reversed(range(len(local))):
        if kinds[layer] == "row":
            dZ = comm.allreduce(dZ)
        grads.insert(0, (A[layer].T @ dZ, dZ.sum(axis=0)))
        if layer:
            dZ = dZ @ local[layer][0].T * A[layer] * (1 - A[layer])
    return grads


def deep_gathers_all(comm, local, kinds, A, dZ):
    """The whole network on every rank, by one allgather: right, and nothing is gained."""
    if len(local) == 2:
        return deep_slope_first(comm, local, kinds, A, dZ)
    ranks, grads = comm.allgather((local, A)), [None] * len(local)
    for n in reversed(range(len(local))):
        join = np.hstack if kinds[n] == "column" else np.vstack
        W, axis = join([part[n][0] for part, _ in ranks]), int(kinds[n] == "column")
        whole = A[n] if axis else np.hstack([a[n] for _, a in ranks])
        mine = shard(W.shape[axis], comm.size, comm.rank)
        dW, db = whole.T @ dZ, dZ.sum(axis=0)
        grads[n] = (dW[:, mine], db[mine]) if axis else (dW[mine], db)
        dZ = dZ @ W.T * whole * (1 - whole) if n else None
    return grads


def bytes_of_all_ranks(sizes, B, data, model):
    return data * model * bytes_by_library(sizes, B, data, model)


def bytes_as_text(sizes, B, data, model):
    return str(bytes_by_library(sizes, B, data, model))


def grid_by_gather(comm, model, Z, dW):
    group, place = comm.rank // model, comm.rank % model
    everybody = comm.allgather((Z, dW))
    return (
        sum(z for r, (z, _) in enumerate(everybody) if r // model == group),
        sum(w for r, (_, w) in enumerate(everybody) if r % model == place),
    )


def grid_exchanged(comm, model, Z, dW):
    return grid_by_create_key(comm, comm.size // model, Z, dW)


def grid_pads_with_zeros(comm, model, Z, dW):
    group, place = divmod(comm.rank, model)
    groups, places = (
        np.zeros((comm.size // model, *Z.shape), Z.dtype),
        np.zeros((model, *dW.shape), dW.dtype),
    )
    groups[group], places[place] = Z, dW
    return comm.allreduce(groups)[group], comm.allreduce(places)[place]


def grid_first_group_only(comm, model, Z, dW):
    if comm.rank >= model:
        return Z, dW
    return grid_by_create_key(comm, model, Z, dW)


def grid_key_for_color(comm, model, Z, dW):
    row = comm.Split(key=comm.rank // model, color=0)
    return row.allreduce(Z), comm.Split(comm.rank % model).allreduce(dW)


def pick_three(sizes, B, p, memory):
    return 1, 1, p


def pick_any(sizes, B, p, memory):
    return p + 1, 1


def train_stale(comm, params, X, Y, steps, B, eta, seed):
    """Every gradient is taken at the first parameters."""
    local, rng = split_by_array_split(params, comm.size, comm.rank), np.random.default_rng(seed)
    first = [(W.copy(), b.copy()) for W, b in local]
    for _ in range(steps):
        rows = rng.choice(len(X), B, replace=False)
        A1, Z2 = forward_lower_case(comm, first, X[rows])
        for (W, b), (dW, db) in zip(
            local, backward_with_loops(comm, first, X[rows], A1, Z2, Y[rows]), strict=True
        ):
            W -= eta * dW
            b -= eta * db
    return local


def train_alone(comm, params, X, Y, steps, B, eta, seed):
    """Serial training on every rank, and the part at the end: right numbers, no work shared."""
    return split_by_array_split(
        train_whole(comm, params, X, Y, steps, B, eta, seed), comm.size, comm.rank
    )


def train_eta_of_the_lecture(comm, params, X, Y, steps, B, eta, seed):
    return train_with(forward_lower_case, backward_with_loops)(
        comm, params, X, Y, steps, B, 0.5, seed
    )


def train_and_gather(comm, params, X, Y, steps, B, eta, seed):
    local = train_with(forward_lower_case, backward_with_loops)(
        comm, params, X, Y, steps, B, eta, seed
    )
    comm.allgather(local)
    return local


def train_whole(comm, params, X, Y, steps, B, eta, seed):
    """Serial training on every rank: right numbers, whole parameters."""
    one = type("One", (), {"rank": 0, "size": 1, "allreduce": staticmethod(lambda x: x)})()
    return train_with(forward_lower_case, backward_with_loops)(
        one, params, X, Y, steps, B, eta, seed
    )


WRONG = [
    (ch12.check_crossing, lambda axis: "W", "two names"),
    (ch12.check_crossing, lambda axis: ("Z", "Z"), "has no"),
    (ch12.check_split_two, lambda params, p, r: params, "nothing is split"),
    (
        ch12.check_split_two,
        lambda params, p, r: split_by_array_split(params, p, p - 1 - r),
        "split_two",
    ),
    (ch12.check_forward_two, forward_stacks, "one sum is enough"),
    (ch12.check_forward_two, forward_reduces, "Reduce gives its result only to the root"),
    (ch12.check_forward_two, forward_casts, "float64"),
    (ch12.check_forward_two, forward_whole_activations, "rank"),
    (ch12.check_forward_two, forward_writes_into_the_bias, "changed"),
    (ch12.check_backward_two, backward_sums_all, "rank"),
    (ch12.check_backward_two, backward_of_the_mean_square, "2"),
    (ch12.check_backward_deep, deep_two_layers_only, "shapes that do not fit"),
    (ch12.check_backward_deep, deep_sums_dZ_of_the_layer, "rank"),
    (ch12.check_step_bytes, bytes_of_all_ranks, "one rank"),
    (ch12.check_step_bytes, bytes_as_text, "return a number"),
    (ch12.check_forward_two, forward_gathers_once, "a rank calls allgather"),
    (ch12.check_forward_two, forward_gathers_summands, "one sum is enough"),
    (ch12.check_forward_two, forward_hands_all_around, "the ranks send"),
    (ch12.check_backward_deep, deep_gathers_all, "no rank needs the others' weights"),
    (ch12.check_grid_sums, grid_by_gather, "an allreduce over each"),
    (ch12.check_forward_two, forward_into_float64, "np.empty_like(summand)"),
    (ch12.check_forward_two, forward_without_receive, "into its second argument"),
    (ch12.check_forward_two, forward_takes_the_none, "Allreduce(send, receive) returns None"),
    (ch12.check_grid_sums, grid_exchanged, "model and data are swapped"),
    (ch12.check_grid_sums, grid_pads_with_zeros, "an allreduce over each"),
    (ch12.check_pick_grid, pick_by(min), "share n1, n3, ... and no others"),
    (
        ch12.check_pick_grid,
        pick_by(lambda sizes: min(sizes[1:-1])),
        "share n1, n3, ... and no others",
    ),
    (ch12.check_pick_grid, pick_by(lambda sizes: sizes[1]), "look at n1, n3"),
    (ch12.check_pick_grid, pick_by(lambda sizes: min(sizes[1::2]), strict=True), "its weights fit"),
    (ch12.check_train_two, train_alone, "shares no work"),
    (ch12.check_train_two, train_eta_of_the_lecture, "differ"),
    (ch12.check_train_two, train_and_gather, "one sum of Z2 per step"),
    (ch12.check_grid_sums, grid_first_group_only, "Split is collective"),
    (ch12.check_grid_sums, grid_key_for_color, "including those with different examples"),
    (ch12.check_pick_grid, pick_three, "a pair (data, model)"),
    (ch12.check_pick_grid, pick_any, "data * model is not p"),
    (ch12.check_train_two, train_stale, "3 steps"),
    (ch12.check_train_two, train_whole, "shape"),
]


def told(check, answer, seed):
    with pytest.raises(CheckFailed) as caught:
        check(answer, seed=seed)
    return " ".join(str(caught.value).split())


@pytest.mark.parametrize(
    "check, answer, words", WRONG, ids=[f"{n}-{a.__name__}" for n, (_, a, _) in enumerate(WRONG)]
)
def test_a_wrong_answer_is_refused_with_its_cause(check, answer, words):
    for seed in (1, 2, 3):
        text = told(check, answer, seed)
        assert words in text, f"seed {seed}: {text}"


@pytest.mark.parametrize("name", ch12.__all__)
def test_what_is_no_function_is_refused_and_breaks_nothing(name):
    for value in (None, 3, [1, 2]):
        with pytest.raises(CheckFailed):
            getattr(ch12, name)(value, seed=1)


def test_the_parts_of_all_ranks_are_the_whole():
    whole = [
        (np.arange(12.0).reshape(3, 4), np.arange(4.0)),
        (np.arange(8.0).reshape(4, 2), np.arange(2.0)),
    ]
    parts = [split_by_array_split(whole, 3, r) for r in range(3)]
    assert (np.hstack([part[0][0] for part in parts]) == whole[0][0]).all()
    assert all((part[1][1] == whole[1][1]).all() for part in parts) and shard(4, 3, 0) == slice(
        0, 2
    )
