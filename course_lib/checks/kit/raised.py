"""Likely causes of exceptions that students meet."""


def cause_of_error(error):
    """A sentence on the likely cause, or None. error: "ValueError: message"."""
    for kind, words, cause in ERRORS:
        if error.startswith(kind) and (not words or any(word in error for word in words)):
            return cause
    return None


_POSITIONS = (
    "an index must be a whole number, and this one is not: `for i in x` gives the numbers in x, `for i in "
    "range(len(x))` gives their positions"
)
_FIXED = (
    "a float result does not fit into an integer array: use a float array, or x = x - y, not x -= y"
)

ERRORS = (
    (
        "TypeError",
        ("positional argument", "keyword argument"),
        "the function must take the arguments of the call below, in that order; an argument that the call "
        "leaves out needs a default, as in the task",
    ),
    (
        "TypeError",
        ("NoneType",),
        "None is used as a value: it comes from a function without `return`, or stands for what is missing in the data",
    ),
    ("TypeError", ("indices must be integers",), _POSITIONS),
    (
        "TypeError",
        ("Python scalar",),
        "a function for one number got a whole array: math.exp and its like take one number, np.exp takes arrays",
    ),
    (
        "TypeError",
        ("not subscriptable",),
        "[...] after a single number, which has no entries: is it an array in the task?",
    ),
    (
        "NameError",
        (),
        "a name that does not exist: a misspelling, or a cell above that has not been run",
    ),
    ("UnboundLocalError", (), "a name is used before it gets its value"),
    ("SystemExit", (), "exit() and quit() stop the whole notebook: use return"),
    (
        "ValueError",
        ("does not have enough dimensions",),
        (
            "@ got a single number: you passed one entry of an array (or of a list made with `list "
            "+= array`), not the array"
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
        "`if` and `and` want one truth value, and an array has many: use np.where, np.maximum, & or |",
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
    ("IndexError", ("only integers",), _POSITIONS),
    ("IndexError", ("too many indices",), "more indices than the array has axes: print its shape"),
    ("IndexError", (), "an index beyond the end: axes and lists run from 0 to length - 1"),
    (
        "ZeroDivisionError",
        (),
        "a divisor is 0 here: a size, a count or a rank that can be 0, or a difference of equal numbers",
    ),
    ("RecursionError", (), "the function calls itself without end"),
    ("UFuncTypeError", (), _FIXED),
    ("_UFuncOutputCastingError", (), _FIXED),
)
