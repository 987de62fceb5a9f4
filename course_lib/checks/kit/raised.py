"""Likely causes of exceptions that students meet."""

import re


def cause_of_error(error, name=None):
    """A sentence on the likely cause, or None. error: "ValueError: message"; name: of the function that is checked."""
    if error.startswith("TypeError") and re.search("positional argument|keyword argument", error):
        return _of_arguments(error, name)
    for kind, words, cause in ERRORS:
        if error.startswith(kind) and (not words or any(word in error for word in words)):
            return cause
    return None


def _of_arguments(error, name):
    """Python names the function that was called: the student's, or another one that it calls."""
    called = re.search(r"([\w<>]+)\(\)", error)
    if called and called[1] != name:
        return f"{called[1]}() is called with other arguments than it takes: compare the call with its definition"
    return (
        "the function must take the arguments of the call below, in that order; an argument that the call "
        "leaves out needs a default, as in the task"
    )


_POSITIONS = (
    "an index must be a whole number, and this one is not: n / 2 is a float, n // 2 is not; `for i in x` gives the "
    "numbers in x, `for i in range(len(x))` gives their positions"
)
_CALLED = "[...] after a function, which is called with (...)"
_USED_UP = "[...] after what can only be gone through: make a list of it first, list(...)"
_FIXED = (
    "a float result does not fit into an integer array: use a float array, or x = x - y, not x -= y"
)

ERRORS = (
    (
        "TypeError",
        ("NoneType",),
        "None is used as a value: it comes from a function without `return`, such as x.sort(), is what a variable "
        "began with, or stands for what is missing in the data",
    ),
    (
        "TypeError",
        ("list indices must be integers or slices, not tuple",),
        "a list takes one index at a time, x[i][j]: x[i, j] is for arrays",
    ),
    ("TypeError", ("indices must be integers",), _POSITIONS),
    (
        "TypeError",
        ("Python scalar",),
        "a function for one number got a whole array: math.exp and its like take one number, np.exp takes arrays",
    ),
    ("TypeError", ("function' object is not sub", "method' object is not sub"), _CALLED),
    ("TypeError", ("function_or_method' object is not sub", "'type' object is not sub"), _CALLED),
    (
        "TypeError",
        tuple(f"'{kind}' object is not sub" for kind in ("zip", "map", "filter", "enumerate")),
        _USED_UP,
    ),
    ("TypeError", ("'generator' object is not sub", "'dict_", "'set' object is not sub"), _USED_UP),
    (
        "TypeError",
        ("'int' object is not sub", "'float' object is not sub", "'bool' object is not sub"),
        "[...] after a single number, which has no entries: is it an array in the task?",
    ),
    (
        "NameError",
        (),
        "a name that does not exist: a misspelling, a missing import, or a cell above that has not been run",
    ),
    ("UnboundLocalError", (), "a name is used before it gets its value"),
    ("SystemExit", (), "exit() and quit() stop the whole notebook: use return"),
    (
        "ValueError",
        ("does not have enough dimensions",),
        (
            "@ got a single number, not an array: a sum over all entries, or one entry of an array (or of a list "
            "made with `list += array`)"
        ),
    ),
    (
        "ValueError",
        ("matmul", "broadcast", "aligned"),
        "shapes that do not fit: write the shape of each operand beside the line, starting from the call below",
    ),
    (
        "ValueError",
        ("truth value of an array",),
        "`if` and `and` want one truth value, as max, min, `not` and `in` do, and an array has many: use np.where, "
        "np.maximum, & or |",
    ),
    (
        "ValueError",
        ("inhomogeneous",),
        "the rows of an array must be equally long, and these are not",
    ),
    (
        "ValueError",
        ("setting an array element with a sequence",),
        (
            "a whole array is stored where one number belongs: x[i] is one entry only if i has as "
            "many numbers as x has axes"
        ),
    ),
    (
        "ValueError",
        ("mismatch in send count",),
        "the array for the sum has another length than the summand: make a new one for each sum, with "
        "np.empty_like(summand)",
    ),
    ("IndexError", ("only integers", "must be of integer"), _POSITIONS),
    ("IndexError", ("too many indices",), "more indices than the array has axes: print its shape"),
    (
        "IndexError",
        ("boolean index",),
        "a mask of True and False must be as long as the axis that it chooses from",
    ),
    (
        "IndexError",
        ("pop from empty",),
        "pop() of an empty list: nothing was put in, or all is taken",
    ),
    (
        "IndexError",
        ("out of range", "out of bounds"),
        "an index beyond the end: axes and lists run from 0 to length - 1",
    ),
    (
        "ZeroDivisionError",
        (),
        "a divisor is 0 here: such as a size, a count or a rank that can be 0, or a difference of equal numbers",
    ),
    ("RecursionError", (), "a function calls itself without end"),
    (
        "UFuncTypeError",
        ("dtype('float64') to dtype('int", "dtype('float32') to dtype('int"),
        _FIXED,
    ),
)
