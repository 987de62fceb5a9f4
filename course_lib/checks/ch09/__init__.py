"""The checks of chapter 09: deltas, a step, three kernels of the backward pass, an activation of one's own, counts."""

from course_lib.checks.ch09.activation import check_softplus
from course_lib.checks.ch09.kernels import check_bias_step, check_hidden_delta, check_softmax_delta
from course_lib.checks.ch09.numpy import check_layer_step, check_loss_of_eq8, check_output_delta
from course_lib.checks.ch09.scales import check_scales, check_wanted

__all__ = [
    "check_bias_step",
    "check_hidden_delta",
    "check_layer_step",
    "check_loss_of_eq8",
    "check_output_delta",
    "check_scales",
    "check_softmax_delta",
    "check_softplus",
    "check_wanted",
]
