"""Training on the GPU: [000]'s five kernels, [003]'s softmax, cross-entropy and L2, and the reductions they need."""

from .activations import ACTIVATIONS, Activation, source
from .kernels import SPECIFICATIONS, Kernels
from .network import Mlp

__all__ = ["ACTIVATIONS", "SPECIFICATIONS", "Activation", "Kernels", "Mlp", "source"]
