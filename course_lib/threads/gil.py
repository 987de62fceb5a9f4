"""Does this Python have a global interpreter lock, and what follows for threads?"""

import sys
import sysconfig


def gil_state():
    """One sentence for the reader of a notebook, such as "This Python has a GIL: ..."."""
    works = "Numba's nogil code, BLAS and NumPy's inner loops let go of it and do run side by side"
    if not sysconfig.get_config_var("Py_GIL_DISABLED"):
        return f"This Python has a GIL: only one thread at a time runs Python code; {works}."
    if sys._is_gil_enabled():  # type: ignore[attr-defined,unused-ignore]
        return f"This Python is free-threaded, but its GIL is on (an import or option asked for it): {works}."
    return "This Python is free-threaded and its GIL is off: even plain Python loops run side by side in threads."
