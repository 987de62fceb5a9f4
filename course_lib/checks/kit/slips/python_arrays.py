"""Slips with arrays and functions of them: axes, reductions, transposes, dtypes, activations, order."""

import ast

OTHER_FUNCTION = {
    "sum": ("mean", "max"),
    "mean": ("sum", "median"),
    "median": ("mean", "min", "max"),
    "max": ("min", "mean", "sum"),
    "min": ("max",),
    "maximum": ("minimum",),
    "minimum": ("maximum",),
    "argmax": ("argmin",),
    "argmin": ("argmax",),
    "all": ("any",),
    "any": ("all",),
    "log": ("log2", "log1p"),
    "log1p": ("log",),
    "floor": ("ceil", "round"),
    "ceil": ("floor",),
    "sigmoid": ("np.tanh",),
    "softmax": ("sigmoid",),
    "zeros": ("ones",),
    "exp": ("expm1",),
    "permutation": ("np.arange", "np.random.permutation"),
}
MADE_OF_ONE = {
    "sigmoid",
    "softmax",
    "relu",
    "tanh",
    "exp",
    "log",
    "log1p",
    "sqrt",
    "abs",
    "max",
    "min",
    "int",
}
MADE_OF_ONE |= {"bool", "float32", "float64", "reversed", "sorted", "floor", "sigmoid_prime"}
DTYPES = ("np.float32", "np.float64", "np.int64", "float", "dtype")


def axes(place):
    """Another axis, none, or a summed axis dropped that is to be kept."""
    node = place.node
    if not isinstance(node, ast.Call):
        return
    given = {each.arg: each for each in node.keywords}
    what = place.told(node)
    for number in (0, 1) if "axis" in given else ():
        text = _with(node, "axis", str(number))
        if text != ast.unparse(node):
            yield "axis", f"{what} goes over axis {number} here: not the axis asked for", text
    for lost in [["axis", "keepdims"], ["axis"], ["keepdims"]]:
        if all(name in given for name in lost):
            text = _without(node, lost)
            missing = " and ".join(f"`{name}=`" for name in lost)
            yield "axis", f"{place.told(text)}: {missing} is missing", text
    if "axis" in given and "keepdims" not in given:
        text = ast.unparse(node)[:-1] + ", keepdims=True)"
        yield "axis", f"{place.told(text)} keeps the summed axis: leave `keepdims` out", text


def functions(place):
    """Another function of the same kind, or none."""
    node = place.node
    if not isinstance(node, ast.Call):
        return
    text, name = ast.unparse(node), ast.unparse(node.func)
    short = getattr(node.func, "attr", name)
    others = OTHER_FUNCTION.get(short, ())
    for other in others[:1] if short == name and short in ("max", "min") else others:
        new = other if "." in other else name[: -len(short)] + other
        says = f"`{other}` is taken where `{short}` belongs: {place.told(new + text[len(name) :])}"
        yield "function", says, new + text[len(name) :]
    if short in MADE_OF_ONE and len(node.args) == 1 and not node.keywords:
        inner = ast.unparse(node.args[0])
        yield "no-function", f"`{name}` is left out: {place.told(inner)} itself is taken", inner
    if short.endswith("_prime"):
        f = short.removesuffix("_prime")
        told = place.told(f"{name}({f}({ast.unparse(node.args[0])}))")
        yield (
            "slope",
            f"the derivative is taken at a, the output: {told}",
            f"{name}({f}({ast.unparse(node.args[0])}))",
        )
    if short in ("maximum", "minimum", "max", "min", "where") and len(node.args) > 1:
        for index, each in enumerate(node.args):
            if not isinstance(each, (ast.Starred, ast.GeneratorExp)):
                says = f"{place.told(each)} alone is taken: `{name}` is left out"
                yield "no-function", says, ast.unparse(each)
    if (
        short in ("sum", "mean")
        and isinstance(node.func, ast.Attribute)
        and ast.unparse(node.func.value) != "np"
    ):
        inner = ast.unparse(node.func.value)
        yield "no-function", f"{place.told(inner)} is not added up: `.{short}` is missing", inner
        if not node.keywords:
            yield (
                "function",
                "the number of entries is taken, not their sum: `len`",
                f"len({inner})",
            )
    if name == "sum" and not isinstance(node.args[0], ast.GeneratorExp):
        says = f"the number of entries of {place.told(node.args[0])} is taken, not their sum"
        yield "function", says, f"len({ast.unparse(node.args[0])})"
    if name in ("max", "min") and len(node.args) == 2 and not node.keywords:
        text = " + ".join(map(ast.unparse, node.args))
        yield "function", f"added, where `{name}` belongs: {place.told(text)}", f"({text})"
    if (
        short in ("max", "min")
        and isinstance(node.func, ast.Attribute)
        and not node.args
        and not node.keywords
    ):
        told = place.told(node.func.value)
        says = f"the last entry of {told} stands in the place of its {short}imum"
        yield "function", says, f"{ast.unparse(node.func.value)}[-1]"


def means(place):
    """A mean over all entries for a sum over one axis and a division by the other's length."""
    match place.node:
        case ast.BinOp(a, ast.Div(), _) if ast.unparse(a).count(".sum()") == 1:
            text = ast.unparse(a).replace(".sum()", ".mean()")
            yield "function", f"{place.told(text)} is the mean over all axes", text


