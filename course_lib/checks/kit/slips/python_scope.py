"""What the names of a cell stand for, so that a sentence can do without the solution's own variables."""

import ast
import re

SHAPE = re.compile(r"\b((?:\w+, )*\w+):? \((\w[^()]*,[^()]*)\)")
TOLD = 30  # characters of an expression in a sentence: the solution is not to be given away
LONGEST = 45  # characters of a value that is told in the place of its name
FILLED_LATER = ("np.empty", "np.zeros", "[", "{", "(")


class Scope:
    """arguments: of the cell's functions; ndim: of arrays in docstrings; values, loops: of the solution's variables."""

    def __init__(self, tree):
        self.arguments, self.siblings, self.known = [], [], set()
        self.ndim, self.rows, self.updates, self.numbers = {}, {}, {}, []
        self.values, self.loops, self.changed, self.texts = {}, {}, set(), []
        for node in ast.walk(tree):
            self._look_at(node)
        self.remainders = any(isinstance(node, ast.Mod) for node in ast.walk(tree))
        self.scalars = self._scalars(tree)
        self.sizes = self._sizes(tree)

    def _look_at(self, node):
        match node:
            case ast.FunctionDef(args=arguments):
                self.arguments += [each.arg for each in arguments.args]
                self._read(ast.get_docstring(node) or "")
            case ast.Assign(targets=[target], value=value):
                self._bind(target, value)
            case ast.For(target=target, iter=each) | ast.comprehension(target=target, iter=each):
                self._loop(target, ast.unparse(each))
            case ast.AugAssign(target=ast.Name(name)) | ast.NamedExpr(target=ast.Name(name)):
                self.changed.add(name)
            case ast.Return(ast.Tuple(parts)):
                steps = [(_stepped(part), ast.unparse(part)) for part in parts]
                self.updates.update({name: text for name, text in steps if name})
            case ast.Constant(int() as number) if number > 2:
                self.numbers.append(number)
            case ast.Subscript(value=ast.Name(name), ctx=ast.Store()):
                self.changed.add(name)

    def _read(self, docstring):
        self.known |= set(re.findall(r"\w+", docstring))
        self.texts += re.findall(r'"(\w+)"', docstring)
        for names, shape in SHAPE.findall(docstring):
            axes = [axis for axis in shape.split(",") if axis.strip()]
            self.ndim.update({name: len(axes) for name in names.split(", ")})
            self.rows.update(dict.fromkeys(names.split(", "), axes[0]))

    def _bind(self, target, value):
        if isinstance(target, ast.Name):
            self.values.setdefault(target.id, []).append(ast.unparse(value))
        elif isinstance(target, ast.Tuple):
            same = isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts)
            parts = value.elts if same else [value] * len(target.elts)
            self.siblings.append([each.id for each in target.elts if isinstance(each, ast.Name)])
            for each, part in zip(target.elts, parts, strict=True):
                self._bind(each, part)
            self.changed |= set() if same else set(self.siblings[-1])

    def _loop(self, target, each):
        names = [node.id for node in ast.walk(target) if isinstance(node, ast.Name)]
        self.siblings.append(names)
        self.loops.update(dict.fromkeys(names, each))

    def _scalars(self, tree):
        """Arguments that are only computed with: never called, indexed, iterated or asked for an attribute."""
        used = set()
        for node in ast.walk(tree):
            for part in ("func", "value", "iter"):
                if isinstance(node, (ast.Call, ast.Subscript, ast.Attribute, ast.For)):
                    used.add(getattr(getattr(node, part, None), "id", None))
        return [name for name in self.arguments if name not in used and name not in self.ndim]

    def _sizes(self, tree):
        """Lengths that a mean may be taken over: first those in the solution; one of equal ones."""
        arrays = {*self.ndim, *self.loops, *self.values}
        written = re.findall(r"\blen\((\w+)\)", ast.unparse(tree))
        named = [name for name in written if name in arrays]
        named += [name for name in self.arguments if name in self.ndim]
        first = {self.rows.get(name, name): name for name in reversed(named)}
        sizes = [f"len({name})" for name in dict.fromkeys(named) if name in first.values()]
        ranks = ["comm.size"] if "comm" in self.arguments else []
        return [*ranks, *sizes[:3], *(n for n in self.scalars if n in ("B", "T", "p"))][:4]

    def inlined(self, name):
        """The one short value of a variable, or None."""
        values = self.values.get(name, ())
        if len(values) != 1 or name in self.changed or name in self.loops or name in self.arguments:
            return None
        text = values[0]
        plain = len(text) <= LONGEST and not text.startswith(FILLED_LATER)
        of = set(re.findall(r"\w+", text))
        return text if plain and not of & {name, *self.changed} else None

    def told(self, what):
        """An expression, a node or its text, in backticks, the solution's own variables written out."""
        text = what if isinstance(what, str) else ast.unparse(what)
        tree = ast.parse(text, mode="eval")
        for _ in range(2):
            tree = ast.fix_missing_locations(_Inline(self).visit(tree))
        return f"`{shortened(tree)}`"

    def explained(self, says):
        """The sentence with a note on the first two variables in it that only the solution has."""
        says = re.sub(r"`([^`]*)`", lambda span: f"`{_cut(span[1])}`", says)
        shown = " ".join(re.findall(r"`[^`]*`", says))
        names = re.findall(r"(?<![\w.])[A-Za-z_]\w*", shown)
        notes = [note for note in map(self._note, dict.fromkeys(names)) if note]
        return f"{says} ({'; '.join(notes[:2])})" if notes else says

    def _note(self, name):
        if name in self.arguments or name in self.known:
            return None
        if name in self.loops and len(self.loops[name]) <= TOLD:
            return f"`{name}` comes from `{self.loops[name]}`"
        first = self.values.get(name, [""])[0]
        return f"`{name}` begins as `{first}`" if first and len(first) <= TOLD else None


def shortened(tree):
    """The text of an expression, inner parts of it as `...` where it is too long to be told; as much as fits is."""
    while len(text := ast.unparse(tree)) > TOLD:
        inner = [each for each in ast.walk(tree) if _may_go(each) and each is not tree.body]
        inner.sort(key=lambda each: len(ast.unparse(each)))
        if not inner:
            return text[: TOLD - 3] + "..."
        enough = [each for each in inner if len(text) - len(ast.unparse(each)) + 3 <= TOLD]
        tree = _Cut((enough or inner[-1:])[0]).visit(tree)
    return re.sub(r"(?<!\.)\.{4}(?=\w)", "(...).", text)


def _cut(text):
    return text if len(text) <= TOLD + 4 else f"{text[: TOLD - 3]}..."


def _may_go(node):
    plain = (ast.Name, ast.Constant, ast.Attribute, ast.Starred)
    whole = isinstance(node, ast.expr) and not isinstance(node, plain)
    return whole and len(ast.unparse(node)) > 3


class _Cut(ast.NodeTransformer):
    """Writes `...` in the place of a node."""

    def __init__(self, node):
        self.node = node

    def visit(self, node):
        return ast.Constant(...) if node is self.node else self.generic_visit(node)


class _Inline(ast.NodeTransformer):
    """Writes out the variables that have one short value."""

    def __init__(self, scope):
        self.scope = scope

    def visit_Name(self, node):
        text = self.scope.inlined(node.id)
        return ast.parse(text, mode="eval").body if text else node


def _stepped(node):
    """W of W - eta * dW, a variable's value after a step; None of others."""
    match node:
        case ast.BinOp(ast.Name(name), ast.Sub()):
            return name
