"""The checks of chapter 09's kernels: the hidden delta, the bias's step, softmax with its delta."""

import numpy as np

from course_lib.checks.kit.inputs import normal
from course_lib.checks.kit.kernels.check import (
    KernelCheck,
    Launch,
    at_most,
    at_most_sectors,
    loads_each_once,
    no_bank_conflicts,
    uses_shared,
    without,
    x_across,
)


def _up(n, size=32):
    return -(-int(n) // size)


def _ints(**sizes):
    return {name: np.int32(n) for name, n in sizes.items()}


# hidden_delta ---------------------------------------------------------------------------------------------------------


def _delta_launch(rng, M, N, K, label):
    args = _ints(M=M, N=N, K=K) | {"dZ": normal(rng, M, K), "W": normal(rng, N, K)}
    args |= {"A": np.tanh(normal(rng, M, N)), "D": np.empty((M, N), np.float32)}
    grid = (_up(N), _up(M))
    return Launch(
        grid, (32, 32), args, out=("D",), label=label, K=K + 3, scale=3.0 * K, owner=x_across
    )


def _delta_cases(rng):
    M, N, K = (int(rng.integers(low, low + 12)) for low in (34, 40, 66))
    return [
        _delta_launch(rng, M, N, K, "ragged, three steps"),
        _delta_launch(rng, 32, 64, 96, "whole tiles"),
        _delta_launch(rng, M, N, 10, "a layer with 10 outputs"),
        _delta_launch(rng, 1, N, 33, "one example"),
        _delta_launch(rng, 33, 33, 33, "a square layer"),
    ]


def _delta(bend=lambda A: 1 - A * A, of=lambda dZ, W, M, N: dZ @ W.T):
    return lambda M, N, K, dZ, W, A, D: of(dZ, W, int(M), int(N)) * bend(A)


def _row_of_w_as_a_row_of_the_tile(dZ, W, M, N):
    """What w_tile[y][x] = W(j0 + y, k0 + x) gives, if the inner loop reads w_tile[k][x]."""
    full_N, full_K = 32 * _up(W.shape[0]), 32 * _up(W.shape[1])
    d, w = np.zeros((M, full_K)), np.zeros((full_N, full_K))
    d[:, : dZ.shape[1]], w[: W.shape[0], : W.shape[1]] = dZ, W
    steps = d.reshape(M, -1, 32)
    return np.einsum("msk,nksx->mnx", steps, w.reshape(-1, 32, full_K // 32, 32)).reshape(
        M, full_N
    )[:, :N]


SHARE = "a block fetches each element of its rows of dZ and of W once; its threads share them on the table"
BOTH_BARRIERS = (
    "two barriers a step: after filling (read after write) and after the inner loop (write after read), for "
    "all threads, so outside of any if"
)

check_hidden_delta = KernelCheck(
    "HIDDEN_DELTA",
    "hidden_delta",
    _delta_cases,
    _delta(),
    axes=("example", "neuron"),
    limits=[
        loads_each_once("dZ", times=lambda launch: _up(launch.args["N"]), cause=SHARE),
        loads_each_once("W", times=lambda launch: _up(launch.args["M"]), cause=SHARE),
        loads_each_once("A", cause="each element of A is needed once, at the end"),
        at_most(
            "bytes",
            lambda launch: launch.args["D"].nbytes,
            "D is stored once: multiply by the slope while the sum is in a register, that is what fusing means",
            space="global",
            array="D",
            op="store",
        ),
        at_most(
            "bytes",
            0,
            "D is not read: multiply by the slope before you store",
            space="global",
            array="D",
            op="load",
        ),
        at_most_sectors("dZ", "load", 5),
        at_most_sectors(
            "W",
            "load",
            5,
            "W lies by rows of K: a warp that fetches its tile must run along k, and may put "
            "the numbers into a column of the tile",
        ),
        at_most_sectors("A", "load", 5),
        at_most_sectors("D", "store", 5),
        no_bank_conflicts(),
    ],
    diagnoses=[
        (_delta(bend=lambda A: A * (1 - A)), "the sigmoid's slope: df here is tanh's, and given"),
        (
            _delta(of=_row_of_w_as_a_row_of_the_tile),
            "the tile holds a row of W as its row, w_tile[y][x], and the inner loop reads w_tile[k][x]: that is dZ W. "
            "Put it into a column, w_tile[x][y], or read w_tile[x][k]",
        ),
        (_delta(bend=lambda A: A), "times A itself: times df(A), the slope"),
        (
            _delta(bend=lambda A: 1 - np.tanh(A) ** 2),
            "tanh once too often: A is f(z) already, and df takes it",
        ),
        (_delta(of=lambda dZ, W, M, N: dZ @ W.T / M), "divided by the batch: 1/B is in dZ already"),
        (
            _delta(
                of=lambda dZ, W, M, N: (
                    dZ[:, : dZ.shape[1] // 32 * 32] @ W[:, : dZ.shape[1] // 32 * 32].T
                )
            ),
            "the last, ragged step along K is missing: k0 runs while k0 < K",
        ),
    ],
    causes=[
        (
            lambda e: e["tool"] == "synccheck",
            "threads over the edge still copy for the others, and come to both barriers: "
            "guard the loads and the store, not the loop",
        ),
        (lambda e: e["tool"] == "racecheck", BOTH_BARRIERS),
        (
            lambda e: e["tool"] == "initcheck",
            "a part of a tile that nobody filled is multiplied: it gets a 0 where the matrix ends",
        ),
        (
            lambda e: e["tool"] == "memcheck" and e["array"] in ("dZ", "W"),
            "a load over the edge: dZ is M x K, W is N x K; ask for the row and for k",
        ),
        (
            lambda e: e["tool"] == "memcheck" and e["array"] in ("A", "D"),
            "A and D are M x N: a thread over an edge neither loads nor stores there",
        ),
    ],
)

# bias_step ------------------------------------------------------------------------------------------------------------


def _bias_launch(rng, M, N, label):
    args = _ints(M=M, N=N) | {
        "eta": np.float32(rng.uniform(0.2, 2)),
        "dZ": normal(rng, M, N),
        "b": normal(rng, N),
    }
    return Launch(
        _up(N), (32, 8), args, inout=("b",), label=label, K=M + 2, scale=6.0 * M, axes=("neuron",)
    )


def _bias_cases(rng):
    M, N = (
        int(rng.integers(67, 90)),
        int(rng.integers(33, 60)),
    )  # more rows than 8 warps have with 8 each
    return [
        _bias_launch(rng, M, N, "a ragged batch"),
        _bias_launch(rng, 64, 64, "whole blocks"),
        _bias_launch(rng, 1, 10, "one example, 10 outputs"),
        _bias_launch(rng, 5, 1, "one neuron"),
    ]


def _bias(sign=-1, of=lambda dZ: dZ.sum(axis=0), keep=1):
    return lambda M, N, eta, dZ, b: keep * b + sign * eta * of(dZ)


check_bias_step = KernelCheck(
    "BIAS_STEP",
    "bias_step",
    _bias_cases,
    _bias(),
    limits=[
        loads_each_once(
            "dZ",
            cause="each thread adds every eighth row, beginning with its threadIdx.y; no element twice",
        ),
        uses_shared(
            cause="eight warps add every eighth row each, and their sums meet in shared memory: one warp for all rows "
            "leaves seven idle, and atomicAdd on b adds in an order that changes from run to run"
        ),
        without(
            "atomicAdd",
            "whoever comes first is added first, so the last bits of b change from run to run on a GPU: each warp puts "
            "its sum into a place of its own, and one thread adds the eight in order",
        ),
        at_most_sectors("dZ", "load", 5),
        no_bank_conflicts(),
        at_most(
            "bytes",
            lambda launch: launch.args["b"].nbytes,
            "one thread a neuron stores",
            space="global",
            array="b",
            op="store",
        ),
    ],
    diagnoses=[
        (
            _bias(of=lambda dZ: dZ.sum(axis=0) + dZ[::8].sum(axis=0)),
            "the first warp's sum counts twice: its thread has it already, so begin with part[1]",
        ),
        (
            _bias(of=lambda dZ: dZ.sum(axis=0) - dZ[7::8].sum(axis=0)),
            "the last warp's sum is missing: part[7], p < 8",
        ),
        (
            _bias(of=lambda dZ: dZ[:64].sum(axis=0)),
            "only the first 64 rows: M may be any number, so i goes on by 8 while i < M",
        ),
        (
            _bias(of=lambda dZ: dZ.reshape(dZ.shape[::-1]).sum(axis=1)),
            "dZ is read as if it were N x M: a row is an example and holds N numbers, dZ[i * N + j]",
        ),
        (lambda M, N, eta, dZ, b: b - dZ.sum(axis=0), "eta is missing: b - eta db"),
        (_bias(keep=0), "the old b is lost: b - eta db"),
    ],
    causes=[
        (
            lambda e: e["tool"] == "synccheck",
            "threads beyond the last neuron must come to the barrier as well",
        ),
        (
            lambda e: e["tool"] == "racecheck" and e["array"] == "b",
            "eight threads write one b[j]: one is enough",
        ),
        (
            lambda e: e["tool"] == "racecheck",
            "a sum is read before the warp that makes it has put it down: a barrier between",
        ),
        (
            lambda e: e["tool"] == "memcheck" and e["array"] == "dZ",
            "columns beyond N: ask for j < N before the loads",
        ),
    ],
)

# softmax_delta --------------------------------------------------------------------------------------------------------


def _softmax_launch(rng, M, N, label, spread=2.0, shift=0.0):
    """shift: what each row is moved by, times a number of its own in -1 to 1."""
    Y = np.zeros((M, N), np.float32)
    Y[np.arange(M), rng.integers(0, N, M)] = 1
    Z = (
        normal(rng, M, N) * np.float32(spread)
        + np.float32(shift) * np.linspace(-1, 1, M, dtype=np.float32)[:, None]
    )
    args = _ints(M=M, N=N) | {
        "scale": np.float32(1 / M),
        "Z": Z,
        "Y": Y,
        "dZ": np.empty((M, N), np.float32),
    }
    return Launch(
        _up(M, 4),
        (32, 4),
        args,
        out=("dZ",),
        label=label,
        K=N + 8,
        scale=1 / M,
        owner=lambda launch, i, j: ((i // 4,), (j % 32, i % 4)),
    )


def _softmax_cases(rng):
    N = int(rng.integers(66, 90))
    return [
        _softmax_launch(rng, 7, 10, "10 outputs"),
        _softmax_launch(rng, 9, N, f"{N} outputs"),
        _softmax_launch(rng, 6, 40, "z of hundreds, of either sign", shift=600.0),
        _softmax_launch(rng, 1, 32, "one example"),
    ]


def _softmax(Z):
    P = np.exp(Z - Z.max(axis=1, keepdims=True))
    return P / P.sum(axis=1, keepdims=True)


ALL_FARS = (16, 8, 4, 2, 1)


def _exchanging(sums=ALL_FARS, maxima=ALL_FARS, partner=lambda lane, far: lane ^ far):
    """Softmax where the 32 lanes exchange what they have found over these distances, with these partners."""

    def exchanged(values, add, fars):
        for far in fars:
            asked = [partner(lane, far) for lane in range(32)]
            values = add(
                values,
                values[:, [lane if other > 31 else other for lane, other in enumerate(asked)]],
            )
        return values

    def softmax(Z):
        N, full = Z.shape[1], 32 * _up(Z.shape[1])
        lanes = np.full((len(Z), full), -np.inf)
        lanes[:, :N] = Z
        lanes = lanes.reshape(len(Z), -1, 32)
        most = np.maximum(
            exchanged(lanes.max(axis=1), np.maximum, maxima), Z.min()
        )  # no lane keeps -infinity
        powers = np.exp(lanes - most[:, None, :])
        total = exchanged(powers.sum(axis=1), np.add, sums)
        return (powers / total[:, None, :]).reshape(len(Z), full)[:, :N]

    return softmax


def _maximum_from_0(Z):
    P = np.exp((Z - np.maximum(Z.max(axis=1, keepdims=True), 0)).astype(np.float32))
    return P / P.sum(axis=1, keepdims=True)


def _lanes_left(Z):
    """Lanes without an output have returned: on the engine, who asks one of them gets a 0."""
    N = Z.shape[1]
    if N >= 32:
        return _softmax(Z)

    def far_lanes(values, far):
        return np.array(
            [values[:, lane ^ far] if lane ^ far < N else 0 * values[:, 0] for lane in range(N)]
        ).T

    most = Z
    for far in (16, 8, 4, 2, 1):
        most = np.maximum(most, far_lanes(most, far))
    P = sums = np.exp(Z - most)
    for far in (16, 8, 4, 2, 1):
        sums = sums + far_lanes(sums, far)
    return P / sums


def _soft_delta(P=_softmax, combine=lambda P, Y: P - Y, scale_of=lambda scale: scale):
    return lambda M, N, scale, Z, Y, dZ: scale_of(scale) * combine(P(Z), Y)


def _loads(launch):
    return 3 * int(launch.args["M"]) * _up(launch.args["N"])


ALL_LANES = (
    "all 32 lanes that the mask names must come to the exchange, also those without an output of their own: only "
    "loads, additions and stores are theirs to skip"
)

check_softmax_delta = KernelCheck(
    "SOFTMAX_DELTA",
    "softmax_delta",
    _softmax_cases,
    _soft_delta(),
    axes=("example", "output"),
    c=8.0,
    limits=[
        at_most_sectors("Z", "load", 5),
        at_most_sectors("Y", "load", 5),
        at_most_sectors("dZ", "store", 5),
        at_most(
            "requests",
            _loads,
            "lane l takes the numbers l, l + 32, ...; what the others have found comes by "
            "__shfl_xor_sync, not from memory",
            space="global",
            array="Z",
            op="load",
        ),
        loads_each_once("Y"),
    ],
    diagnoses=[
        (
            _soft_delta(_maximum_from_0),
            "the search begins with 0, which is larger than any z of a negative row: begin with -INFINITY",
        ),
        (
            _soft_delta(
                lambda Z: np.exp(Z - Z.max()) / np.exp(Z - Z.max()).sum(axis=1, keepdims=True)
            ),
            "the maximum of the whole batch: far rows underflow to 0 / 0. Each row needs its own",
        ),
        (_soft_delta(_lanes_left), ALL_LANES),
        (
            _soft_delta(_exchanging(partner=lambda lane, far: lane + far)),
            "after __shfl_down_sync only lane 0 knows the result: __shfl_xor_sync gives it to all",
        ),
        (
            _soft_delta(_exchanging(maxima=())),
            "each lane takes its own maximum off: the 32 maxima have to meet, by an exchange, before the sums do",
        ),
        (
            _soft_delta(_exchanging(ALL_FARS[1:], ALL_FARS[1:])),
            "lanes 0 to 15 and 16 to 31 never meet: begin with far = 16",
        ),
        (
            _soft_delta(_exchanging(ALL_FARS[:-1], ALL_FARS[:-1])),
            "neighbours never meet: the last far is 1",
        ),
        (
            lambda M, N, scale, Z, Y, dZ: _soft_delta()(M, N, scale / M, Z, Y, dZ),
            "divided by the batch twice: 1/B is in scale already",
        ),
        (_soft_delta(combine=lambda P, Y: P), "Y is missing: this is softmax itself"),
        (_soft_delta(lambda Z: np.exp(Z - Z.max(axis=1, keepdims=True))), "not divided by the sum"),
    ],
    causes=[
        (
            lambda e: e["tool"] == "memcheck" and e["array"] in ("Z", "Y", "dZ"),
            "a warp beyond the last row, or a lane beyond the last output, loads or stores: a row of 10 "
            "has nothing for lanes 10 to 31",
        ),
        (
            lambda e: e["tool"] == "synccheck",
            ALL_LANES,
        ),
    ],
)
