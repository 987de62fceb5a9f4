"""The models of a step held against published tables, and why they differ where they do.

Zero Bubble: Qi, Wan, Huang and Lin, arXiv 2401.10241 (ICLR 2024), tables 3, 4, 5 and 9. Table 9: the four times that
they profiled (appendix D), in milliseconds; table 5: bubble rates that they calculated from these (section 5.3); table
4: what they measured on up to 32 A100 GPUs.
Megatron-LM: Narayanan et al., arXiv 2104.04473 (SC 2021), sections 2.2.1 and 2.2.2, and table 2 (section 5.2).
Figures are from transcriptions of the papers; table 9 stands in the authors' own code too (sail-sg,
zero-bubble-pipeline-parallelism).
"""

import functools
from typing import NamedTuple

import pytest

from course_lib.mpi.pipeline import Costs, bubble, schedule, simulate
from course_lib.mpi.pipeline.simulate import step_seconds
from course_lib.mpi.sharded.paper import sent
from course_lib.serial import Network


class Row(NamedTuple):
    """One setting of Zero Bubble's experiments. layers: 1F1B-I has a chunk of one layer, so v = layers / p."""

    p: int
    m: int
    layers: int
    rows: int  # of a micro-batch: "microbatch size", table 3
    times: tuple  # T_F, T_B, T_W, T_comm: table 9
    rates: tuple  # 1F1B, 1F1B-I, ZB-H1, ZB-H2: table 5
    samples: tuple  # 1F1B, 1F1B-I, ZB-1p: a second and GPU, table 4

    @property
    def work(self):
        return self.m * sum(self.times[:3])


NAMES = ("1f1b", "interleaved", "zb-h1", "zb-h2")
# table 3 counts 22, 30, 46 and 62 layers: the first and the last stage have one less than the others (section 5.1)
ZERO_BUBBLE = [
    Row(8, 24, 24, 6, (18.522, 18.086, 9.337, 0.601), (0.2431, 0.1055, 0.1585, 0.1083), (11.8, 13.1, 12.9)),
    Row(8, 32, 24, 6, (18.513, 18.086, 9.331, 0.626), (0.1985, 0.0818, 0.1242, 0.0837), (12.5, 13.4, 13.4)),
    Row(8, 64, 24, 6, (18.546, 18.097, 9.321, 0.762), (0.1240, 0.0443, 0.0674, 0.0444), (13.6, 13.9, 14.2)),
    Row(8, 24, 32, 3, (29.718, 29.444, 19.927, 0.527), (0.2347, 0.0808, 0.1323, 0.0698), (3.50, 4.01, 3.88)),
    Row(8, 32, 32, 3, (29.802, 29.428, 19.530, 0.577), (0.1898, 0.0628, 0.1045, 0.0559), (3.70, 4.08, 4.00)),
    Row(8, 64, 32, 3, (29.935, 29.621, 19.388, 0.535), (0.1091, 0.0320, 0.0554, 0.0294), (4.03, 4.19, 4.20)),
    Row(16, 48, 48, 1, (11.347, 11.248, 8.132, 0.377), (0.2552, 0.1104, 0.1397, 0.0672), (1.40, 1.54, 1.61)),
    Row(16, 64, 48, 1, (11.307, 11.254, 8.101, 0.379), (0.2082, 0.0852, 0.1088, 0.0516), (1.49, 1.59, 1.67)),
    Row(16, 128, 48, 1, (11.325, 11.308, 8.109, 0.378), (0.1251, 0.0445, 0.0576, 0.0266), (1.64, 1.66, 1.76)),
    Row(32, 96, 64, 1, (10.419, 10.207, 7.715, 0.408), (0.2646, 0.1493, 0.1421, 0.0641), (0.76, 0.82, 0.87)),
    Row(32, 128, 64, 1, (10.408, 10.204, 7.703, 0.408), (0.2168, 0.1164, 0.1106, 0.0490), (0.80, 0.85, 0.90)),
    Row(32, 256, 64, 1, (10.402, 10.248, 7.698, 0.460), (0.1352, 0.0624, 0.0594, 0.0257), (0.88, 0.90, 0.96)),
]  # fmt: skip
every_row = pytest.mark.parametrize("row", ZERO_BUBBLE, ids=lambda row: f"{row.p}x{row.m}")


@functools.cache
def step(row, name):
    """Milliseconds of a step by our model."""
    v = row.layers // row.p if name == "interleaved" else 1
    f, d, g, message = row.times
    plan = schedule(name, row.p, row.m, v)
    return step_seconds(simulate(plan, Costs(f / v, d / v, g / v, message)))


@every_row
@pytest.mark.parametrize("name", ["1f1b", "zb-h1", "zb-h2"])
def test_zero_bubbles_calculated_rates_are_ours_to_every_digit(row, name):
    """A row that counted ZB-H2's step from the first start of all to the last end of all would be off by half."""
    assert 1 - row.work / step(row, name) == pytest.approx(row.rates[NAMES.index(name)], abs=6e-5)


