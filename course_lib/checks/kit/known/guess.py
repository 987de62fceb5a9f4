"""A cause decides nothing: whatever goes wrong while it is looked for is as if there were none."""

import functools
import os


def guess(find):
    """Decorator: what `find` gives, or None where that is nothing, or where it raises.

    Where COURSE_CAUSES is "raise" it raises: so are planted answers tried, and a fault in a cause is found.
    """

    @functools.wraps(find)
    def found(*args, **kwargs):
        try:
            return find(*args, **kwargs) or None
        except Exception:
            if os.environ.get("COURSE_CAUSES") == "raise":
                raise
            return None

    return found
