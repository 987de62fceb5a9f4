"""The simulator: cases by hand, bounds from below and above, closed formulas where they hold; and the timeline."""

import random
import time

import pytest

from course_lib.errors import BadInput
from course_lib.threads import (
    Schedule,
    Span,
    Timeline,
    deferred_schedule,
    leapfrog_cost,
    leapfrog_schedule,
    predicted_costs,
    simulate,
)

SHAPES = [(L, k) for L in range(1, 17) for k in range(1, L + 1)]
COSTS = [(1, 1), (2, 1), (1, 5), (0, 1), (1, 0), (3, 7), (4, 4), (7, 2)]


def spans_of(line, thread):
    return [tuple(span[1:]) for span in line if span.thread == thread]


# ------------------------------------------------------------------ by hand


def test_leapfrogging_three_layers_by_two_threads_by_hand():
    line = simulate(leapfrog_schedule(3, 2), f2=2, f3=3)
    parent = [("delta", 2, 0, 2), ("grad", 2, 2, 5), ("delta", 1, 5, 7), ("grad", 1, 7, 10)]
    assert spans_of(line, 0) == [
        *parent,
        ("delta", 1, 10, 12),
        ("delta", 0, 12, 14),
        ("grad", 0, 14, 17),
    ]
    assert (
        spans_of(line, 1) == [] and line.makespan == 17 and line.busy(0) == 17 and line.busy(1) == 0
    )


def test_leapfrogging_on_two_cores_and_on_one_by_hand():
    two = simulate(leapfrog_schedule(4, 2), f2=1, f3=2)
    assert spans_of(two, 0)[4:] == [("delta", 2, 6, 7), ("delta", 1, 7, 8), ("grad", 1, 8, 10)]
    assert spans_of(two, 1) == [("delta", 1, 6, 7), ("delta", 0, 7, 8), ("grad", 0, 8, 10)]
    one = simulate(leapfrog_schedule(4, 2), f2=1, f3=2, cores=1)
    assert spans_of(one, 0)[4:] == [("delta", 2, 6, 7), ("delta", 1, 8, 9), ("grad", 1, 10, 12)]
    assert spans_of(one, 1) == [("delta", 1, 7, 8), ("delta", 0, 9, 10), ("grad", 0, 12, 14)]


def test_deferred_by_hand_with_forward_and_costs_by_layer():
    line = simulate(deferred_schedule(3, 2, 2, 3), f2=2, f3=3, f1=[1, 0, 4])
    assert spans_of(line, 0)[:2] == [("forward", 0, 0, 1), ("forward", 2, 1, 5)]
    assert spans_of(line, 0)[2:] == [
        ("delta", 2, 5, 7),
        ("delta", 1, 7, 9),
        ("delta", 0, 9, 11),
        ("grad", 0, 11, 14),
    ]
    assert spans_of(line, 1) == [("grad", 2, 7, 10), ("grad", 1, 10, 13)] and line.makespan == 14
    layered = simulate(deferred_schedule(3, 2, [1, 2, 4], [8, 1, 1]), f2=[1, 2, 4], f3=[8, 1, 1])
    assert spans_of(layered, 1) == [("grad", 2, 4, 5), ("grad", 1, 6, 7)]
    assert spans_of(layered, 0)[-1] == ("grad", 0, 7, 15)


def test_the_proofs_threads_take_the_parents_deltas():
    line = simulate(leapfrog_schedule(4, 2, "proof"), f2=1, f3=1)
    assert spans_of(line, 0)[4:] == [
        ("grad", 2, 4, 5),
        ("delta", 1, 5, 6),
        ("delta", 0, 6, 7),
        ("grad", 0, 7, 8),
    ]
    assert spans_of(line, 1) == [("delta", 1, 4, 5), ("grad", 1, 5, 6), ("delta", 0, 6, 7)]


# ------------------------------------------------------------------ bounds, for any costs and cores


