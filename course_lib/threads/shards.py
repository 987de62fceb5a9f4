"""Who works on what: a range cut into contiguous shards, one a thread."""

from itertools import pairwise

from course_lib.errors import check_count


def shards(B, T):
    """0 to B - 1 as T slices, in order, no index in two: sizes differ by at most one, the larger ones first.

    Kamra 2016, algorithm 3 gives each thread B/T examples; where T does not divide B, the first B mod T get one more.
    Raises BadInput for B < 1 or T < 1, and for T > B: there would be threads without work.
    """
    B = check_count("B", B)
    T = check_count("T (threads; each needs at least one of the B rows)", T, 1, B)
    return cut(B, T)


def cut(n, parts):
    """As `shards`, where n may be less than parts: the last slices are then empty. Unchecked."""
    size, larger = divmod(n, parts)
    starts = [p * size + min(p, larger) for p in range(parts + 1)]
    return [slice(start, stop) for start, stop in pairwise(starts)]


def rows_text(rows):
    """A slice as people say it: "rows 34 to 51"."""
    n = rows.stop - rows.start
    if n > 1:
        return f"rows {rows.start} to {rows.stop - 1}"
    return f"row {rows.start}" if n else "no rows"