def arguments(place):
    """Two arguments of a call exchanged; of a shape, too."""
    node = place.node
    if isinstance(node, ast.Call) and not isinstance(node.func, ast.Lambda):
        for i in range(len(node.args) - 1):
            args = list(node.args)
            args[i : i + 2] = args[i + 1], args[i]
            new = ast.Call(node.func, args, node.keywords)
            told = place.told(new)
            yield "arguments", f"two arguments are exchanged: {told}", ast.unparse(new)


def transposes(place):
    """.T left out, or one too many on what is returned."""
    match place.node:
        case ast.Attribute(value, "T"):
            yield (
                "transposed",
                f"{place.told(value)} is taken as it is: transpose it",
                ast.unparse(value),
            )
    returned = isinstance(place.parent, ast.Return) or (
        isinstance(place.parent, ast.Tuple) and place.field == "elts"
    )
    if returned and isinstance(place.node, (ast.BinOp, ast.Name)) and _is_array(place):
        text = f"({ast.unparse(place.node)}).T"
        yield "transposed", "your result is transposed: rows and columns are exchanged", text


def dtypes(place):
    """A dtype left out or changed; a copy left out."""
    node = place.node
    if not isinstance(node, ast.Call):
        return
    text, name = ast.unparse(node), ast.unparse(node.func)
    for index, each in enumerate(node.args):
        if ast.unparse(each) in DTYPES and index:
            args = [a for a in node.args if a is not each]
            new = ast.unparse(ast.Call(node.func, args, node.keywords))
            yield "dtype", f"{place.told(new)} without a dtype makes float64", new
    if any(each.arg == "dtype" for each in node.keywords):
        yield "dtype", f"the dtype of {place.told(node)} is left out", _without(node, ["dtype"])
    if name.endswith(".astype"):
        yield (
            "dtype",
            f"`.astype` is left out: {place.told(node.func.value)}",
            ast.unparse(node.func.value),
        )
    if name.endswith(".copy") and not node.args:
        says = f"a second name for {place.told(node.func.value)}, no copy: both are one array"
        yield "alias", says, ast.unparse(node.func.value)
    if name == "np.empty_like":
        of = ast.unparse(node.args[0])
        says = f"a second name for {place.told(of)}, no new array: both are one array"
        yield "alias", says, of
        yield (
            "dtype",
            f"`np.empty({of}.shape)` makes float64 whatever {place.told(of)} is",
            f"np.empty({of}.shape)",
        )


def order(place):
    """The parts of a result exchanged, or one of them alone."""
    node = place.node
    if not isinstance(node, ast.Tuple) or not isinstance(
        place.parent, (ast.Return, ast.Tuple, ast.Call, ast.Assign)
    ):
        return
    parts = [f"({ast.unparse(each)})" for each in node.elts]
    for i in range(len(parts)):
        for j in range(i + 1, len(parts)):
            new = list(parts)
            new[i], new[j] = parts[j], parts[i]
            told = f"{place.told(parts[i])} and {place.told(parts[j])}"
            yield "order", f"{told} are exchanged", f"({', '.join(new)})"
    if len(parts) == 3:
        rolled = f"({', '.join([*parts[1:], parts[0]])})"
        yield "order", f"the parts are in another order: {place.told(rolled)}", rolled
    for part in parts if isinstance(place.parent, ast.Return) and len(parts) > 1 else ():
        yield "order", f"{place.told(part)} alone is returned", part


def collections(place):
    """A list where a set is needed, one list many times, a filter left out, entries exchanged."""
    match place.node:
        case ast.SetComp(each, generators):
            says = f"equal ones are counted more than once: a list of {place.told(each)}, no set"
            yield "collection", says, ast.unparse(ast.ListComp(each, generators))
        case ast.comprehension():
            return
        case ast.ListComp(
            ast.List() | ast.Dict() as each, [ast.comprehension(iter=ast.Call(args=[n]))]
        ):
            text = f"[{ast.unparse(each)}] * ({ast.unparse(n)})"
            yield "alias", f"{place.told(text)} is one list under many names", text
        case ast.ListComp(each, [one]) | ast.GeneratorExp(each, [one]) if one.ifs:
            new = ast.ListComp(each, [ast.comprehension(one.target, one.iter, [], 0)])
            told = place.told(one.ifs[0])
            yield "collection", f"the condition {told} is left out: all are taken", ast.unparse(new)
        case ast.Dict(keys, values):
            for i in range(len(keys) - 1):
                new = list(values)
                new[i : i + 2] = values[i + 1], values[i]
                told = f"{place.told(keys[i])} and {place.told(keys[i + 1])}"
                yield (
                    "order",
                    f"the values of {told} are exchanged",
                    ast.unparse(ast.Dict(keys, new)),
                )


def _is_array(place):
    if isinstance(place.node, ast.Name):
        return place.scope.values.get(place.node.id, [""])[0].startswith("np.")
    names = {node.id for node in ast.walk(place.node) if isinstance(node, ast.Name)}
    return any(place.scope.ndim.get(name) == 2 for name in names)


def _with(node, name, value):
    given = [k for k in node.keywords if k.arg != name]
    new = ast.keyword(name, ast.parse(value, mode="eval").body)
    at = next(i for i, k in enumerate(node.keywords) if k.arg == name)
    return ast.unparse(ast.Call(node.func, node.args, [*given[:at], new, *given[at:]]))


def _without(node, names):
    kept = [k for k in node.keywords if k.arg not in names]
    return ast.unparse(ast.Call(node.func, node.args, kept))


RULES = (axes, functions, means, arguments, transposes, dtypes, order, collections)
