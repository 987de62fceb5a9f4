"""The example of course_lib/checks/README.md runs as it stands, and its diagnosis is the one that is told."""

import re
import textwrap
from pathlib import Path

import pytest

from course_lib.checks.kit.core import CheckFailed

README = Path(__file__).resolve().parents[2] / "course_lib" / "checks" / "README.md"


def test_the_example_of_the_readme():
    block = re.search(
        r"^    from .*?\n    \)\n", README.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    names: dict = {}
    exec(textwrap.dedent(block[0]), names)
    names["check_product"](lambda X, W: X @ W, seed=1)
    with pytest.raises(CheckFailed, match="entries of the result differ"):
        names["check_product"](lambda X, W: X @ abs(W), seed=1)
