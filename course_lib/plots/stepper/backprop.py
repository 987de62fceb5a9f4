"""Backpropagation with its numbers: a small network, one frame for each operation."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from course_lib.errors import BadInput
from course_lib.plots.stepper.model import Frame, Stepper
from course_lib.plots.stepper.shapes import Shape, box, line, words
from course_lib.plots.style import number

WIDTH, TOP, BOX, ROW, GAP = 480, 34, 96, 20, 14  # a neuron is three rows high: z, a, delta
CELL, HEAD = (54, 19), 22  # of the tables under the network, and above each
MOST, DEEPEST = 4, 2  # neurons in a layer; layers
LOOKS = {"z": "blue", "a": "green", "δ": "orange"}
Known = list[tuple[str, int]]  # ("z", 0): the z of layer 0 have been computed


class Run(NamedTuple):
    """What forward and backward have left: lists with an array for each layer."""

    W: list[Any]
    b: list[Any]
    z: list[Any]
    a: list[Any]
    dW: list[Any]
    delta: list[Any]
    y: Any


def step_backprop(
    params: Any, Z: Any, A: Any, grads: Any, y: Any, title: str = "Forward, then backward"
) -> Stepper:
    """A frame for each operation on one example: z and a of each layer, then back: delta and the gradients.

    params: list of (W, b). Z, A: of serial.per_example.forward_example. grads: of its backward_example: sigmoid in
    all layers, squared error. y: what the output should be.

    Raises BadInput for shapes that do not fit, more than 2 layers, and layers of more than 4.
    """
    run = _checked(params, Z, A, grads, y)
    frames = [Frame(says, _shapes(run, known)) for known, says in _moments(run)]
    rows = 1 + max(len(W) for W in run.W)
    high = _bottom(run) + 2 * (HEAD + CELL[1] * rows) + 6
    return Stepper(title, frames, (WIDTH, high))


def _checked(params, Z, A, grads, y) -> Run:
    try:
        pairs = [[np.asarray(part, float) for part in pair] for pair in (*params, *grads)]
        z, a = ([np.asarray(one, float) for one in many] for many in (Z, A))
        target, half = np.asarray(y, float), len(params)
        (W, b), (dW, delta) = zip(*pairs[:half], strict=True), zip(*pairs[half:], strict=True)
        run = Run([*W], [*b], z, a, [*dW], [*delta], target)
        sizes = [len(one) for one in a]
        fits = [W.shape for W in run.W] == [W.shape for W in run.dW] == [*pairwise(sizes)]
        same = [one.shape for one in z] == [b.shape for b in run.b] == [d.shape for d in delta]
    except (TypeError, ValueError):
        fits = same = False
    if not (fits and same and [len(one) for one in z] == sizes[1:] and len(target) == sizes[-1]):
        raise BadInput("params, Z, A, grads and y are not of one example and one network")
    if len(z) > DEEPEST or max(sizes) > MOST:
        raise BadInput(f"a network of {sizes}: at most {DEEPEST} layers of at most {MOST} fit")
    return run


# What each frame says ---------------------------------------------------------------------------


def _moments(run: Run) -> Iterator[tuple[Known, str]]:
    """What is known in each frame, the newest last, and its sentence."""
    known: Known = []
    yield known, f"The input is {_row(run.a[0])}, and the output should be {_row(run.y)}."
    layers = range(len(run.W))
    for kind, layer in [(kind, layer) for layer in layers for kind in "za"]:
        known = [*known, (kind, layer)]
        yield known, (_says_z if kind == "z" else _says_a)(run, layer)
    for kind, layer in [(kind, layer) for layer in reversed(layers) for kind in ("δ", "dW")]:
        known = [*known, (kind, layer)]
        yield known, (_says_delta if kind == "δ" else _says_gradient)(run, layer)


def _says_z(run: Run, layer: int) -> str:
    products = _products(run.W[layer][:, 0], run.a[layer])
    total = f"{products} + {_factor(run.b[layer][0])} = {number(run.z[layer][0])}"
    return f"Forward, layer {layer}: z = Wᵀa + b. Its first neuron: {total}."


def _says_a(run: Run, layer: int) -> str:
    first = f"σ({number(run.z[layer][0])}) = {number(run.a[layer + 1][0])}"
    says = f"Forward, layer {layer}: a = σ(z). Its first neuron: {first}."
    if layer < len(run.W) - 1:
        return says
    return f"{says} The loss, the sum of (y − a)², is {number(np.sum((run.y - run.a[-1]) ** 2))}."


def _says_delta(run: Run, layer: int) -> str:
    out, delta = run.a[layer + 1][0], number(run.delta[layer][0])
    slope = f"{number(out)} · (1 − {number(out)})"
    if layer == len(run.W) - 1:
        first = f"2 · ({number(out)} − {_factor(run.y[0])}) · {slope} = {delta}"
        return f"Backward, layer {layer}: δ = 2(a − y) ∘ a(1 − a). Its first neuron: {first}."
    first = f"({_products(run.W[layer + 1][0], run.delta[layer + 1])}) · {slope} = {delta}"
    return f"Backward, layer {layer}: δ = (Wδ) ∘ a(1 − a). Its first neuron: {first}."


def _says_gradient(run: Run, layer: int) -> str:
    first = f"{_factor(run.a[layer][0])} · {_factor(run.delta[layer][0])}"
    says = f"Gradients, layer {layer}: dW = aδᵀ and db = δ. The first weight:"
    end = "" if layer else f" All gradients are known; db of layer 0 is {_row(run.delta[0])}."
    return f"{says} {first} = {number(run.dW[layer][0, 0])}.{end}"


def _products(weights: Any, values: Any) -> str:
    both = zip(weights, values, strict=True)
    return " + ".join(f"{_factor(w)} · {_factor(v)}" for w, v in both)


def _factor(value: float) -> str:
    return f"({number(value)})" if value < 0 else number(value)


def _row(values: Any) -> str:
    return f"({', '.join(number(value) for value in values)})"


# What each frame shows --------------------------------------------------------------------------


def _shapes(run: Run, known: Known) -> list[Shape]:
    shapes = list[Shape]()
    for layer in range(len(run.W)):
        shapes += _edges(run, layer, known[-1:])
    for column, values in enumerate(run.a):
        name = f"layer {column - 1}" if column else "input"
        shapes.append(words(_x(run, column) + BOX / 2, 18, name, size=12))
        for i in range(len(values)):
            shapes += _neuron(run, column, i, known)
    for layer in range(len(run.W)):
        shapes += _tables(run, layer, known)
    return shapes


def _edges(run: Run, layer: int, newest: Known) -> list[Shape]:
    """Thick where the newest numbers have travelled: forward with z, backward with delta, or both for a gradient."""
    used = newest in ([("z", layer)], [("δ", layer - 1)], [("dW", layer)])
    look = "plain" if not used else "blue bold" if newest[0][0] == "z" else "orange bold"
    left, right = _x(run, layer) + BOX, _x(run, layer + 1)
    ends = [(_y(i), _y(j)) for i in range(len(run.a[layer])) for j in range(len(run.b[layer]))]
    return [line(left, y + 1.5 * ROW, right, y2 + 1.5 * ROW, look) for y, y2 in ends]


def _neuron(run: Run, column: int, i: int, known: Known) -> list[Shape]:
    """A neuron's z, a and delta in three rows, each from the frame on in which it is computed."""
    x, y, layer = _x(run, column), _y(i), column - 1
    if not column:
        return [box(x, y + ROW, BOX, ROW, "grey", f"x {number(run.a[0][i])}", f"x{i}", 12)]
    shapes = [box(x, y, BOX, 3 * ROW, "plain", key=f"n{layer}.{i}")]
    rows = {"z": run.z[layer][i], "a": run.a[column][i], "δ": run.delta[layer][i]}
    for row, (kind, value) in enumerate(rows.items()):
        if (kind, layer) in known:
            look = LOOKS[kind] + " bold" * (known[-1] == (kind, layer))
            text = f"{kind} {number(value)}"
            shapes.append(box(x, y + ROW * row, BOX, ROW, look, text, f"{kind}{layer}.{i}", 12))
    return shapes


