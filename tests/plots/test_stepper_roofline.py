"""The roofline's stepper: its frames hold the course's own counts and the bounds of measure.roofline."""

import pytest

from course_lib import measure, plots
from course_lib.errors import BadInput

NET, PEAK, BANDWIDTH = (784, 1024, 10), 100.0, 20.0


def counts(batches=(1, 8, 64, 512)):
    """{B: (flops, bytes)} of a step of Net-1h."""
    step_of = measure.step_flops, measure.step_bytes
    return {B: (step_of[0](NET, B).products, step_of[1](NET, B).total) for B in batches}


def spot(frame):
    """The middle of the point of this frame's batch size."""
    (found,) = [shape for shape in frame.shapes if shape.get("k") == "step"]
    return found["x"] + found["w"] / 2, found["y"] + found["h"] / 2


def test_every_frame_says_the_count_and_the_bound():
    stepper = plots.step_roofline(counts(), PEAK, BANDWIDTH)
    for frame, (B, (flops, size)) in zip(stepper.frames, counts().items(), strict=True):
        bound = measure.roofline(flops / size, PEAK, BANDWIDTH)
        assert frame.name == f"B = {B}"
        assert f"{flops / size:.2f} flops per byte, so at most {bound:.1f} GFLOP/s" in frame.says
    assert stepper.last.says.endswith("the peak is the limit.")
    assert "memory allows 4% of the peak" in stepper.frames[0].says


def test_points_climb_the_slope_and_then_walk_along_the_flat_roof():
    frames = plots.step_roofline(counts((1, 2, 4, 256, 512)), PEAK, BANDWIDTH).frames
    (x0, y0), (x1, y1), (x2, y2), (x3, y3), (x4, y4) = map(spot, frames)
    assert x0 < x1 < x2 < x3 < x4 and y0 > y1 > y2 > y3 == y4
    assert (y1 - y0) / (x1 - x0) == pytest.approx((y2 - y1) / (x2 - x1), rel=0.05)


def test_earlier_batch_sizes_stay_as_a_trail():
    frames = plots.step_roofline(counts(), PEAK, BANDWIDTH).frames
    grey = [[s for s in frame.shapes if s["c"] == "grey"] for frame in frames]
    assert [len(each) for each in grey] == [0, 1, 2, 3]


def test_every_point_lies_inside_the_picture():
    for peak, bandwidth in ((1e5, 3000.0), (0.5, 0.3), (100.0, 1.0)):
        stepper = plots.step_roofline(counts(), peak, bandwidth)
        wide, high = stepper.size
        for shape in (shape for frame in stepper.frames for shape in frame.shapes):
            assert 0 <= shape["x"] <= wide and 0 <= shape["y"] <= high, shape


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (({}, PEAK, BANDWIDTH), "no counts"),
        (({1: (0, 4)}, PEAK, BANDWIDTH), "counts"),
        (({1: (4, 4)}, float("nan"), BANDWIDTH), "peak and bandwidth"),
    ],
)
def test_what_is_refused(given, words):
    with pytest.raises(BadInput, match=words):
        plots.step_roofline(*given)
