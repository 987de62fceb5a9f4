"""Who computes what in a GridStep: one thread's calls for a batch of B rows, made once and then only repeated.

Each is (what it does, for a ThreadFault; the function; its arguments). Nothing in them is allocated again.
"""

import numpy as np

from course_lib.threads import kernels
from course_lib.threads.gemm import prepared
from course_lib.threads.shards import cut


def calls(grid, t, B):
    """(the rows that thread t of the grid gathers, its calls)."""
    group, member = divmod(t, grid.P)
    rows = cut(B, grid.T)[group]  # of the group: each member takes some columns of them
    share = cut(rows.stop - rows.start, grid.P)[member]
    own = slice(rows.start + share.start, rows.start + share.stop)
    meet, everyone = grid.groups[group].wait, grid.everyone.wait
    # hazard: a product reads rows that another still gathers
    found: list[tuple] = [("gathered", meet, (member,))]
    for l in range(grid.net.n_layers - 1):
        found += _hidden(grid, l, rows, cut(grid.net.sizes[l + 1], grid.P)[member])
        found.append((f"layer {l}, forward", meet, (member,)))  # the next product reads all columns
    found += _output(grid, t, own, B)
    for l in range(grid.net.n_layers - 1, 0, -1):
        # the product reads all columns of dZ
        found.append((f"layer {l}, backward", meet, (member,)))
        found += _backward(grid, l, rows, cut(grid.net.sizes[l], grid.P)[member])
    # hazard: W changes while somebody still goes backward with it
    found.append(("before the update", everyone, (t,)))
    for l in range(grid.net.n_layers):
        found += _update(grid, l, t, B)
    found.append(("the end of a step", grid.decide if t == 0 else int, ()))
    # hazard: the next step reads W, and overwrites A and dZ
    found.append(("after the update", everyone, (t,)))
    return own, found


def _hidden(grid, l, rows, columns):
    (W, b), Z = grid.params[l], grid.A[l + 1]
    activate, _, constant = kernels.ACTIVATIONS[grid.net.activation]
    what = f"layer {l}, forward"
    yield what, *_product(grid.A[l][rows], W[:, columns], Z[rows, columns])
    yield what, activate, (Z[rows], b, columns.start, columns.stop, constant)


def _output(grid, t, rows, B):
    """The last layer is narrow, and softmax needs whole rows: its rows are shared, not its columns."""
    (W, b), Z = grid.params[-1], grid.dZ[-1][rows]
    yield "output layer, forward", *_product(grid.A[-1][rows], W, Z)
    loss = kernels.LOSSES[grid.net.loss]
    yield "output layer, loss", loss, (Z, b, grid.Y[rows], B, grid.losses, t)


def _backward(grid, l, rows, columns):
    """From dZ of layer l to dZ of the layer before."""
    _, derive, constant = kernels.ACTIVATIONS[grid.net.activation]
    what, dA = f"layer {l}, backward", grid.dZ[l - 1]
    yield what, *_product(grid.dZ[l][rows], grid.params[l][0][columns].T, dA[rows, columns])
    yield what, derive, (dA[rows], grid.A[l][rows], columns.start, columns.stop, constant)


def _update(grid, l, t, B):
    """Thread t's rows of W and entries of b; the product over all B rows is subtracted as BLAS computes it."""
    (W, b), A, dZ = grid.params[l], grid.A[l][:B], grid.dZ[l][:B]
    eta, lam = grid.eta, grid.net.lam
    part, entries = (cut(n, grid.T * grid.P)[t] for n in W.shape)
    what = f"layer {l}, update"
    if lam:
        yield what, _add_penalty, (grid.losses, t, W[part], 0.5 * lam * B)
    if grid.thin[l] is None:
        yield what, prepared(-eta, A[:, part].T, dZ, 1 - eta * lam, W[part]), ()
    else:  # a few columns: NumPy's BLAS is twice as quick here, which is worth a pass over so small a gradient
        dW = grid.thin[l][part]
        yield what, np.matmul, (A[:, part].T, dZ, dW)
        yield what, kernels.weight_step, (W[part], dW, np.float32(eta), np.float32(1 - eta * lam))
    yield what, kernels.bias_step, (b, dZ, grid.db[l], entries.start, entries.stop, np.float32(eta))


def _product(A, B, C):
    """C = A B: (function, arguments). Of the two copies of BLAS here, NumPy's was up to 10 % quicker when A and B are
    wide, SciPy's twice as quick when they are not."""
    narrow = min(B.shape) < 64
    return (prepared(1, A, B, 0, C), ()) if narrow else (np.matmul, (A, B, C))


def _add_penalty(losses, t, W, factor):
    losses[t] += factor * float(np.vdot(W, W))