@every_row
def test_the_interleaved_rate_differs_by_a_message_that_they_leave_out(row):
    """From the last rank back to the first, and on the way back, all of p micro-batches wait for a message in our
    model. In the calculation of the paper's code only the first of the p does. Counted so, every digit is theirs."""
    wanted = row.rates[1]
    ours = 1 - row.work / step(row, "interleaved")
    assert wanted < ours <= 1.045 * wanted
    assert 1 - row.work / as_in_the_papers_code(row) == pytest.approx(wanted, abs=6e-5)


def as_in_the_papers_code(row):
    """The interleaved step where messages between rank 0 and the last are waited for by every p-th micro-batch."""
    v = row.layers // row.p
    f, d, g, message = row.times
    plan = schedule("interleaved", row.p, row.m, v)
    free, ends = [0.0] * row.p, {}
    for task in plan.in_order():
        start, comes = free[task.rank], task.comes_in(plan.S)
        if comes and (abs(comes[1] % row.p - task.rank) == 1 or task.micro % row.p == 0):
            start = max(start, ends[comes] + message)
        seconds = f / v if task.kind == "forward" else (d + g) / v
        free[task.rank] = start + seconds
        ends |= dict.fromkeys(task.makes(), free[task.rank])
    return max(free)


def faster(row, name):
    """By what share the model trains faster than was measured: 0.05 is 5 % too fast."""
    measured = dict(zip(("1f1b", "interleaved", "zb-h1"), row.samples, strict=True))[name]
    return row.m * row.rows / row.p / (step(row, name) / 1e3) / measured - 1


@every_row
def test_what_zero_bubble_measured_is_a_little_slower_than_the_model(row):
    """1F1B 4 to 9 %, and ZB-1p, whose rate in table 5 is ZB-H1's, 6 to 10 %: the model leaves out the optimiser, and
    the times were profiled in another schedule, ZB-2p. What one gains over the other is right within 4 %."""
    one, zero = faster(row, "1f1b"), faster(row, "zb-h1")
    assert 0.03 < one < 0.09 and 0.05 < zero < 0.095
    assert abs((1 + zero) / (1 + one) - 1) < 0.04


@every_row
def test_interleaved_is_where_the_model_is_too_fast(row):
    """9 to 12 % on one node; 14 to 17 % on two and four, and so beyond 15 % on 16 GPUs. 1F1B-I sends v messages for
    each of the others' (v = 2 to 4); here none waits for another, and none costs the ranks time. Section 5.2 says that
    between nodes the bandwidth holds it back."""
    most = 0.13 if row.p == 8 else 0.175
    assert faster(row, "1f1b") + 0.04 < faster(row, "interleaved") < most


@pytest.mark.parametrize(("p", "m", "v"), [(4, 8, 2), (8, 64, 4), (12, 96, 8), (64, 512, 1)])
def test_megatrons_bubble_is_over_the_ideal_time(p, m, v):
    """(p - 1)/m, and (p - 1)/(v m) with v chunks: our share b of the whole step is b/(1 - b) of the ideal one."""
    name = "interleaved" if v > 1 else "1f1b"
    share = bubble(simulate(schedule(name, p, m, v), Costs(1.0, 1.0, 1.0)))
    assert share / (1 - share) == pytest.approx((p - 1) / (v * m))


@pytest.mark.parametrize(
    ("p", "most", "measured"), [(12, 384, (153, 149, 141)), (35, 1120, (171, 167, 159))]
)
def test_megatrons_loss_from_twice_and_four_times_the_gpus_is_the_bubbles(p, most, measured):
    """Table 2, PTD: models of 174.6 and 529.6 billion parameters, t = 8, one batch for 1, 2 and 4 times the GPUs, so a
    half and a quarter of the micro-batches (of 1 sequence). From the first teraFLOP/s the bubble gives the others
    within 1.5 %. It leaves out the allreduce of gradients; the section does not name the schedule, this is 1F1B."""
    busy = [1 - bubble(simulate(schedule("1f1b", p, m))) for m in (most, most // 2, most // 4)]
    for share, teraflops in zip(busy, measured, strict=True):
        assert measured[0] * share / busy[0] == pytest.approx(teraflops, rel=0.015)


def test_zero_3_sends_as_much_on_twice_the_gpus_so_each_computes_half():
    """Table 2, ZeRO-3: from 768 to 1,536 GPUs 88 to 44 teraFLOP/s, from 1,120 to 2,240 98 to 48: a step takes as long
    as before. What a rank sends in stage 3 does not depend on how many there are: the model of a step that waits for
    its messages alone, and no more than that."""
    net = Network((2240,) * 5)
    for p, before, after in ((768, 88, 44), (1120, 98, 48)):
        one, two = (sent(net, ranks, 0, 3)[1] for ranks in (p, 2 * p))
        assert two == pytest.approx(one, rel=0.002)
        assert before / 2 * one / two == pytest.approx(after, rel=0.03)
