"""Lines of the student's own code: where a rank is, where an error came from, in words."""

import linecache
import os
import traceback

HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
OURS = (
    HERE,
    os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(HERE))), "mpi", "counting.py"),
)


def place(frames, file):
    """The innermost of frames (file, line, function) in the student's own code: {"line", "code", "function"}."""
    frames = [f for f in frames if not f[0].startswith(OURS)]
    mine = (
        [f for f in frames if f[0] == file or "ipykernel_" in f[0]]
        or frames[-1:]
        or [("", None, "")]
    )
    path, line, name = mine[-1]
    return {
        "line": line,
        "code": linecache.getline(path, line).strip() if line else "",
        "function": name,
    }


def place_of_error(error, file):
    """The same, of where an exception was raised. remote_lines: of one that comes from another process."""
    if told := getattr(error, "remote_lines", None):
        _, line, name, text = told[-1]
        return {"line": int(line), "code": text, "function": name}
    frames = traceback.walk_tb(error.__traceback__)
    return place([(f.f_code.co_filename, line, f.f_code.co_name) for f, line in frames], file)


def in_words(at):
    """ "line 3 of swap: comm.Send(x, dest=1)"."""
    if at["line"] is None:
        return "outside of the function"
    return f"line {at['line']} of {at['function']}" + (f": {at['code']}" if at["code"] else "")


def refused(owner, name):
    """The AttributeError for a call of MPI that a rehearsal has not. owner: "the communicator"."""
    where = "it may exist on real ranks, which run the same function"
    return AttributeError(f"{owner} of a rehearsal has no {name!r}: {where}")
