"""A function of the notebook, packed so that a rank can run it."""

import linecache
import sys

from course_lib.errors import BadInput


def shell():
    """IPython's shell, None outside of it."""
    return sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None


def cell_number():
    """The number of the notebook's running cell, None outside of a notebook."""
    return len(shell().history_manager.input_hist_parsed) - 1 if shell() else None


def pack(fn, args):
    """(pickle of (fn, args), number of the running cell, sources of the cells that fn comes from), see `rank.call`.

    Raises BadInput where something in it exists in this process alone, and names it.
    """
    import cloudpickle

    if not callable(fn):
        text = f"c.run takes a function, c.run(f) or c.run(f, x), not {type(fn).__name__}: c.run(f(...))"
        raise BadInput(f"{text} calls f here, before there is anything to run on the ranks")
    try:
        payload = cloudpickle.dumps((fn, args))
    except Exception as error:
        raise BadInput(f"this cannot be sent to the ranks: {culprit(fn, args)} ({error})") from None
    cells = shell().compile._filename_map if shell() else {}
    used = {name: number for name, number in cells.items() if name.encode() in payload}
    sources = {name: (used[name], "".join(linecache.getlines(name))) for name in used}
    return payload, cell_number(), sources


def culprit(fn, args):
    """What of a function and its arguments cannot be pickled, in words."""
    import cloudpickle

    code = getattr(fn, "__code__", None)
    names = [name for name in (code.co_names if code else ()) if name in fn.__globals__]
    parts = {f"argument {i}": arg for i, arg in enumerate(args, start=1)}
    parts |= {f"`{name}`, which {fn.__name__} uses": fn.__globals__[name] for name in names}
    for what, part in parts.items():
        try:
            cloudpickle.dumps(part)
        except Exception:
            return what
    return "something that it uses"
