"""Slips in calls and results: another axis, another function or none, arguments or parts exchanged."""

import ast
from itertools import combinations

LIKE = [
    ("sum", "mean", "max"),
    ("median", "mean", "min", "max"),
    ("max", "min", "mean"),
    ("min", "max"),
    ("argmax", "argmin"),
    ("argmin", "argmax"),
    ("maximum", "minimum"),
    ("all", "any"),
    ("any", "all"),
    ("log", "log2", "log1p"),
    ("log1p", "log"),
    ("floor", "ceil"),
    ("zeros", "ones"),
    ("permutation", "np.arange", "np.random.permutation"),
    ("sigmoid", "np.tanh"),
    ("softmax", "sigmoid"),
]
OTHERS = {name: others for name, *others in LIKE}
OF_ONE = {"sigmoid", "softmax", "relu", "tanh", "exp", "log", "log1p", "sqrt", "abs", "max", "min"}
OF_ONE |= {"int", "bool", "float32", "float64", "sorted", "floor", "sigmoid_prime"}


def axes(place):
    """Another axis, none, or a summed axis kept or dropped."""
    node = place.node
    given = [k.arg for k in node.keywords] if isinstance(node, ast.Call) else []
    if "axis" not in given:
        return
    for number in (0, 1):
        text = ast.unparse(ast.Call(node.func, node.args, _with_axis(node.keywords, number)))
        yield "axis", f"{place.told(text)}: axis {number} is the wrong axis", text
    for lost in (["axis", "keepdims"], ["axis"], ["keepdims"]):
        if set(lost) <= set(given):
            kept = [k for k in node.keywords if k.arg not in lost]
            text = ast.unparse(ast.Call(node.func, node.args, kept))
            yield "axis", f"{place.told(text)}: `{'=, '.join(lost)}=` is missing", text
    if "keepdims" not in given:
        text = ast.unparse(node)[:-1] + ", keepdims=True)"
        yield "axis", f"{place.told(text)} keeps the summed axis: leave `keepdims` out", text


def _with_axis(keywords, number):
    axis = ast.keyword("axis", ast.Constant(number))
    return [axis if k.arg == "axis" else k for k in keywords]


def functions(place):
    """Another function of the same kind, or none; one argument of max or min alone."""
    node = place.node
    if not isinstance(node, ast.Call):
        return
    text, name = ast.unparse(node), ast.unparse(node.func)
    short = getattr(node.func, "attr", name)
    others = OTHERS.get(short, ())
    if short == name and short in ("sum", "max", "min"):  # the built-in ones
        others = [other for other in others if other in ("max", "min")]
    for other in others:
        new = (other if "." in other else name[: -len(short)] + other) + text[len(name) :]
        says = f"`{other}` is used where `{short}` belongs: {place.told(new)}"
        yield "function", says, new
    if short in OF_ONE and len(node.args) == 1 and not node.keywords:
        says = f"`{short}` is left out: {place.told(node.args[0])} itself is used"
        yield "no-function", says, ast.unparse(node.args[0])
    if short in ("maximum", "minimum", "max", "min", "where") and len(node.args) > 1:
        for each in node.args:
            says = f"only {place.told(each)} is used: `{short}` is left out"
            yield "no-function", says, ast.unparse(each)


def arguments(place):
    """Two arguments of a call exchanged."""
    node = place.node
    for i in range(len(node.args) - 1) if isinstance(node, ast.Call) else ():
        args = list(node.args)
        args[i : i + 2] = args[i + 1], args[i]
        new = ast.Call(node.func, args, node.keywords)
        yield "arguments", f"two arguments are swapped: {place.told(new)}", ast.unparse(new)


def order(place):
    """The parts of a tuple exchanged, or one of them alone returned."""
    node, parent = place.node, place.parent
    around = (ast.Return, ast.Tuple, ast.Call, ast.Assign, ast.Dict)
    if not isinstance(node, ast.Tuple) or not isinstance(parent, around):
        return
    parts = [f"({ast.unparse(each)})" for each in node.elts]
    for i, j in combinations(range(len(parts)), 2):
        new = list(parts)
        new[i], new[j] = parts[j], parts[i]
        told = f"{place.told(parts[i])} and {place.told(parts[j])}"
        yield "order", f"{told} are swapped", f"({', '.join(new)})"
    if len(parts) == 3:
        rolled = f"({', '.join([*parts[1:], parts[0]])})"
        yield "order", f"the parts are in another order: {place.told(rolled)}", rolled
    for part in parts if isinstance(parent, ast.Return) and len(parts) > 1 else ():
        yield "order", f"only {place.told(part)} is returned", part


def values(place):
    """The values of two keys exchanged."""
    keys = place.node.keys if isinstance(place.node, ast.Dict) else []
    for i, j in combinations(range(len(keys)), 2):
        new = list(place.node.values)
        new[i], new[j] = new[j], new[i]
        says = f"the values of {place.told(keys[i])} and {place.told(keys[j])} are swapped"
        yield "order", says, ast.unparse(ast.Dict(keys, new))


def results(place):
    """A result transposed; a list turned round or cut; what was received not used."""
    node, scope = place.node, place.scope
    if not isinstance(place.parent, (ast.Return, ast.Tuple)):
        return
    text = ast.unparse(node)
    names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    made = scope.values.get(text, [""])[0]
    matrix = isinstance(node, ast.BinOp) and any(scope.ndim.get(name) == 2 for name in names)
    if matrix or made.startswith("np."):
        yield "transposed", "the result is transposed: rows and columns exchanged", f"({text}).T"
    if made.startswith("["):
        for cut, what in (("[::-1]", "in reversed order"), ("[1:]", "without its first entry")):
            yield "return", f"{place.told(text)} is returned {what}", text + cut
        yield "return", f"only the last entry of {place.told(text)} is returned", f"{text}[-1]"
    if made.startswith(("np.empty_like(", "np.zeros_like(")) and made.count("(") == 1:
        of = made[made.index("(") + 1 : -1]
        yield "return", f"{place.told(of)} itself is returned, not what was computed", of


RULES = (axes, functions, arguments, order, values, results)
