"""Chapter 14: the blanks and planted wrong answers fail with the message meant for them, the solutions pass."""

from planted import answers, assert_as_meant


@answers("14")
def test_answer(task, answer):
    """The first takes the time of all: the answers of a chapter are tried in one go."""
    assert_as_meant("14", task, answer)