def _tables(run: Run, layer: int, known: Known) -> list[Shape]:
    """W with b as its last row; under it their gradients, once they are known."""
    x, y = 6 + layer * (WIDTH / len(run.W)), _bottom(run)
    under = y + HEAD + CELL[1] * (1 + max(len(W) for W in run.W))
    shapes = [words(x, y + 15, f"W of layer {layer}, last row b", at="start", size=12)]
    shapes += _table(x, y + HEAD, [*run.W[layer], run.b[layer]], "grey", f"W{layer}")
    if ("dW", layer) in known:
        look = "orange" + " bold" * (known[-1] == ("dW", layer))
        shapes.append(words(x, under + 15, "dW, last row db", at="start", size=12))
        rows = [*run.dW[layer], run.delta[layer]]
        shapes += _table(x, under + HEAD, rows, look, f"dW{layer}")
    return shapes


def _table(x: float, y: float, rows: Sequence[Any], look: str, key: str) -> list[Shape]:
    wide, high = CELL
    return [
        box(x + wide * j, y + high * i, wide, high, look, number(value), f"{key}.{i}.{j}", 11)
        for i, row in enumerate(rows)
        for j, value in enumerate(row)
    ]


def _x(run: Run, column: int) -> float:
    return 6 + column * (WIDTH - BOX - 12) / (len(run.a) - 1)


def _y(i: int) -> float:
    return TOP - 6 + i * (3 * ROW + GAP)


def _bottom(run: Run) -> float:
    """Where the tables begin."""
    return _y(max(len(values) for values in run.a))
