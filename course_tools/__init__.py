"""What runs the course and is imported by no lesson: building, grading, measuring, the book, the doctor."""

import sys

# Where this package is there, jsonschema imports it to check the format of web addresses, which no notebook needs; it
# reads its grammar at the import, and makes that of nbformat five times as slow (1.3 s of processor time).
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
