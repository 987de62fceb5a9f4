"""A cause decides nothing: whatever goes wrong while it is looked for is as if there were none."""

import functools


def guess(find):
    """Decorator: what `find` gives, or None where that is nothing, or where it raises."""

    @functools.wraps(find)
    def found(*args, **kwargs):
        try:
            return find(*args, **kwargs) or None
        except Exception:
            return None

    return found
