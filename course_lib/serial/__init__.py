"""The serial reference: networks, forward and backward, gradient descent, and how to check them.

Everything else in the course is measured against this. Examples stand in rows, parameters and gradients are
lists of (W, b) and (dW, db). NumPy alone; the Numba form is `course_lib.serial.per_example_numba`.
"""

from course_lib.serial.activations import ACTIVATIONS, relu, sigmoid
from course_lib.serial.evaluate import accuracy, confusion, loss_value, outputs, predict
from course_lib.serial.formats import FORMATS, Format, rounded, spacing
from course_lib.serial.gradcheck import GradientReport, gradient_check
from course_lib.serial.half import LossScale, MixedPrecision
from course_lib.serial.losses import LOSSES, softmax
from course_lib.serial.minibatch import gradients, without_loss
from course_lib.serial.network import Cache, Network, backward, forward, init_params
from course_lib.serial.optimiser import SGD, Adam, Optimiser
from course_lib.serial.search import GridResult, grid_search
from course_lib.serial.sgd import History, sgd_step, targets, train
from course_lib.serial.store import load_params, save_params
