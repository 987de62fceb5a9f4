"""Where tests run side by side, the files that take longest begin first: none is left over while the others rest."""

from pathlib import Path

LIST = Path(__file__).with_name("long_files.txt")  # course_tools.maintenance.test_times writes it


def longest_first(items):
    """Order the tests of several files; within a file, and among files not in the list, all stays as it is."""
    files = LIST.read_text(encoding="utf-8").split() if LIST.is_file() else []
    place = {file: number for number, file in enumerate(files)}
    items.sort(key=lambda item: place.get(item.nodeid.partition("::")[0], len(place)))
