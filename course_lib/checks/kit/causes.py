"""Likely causes that fit any task: transposed, a factor, a sign, NaN, a forgotten return, and their like.

Each rule gets the mismatches of one part in all failing cases, and answers with a sentence or None.
"""

import numpy as np

from course_lib.checks.kit.tolerance import is_wrong
from course_lib.machines.rehearsal.memory.unwritten import is_unwritten


def likely_cause(misses, results, right=()):
    """A sentence on the likely cause, or None. misses: [(Mismatch, result)], one kind; results: of all cases.

    right: the same of the cases in which this part is right; what a cause says of all cases must hold in them too.
    """
    right = list(right)
    rules = {
        "values": VALUES,
        "shape": SHAPES,
        "none": (_nothing,),
        "type": (_wrong_type,),
        "dtype": (_wrong_dtype,),
        "structure": (_empty_list, _flat_list),
    }
    for rule in rules.get(misses[0][0].kind, ()):
        text = rule([*misses, *right] if rule in EVERYWHERE else misses)
        if text:  # of one part: nothing is said of the others
            name = misses[0][0].name
            return text if name == "the result" else text.replace("your result", name)
    return _only_square(results)


# Values differ ------------------------------------------------------------------------------------------------


def _not_finite(misses):
    """Of the case shown alone: a NaN elsewhere is not what the student sees."""
    miss, result = misses[0]
    if not (~np.isfinite(miss.got) & np.isfinite(miss.want)).any():
        return None
    if result.inplace and np.isnan(miss.got).any():
        count = int(np.isnan(miss.got).sum())
        return f"{count} entries were never written, or added to: the array arrives full of NaN on purpose"
    if is_unwritten(miss.got):
        return (
            "np.empty holds whatever the memory held before, here NaN on purpose: a number is read or added to "
            "before it is written, or never written; np.zeros begins with zeros"
        )
    if np.isnan(miss.got).any():
        return (
            "NaN comes from 0 / 0, inf - inf, inf / inf, the logarithm or square root of a negative number, or from "
            "another NaN: in an argument, or your own np.nan"
        )
    return (
        "infinity comes from a division by zero, log(0) or exp of a large number, or it is a start value of yours, "
        "such as np.inf, that nothing has replaced"
    )


def _truncated(misses):
    if sum(m.got.size for m, _ in misses) < 2:  # one whole number may be anything
        return None
    for how, cut in (
        ("cut off: an integer array, an int dtype, int(...), or // instead of /", np.trunc),
        ("rounded down: // instead of /, or a floor", np.floor),
        ("rounded: return the numbers as they are", np.round),
    ):
        if all(np.array_equal(m.got, cut(m.want)) and m.want.dtype.kind == "f" for m, _ in misses):
            return f"the fractions are {how}"
    return None


def _few_digits(misses):
    """Right as far as some digits go, over enough entries not to be luck: rounded, narrow, or approximate."""
    wide = misses[0][0].tolerance
    if not wide or wide.digits is not None or sum(m.got.size for m, _ in misses) < 4:
        return None
    if sum(int(m.wrong.sum()) for m, _ in misses) < sum(m.got.size for m, _ in misses) / 2:
        return None  # a few numbers alone are off: these have another cause
    error = max(_relative_error(m) for m, _ in misses)
    decimals = next((d for d in range(9) if all(_has_decimals(m, d) for m, _ in misses)), None)
    if decimals and error < 0.2:  # 0 decimals: told elsewhere
        return f"your numbers are rounded to {decimals} decimals: return them as they are"
    for narrow in ("float16", "float32"):
        if np.finfo(narrow).eps > wide.eps and all(_is_narrow(m, narrow) for m, _ in misses):
            return (
                f"all your numbers have only {narrow} precision: somewhere they are converted to it"
            )
    if error <= 1e-3:
        return f"right to about {int(-np.log10(error))} digits only"
    return None


def _clipped(misses):
    """No number beyond one that several reach, and all others right: each is a limit that cuts what lies beyond it."""
    if any(m.want.dtype.kind != "f" or not np.isfinite(m.got).all() for m, _ in misses):
        return None
    got = np.concatenate([np.float64(m.got).ravel() for m, _ in misses])
    low, high = (float(got.min()), float(got.max())) if got.size else (0.0, 0.0)
    cut = [np.clip(m.want, low, high) for m, _ in misses]
    if low == high or not all(
        _near(c, m, like=m.got) for c, (m, _) in zip(cut, misses, strict=True)
    ):
        return None
    ends = [(f"above {high:.6g}", high, 1), (f"below {low:.6g}", low, -1)]
    said = [
        text for text, end, way in ends if _beyond(misses, end, way) > 1 and (got != end).sum() > 2
    ]
    return f"no number is {' or '.join(said)}: something clips the values" if said else None


