"""Values as JSON and back, without pickle: what arrives can be wrong, but it cannot run anything.

Arrays keep dtype, shape, order, read-only flag and bits (NaN payloads too); two arguments that are one array stay one.
What is no data (functions, the check's own objects) travels as a number, by which the other side can call it.
"""

import base64
import dataclasses
import fractions
import functools
import sys
from typing import Any

import numpy as np

KINDS = "biufcSU"  # of the dtypes that travel
DEPTH = 40
# of course_lib: their records travel
PACKAGES = ("data", "serial", "threads", "gpu", "mpi", "measure")
PLACES = tuple(f"course_lib.{name}" for name in PACKAGES)
CONTAINER = ("__len__", "__getitem__", "__setitem__", "__contains__")
SHOWN = (*CONTAINER, "__enter__", "__exit__", "__next__", "__iter__")


class NotData(TypeError):
    """A value that cannot travel, or a text that is none of ours."""


def pack(value, refer, memo=None, depth=0) -> Any:
    """`value` in JSON's types. refer(object) -> a number for what is no data; memo: {id: (place, object)} so far."""
    memo = {} if memo is None else memo
    if value is None or isinstance(value, bool | str | int):
        return int(value) if isinstance(value, int) and type(value) not in (int, bool) else value
    if depth > DEPTH:
        raise NotData("a value nested too deeply")
    if id(value) in memo:
        return {"same": memo[id(value)][0]}
    if hasattr(value, "_peer_number"):  # an object of the other side goes home
        return {"object": value._peer_number, "yours": True}
    stays = isinstance(value, np.ndarray) and hasattr(value, "board")  # it is seen from there
    view = _view(value, memo) if isinstance(value, np.ndarray) and not stays else None
    if isinstance(value, np.ndarray | list | dict | np.random.Generator):
        memo[id(value)] = len(memo), value
    if view:
        return view
    if stays:
        values = _array(value.view(np.ndarray))
        return {"object": refer(value.board), "calls": True, "values": values}
    return _formed(value, refer, memo, depth)


def _formed(value, refer, memo, depth):
    """What is packed by its type."""

    def packed(part):
        return pack(part, refer, memo, depth + 1)

    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in KINDS:
        return _array(value)
    for kind, to_json in FORMS:
        if isinstance(value, kind):
            return to_json(value, packed)
    if type(value) is tuple:
        return {"tuple": [packed(part) for part in value]}
    if _ours(type(value)):
        parts = [packed(getattr(value, name)) for name in _fields(type(value))]
        return {"record": f"{type(value).__module__}:{type(value).__qualname__}", "parts": parts}
    return {"object": refer(value), **_about(value)}


def unpack(given, resolve, memo=None) -> Any:
    """The value that `pack` was given. resolve(number, about) -> what stands for an object. Raises NotData."""
    memo = [] if memo is None else memo
    if given is None or isinstance(given, bool | str | int):
        return given
    if not isinstance(given, dict) or not given:
        raise NotData(f"{given!r:.60} is no value")
    kind = next(iter(given))
    try:
        if kind == "same":
            return memo[given["same"]]
        if kind == "object":
            return _object(given, resolve, memo)
        if kind in LAID:
            return LAID[kind](given, memo)
        read = functools.partial(unpack, resolve=resolve, memo=memo)
        return _record(given, read) if kind == "record" else READ[kind](given[kind], read, memo)
    except NotData:
        raise
    except Exception as error:
        raise NotData(
            f"{kind!r:.40} of a value cannot be read: {type(error).__name__}: {error}"
        ) from None


def _object(given, resolve, memo):
    made = resolve(int(given["object"]), given)
    if "values" in given:
        memo.append(made)
    return made


def _array(value):
    order = _order(value)
    data = base64.b64encode(value.tobytes("F" if order == "F" else "C")).decode()
    made = {"array": value.dtype.str, "shape": list(value.shape), "order": order, "data": data}
    return made if order == "scalar" or value.flags.writeable else made | {"fixed": True}


