"""CUDA C for slips: the tokens of the function bodies, their brackets and statements, and what a student knows."""

import re
from dataclasses import dataclass, field

BUILTIN = r"(?:threadIdx|blockIdx|blockDim|gridDim)\s*\.\s*[xyz]"
TOKEN = re.compile(
    rf"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/|\#(?:\\\n|[^\n])*)
    |{BUILTIN}|[A-Za-z_]\w*|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\w*|"(?:\\.|[^"\\])*"
    |<<=|>>=|\+\+|--|->|&&|\|\||[-+*/%&|^<>=!]=|<<|>>|.""",
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
UNUSED = re.compile(
    r"\n[ \t]*#[ \t]*pragma unroll[^\n]*\n(?!\s*(?:for\b|#))"
)  # a pragma without its loop
OPEN = {"(": ")", "[": "]", "{": "}"}
TYPES = {"int", "unsigned", "float", "double", "float4", "void", "long", "const", "volatile"}
FUNCTIONS = {"expf", "logf", "sqrtf", "tanhf", "fabsf", "fmaxf", "fminf", "min", "max", "atomicAdd"}
KNOWN = TYPES | FUNCTIONS | {"return", "if", "for", "INFINITY"}


@dataclass(frozen=True)
class Token:
    """A token, and where it stands in the source."""

    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Statement:
    """kind: "if", "for", "{" or ";". Tokens start to end; body: where the statement below an if or for begins."""

    kind: str
    start: int
    body: int
    end: int
    depth: int


@dataclass
class Code:
    """The bodies of a source's kernels; those of its other functions where it has no kernel."""

    source: str
    tokens: list = field(default_factory=list)
    partner: dict = field(default_factory=dict)
    bodies: list = field(default_factory=list)
    statements: list = field(default_factory=list)
    params: dict = field(default_factory=dict)
    told: set = field(default_factory=set)
    functions: set = field(default_factory=set)

    def __post_init__(self):
        self.tokens = tokens(self.source)
        self.partner = _partners(self.tokens)
        self.opening = {end: start for start, end in self.partner.items()}
        self._find_bodies()
        for body in self.bodies:
            self._statement(body, 0)
        self.ints = {n for n, kind in self.params.items() if "int" in kind and "*" not in kind}
        self.scalars = [n for n, kind in self.params.items() if kind.split() == ["float"]]
        self.sizes = [n for n in self.params if n in self.ints]
        whole = [name for name, kind, _ in self.locals() if kind == "int"]
        self.counters = list(dict.fromkeys(whole))
        self.ints |= {*whole}
        self.functions = set(re.findall(r"__device__[^;{}()]*?\b(\w+)\s*\(", self.source))

    def _find_bodies(self):
        """Each `{` at the top behind a list of parameters."""
        found, i = [], 0
        while i < len(self.tokens):
            if self[i] == "{":
                start = max((j for j in range(i) if self[j] in "};"), default=-1) + 1
                found.append((i, "__global__" in self.texts(start, i), start))
            i = self.partner.get(i, i) + 1 if self[i] == "{" else i + 1
        kernels = [body for body in found if body[1]] or found
        self.bodies = [body for body, _, _ in kernels]
        for body, _, start in kernels:
            self._parameters(body)
            begin = self.tokens[start - 1].end if start else 0
            self.told |= set(re.findall(r"\w+", self.source[begin : self.tokens[body].start]))

    def _parameters(self, body):
        heads = [i for i in range(body) if self.partner.get(i) == body - 1]
        for part in self.text(heads[0] + 1, body - 1).split(",") if heads else ():
            if match := re.search(r"(\w+)\s*$", part):
                self.params[match[1]] = part[: match.start()]

    def __getitem__(self, i):
        return self.tokens[i].text if 0 <= i < len(self.tokens) else ""

    def texts(self, a, b):
        """The tokens a to b - 1, as text each."""
        return [token.text for token in self.tokens[a:b]]

    def text(self, a, b):
        """The source from token a to token b - 1, on one line, without comments."""
        parts = []
        for i in range(a, b):
            gap = i > a and self.tokens[i].start > self.tokens[i - 1].end
            parts.append(" " * gap + self[i])
        return "".join(parts)

    def with_(self, edits):
        """The source with tokens a to b - 1 replaced by a text, for each (a, b, text) of `edits`."""
        source = self.source
        for a, b, text in sorted(edits, reverse=True):
            start = self.tokens[a].start
            end = self.tokens[b - 1].end if b > a else start
            source = source[:start] + text + source[end:]
        for _ in range(source.count("#")):
            source = UNUSED.sub(r"\n", source)
        return source

    def all(self, *texts):
        """Where these tokens stand in the bodies."""
        inside = [i for body in self.bodies for i in range(body, self.partner[body])]
        return [i for i in inside if self[i] in texts]

    def first(self, a, b, *texts):
        """The first of the tokens a to b - 1 that is one of these; None: there is none."""
        return next((i for i in range(a, b) if self[i] in texts), None)

    def until(self, i, *texts):
        """The first token from i on that is one of these, outside of the brackets that open on the way."""
        while self[i] not in texts:
            i = self.partner.get(i, i) + 1
        return i

    def instead(self, i, other, more=""):
        """The slip of another text at token i."""
        return f"`{other}` is used where `{self[i]}` belongs{more}", (i, i + 1, other)

    def exchange(self, at, swap):
        """The edits of tokens each of which becomes what `swap` has for it."""
        return [(i, i + 1, swap[self[i]]) for i in at]

    def quote(self, a, b, noun):
        """The tokens a to b - 1 for a student: as they are, or "the <noun> with `A`", or "one <noun>".

        They are shown as they are where the task has all their names; if not, its arguments among them are named.
        """
        text = self.text(a, b)
        names = re.findall(r"[A-Za-z_]\w*", re.sub(BUILTIN, "", text))
        if all(name in self.told | KNOWN for name in names):
            return f"`{text}`"
        mine = list(dict.fromkeys(name for name in names if name in self.params))
        mine = [name for name in mine if name not in self.sizes] or mine
        return f"the {noun} with {self.listed(mine)}" if mine else f"one {noun}"

    def listed(self, names):
        """`A`, `B` and `C`."""
        quoted = [f"`{name}`" for name in names]
        return " and ".join(filter(None, [", ".join(quoted[:-1]), quoted[-1]]))

    def named(self, name):
        """A variable as a student knows it: by its name in the task, or as the threadIdx.x that it was set to."""
        at = next((at for own, _, at in self.locals() if own == name), -2)
        is_built_in = (
            self[at + 1] == "="
            and self[at + 3] in (",", ";")
            and re.fullmatch(BUILTIN, self[at + 2])
        )
        known = self[at + 2] if is_built_in and name not in self.told else name
        known = known if known in self.told or re.fullmatch(BUILTIN, known) else None
        return f"`{known}`" if known else "another variable"

    def locals(self):
        """(name, its type, the token where it is declared) of every variable of the bodies."""
        for i in self.all("int", "float", "float4", "unsigned"):
            if self[i - 1] not in ("(", "*") or self[i - 2] == "for":
                for at in self._declared(i + 1):
                    yield self[at], self[i], at

    def visible(self, name, at):
        """Can the name be used at token `at`? What is no variable of the bodies always can."""
        places = [place for own, _, place in self.locals() if own == name]
        return not places or any(p < at < self._scope(p) for p in places)

    def _scope(self, at):
        """Behind the last token at which a variable declared at token `at` is there."""
        around = [s for s in self.statements if s.start < at < s.end and s.kind != ";"]
        return next((s.end for s in reversed(around) if s.kind == "{" or at < s.body), at)

    def usable(self, a, b, at):
        """Could the tokens a to b - 1 stand at token `at` as well?"""
        return all(self.visible(name, at) for name in set(self.texts(a, b)))

    def _declared(self, i):
        """The names of a declaration whose first name or star is token i."""
        fresh = True
        while i < len(self.tokens) and self[i] not in (";", ")"):
            if fresh and re.match(r"[A-Za-z_]", self[i]):
                yield i
            fresh = self[i] == ","
            i = self.partner.get(i, i) + 1 if self[i] in OPEN else i + 1

    def _statement(self, i, depth):
        """Notes the statement at token i and those in it; gives the token behind it."""
        kind = self[i] if self[i] in ("{", "if", "for", "while") else ";"
        place = len(self.statements)
        body = i + 1
        if kind == "{":
            end = i + 1
            while end < self.partner[i]:
                end = self._statement(end, depth + 1)
            end += 1
        elif kind != ";":
            body = self.partner[i + 1] + 1
            end = self._statement(body, depth + 1)
            if self[end] == "else":
                end = self._statement(end + 1, depth + 1)
        else:
            end = self.until(i, ";") + 1
        kind = "for" if kind == "while" else kind
        self.statements.insert(place, Statement(kind, i, body, end, depth))
        return end

    def parts(self, a, b, *operators):
        """The ranges between the binary operators at the top of the tokens a to b - 1, as (start, end)."""
        found, start, i = [], a, a
        while i < b:
            if self[i] in operators and (i > a and self.binary(i)):
                found.append((start, i))
                start = i + 1
            i = self.partner.get(i, i) + 1 if self[i] in OPEN else i + 1
        return [*found, (start, b)]

    def binary(self, i):
        """Is this operator between two operands? Not a sign, a star of a pointer or of a cast."""
        before, after = self[i - 1], self[i + 1]
        operand = re.match(r"[\w.)\]]", before) and before not in TYPES | {"return"}
        return bool(operand) and after not in (")", ",", "")


def tokens(source):
    """Every Token of a source; comments, spaces and directives are none."""
    found = TOKEN.finditer(source)
    return [Token(m[0], m.start(), m.end()) for m in found if m["skip"] is None]


def _partners(tokens):
    """Open bracket -> its closing one, by the tokens' numbers."""
    partner, stack = {}, []
    for i, token in enumerate(tokens):
        if token.text in OPEN:
            stack.append(i)
        elif token.text in OPEN.values() and stack:
            partner[stack.pop()] = i
    return partner
