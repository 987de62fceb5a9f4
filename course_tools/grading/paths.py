"""Where the two packages lie: in a clone, or beside each other where packages are installed."""

from pathlib import Path

BESIDE = Path(__file__).resolve().parents[2]  # the folder that holds course_lib and course_tools
LIBRARY = BESIDE / "course_lib"