def _order(value):
    """How the numbers lie in memory."""
    if isinstance(value, np.generic):
        return "scalar"
    if value.flags.c_contiguous:
        return "C"
    return "F" if value.flags.f_contiguous else "gaps"


def _view(value, memo):
    """`value` as a part of an array that travels already, or None. So A.T stays a view of A on the other side."""
    start, end = np.lib.array_utils.byte_bounds(value)
    for place, other in memo.values() if value.size else ():
        if not isinstance(other, np.ndarray) or value.dtype != other.dtype:
            continue
        first, last = np.lib.array_utils.byte_bounds(other)
        if first <= start and end <= last and _order(other) != "gaps":
            offset = value.__array_interface__["data"][0] - first
            made = {"view": place, "offset": offset, "fixed": not value.flags.writeable}
            return made | {"shape": list(value.shape), "strides": list(value.strides)}
    return None


def _from_view(given, memo):
    base = memo[given["view"]]
    shape, strides = tuple(map(int, given["shape"])), tuple(map(int, given["strides"]))
    flat = base.reshape(-1, order="A")
    data = flat.data if flat.flags.writeable else flat.data.toreadonly()
    # NumPy checks that it stays inside
    made = np.ndarray(shape, base.dtype, data, int(given["offset"]), strides)
    made.flags.writeable = base.flags.writeable and not given["fixed"]
    memo.append(made)
    return made


def _from_array(given, memo):
    dtype, shape, order = dtype_of(given["array"]), tuple(given["shape"]), given["order"]
    if any(type(n) is not int or n < 0 for n in shape):
        raise NotData(f"no array: {given['array']!r:.40} {given['shape']!r:.60}")
    flat = np.frombuffer(base64.b64decode(given["data"], validate=True), dtype)
    if order == "scalar":
        return flat[0]
    laid: Any = "F" if order == "F" else "C"
    made = flat.reshape(shape, order=laid).copy(laid)
    if order == "gaps" and shape:
        spread = np.zeros((*shape[:-1], 2 * shape[-1]), dtype)
        spread[..., ::2] = made
        made = spread[..., ::2]
    made.flags.writeable = not given.get("fixed")
    memo.append(made)
    return made


def dtype_of(text):
    """A dtype of plain numbers or texts, from its name."""
    dtype = np.dtype(text) if isinstance(text, str) and len(text) <= 20 else None
    if dtype is None or dtype.kind not in KINDS or dtype.fields:
        raise NotData(f"no dtype that travels: {text!r:.40}")
    return dtype


def _ours(kind):
    """Is it a named tuple or a dataclass of course_lib?"""
    record = dataclasses.is_dataclass(kind) or (
        issubclass(kind, tuple) and hasattr(kind, "_fields")
    )
    return record and kind.__module__.startswith(PLACES) and "<" not in kind.__qualname__


def _fields(kind):
    if issubclass(kind, tuple):
        return kind._fields
    return [field.name for field in dataclasses.fields(kind) if field.init]


def _record(given, read):
    module, _, name = given["record"].partition(":")
    if not module.startswith(PLACES):
        raise NotData(f"no record of the course: {given['record']!r:.60}")
    kind: Any = sys.modules[module]  # never imported for it: an import runs code
    for part in name.split("."):
        kind = vars(kind)[part]
    if not (isinstance(kind, type) and _ours(kind)):
        raise NotData(f"no record of the course: {given['record']!r:.60}")
    return kind(**dict(zip(_fields(kind), map(read, given["parts"]), strict=True)))


def _about(value):
    """What can be said of an object that stays where it is."""
    code = getattr(value, "__code__", None)
    return {
        "type": type(value).__name__,
        "name": str(getattr(value, "__name__", ""))[:80],
        "calls": callable(value),
        "has": [n for n in SHOWN if hasattr(type(value), n)],
        "takes": list(code.co_varnames[: code.co_argcount]) if code is not None else None,
    }


