"""Training on the GPU: [000]'s five kernels, [003]'s softmax, cross-entropy and L2, and the reductions they need."""

from course_lib.gpu.mlp.activations import ACTIVATIONS, Activation, source
from course_lib.gpu.mlp.kernels import SPECIFICATIONS, Kernels
from course_lib.gpu.mlp.network import Mlp
