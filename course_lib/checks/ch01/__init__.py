"""The checks of chapter 01: one neuron to one network, per example.

Each check holds the truth in float64; the wrong answers that students give are planted in the exercise.
"""

from course_lib.checks.ch01.backward import check_backward_skip, check_repaired_backward
from course_lib.checks.ch01.forward import check_forward, check_neuron
from course_lib.checks.ch01.gradients import check_mse_gradient, check_numeric_gradient
from course_lib.checks.ch01.losses import check_smoothed_cross_entropy, check_softmax
from course_lib.checks.ch01.momentum import check_momentum_epoch

__all__ = [
    "check_backward_skip",
    "check_forward",
    "check_momentum_epoch",
    "check_mse_gradient",
    "check_neuron",
    "check_numeric_gradient",
    "check_repaired_backward",
    "check_smoothed_cross_entropy",
    "check_softmax",
]
