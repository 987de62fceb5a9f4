"""Chapter 15: blanks and planted wrong answers fail with the message meant for them, solutions pass."""

from planted import answers, assert_as_meant


@answers("15")
def test_answer(task, answer):
    """The first takes the time of all: the answers of a chapter are tried in one go."""
    assert_as_meant("15", task, answer)
