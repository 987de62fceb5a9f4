"""Schedules: what [002] prints in three places against brute force, the repair, and deferred gradients."""

from collections import Counter

import pytest

from course_lib.errors import BadInput
from course_lib.threads import Schedule, Task, deferred_schedule, leapfrog_schedule

SHAPES = [(L, k) for L in range(1, 26) for k in range(1, L + 1)]
FORMS = ("repaired", "algorithm 1", "section 3", "proof")


# ------------------------------------------------------------------ [002] as printed, in its own numbers: layers 1 to L


def algorithm_1(L, k):
    """Algorithm 1 line by line. Returns who does what: (parent, [thread 0, ...]), lists of (equation, layer)."""
    parent = [("4", L)]
    for i in range(L - 1, L - k, -1):  # L-1, L-2, ..., L-k+1
        parent += [("5", i), ("6 and 7", i)]
    threads = []
    for j in range(k):
        done = []
        while j < L - k - 1:
            i = 0
            while i < k:
                layer = L - 1 - j - i
                done.append(("5", layer))
                if i == k - 1:
                    done.append(("6 and 7", layer))
                i = i + 1
            j = j + k
        threads.append(done)
    return parent, threads


def section_3(L, k):
    """The layers with gradients: the last k, "all quantities", and mk + j < L-k-1 by thread j."""
    return list(range(L - k + 1, L + 1)) + [
        m * k + j for j in range(k) for m in range(L) if m * k + j < L - k - 1
    ]


def proof(L, k):
    """The layers with gradients: "each level j such that j > L-k" by the parent, L-1-j-km by thread j."""
    children = [L - 1 - j - k * m for j in range(k) for m in range(L) if L - 1 - j - k * m >= 1]
    return list(range(L - k + 1, L + 1)) + children


def counted(layers, L):
    """{our layer: how often}, of layers in [002]'s numbers; its level 1 is the input and has no weights."""
    return {layer: Counter(layers)[layer + 2] for layer in range(L)}


@pytest.mark.parametrize("form", ["algorithm 1", "repaired"])
def test_leapfrogging_is_algorithm_1_task_by_task(form):
    kinds = {"4": ["delta"], "5": ["delta"], "6 and 7": ["grad"]}
    for L, k in SHAPES:
        parent, threads = algorithm_1(L + 1, k)
        schedule = leapfrog_schedule(L, k, form)
        want = [Task(0, kind, layer - 2) for equation, layer in parent for kind in kinds[equation]]
        if form == "repaired":
            want.insert(1, Task(0, "grad", L - 1))
        assert list(schedule[: schedule.fork]) == want, (L, k)
        rest = schedule[schedule.fork :]
        for j, done in enumerate(threads):
            assert [t for t in rest if t.thread == j] == [
                Task(j, kinds[e][0], layer - 2) for e, layer in done
            ], (L, k)


def test_repaired_covers_every_layer_once_and_algorithm_1_all_but_the_last():
    for L, k in SHAPES:
        assert leapfrog_schedule(L, k).coverage() == dict.fromkeys(range(L), 1)
        parent, threads = algorithm_1(L + 1, k)
        layers = [
            layer
            for done in [parent, *threads]
            for equation, layer in done
            if equation == "6 and 7"
        ]
        found = leapfrog_schedule(L, k, "algorithm 1").coverage()
        assert found == counted(layers, L) == dict.fromkeys(range(L), 1) | {L - 1: 0}
        assert min(layers, default=2) >= 2, "algorithm 1 never touches the input layer"


def test_section_3_misses_two_layers_and_names_two_without_weights():
    for L, k in SHAPES:
        found = leapfrog_schedule(L, k, "section 3").coverage()
        assert found == counted(section_3(L + 1, k), L)
        assert {layer for layer, n in found.items() if n == 0} == {L - k - 1, L - k - 2} & set(
            range(L)
        )
        assert max(found.values()) == 1
        if L - k >= 2:
            assert {0, 1} <= set(section_3(L + 1, k))


def test_the_proof_counts_layers_twice_and_misses_none():
    for L, k in SHAPES:
        found = leapfrog_schedule(L, k, "proof").coverage()
        assert found == counted(proof(L + 1, k), L)
        assert {layer for layer, n in found.items() if n == 2} == set(range(L - k, L - 1))
        assert set(found.values()) <= {1, 2}
        assert 1 in proof(L + 1, k), "it goes on to the input layer"


def test_algorithm_1_leaves_the_layers_at_k_above_their_number():
    parent, _ = algorithm_1(6, 6)
    assert ("6 and 7", 1) in parent, (
        "with k = L the parent's loop reaches the input, which has no weights"
    )
    parent, _ = algorithm_1(6, 5)
    assert min(layer for _, layer in parent) == 2