def random_schedules(count=150):
    rng = random.Random(3)
    for _ in range(count):
        L = rng.randint(1, 12)
        k, cores = rng.randint(1, L), rng.randint(1, 5)
        f1, f2, f3 = ([rng.choice([0, 0.25, 1, 3, 10]) for _ in range(L)] for _ in range(3))
        form = rng.choice(["repaired", "algorithm 1", "section 3", "proof", "deferred"])
        schedule = (
            deferred_schedule(L, k, f2, f3) if form == "deferred" else leapfrog_schedule(L, k, form)
        )
        yield schedule, f1, f2, f3, cores


def critical_path(schedule, f2, f3):
    """The longest chain of tasks that wait for each other, found again from each thread's own knowledge."""
    ends, last, made, fork = [], {}, {}, 0
    for n, (thread, kind, layer) in sorted(enumerate(schedule), key=lambda item: item[1].thread):
        if thread == 0 and n == schedule.fork:
            fork = last.get(0, 0)
        source = layer + 1 if kind == "delta" else layer
        waits = [last.get(thread, 0), fork if thread else 0]
        if source < schedule.L:
            waits.append(made.get((thread, source), made.get((0, source), 0)))
        end = max(waits) + (f2 if kind == "delta" else f3)[layer]
        ends.append(end)
        last[thread] = end
        if kind == "delta":
            made.setdefault((thread, layer), end)
    return max(ends)


def test_no_makespan_is_below_its_bounds_nor_above_grahams():
    for schedule, f1, f2, f3, cores in random_schedules():
        line = simulate(schedule, f2, f3, cores=cores)
        work = sum((f2 if kind == "delta" else f3)[layer] for _, kind, layer in schedule)
        path = critical_path(schedule, f2, f3)
        c = min(cores, schedule.k)
        assert max(path, work / c) - 1e-9 <= line.makespan <= work / c + (1 - 1 / c) * path + 1e-9
        late = simulate(schedule, f2, f3, f1, cores=cores)
        assert late.makespan == pytest.approx(sum(f1) + line.makespan)
        assert simulate(schedule, f2, f3, cores=schedule.k).makespan == pytest.approx(path)


def test_threads_do_one_thing_at_a_time_in_order_and_never_more_than_there_are_cores():
    for schedule, f1, f2, f3, cores in random_schedules():
        line = simulate(schedule, f2, f3, f1, cores=cores)
        assert [s for s in line if s.kind != "forward"] == sorted(line, key=lambda s: s.start)[
            -len(schedule) :
        ]
        for t in range(schedule.k):
            mine = [span for span in line if span.thread == t and span.kind != "forward"]
            assert [span[:3] for span in mine] == schedule.of(t)
            assert all(a.end <= b.start for a, b in zip(mine, mine[1:], strict=False))
        for moment in {span.start for span in line}:
            assert sum(span.start <= moment < span.end for span in line) <= min(cores, schedule.k)


def test_one_core_costs_all_the_work():
    for L, k in SHAPES:
        assert (
            simulate(leapfrog_schedule(L, k), 2, 3, 1, cores=1).makespan
            == L * 6 + (k - 1) * (L - k) * 2
        )
        assert simulate(deferred_schedule(L, k, 2, 3), 2, 3, 1, cores=1).makespan == L * 6


def test_it_is_deterministic():
    for schedule, f1, f2, f3, cores in random_schedules(20):
        assert simulate(schedule, f2, f3, f1, cores) == simulate(schedule, f2, f3, f1, cores)


# ------------------------------------------------------------------ closed formulas


@pytest.mark.parametrize("f2, f3", COSTS)
def test_leapfrogging_costs_exactly_what_the_formula_says(f2, f3):
    for L, k in SHAPES:
        cost = leapfrog_cost(L, k, 1, f2, f3)
        assert simulate(leapfrog_schedule(L, k), f2, f3, 1).makespan == cost
        printed = predicted_costs(L, k, 1, f2, f3)["leapfrog"]
        assert printed == pytest.approx(L * (1 + f2 + f3 / k))
        r = (L - 1) % k
        assert cost - printed == pytest.approx((k - 1 - r) * f2 + (k - (r + 1) / k) * f3)
        if L % k == 0:
            assert cost - printed == pytest.approx((k - 1) * f3)


