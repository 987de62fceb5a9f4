"""Training that can be killed at any moment and goes on from its last whole checkpoint, to the same bits."""

import sys
from pathlib import Path

import numpy as np

from course_lib.errors import BadInput
from course_lib.mpi.data_parallel import DataParallel
from course_lib.serial import load_params, save_params, sgd_step, targets


def train(comm, net, params, dataset, epochs, batch_size, eta, seed=0, folder=None, gradients=None):
    """serial.train's steps, on every rank, with a checkpoint after each epoch: returns the epochs that were run now.

    params: changed in place, the same on all ranks. folder: rank 0 writes epoch-0001.npz and so on, each whole or not
    at all, and keeps the last two; a run with the same settings and as many ranks continues after the last one, also
    where the run before was killed in the middle of writing: a file gets its name when it is whole.
    """
    gradients = gradients or DataParallel(comm)
    X, Y = dataset.x_train, targets(net, dataset.y_train, params[0][0].dtype)
    done = restore(comm, net, params, folder) if folder else 0
    for epoch in range(done, epochs):
        order = np.random.default_rng([seed, epoch]).permutation(len(X))
        for start in range(0, len(X), batch_size):
            rows = order[start : start + batch_size]
            sgd_step(params, gradients(net, params, X[rows], Y[rows])[0], eta)
        if folder and comm.rank == 0:
            save_params(Path(folder, f"epoch-{epoch + 1:04d}.npz"), net, params)
            for old in checkpoints(folder)[:-2]:
                old.unlink()
    return list(range(done, epochs))


def restore(comm, net, params, folder):
    """Fill params from the last checkpoint that can be read, on all ranks; returns the epochs done.

    BadInput for another net, and, on every rank, where there are checkpoints and none of them can be read.
    """
    if comm.rank == 0:
        Path(folder).mkdir(parents=True, exist_ok=True)
    for cut_short in Path(folder).glob(".epoch-*.tmp") if comm.rank == 0 else ():
        cut_short.unlink()  # of a run that was killed
    stored = comm.bcast(newest(folder) if comm.rank == 0 else None, root=0)
    if isinstance(stored, BadInput):
        raise stored
    if stored is None:
        return 0
    if stored[0] != net:
        found = f"the checkpoint in {folder} is of {stored[0]}"
        raise BadInput(f"{found}, not of {net}: name another folder")
    for (W, b), (stored_W, stored_b) in zip(params, stored[1], strict=True):
        W[:], b[:] = stored_W, stored_b
    return stored[2]


def newest(folder):
    """(net, params, epochs done) of the newest checkpoint that can be read; a line on stderr for each newer one.

    None where there is no checkpoint; the last BadInput, not raised, where none can be read.
    """
    found = None
    for path in reversed(checkpoints(folder)):
        try:
            return (*load_params(path), int(path.stem[6:]))
        except BadInput as error:
            found = error
            print(f"checkpoint passed over: {error}", file=sys.stderr, flush=True)
    return found


def checkpoints(folder):
    """The whole checkpoints in a folder, oldest first."""
    return sorted(Path(folder).glob("epoch-[0-9][0-9][0-9][0-9].npz"))
