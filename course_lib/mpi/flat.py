"""All gradients in one array, so that one message carries them."""

import numpy as np


def pack(grads, extra=()):
    """list of (dW, db) -> one flat array of their dtype, with `extra` numbers at its end."""
    return np.concatenate([part.ravel() for pair in grads for part in pair] + [np.array(extra, grads[0][0].dtype)])


def unpack(flat, params):
    """Views into `flat`, in the shapes of params: a list of (dW, db)."""
    sizes = np.cumsum([0, *(part.size for pair in params for part in pair)])
    parts = iter([flat[a:b] for a, b in zip(sizes, sizes[1:], strict=False)])
    return [(next(parts).reshape(W.shape), next(parts)) for W, _ in params]