def test_more_threads_than_the_root_of_the_layers_do_not_help_leapfrogging():
    for L in range(1, 200):
        grads = [leapfrog_cost(L, k, 0, 0, 1) for k in range(1, L + 1)]
        assert min(grads) >= 2 * L**0.5 - 1 - 1e-9 and grads[0] == grads[-1] == L
        if round(L**0.5) ** 2 == L:
            assert grads[round(L**0.5) - 1] == min(grads) == 2 * round(L**0.5) - 1


@pytest.mark.parametrize("f2, f3", COSTS)
def test_deferred_costs_what_the_formula_says_and_a_little_more(f2, f3):
    for L, k in SHAPES:
        found = simulate(deferred_schedule(L, k, f2, f3), f2, f3, 1).makespan
        formula = predicted_costs(L, k, 1, f2, f3)["deferred"]
        assert formula - 1e-9 <= found <= formula + 2 * (1 - 1 / k) * f3 + 1e-9, (L, k)
        if f3 <= (k - 1) * f2:
            assert found == pytest.approx(formula + f3)


@pytest.mark.parametrize("f2, f3", [(f2, f3) for f2, f3 in COSTS if f2 and f3])
def test_deferred_is_never_dearer_than_leapfrogging(f2, f3):
    for L, k in SHAPES:
        deferred = simulate(deferred_schedule(L, k, f2, f3), f2, f3).makespan
        assert deferred <= leapfrog_cost(L, k, 0, f2, f3), (L, k)


def test_predicted_costs_by_layer_and_by_hand():
    want = {"serial": 36, "leapfrog": 28, "deferred": 22, "data parallel": 18}
    assert predicted_costs(4, 2, 2, 3, 4) == want
    assert predicted_costs(4, 2, [2, 2, 2, 2], [0, 6, 3, 3], (1, 7, 8, 0)) == want
    assert predicted_costs(4, 4, 0, 3, 1)["deferred"] == 12, "the chain of deltas bounds it"


# ------------------------------------------------------------------ bad input, and the timeline


@pytest.mark.parametrize(
    "call",
    [
        lambda s: simulate(s, -1, 1),
        lambda s: simulate(s, 1, float("nan")),
        lambda s: simulate(s, 1, [1, 2]),
        lambda s: simulate(s, "much", 1),
        lambda s: simulate(s, 1, 1, float("inf")),
        lambda s: simulate(s, 1, 1, cores=0),
        lambda s: simulate(s, 1, 1, cores=1.5),
        lambda s: predicted_costs(4, 5, 1, 1, 1),
        lambda s: predicted_costs(4, 2, 1, 1, [1]),
        lambda s: leapfrog_cost(4, 0, 1, 1, 1),
    ],
)
def test_bad_input_gets_one_clear_error(call):
    with pytest.raises(BadInput) as caught:
        call(leapfrog_schedule(4, 2))
    assert len(str(caught.value)) > 25


@pytest.mark.parametrize(
    "tasks",
    [
        [(0, "grad", 0), (0, "delta", 0)],
        [(0, "delta", 1), (1, "grad", 0)],
        [(0, "delta", 0)],
        [(1, "delta", 1), (0, "delta", 0)],
    ],
)
def test_a_schedule_that_waits_for_ever_is_refused(tasks):
    with pytest.raises(BadInput, match="waits for ever"):
        simulate(Schedule(tasks, L=2, k=2), 1, 1)


def test_timeline_measures_from_its_first_look_at_the_clock():
    line, began = Timeline(), time.perf_counter()
    assert line.makespan == 0 and line.busy(0) == 0
    time.sleep(0.01)
    start = line.clock()
    assert start == 0
    time.sleep(0.002)
    line.append(Span(0, "grad", 3, start, line.clock()))
    line.append(Span(1, "grad", 2, 0.5, 0.75))
    assert 0.002 <= line.busy(0) < time.perf_counter() - began
    assert line.busy(1) == 0.25 and line.makespan == 0.75 - start


def test_recording_a_span_costs_a_few_microseconds():
    line = Timeline()
    started = time.thread_time()
    for layer in range(10_000):
        start = line.clock()
        line.append(Span(0, "grad", layer, start, line.clock()))
    assert time.thread_time() - started < 10_000 * 50e-6
