"""How to share a step among threads: by examples, by columns, or both? It depends on the machine, so ask it."""

from contextlib import ExitStack
from functools import partial

import numpy as np

from course_lib.errors import check_count
from course_lib.measure import compare
from course_lib.threads.grid_step import GridStep


def choose_split(net, B, threads):
    """The quickest (T, P) for GridStep with T P = threads: times some epochs of 4 B random examples, interleaved.

    Raises BadInput where no split fits: T is at most B, P at most the width of the widest layer.
    """
    widest = max(net.sizes[1:])
    threads = check_count("threads", threads, 1, check_count("B", B) * widest)
    divisors = [T for T in range(1, min(B, threads) + 1) if threads % T == 0]
    splits = [(T, threads // T) for T in divisors if threads // T <= widest]
    which = f"{threads} threads with T <= {B} and P <= {widest}"
    check_count(f"the number of splits of {which}", len(splits))
    rng, params = np.random.default_rng(0), net.init_params(0)
    X, Y = (rng.random((4 * B, n), dtype=np.float32) for n in (net.sizes[0], net.sizes[-1]))
    with ExitStack() as stack:
        epochs = {}
        for split in splits:
            step = stack.enter_context(GridStep(net, params, B, 1e-3, *split))
            epochs[str(split)] = partial(step.epoch, X, Y)
        timed = compare(epochs, repeats=5)
    return min(splits, key=lambda split: timed[str(split)].best)
