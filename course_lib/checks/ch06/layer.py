"""The check of a layer's three products: the student chooses sizes and strides, the course's kernel runs them."""

from functools import lru_cache

import numpy as np

from course_lib.checks.kit.core import normal, poison, ragged, require
from course_lib.checks.kit.freeform import at, function_check
from course_lib.checks.kit.kernels.running import traced
from course_lib.checks.kit.tolerance import is_wrong
from course_lib.checks.kit.trees import copied
from course_lib.gpu.gemm import RUNGS

RUNG = RUNGS["naive"]
TAKES = {"Z": ("A_prev", "W"), "dW": ("A_prev.T", "dZ"), "dA": ("dZ", "W.T")}
FORMULAS = {"Z": "Z = A_prev W", "dW": "dW = A_prev^T dZ", "dA": "dA = dZ W^T"}


class _Launcher:
    """What the student calls as `launch`: it looks at the arguments and runs the kernel under the tracer."""

    def __init__(self, arrays):
        self.arrays, self.done, self.held = arrays, [], {}

    def __call__(self, M, N, K, A, a_strides, B, b_strides, D, d_strides):
        out = self.name_of(D, "the result of a launch")
        require(
            out in FORMULAS,
            f"a launch writes to {out}, which is an input",
            wanted="one that fills Z, dW or dA",
        )
        where = f"the launch for {FORMULAS[out]}"
        names = [self.name_of(A, where), self.name_of(B, where)]
        sizes = [_whole(n, f"{name} in {where}") for name, n in zip("MNK", (M, N, K), strict=True)]
        strides = [
            _pair(pair, f"{name}_strides in {where}")
            for name, pair in (("a", a_strides), ("b", b_strides), ("d", d_strides))
        ]
        errors = self.run(sizes, [*names, out], strides)
        if errors:
            error = errors[0]
            array = dict(zip("ABD", [*names, out], strict=True)).get(error["array"], error["array"])
            require(
                False,
                f"{where}: {error['tool']}, the kernel has a fault in {array} (its {error['array']}): a size "
                "or a stride is not that of this matrix",
                where=f"M, N, K = {sizes}; A is {names[0]}, B is {names[1]}; strides of A, B, D: {strides}",
                likely=_amiss(self.arrays, out, names, sizes, strides),
            )
        self.done.append((out, names, sizes, strides))
        self.held[out] = self.arrays[out].copy()

    def name_of(self, array, where):
        """Which of our arrays lies there. A copy is none of them."""
        require(
            isinstance(array, np.ndarray),
            f"{where}: the matrices are NumPy arrays: pass them as they are",
        )
        start = array.__array_interface__["data"][0]
        for name, own in self.arrays.items():
            if start == own.__array_interface__["data"][0] and np.shares_memory(array, own):
                return name
        require(
            False,
            f"{where}: an array that is none of A_prev, W, dZ, Z, dW, dA",
            cause="a transposed matrix needs no copy, only its two strides in the other order, and any other none "
            "either; and write the results into the arrays that were passed in",
        )

    def run(self, sizes, names, strides):
        """The tracer's errors; the result is in its array."""
        held = tuple((name, self.arrays[name].shape, self.arrays[name].tobytes()) for name in names)
        errors, result = _ran(tuple(sizes), held, tuple(strides))
        self.arrays[names[2]][...] = result
        return errors


@lru_cache(256)  # a known mistake that is tried makes most of its launches as others do
def _ran(sizes, held, strides):
    """(errors, D) of one launch. held: (name, shape, bytes) of A, B and D, of which two may be the same array."""
    arrays = {
        name: np.frombuffer(data, np.float32).reshape(shape).copy() for name, shape, data in held
    }
    A, B, D = (arrays[name] for name, _, _ in held)
    (M, N, K), (a, b, d) = map(np.int32, sizes), ([np.int32(n) for n in pair] for pair in strides)
    C = None
    args = [M, N, K, np.float32(1), A, *a, B, *b, np.float32(0), C, D, *d]
    grid = RUNG.grid(int(M), int(N))
    return traced(RUNG.source, "gemm_naive", grid, RUNG.block, args, timeout=5.0).errors, D


def _whole(n, what):
    require(
        isinstance(n, int | np.integer) and n >= 1,
        f"{what} must be a whole number from 1 on",
        got=repr(n),
    )
    return int(n)


