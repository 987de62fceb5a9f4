"""Makes optimiser_torch.json: four parameters after each of six steps of torch.optim, in float64.

The loss is sum cos(a theta) + theta^2 / 4, and its gradient PyTorch's. Nothing of course_lib is used here. In a
throw-away environment (the stored file came from torch 2.13.0, CPU):

    python3.11 -m venv /tmp/tv && /tmp/tv/bin/pip install torch==2.13.0 numpy
    /tmp/tv/bin/python tests/serial/reference/make_optimiser_torch.py
"""

import json
from pathlib import Path

import torch

A = [1.0, 2.0, 3.0, 0.0009765625]  # exact in float32 too
START, STEPS = [0.5, -1.25, 2.0, -0.0009765625], 6
RULES = {
    "sgd": (torch.optim.SGD, {"lr": 0.1}),
    "momentum": (torch.optim.SGD, {"lr": 0.1, "momentum": 0.9}),
    "adam": (torch.optim.Adam, {"lr": 0.1}),
    "adam, other settings": (torch.optim.Adam, {"lr": 0.02, "betas": (0.5, 0.9), "eps": 0.01}),
}


def run(rule, settings):
    """The parameters after each step."""
    a, theta = torch.tensor(A).double(), torch.tensor(START).double().requires_grad_()
    optimiser, after = rule([theta], **settings), []
    for _ in range(STEPS):
        optimiser.zero_grad()
        (torch.cos(a * theta).sum() + (theta * theta).sum() / 4).backward()
        optimiser.step()
        after.append(theta.tolist())
    return after


def main():
    after = {name: run(*rule) for name, rule in RULES.items()}
    stored = {"torch": torch.__version__, "a": A, "start": START, "after": after}
    path = Path(__file__).with_name("optimiser_torch.json")
    path.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
