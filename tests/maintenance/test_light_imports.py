"""What a command of the course imports: nothing that is slow and needed by nobody."""

import subprocess
import sys


def test_notebooks_are_read_without_a_grammar_of_web_addresses():
    code = "import course_tools, nbformat, jsonschema, sys; print('lark' in sys.modules)"
    given = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert given.stdout.strip() == "False", given.stderr