def _type_name(kind):
    if kind in (table.get(kind.__name__) for table in (SCALARS, ERRORS, NUMBERS)):
        return kind.__name__
    raise NotData(f"the type {kind.__name__} does not travel")


def _list(items, read, memo):
    made: list = []
    memo.append(made)
    made.extend(read(item) for item in items)
    return made


def _dict(pairs, read, memo):
    made: dict = {}
    memo.append(made)
    made.update((read(key), read(item)) for key, item in pairs)
    return made


def _bits(state, packed):
    return {"kind": state["bit_generator"], "state": packed(state)}


def _generator(state, read, memo):
    kinds = (np.random.PCG64, np.random.MT19937, np.random.Philox)
    bits = {kind.__name__: kind for kind in kinds}[state["kind"]]()
    made = np.random.Generator(bits)
    memo.append(made)
    bits.state = read(state["state"])
    return made


LAID = {"array": _from_array, "view": _from_view}
SCALARS = {
    kind.__name__: kind
    for kind in (bool, int, float, complex, str, bytes, list, tuple, dict, set, object)
}
ERRORS = {
    kind.__name__: kind
    for kind in vars(__import__("builtins")).values()
    if isinstance(kind, type) and issubclass(kind, BaseException)
}
NUMBERS = {
    name: kind
    for name, kind in vars(np).items()
    if isinstance(kind, type) and issubclass(kind, np.generic | np.ndarray)
}
TYPES = NUMBERS | ERRORS | SCALARS
# (type, to JSON), tried in this order before the general rules of `pack`; back by the first key of the JSON.
FORMS: list = [
    (float, lambda v, p: {"float": float.hex(v)}),
    (complex, lambda v, p: {"complex": [v.real.hex(), v.imag.hex()]}),
    (bytes, lambda v, p: {"bytes": base64.b64encode(v).decode()}),
    (list, lambda v, p: {"list": [p(x) for x in v]}),
    (dict, lambda v, p: {"dict": [[p(k), p(x)] for k, x in v.items()]}),
    (type, lambda v, p: {"type": _type_name(v)}),
    (set, lambda v, p: {"set": [p(x) for x in v]}),
    (frozenset, lambda v, p: {"frozenset": [p(x) for x in v]}),
    (range, lambda v, p: {"range": [v.start, v.stop, v.step]}),
    (slice, lambda v, p: {"slice": [p(v.start), p(v.stop), p(v.step)]}),
    (fractions.Fraction, lambda v, p: {"fraction": [v.numerator, v.denominator]}),
    (np.dtype, lambda v, p: {"dtype": v.str}),
    (np.random.Generator, lambda v, p: {"generator": _bits(v.bit_generator.state, p)}),
    (type(Ellipsis), lambda v, p: {"special": "Ellipsis"}),
    (type(NotImplemented), lambda v, p: {"special": "NotImplemented"}),
]
READ: dict = {
    "float": lambda v, r, m: float.fromhex(v),
    "complex": lambda v, r, m: complex(*map(float.fromhex, v)),
    "bytes": lambda v, r, m: base64.b64decode(v, validate=True),
    "list": _list,
    "dict": _dict,
    "tuple": lambda v, r, m: tuple(r(x) for x in v),
    "set": lambda v, r, m: {r(x) for x in v},
    "frozenset": lambda v, r, m: frozenset(r(x) for x in v),
    "range": lambda v, r, m: range(*v),
    "slice": lambda v, r, m: slice(*map(r, v)),
    "fraction": lambda v, r, m: fractions.Fraction(*v),
    "dtype": lambda v, r, m: dtype_of(v),
    "generator": _generator,
    "special": lambda v, r, m: {"Ellipsis": Ellipsis, "NotImplemented": NotImplemented}[v],
    "type": lambda v, r, m: TYPES[v],
}