def _beyond(misses, end, way):
    """How many wrong numbers ought to lie beyond this end."""
    return sum(
        int((m.wrong & (way * m.want > way * end)).sum()) for m, _ in misses if m.wrong is not None
    )


def _is_narrow(miss, narrow):
    """Do all numbers fit into the narrow dtype, and are they as near to the right ones as it can be?"""
    with np.errstate(all="ignore"):
        same = np.array_equal(miss.got.astype(narrow).astype(np.float64), np.float64(miss.got))
        near = _relative_error(miss) <= 8 * float(np.finfo(narrow).eps)
    return same and near


def _relative_error(miss):
    """The largest error over the largest |wanted|; infinite where something is not finite."""
    scale = float(np.abs(miss.want).max(initial=0.0))
    error = (
        float(np.abs(np.float64(miss.got) - miss.want).max(initial=0.0))
        if np.isfinite(miss.got).all()
        else np.inf
    )
    return error / scale if scale and error == error else np.inf


def _has_decimals(miss, decimals):
    """Numbers of so many decimals, as near to the right ones as rounding leaves them: 0.25 for 0.2424 is another."""
    near = np.abs(np.float64(miss.got) - miss.want).max(initial=0.0) < 0.51 * 10.0**-decimals
    return (
        near
        and np.array_equal(np.round(miss.got, decimals), miss.got)
        and not np.array_equal(np.round(miss.want, decimals), miss.want)
    )


def _zeros(misses):
    if not any(m.got.any() for m, _ in misses):
        return "all zeros: never written, or every number was turned into 0"
    return None


def _input_itself(misses):
    names = [
        {
            n
            for n, arg in r.named_arrays()
            if arg.shape == m.got.shape and np.array_equal(arg, m.got)
        }
        for m, r in misses
    ]
    common = set.intersection(*names)
    return f"your function returns its argument {sorted(common)[0]} unchanged" if common else None


def _transposed_values(misses):
    square = [m for m, _ in misses if m.got.ndim == 2 and m.got.shape[0] == m.got.shape[1] > 1]
    if square and len(square) == len(misses) and all(_near(m.got.T, m) for m in square):
        return "your result is transposed: rows and columns are swapped"
    return None


def _sign(misses):
    if all(_near(-np.float64(m.got), m) for m, _ in misses):
        return "the sign is flipped: your result is minus the expected one everywhere"
    return None


def _factor(misses):
    factors = [_factor_of(m) for m, _ in misses]
    if any(f is None for f in factors):
        return None
    text = _size_factor(misses, factors)
    enough = len(misses) > 1 or misses[0][0].want.size > 1
    if text is None and enough and _is_one_factor(factors):
        text = f"your result is {factors[0]:.6g} times the expected one everywhere: a constant factor is off"
    return text or _own_factors(misses, factors)


def _own_factors(misses, factors):
    """A factor in each case, another one in each: enough numbers say so in all that are wrong."""
    pairs = [(m, f) for (m, _), f in zip(misses, factors, strict=True) if m.wrong is not None]
    wrong = [(m, f) for m, f in pairs if m.wrong.any()]
    if len(wrong) < 2 or any(m.want.size < 2 or f < 0 or abs(f - 1) < 1e-3 for m, f in wrong):
        return None
    return f"all numbers of a case are off by one factor, here {factors[0]:.6g}: a divisor or a weight is wrong"


def _is_one_factor(factors):
    """The same in all cases, and farther from 1 than from each other: a right case has 1."""
    spread = float(np.ptp(factors))
    return spread <= 1e-4 * abs(factors[0]) and 10 * spread < min(abs(f - 1) for f in factors)


def _size_factor(misses, factors):
    """A factor that is the length of an argument's axis in every case: a mean taken for a sum, or the reverse."""
    for name, axis in _axes_of(misses[0][1]):
        arrays = [dict(r.named_arrays()).get(name, np.zeros(0)) for _, r in misses]
        if any(array.ndim <= axis for array in arrays):
            continue
        sizes = [array.shape[axis] for array in arrays]
        if not set(sizes) - {0, 1, 2}:  # a factor of 2 has too many other causes
            continue
        which = f"the length of axis {axis} of {name}"
        if np.allclose(factors, sizes, rtol=1e-3):
            return f"your result is {which} ({sizes[0]} here) times the expected one: a sum instead of a mean?"
        if np.allclose(np.multiply(factors, sizes), 1, rtol=1e-3):
            divided = f"your result is the expected one divided by {which} ({sizes[0]} here)"
            return f"{divided}: a mean instead of a sum, or too large a count?"
    return None