def _pair(pair, what):
    pair = list(pair) if isinstance(pair, np.ndarray) and pair.ndim else pair
    two = isinstance(pair, tuple | list) and len(pair) == 2
    require(
        two,
        f"{what} must be a pair: (from row to row, from column to column), in elements",
        got=repr(pair),
    )
    return tuple(_whole(n, what) for n in pair)


def _wanted(given):
    A_prev, W, dZ = (given[name].astype(np.float64) for name in ("A_prev", "W", "dZ"))
    return {"Z": A_prev @ W, "dW": A_prev.T @ dZ, "dA": dZ @ W.T}


def _amiss(arrays, out, names, sizes, strides):
    """How a launch differs from the one that gives this product, or its transpose: in words, or None."""
    takes = [name.removesuffix(".T") for name in TAKES[out]]
    views = [arrays[n.removesuffix(".T")].T if ".T" in n else arrays[n] for n in (*TAKES[out], out)]
    if names == takes[::-1]:
        views = [views[1].T, views[0].T, views[2].T]
    elif names != takes:
        return f"{FORMULAS[out]} takes {takes[0]} and {takes[1]}, not {names[0]} and {names[1]}"
    (M, K), (_, N) = views[0].shape, views[1].shape
    told = [
        f"{n} must be {w}, not {g}"
        for n, w, g in zip("MNK", (M, N, K), sizes, strict=True)
        if w != g
    ]
    for X, view, got in zip("ABD", views, strides, strict=True):
        want = tuple(step // view.itemsize for step in view.strides)
        if got != want:
            unit = " in bytes" if got == view.strides else ""
            told.append(f"the strides of {X} must be {want} in elements, not {got}{unit}")
    return "; ".join(told) or None


def _launched(launcher, name):
    """The launches that wrote to a result, in words: enough to tell one mistake from another."""
    said = [
        f"M, N, K = {sizes}; A is {names[0]}, B is {names[1]}; strides of A, B, D: {strides}"
        for out, names, sizes, strides in launcher.done
        if out == name
    ]
    return " and ".join(said) or f"no launch wrote to {name}"


def _require_by_launches(arrays, given, launcher):
    """Inputs as they were, results as the launches left them."""
    for name, before in given.items():
        kept = (arrays[name] == before).all()
        require(kept, f"{name} is an input, and it has changed")
    for name, formula in FORMULAS.items():
        left = launcher.held.get(name, np.full_like(arrays[name], np.nan))
        require(
            np.array_equal(arrays[name], left, equal_nan=True),
            f"{formula} was not filled by a launch",
            cause="let the kernel do the arithmetic: only pass Z, dW and dA to launch",
        )


def _check_layer(fn, rng, B, n_in, n_out):
    shapes = {"A_prev": (B, n_in), "W": (n_in, n_out), "dZ": (B, n_out)}
    given = {name: normal(rng, *shape) for name, shape in shapes.items()}
    outs = {"Z": (B, n_out), "dW": (n_in, n_out), "dA": (B, n_in)}
    arrays = copied(given) | {name: poison(*shape) for name, shape in outs.items()}
    launcher = _Launcher(arrays)
    fn(launcher, *arrays.values())
    with at(f"B = {B}, n_in = {n_in}, n_out = {n_out}"):
        _require_by_launches(arrays, given, launcher)
        for name, want in _wanted(given).items():
            wrong = is_wrong(arrays[name], want, 4e-7 * (B + n_in + n_out) ** 1.5)
            require(
                not wrong.any(),
                f"{FORMULAS[name]} is not right: {int(wrong.sum())} of {wrong.size} elements",
                where=_launched(launcher, name),
                likely=next(
                    (_amiss(arrays, *one) for one in launcher.done[::-1] if one[0] == name), None
                ),
            )
        done = len(launcher.done)
        require(done == 3, f"{done} launches where three are enough")


@function_check("layer_products")
def check_layer_products(fn, *, rng):
    """The three products of a layer through strides: right numbers, no copies, the tracer silent."""
    for sizes in (ragged(rng, 3, 33, 60), ragged(rng, 3, 5, 40), [24, 24, 24], [1, 7, 40]):
        _check_layer(fn, rng, *sizes)
    return "Z, dW and dA right for 4 layers, in 3 launches each, without a copy; the tracer silent"
