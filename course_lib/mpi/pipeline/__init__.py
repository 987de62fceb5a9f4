"""Pipelines: a network's layers cut into stages, one rank each, and micro-batches that flow through them.

stages.py      split: layers into stages of nearly equal cost
schedule.py    Task, PipelineSchedule: who does what in which order; is it complete, can it run?
orders.py      schedule: GPipe, 1F1B, interleaved 1F1B, ZB-H1, ZB-H2
simulate.py    Costs, simulate, bubble: what a schedule costs on paper
memory.py      in_flight, activation_bytes: what each rank keeps at most
compute.py     Stage: what one task computes, without messages
messages.py    Messages: what goes from stage to stage, by non-blocking messages; step_sent: how much
run.py         Pipeline: a schedule carried out by the ranks of a communicator

    p, m = 4, 8
    plan = schedule("1f1b", p, m)
    print(plan.table(), bubble(simulate(plan)))      # (p - 1)/(m + p - 1)
    pipe = Pipeline(comm, net, plan)                 # on each of p ranks
    local = pipe.split(params)
    grads, loss = pipe.gradients(local, X, Y)
"""

from course_lib.mpi.pipeline.memory import activation_bytes, in_flight
from course_lib.mpi.pipeline.messages import step_sent
from course_lib.mpi.pipeline.orders import NAMES, schedule
from course_lib.mpi.pipeline.run import Pipeline
from course_lib.mpi.pipeline.schedule import PipelineSchedule, Task
from course_lib.mpi.pipeline.simulate import (
    Costs,
    bubble,
    net_costs,
    predicted_bubble,
    simulate,
    step_seconds,
)
from course_lib.mpi.pipeline.stages import layer_flops, layers_of, split