def _axes_of(result):
    return [(name, axis) for name, arg in result.named_arrays() for axis in range(arg.ndim)]


def _factor_of(miss):
    got, want = np.float64(miss.got), np.float64(miss.want)
    square = float((want * want).sum())
    if not square or not np.isfinite(square) or not np.isfinite(got).all():
        return None
    factor = float((got * want).sum()) / square
    slack = _slack(miss) * max(1.0, abs(factor)) * 4
    right = factor and not is_wrong(got, factor * want, slack).any()
    return factor if right else None


def _offset(misses):
    """A constant added, over enough different numbers not to be luck; the largest tolerance must not hide it."""
    offsets = [np.float64(m.got) - m.want for m, _ in misses]
    numbers = {float(x) for m, _ in misses for x in np.ravel(m.want)}
    if not all(np.isfinite(o).all() for o in offsets) or min(len(misses), len(numbers) - 2) < 2:
        return None
    first = float(offsets[0].flat[0]) if offsets[0].size else 0.0
    slack = 4 * max(_slack(m) for m, _ in misses)
    if slack < abs(first) / 100 and all(_near(m.got - first, m, 4) for m, _ in misses):
        more = "more" if first > 0 else "less"
        return f"your result is {abs(first):.6g} {more} than expected in every entry of every case"
    return None


def _constant(misses):
    values = {float(v) for m, _ in misses for v in np.unique(m.got)[:2]}
    if (
        len(values) == 1
        and len(misses) > 1
        and any(np.ptp(np.float64(m.want)) for m, _ in misses if m.want.size)
    ):
        return f"every entry is {values.pop():.6g}, whatever the input: the result does not depend on it"
    return None


def _ignores_input(misses):
    first = misses[0][0]
    if len(misses) > 1 and all(
        m.got.shape == first.got.shape and np.array_equal(m.got, first.got) for m, _ in misses
    ):
        return "the same result for every input: do you use the arguments, or variables of the notebook?"
    return None


def _gives_up(misses):
    """Whole numbers: right up to one of them, and the same wrong one for all that are larger."""
    if any(m.got.size != 1 or m.want.size != 1 for m, _ in misses):
        return None
    pairs = [(float(np.ravel(m.want)[0]), float(np.ravel(m.got)[0])) for m, _ in misses]
    right, wrong = ([p for p in pairs if (p[0] == p[1]) == well] for well in (True, False))
    far = max(right, default=(np.inf,))[0]
    same = len({got for _, got in wrong}) == 1 and wrong[0][1] < min(wrong)[0]
    if len(right) < 3 or not same or min(wrong)[0] <= far or any(want % 1 for want, _ in pairs):
        return None
    if len({want for want, _ in right if want}) < 2:  # right at one number alone, or at none
        return None
    beyond = f"right up to {far:.0f}, and {wrong[0][1]:.0f} where the right number is larger"
    return f"{beyond}: a search that ends too early?"


def _other_order(misses):
    if any(m.got.size < 3 for m, _ in misses):
        return None
    for axis in range(misses[0][0].got.ndim):
        if all(m.got.ndim > axis and _near(np.flip(m.got, axis), m) for m, _ in misses):
            return f"the right values in reversed order along axis {axis}"
    if all(m.got.ndim == 2 and _is_laid_by_columns(m) for m, _ in misses):
        return (
            "the right numbers in another order in memory: written row by row and read column by column, or the "
            "reverse (a transpose, order='F', or a reshape with the axes exchanged)"
        )
    if all(_near_sorted(m) and len(np.unique(m.want)) > 2 for m, _ in misses):
        return "the right values in the wrong order"
    return None


def _one_slice(misses):
    """All that is wrong lies at one index of an axis, in every case the first or the last."""
    for axis in range(misses[0][0].got.ndim):
        ends = {_which_end(m.wrong, axis) for m, _ in misses}
        if len(misses) > 1 and len(ends) == 1 and None not in ends:
            return f"only the {ends.pop()} entries along axis {axis} are wrong, in every case that fails"
    return None