@pytest.mark.parametrize("form", FORMS)
def test_each_task_can_be_done_from_what_its_thread_has_or_was_handed(form):
    for L, k in SHAPES:
        schedule = leapfrog_schedule(L, k, form)
        parent = {task.layer for task in schedule[: schedule.fork] if task.kind == "delta"}
        known = {0: set()} | {j: set(parent) for j in range(1, k)}
        for n, (thread, kind, layer) in enumerate(schedule):
            assert 0 <= layer < L and 0 <= thread < k and (thread == 0 or n >= schedule.fork)
            assert kind == "grad" or layer == L - 1 or layer + 1 in known[thread], (
                L,
                k,
                schedule[n],
            )
            assert kind == "delta" or layer in known[thread], (L, k, schedule[n])
            known[thread].add(layer)


def test_deltas_computed_twice():
    for L, k in SHAPES:
        for form in ("repaired", "algorithm 1"):
            deltas = [task for task in leapfrog_schedule(L, k, form) if task.kind == "delta"]
            assert len(deltas) == k * (L - k + 1) == L + (k - 1) * (L - k)


def test_deferred_walks_each_delta_once_and_takes_each_gradient_once():
    for L, k in SHAPES:
        schedule = deferred_schedule(L, k, f2=2, f3=5)
        deltas = [task for task in schedule if task.kind == "delta"]
        assert deltas == [Task(0, "delta", layer) for layer in reversed(range(L))]
        assert schedule.coverage() == dict.fromkeys(range(L), 1) and schedule.fork == 0
        assert schedule.of(0)[:L] == deltas, "thread 0 helps only when the deltas are done"
        for thread in range(1, k):
            layers = [task.layer for task in schedule.of(thread)]
            assert layers == sorted(layers, reverse=True)


def test_deferred_by_hand():
    assert deferred_schedule(3, 2, f2=2, f3=3).of(1) == [Task(1, "grad", 2), Task(1, "grad", 1)]
    assert deferred_schedule(3, 2, f2=2, f3=3).of(0)[3:] == [Task(0, "grad", 0)]
    # Gradients that cost nothing need one helper; dear ones keep all three busy.
    assert {task.thread for task in deferred_schedule(9, 3, 1, 0)} == {0, 1}
    assert {task.thread for task in deferred_schedule(9, 3, 1, 9)} == {0, 1, 2}
    # Costs by layer: the first gradient is so dear that thread 0 does all the others.
    assert [task.layer for task in deferred_schedule(3, 2, 1, [1, 1, 50]).of(0)[3:]] == [1, 0]


def test_schedule_is_a_tuple_with_its_shape_and_a_table():
    schedule = leapfrog_schedule(6, 2)
    assert isinstance(schedule, tuple) and (schedule.L, schedule.k, schedule.fork) == (6, 2, 4)
    assert schedule[0] == (0, "delta", 5) and sorted(schedule.of(0) + schedule.of(1)) == sorted(
        schedule
    )
    lines = schedule.table().splitlines()
    assert lines[0].split() == ["layer", "parent", "thread", "0", "thread", "1", "gradients"]
    assert [line.split() for line in lines[2:5]] == [
        ["4", "delta", "grad", "delta", "1"],
        ["3", "delta", "grad", "delta", "1"],
        ["2", "delta", "delta", "grad", "1"],
    ]
    own = Schedule([(0, "delta", 0), (0, "grad", 0)], L=1, k=1)
    assert own[1].kind == "grad" and own.coverage() == {0: 1}
    assert "parent" not in deferred_schedule(4, 2).table()


@pytest.mark.parametrize("make", [leapfrog_schedule, deferred_schedule])
@pytest.mark.parametrize(
    "L, k", [(4, 0), (4, -1), (4, 1.5), (4, 5), (4, True), (4, None), (4, "2"), (0, 1), (2.0, 1)]
)
def test_impossible_shapes_get_one_clear_error(make, L, k):
    with pytest.raises(
        BadInput, match=r"^[kL] \(.*\) must be a whole number (from 1 to 4|of at least 1), not "
    ):
        make(L, k)


def test_other_bad_input():
    with pytest.raises(
        BadInput, match="form must be one of repaired, algorithm 1, section 3, proof, not 'paper'"
    ):
        leapfrog_schedule(4, 2, "paper")
    for task in [(2, "delta", 0), (-1, "grad", 0), (0, "update", 0), (0, "grad", 4)]:
        with pytest.raises(BadInput, match="with L = 4 layers and k = 2 threads there is no Task"):
            Schedule([task], L=4, k=2)
    with pytest.raises(
        BadInput, match="f3 must be one number, or one for each of the 4 layers, not 2 numbers"
    ):
        deferred_schedule(4, 2, 1, [1, 2])
    with pytest.raises(BadInput, match="f2 of layer 0"):
        deferred_schedule(4, 2, -1)
