"""Training on the GPU: the five kernels of Kamra 2016, softmax, cross-entropy and L2 of Darve 2019, and reductions."""

from course_lib.gpu.mlp.activations import ACTIVATIONS, Activation, source
from course_lib.gpu.mlp.kernels import SPECIFICATIONS, Kernels
from course_lib.gpu.mlp.network import Mlp