def _which_end(wrong, axis):
    if wrong.ndim <= axis or wrong.shape[axis] < 2:
        return None
    at = np.flatnonzero(wrong.any(axis=tuple(a for a in range(wrong.ndim) if a != axis)))
    return {0: "first", wrong.shape[axis] - 1: "last"}.get(int(at[0])) if len(at) == 1 else None


# Shapes, types and the rest -----------------------------------------------------------------------------------


def _rows_dropped(misses):
    """As many rows as an argument has entries that are not 0, and these the right ones."""
    for name, arg in misses[0][1].named_arrays():
        kept = [(m, dict(r.named_arrays()).get(name, arg) != 0) for m, r in misses]
        if arg.ndim == 1 and all(_is_rest(m, at) for m, at in kept):
            return f"the rows where {name} is 0 are missing: the result has a row for each of them, too"
    return None


def _is_rest(miss, kept):
    """Is a result that of some rows alone?"""
    fits = np.ndim(miss.want) and kept.shape == np.shape(miss.want)[:1] and not kept.all()
    return fits and np.ndim(miss.got) and _near(miss.got, miss, like=np.asarray(miss.want)[kept])


def _transposed_shape(misses):
    if all(np.ndim(m.got) == 2 and np.shape(m.got.T) == np.shape(m.want) for m, _ in misses):
        if all(_near(m.got.T, m) for m, _ in misses):
            return "your result is transposed: rows and columns are swapped"
        return "rows and columns of the shape are swapped"
    return None


def _same_values(misses):
    if all(
        np.size(m.got) == np.size(m.want) and _near(np.reshape(m.got, np.shape(m.want)), m)
        for m, _ in misses
    ):
        return "the values are right, but the shape is not: look at keepdims, reshape, indexing with [:, 0]"
    return None


def _unsummed(misses):
    for axis in range(max(np.ndim(m.got) for m, _ in misses)):
        for verb, reduce in (("sum", np.sum), ("mean", np.mean)):
            if all(_reduced(m, reduce, axis) for m, _ in misses):
                return f"a {verb} over axis {axis} is missing: with it your result would be right"
    for verb, reduce in (("sum", np.sum), ("mean", np.mean)):
        if all(
            np.ndim(m.want) == 0 and np.ndim(m.got) and _near(reduce(m.got), m) for m, _ in misses
        ):
            return f"a {verb} over all entries is missing: with it your result would be right"
    return None


def _reduced(miss, reduce, axis):
    got = np.asarray(miss.got)
    return got.ndim > axis and got.size and _near(reduce(got, axis=axis), miss)


def _over_reduced(misses):
    if all(np.ndim(m.got) == 0 and np.ndim(m.want) for m, _ in misses):
        for verb, reduce in (("sum", np.sum), ("mean", np.mean), ("maximum", np.max)):
            if all(np.size(m.want) and _is_of_all(m, reduce) for m, _ in misses):
                return f"the {verb} runs over all axes and gives one number, not an array: name the axis (axis=0)"
    return None


def _is_of_all(miss, reduce):
    return bool(np.isclose(float(miss.got), float(reduce(miss.want)), rtol=1e-3, atol=1e-5))


def _outer(misses):
    pairs = [(np.shape(m.got), np.shape(m.want)) for m, _ in misses]
    if all(len(g) == 2 and g[0] == g[1] and w in ((g[0],), (g[0], 1)) for g, w in pairs) and all(
        _near(np.diagonal(m.got), m, like=np.ravel(m.want)) for m, _ in misses
    ):
        return (
            "arrays of shape (n,) and (n, 1) met and broadcast to (n, n): give both the same shape"
        )
    return None


def _nothing(misses):
    name, printed = misses[0][0].name, all(r.answer.printed.strip() for _, r in misses)
    if not printed and (empty := _empty_in(misses)):
        return f"{empty} is empty there, and None comes back: something is wanted for it, too"
    if name != "the result":  # a part of what was returned
        why = (
            "do you print it instead of returning it"
            if printed
            else "was it never set in these cases"
        )
        return f"{name} is None where it should hold a value: {why}?"
    if printed:
        return "it prints its result instead of returning it: end with `return ...`"
    return "no `return` was reached, or what it returns is None, as x.sort() is: end your function with `return ...`"


def _empty_list(misses):
    if any(len(m.got) for m, _ in misses):
        return None
    if name := _empty_in(misses):
        return (
            f"{name} is empty there, and so is what you return: something is wanted for it, too. Is it an early "
            "`return`, or a list that is filled only inside of the loop?"
        )
    return (
        "nothing is in it: nothing was put in, or a generator, zip or map was gone through a second time, when it "
        "is used up; make a list of it first"
    )


