"""Makes serial_torch.npz: forward passes, losses, gradients and a short training, by PyTorch's autograd in float64.

Nothing of course_lib is used here: the values are an independent oracle. PyTorch is not in the course's
environment; make a throw-away one (the stored file came from torch 2.13.0, CPU, and NumPy 2):

    python3.11 -m venv /tmp/tv && /tmp/tv/bin/pip install torch==2.13.0 numpy
    /tmp/tv/bin/python tests/serial/reference/make_serial_torch.py
"""

import json
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

torch.set_num_threads(1)

SIZES = [(5, 4, 3), (7, 6, 5, 2), (3, 4), (2, 9, 8, 7, 4)]
HIDDEN = {"sigmoid": torch.sigmoid, "tanh": torch.tanh, "relu": torch.relu, "identity": lambda z: z}


def cases():
    """Every activation and loss, with and without the penalty, over the shapes in turn; then one output."""
    number = 0
    for activation in HIDDEN:
        for loss in ("mse", "cross_entropy"):
            for lam in (0.0, 0.03):
                yield SIZES[number % len(SIZES)], activation, loss, lam, 1 + (5 * number) % 7
                number += 1
                yield SIZES[(number + 1) % len(SIZES)], activation, loss, lam, 1 + (5 * number) % 7
    yield (6, 5, 1), "sigmoid", "mse", 0.01, 4


def draw(rng, sizes, B):
    params = [
        (rng.normal(size=(n, m)), rng.normal(size=m))
        for n, m in zip(sizes[:-1], sizes[1:], strict=True)
    ]
    labels = rng.integers(0, max(2, sizes[-1]), size=B)
    Y = np.eye(sizes[-1])[labels] if sizes[-1] > 1 else labels[:, None].astype(float)
    return params, rng.normal(size=(B, sizes[0])), Y


def tensors(params):
    return [tuple(torch.tensor(p, requires_grad=True) for p in pair) for pair in params]


def run(params, X, Y, activation, loss, lam):
    """The output of every layer, and the loss."""
    A = [torch.tensor(X)]
    for layer, (W, b) in enumerate(params):
        z = A[-1] @ W + b
        if layer < len(params) - 1:
            A.append(HIDDEN[activation](z))
        else:
            A.append(torch.sigmoid(z) if loss == "mse" else torch.softmax(z, dim=1))
    target = torch.tensor(Y)
    if loss == "mse":
        value = F.mse_loss(A[-1], target, reduction="sum") / len(X)
    else:
        value = F.cross_entropy(z, target.argmax(dim=1), reduction="mean")
    return A, value + 0.5 * lam * sum((W * W).sum() for W, _ in params)


def put(out, name, sizes, activation, loss, lam, B, seed):
    params, X, Y = draw(np.random.default_rng(seed), sizes, B)
    weights = tensors(params)
    A, value = run(weights, X, Y, activation, loss, lam)
    value.backward()
    out |= {f"{name}/X": X, f"{name}/Y": Y, f"{name}/loss": value.item()}
    for layer, ((W, b), (tW, tb)) in enumerate(zip(params, weights, strict=True)):
        out |= {
            f"{name}/W{layer}": W,
            f"{name}/b{layer}": b,
            f"{name}/A{layer + 1}": A[layer + 1].detach().numpy(),
        }
        out |= {f"{name}/dW{layer}": tW.grad.numpy(), f"{name}/db{layer}": tb.grad.numpy()}
    return {"name": name, "sizes": sizes, "activation": activation, "loss": loss, "lam": lam}


def put_training(out, name, sizes, activation, loss, lam, seed, N=11, B=4, epochs=3, eta=0.3):
    """torch.optim.SGD over mini-batches in order, the last one ragged: parameters and loss after each epoch."""
    params, X, Y = draw(np.random.default_rng(seed), sizes, N)
    weights = tensors(params)
    optimiser = torch.optim.SGD([p for pair in weights for p in pair], lr=eta)
    out |= {f"{name}/X": X, f"{name}/Y": Y}
    for layer, (W, b) in enumerate(params):
        out |= {f"{name}/W{layer}": W, f"{name}/b{layer}": b}
    for epoch in range(epochs):
        total = 0.0
        for start in range(0, N, B):
            rows = slice(start, start + B)
            optimiser.zero_grad()
            _, value = run(weights, X[rows], Y[rows], activation, loss, lam)
            value.backward()
            optimiser.step()
            total += value.item() * len(X[rows])
        out[f"{name}/epoch{epoch}/loss"] = total / N
        for layer, (W, b) in enumerate(weights):
            out |= {f"{name}/epoch{epoch}/W{layer}": W.detach().numpy().copy()}
            out |= {f"{name}/epoch{epoch}/b{layer}": b.detach().numpy().copy()}
    settings = {"epochs": epochs, "batch_size": B, "eta": eta}
    return {
        "name": name,
        "sizes": sizes,
        "activation": activation,
        "loss": loss,
        "lam": lam,
        **settings,
    }


def main():
    out: dict = {}
    single = [put(out, f"case{i}", *case, seed=[2026, i]) for i, case in enumerate(cases())]
    training = [
        put_training(out, "train0", (5, 6, 3), "sigmoid", "mse", 0.0, seed=71),
        put_training(out, "train1", (4, 7, 5, 3), "relu", "cross_entropy", 0.02, seed=72),
        put_training(out, "train2", (4, 6, 1), "tanh", "mse", 0.01, seed=73),
    ]
    head = {"torch": torch.__version__, "cases": single, "training": training}
    path = Path(__file__).with_name("serial_torch.npz")
    np.savez_compressed(path, head=json.dumps(head), **out)
    print(f"{path}: {len(single)} cases, {len(training)} trainings, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
