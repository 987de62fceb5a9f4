"""What runs the course and is imported by no lesson: building, grading, measuring, the book, the doctor."""

import sys

# jsonschema imports these, where they are there, to check formats that no notebook has. The first reads a grammar of
# web addresses at its import, and makes that of nbformat several times as slow (1.3 s of processor time).
UNUSED = ("rfc3987_syntax", "isoduration")

for _name in UNUSED:
    sys.modules.setdefault(_name, None)  # type: ignore[arg-type]