def _empty_in(misses):
    """The name of an argument that is a list of nothing in all of these cases, or None."""
    named = [
        {
            n
            for n, arg in zip(r.names, r.case.args, strict=False)
            if isinstance(arg, (list, tuple)) and not arg
        }
        for _, r in misses
    ]
    return min(set.intersection(*named), default=None)


def _flat_list(misses):
    if all(isinstance(m.want, list) and _flattened(m.want) == len(m.got) for m, _ in misses):
        return "one flat list: each pair belongs in a tuple of its own, [(dW, db), ...]"
    return None


def _flattened(want):
    return sum(len(each) for each in want if isinstance(each, tuple))


def _wrong_type(misses):
    miss = misses[0][0]
    if isinstance(miss.got, list) and isinstance(miss.want, np.ndarray):
        return "a Python list: make it an array with np.array(...), or compute on whole arrays"
    if isinstance(miss.got, tuple):
        return "a tuple: an extra comma after `return`, or more values than the task wants"
    if isinstance(miss.got, np.ndarray) and miss.got.dtype == object:
        return "an array of Python objects: its rows have different lengths, or None is among them"
    if callable(miss.got):
        return "a function: did you forget the parentheses, as in x.sum instead of x.sum()?"
    return None


def _wrong_dtype(misses):
    got, want = misses[0][0].got.dtype, misses[0][0].want.dtype
    if misses[0][0].what.endswith("a Python float"):
        return "float(...) turns it into a Python float"
    if want.kind == "f" and got.kind == "b":
        wanted = misses[0][0].what.rsplit(", not ", 1)[-1]
        return f"a comparison gives bool: use .astype({'float' if wanted == 'float' else 'np.' + wanted})"
    if want.kind == "f" and got.kind in "iu":
        return f"whole numbers: give the array a float dtype, {misses[0][0].what.rsplit(', not ', 1)[-1]}"
    if want.kind == "f" and got.name == "float64":
        return (
            "a float64 slipped in: np.zeros, np.ones, np.eye and np.random make float64 unless told dtype=, and so "
            "does an array of float32 with a float64 or int64 of NumPy's, such as np.sum(sizes) or x.sum(dtype=float)"
        )
    if want.kind in "iu" and got.kind == "f":
        return "floats instead of whole numbers: use an integer dtype, such as np.int64"
    return None


def _only_square(results):
    right = [r for r in results if not r.misses]
    wrong = [r for r in results if r.misses]
    if right and all(r.is_square() for r in right) and not any(r.is_square() for r in wrong):
        return "right on square shapes only: somewhere the two axes are mixed up"
    return None


# Helpers ------------------------------------------------------------------------------------------------------


def _slack(miss):
    if miss.tolerance:
        return float(np.max(miss.tolerance.value, initial=0.0))
    return 1e-5 * float(np.abs(np.float64(miss.want)).max(initial=0.0))


def _near(got, miss, times=1, like=None):
    want = np.asarray(miss.want if like is None else like)
    got = np.asarray(got)
    return got.shape == want.shape and not is_wrong(got, want, times * _slack(miss)).any()


def _is_laid_by_columns(miss):
    rows, columns = miss.want.ravel(), miss.want.ravel("F")
    orders = (miss.got.ravel(), columns), (miss.got.ravel("F"), rows)
    return min(miss.want.shape) > 1 and any(
        not is_wrong(mine, theirs, _slack(miss)).any() for mine, theirs in orders
    )


def _near_sorted(miss):
    return not is_wrong(
        np.sort(miss.got, axis=None), np.sort(miss.want, axis=None), _slack(miss)
    ).any()


VALUES = (
    _not_finite,
    _zeros,
    _input_itself,
    _transposed_values,
    _sign,
    _clipped,
    _few_digits,
    _factor,
    _constant,
    _ignores_input,
    _truncated,
    _offset,
    _gives_up,
    _other_order,
    _one_slice,
)
EVERYWHERE = {
    _zeros,
    _input_itself,
    _transposed_values,
    _sign,
    _clipped,
    _factor,
    _constant,
    _ignores_input,
    _truncated,
    _offset,
    _gives_up,
    _other_order,
}
SHAPES = (_rows_dropped, _transposed_shape, _same_values, _unsummed, _over_reduced, _outer)
