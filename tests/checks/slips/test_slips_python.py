"""The catalogue of slips for Python: each kind on a small solution, and what holds of all solutions of the course."""

import ast
import functools
from pathlib import Path

import pytest

from course_lib.checks.kit.slips.python import LIKELY, MOST, variants
from course_tools.build.cells import split
from course_tools.build.source import find, read

ROOT = Path(__file__).parents[3]
HEAD = '''def f(x, W, b, eta, lam):
    """x: (B, n) float32.   W: (n, m) float32.   b: (m,) float32.   eta, lam: floats."""
'''
SLIPS = [  # kind, the solution's last lines, those with the slip in them, words of the sentence
    ("term", "return x @ W + b", "return x @ W", "without the term `+ b`"),
    ("term", "return x @ W - b", "return x @ W", "without the term `- b`"),
    ("factor", "return W - eta * lam * W", "return W - eta * W", "without the factor `lam`"),
    ("factor", "return x.sum() / len(x)", "return x.sum()", "the division by `len(x)`"),
    ("factor", "return x / len(x)", "return x / len(x) / len(x)", "twice"),
    ("sign", "return x - b", "return b - x", "swapped: the sign"),
    ("sign", "W -= eta * W", "W += eta * W", "it must be subtracted"),
    ("sign", "return np.exp(-x)", "return np.exp(x)", "the minus before `x`"),
    ("slope", "return W * x * (1 - x)", "return W", "the derivative `x * (1 - x)` is left out"),
    ("slope", "return 1 - x ** 2", "return x * (1 - x)", "here f is tanh"),
    ("axis", "return x.sum(axis=0)", "return x.sum(axis=1)", "axis 1 is the wrong axis"),
    ("axis", "return x.max(axis=1, keepdims=True)", "return x.max(axis=1)", "`keepdims=`"),
    ("function", "return x.sum(axis=0)", "return x.mean(axis=0)", "`mean` is used where `sum`"),
    ("function", "return np.maximum(x, 0)", "return np.minimum(x, 0)", "`minimum` is used"),
    ("function", "return max(eta, lam)", "return eta + lam", "added"),
    ("no-function", "return np.maximum(x, 0)", "return x", "only `x` is used"),
    ("no-function", "return 1 / (1 + np.exp(-x))", "return x", "the sigmoid is left out"),
    ("divisor", "return x / len(x)", "return x / len(W)", "divided by `len(W)`, not by `len(x)`"),
    ("transposed", "return x @ W.T", "return x @ W", "transpose it"),
    ("operands", "return x @ W", "return W @ x", "swapped: `W @ x`"),
    ("operands", "return x @ W", "return x * W", "element by element"),
    ("order", "return (W, b)", "return (b, W)", "are swapped"),
    ("confused", "return eta / (eta + lam)", "return lam / (lam + eta)", "`eta` and `lam`"),
    ("upside-down", "return eta / lam", "return lam / eta", "upside down"),
    ("edge", "return x > 0", "return x >= 0", "`x >= 0` is used in place of `x > 0`"),
    ("turned-round", "return W if eta else b", "return b if eta else W", "swapped"),
    ("condition", "return eta > 0 and lam > 0", "return lam > 0", "`eta > 0` is not checked"),
    ("rounding", "return -(-eta // lam)", "return eta // lam", "rounds down"),
    ("rounding", "return eta / lam", "return eta // lam", "an integer division"),
    ("rounding", "return -(-eta // lam) * 3", "return -(-(eta * 3) // lam)", "then multiply"),
    ("rounding", "return math.ceil(3 * eta / lam)", "return 3 * math.ceil(eta / lam)", "round at the end"),
    ("number", "return W / comm.size", "return W / 4", "`4` is written for the number of ranks"),
    ("alias", "return x.copy()", "return x", "not a copy"),
    ("alias", "W -= eta", "W = W - eta", "the old one does not change"),
    ("alias", "return [[] for i in range(eta)]", "return [[]] * eta", "one list under many"),
    ("update", "W += eta", "W = eta", "`=` for `+=`"),
    ("dtype", "return np.zeros(3, np.float32)", "return np.zeros(3)", "float64"),
    ("dtype", "return x.astype(np.int64)", "return x", "keeps its dtype"),
    ("name", "return eta * W", "return lam * W", "`lam` is used in place of `eta`"),
    ("name", "return data.x_val", "return data.x_test", "is used in place of"),
    ("neighbour", "return W[b]", "return W[b + 1]", "the entry after"),
    ("brackets", "return x @ W + b", "return x @ (W + b)", "the result you get from"),
    ("brackets", "return x / (2 * eta)", "return x / 2 * eta", "brackets are missing"),
    ("scaled", "return eta * x", "return eta * x * 2", "an extra factor `2`"),
    ("number", "return 2 * x", "return 3 * x", "with 3 in place of 2"),
    ("off-by-one", "return eta * lam", "return eta * lam - 1", "one too few"),
    ("slice", "return x[1:]", "return x", "all of `x` is used"),
    ("arguments", "return np.outer(W, b)", "return np.outer(b, W)", "two arguments"),
    ("collection", "return {i for i in x}", "return [i for i in x]", "not a set"),
    ("too-early", "d = x @ W\nreturn (W - eta, d)", "d = x @ (W - eta)\nreturn (W - eta, d)", "after its step"),
]  # fmt: skip
LOOPS = [
    ("end", "range(len(x))", "range(len(x) - 1)", "ends one step early"),
    ("end", "range(len(x))", "range(0 + 1, len(x))", "leaves the first one out"),
    ("end", "reversed(W)", "list(reversed(W))[:-1]", "the last of"),
    ("positions", "range(len(x))", "x", "used as positions"),
    ("backwards", "reversed(W)", "W", "runs forwards"),
    ("stride", "range(0, eta, lam)", "range(0, eta, 1)", "without a stride"),
    (
        "end",
        "range(eta, 1, -lam)",
        "[eta, *range(eta + -lam, 1, -lam)]",
        "before it is asked for its end",
    ),
]
BOTH = "comm.Sendrecv(m, dest=r, recvbuf=t, source=l)"
RANKS = [
    ("own-rows", "t = m[shard(l, r, 0)]", "t = m", "uses all of `m`"),
    ("mean", "t = np.float32(m / l)", "t = np.float32(1 / comm.size)", "equal shares only"),
    ("own-draw", "t = np.random.default_rng(m)", "t = np.random.default_rng(m + comm.rank)", "different random"),
    ("rest", "t = r < m % l", "t = r >= l - m % l", "larger shares come last"),
    ("no-sum", "comm.Allreduce(m, t)", "t[...] = m", "the sum over the ranks is missing"),
    ("mean", "comm.Allreduce(m, t)", "comm.Allreduce(m, t)\nt /= comm.size", "divided"),
    ("collective", "comm.Allreduce(m, t)", "comm.Reduce(m, t)", "only to rank 0"),
    ("collective", "comm.Reduce(m, t)", "comm.Allreduce(m, t)", "every rank"),
    ("wrong-way", BOTH, "comm.Sendrecv(m, dest=l, recvbuf=t, source=r)", "the wrong direction"),
    ("blocking", BOTH, "comm.Send(m, dest=r)\ncomm.Recv(t, source=l)", "none receives"),
    ("no-sum", "t = comm.allreduce(m)", "t = m", "the rank's own `m`"),
    ("pickled", "t = comm.Isend(m, dest=1)", "t = comm.isend(m, dest=1)", "pickles"),
    ("operation", "comm.Allreduce(m, t)", "from mpi4py import MPI\ncomm.Allreduce(m, t, op=MPI.MAX)", "not the sum"),
]  # fmt: skip
THREADS = """
def run(work, T):
    threads = [Thread(target=work, args=(t,)) for t in range(T)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""
SOLUTIONS = [
    pytest.param(cell.source, id=f"{file.parent.name[:2]}-{cell.name}")
    for file in find(ROOT)
    if file.stem == "exercise"
    for cell in read(file).tasks
    if not cell.task.in_string
]


@functools.cache
def slips_of(source):
    return variants(source)


def written(source):
    return ast.unparse(ast.parse(source))


def body(text):
    return "\n".join(f"    {line}" for line in text.split("\n"))


def found(solution, wrong):
    """The slip that makes `wrong` of the solution; a test fails where there is none."""
    slips = {slip.source: slip for slip in variants(solution)}
    return slips[written(wrong)]


@pytest.mark.parametrize("kind, right, wrong, words", SLIPS)
def test_a_slip_in_a_formula(kind, right, wrong, words):
    slip = found(HEAD + body(right), HEAD + body(wrong))
    assert slip.name == kind
    assert words in slip.says


@pytest.mark.parametrize("kind, right, wrong, words", LOOPS)
def test_a_slip_in_a_loop(kind, right, wrong, words):
    loop = HEAD + "    for i in {}:\n        W[i] = b"
    slip = found(loop.format(right), loop.format(wrong))
    assert slip.name == kind
    assert words in slip.says


@pytest.mark.parametrize(
    "right, wrong, words",
    [
        ("l", "W != list(b)[0][0]", "the first one is told by its `W`"),
        ("l == len(b) - 1", "x.shape[-1] == list(b)[-1][1].shape[-1]", "the last one is told by its width"),
        ("l < len(b) - 1", "W != list(b)[-1][0]", "the last one is told by its `W`"),
    ],
)  # fmt: skip
def test_the_first_or_the_last_of_a_loop_told_by_its_value(right, wrong, words):
    loop = HEAD + "    for l, (W, x) in enumerate(b):\n        x = W if {} else x\n    return x"
    assert words in found(loop.format(right), loop.format(wrong)).says


@pytest.mark.parametrize("kind, right, wrong, words", RANKS)
def test_a_slip_among_ranks(kind, right, wrong, words):
    head = "def f(comm, m, t, l, r):\n"
    slip = found(head + body(right), head + body(wrong))
    assert slip.name == kind
    assert words in slip.says


@pytest.mark.parametrize(
    "right, wrong, words",
    [
        ("target=work, args=(t,)", "target=lambda: work(t)", "when it RUNS"),
        ("target=work, args=(t,)", "target=work(t)", "calls the work at once"),
        ("    for thread in threads:\n        thread.join()\n", "        thread.join()\n", "before the next"),
        ("thread.join()", "pass", "left out"),
        ("thread.start()", "thread.run()", "is meant"),
    ],
)  # fmt: skip
def test_a_slip_among_threads(right, wrong, words):
    assert words in found(THREADS, THREADS.replace(right, wrong)).says


def test_statements_left_out_exchanged_and_returned_too_early():
    solution = HEAD + body(
        "for i in x:\n    W[i] += 1\n    if i > eta:\n        b[i] = lam\nreturn W"
    )
    for right, wrong, words in [
        ("W[i] += 1", "pass", "`W[i] += 1` is left out"),
        ("if i > eta:\n            b[i] = lam", "b[i] = lam", "always runs"),
        ("if i > eta:\n            b[i] = lam", "pass", "never runs"),
        ("    return W", "        return W", "inside the loop"),
    ]:
        assert words in found(solution, solution.replace(right, wrong)).says


def test_the_same_slip_in_both_updates_is_one_slip():
    solution = "def f(W, b, dW, db, eta):\n    W -= eta * dW\n    b -= eta * db"
    says = found(solution, solution.replace("-=", "+=")).says
    assert "and likewise at the other place" in says
    assert found(solution, solution.replace("eta * ", "")).name == "factor"


def test_a_variable_of_the_solution_is_written_out():
    solution = HEAD + body("residual = x @ W - b\nreturn residual.sum() / len(x)")
    says = found(solution, solution.replace(" / len(x)", "")).says
    assert "residual" not in says
    told = [slip.says for slip in variants(solution) if slip.name == "function"]
    assert any("`(x @ W - b).mean()" in says for says in told)


def test_a_variable_that_changes_is_explained():
    solution = HEAD + body("total = 0.0\nfor i in x:\n    total = total + i * eta\nreturn total")
    slip = found(solution, solution.replace("total + i * eta", "total"))
    assert "`total` begins as `0.0`" in slip.says or "`i` comes from `x`" in slip.says


def test_only_what_stands_between_the_markers_is_changed():
    marked = "    ### BEGIN SOLUTION\n    return g(x) * 2\n    ### END SOLUTION"
    source = f"def g(x):\n    return x + 1\n\n\ndef f(x):\n{marked}"
    slips = variants(source)
    assert slips
    assert all("def g(x):\n    return x + 1\n" in slip.source for slip in slips)
    assert any("return x\n" in slip.source for slip in variants(source.replace("###", "#")))


def test_numbers_worked_out_by_hand():
    slips = variants('flops = 2 * 3 * 4\nhazards = {"A": "RAW", "B": "WAR"}')
    sources = [slip.source for slip in slips]
    assert "flops = 3 * 4\nhazards = {'A': 'RAW', 'B': 'WAR'}" in sources
    assert "flops = 2 * 3 * 4\nhazards = {'A': 'WAR', 'B': 'WAR'}" in sources


def test_what_is_chosen_is_not_scaled():
    for key, scaled in (("", True), (", key=abs", False)):
        slips = variants(f"def f(x):\n    return max(x{key})")
        assert any(slip.name == "scaled" for slip in slips) == scaled


def test_several_functions_in_one_cell():
    source = "def g(z):\n    return -z\n\n\ndef f(x):\n    return g(x) + 1"
    sources = [slip.source for slip in variants(source)]
    assert written(source.replace("-z", "z")) in sources
    assert written(source.replace(" + 1", "")) in sources


@pytest.mark.parametrize("source", SOLUTIONS)
def test_of_every_solution(source):
    """Valid Python, no two equal, none the solution, the likeliest first, as often as asked the same."""
    slips = slips_of(source)
    sources = [slip.source for slip in slips]
    assert written(source) not in sources
    assert len(set(sources)) == len(sources) <= MOST
    ranks = [LIKELY[slip.name] for slip in slips]
    assert ranks == sorted(ranks)
    for slip in slips:
        compile(slip.source, "cell", "exec")
        assert slip.says.count("`") % 2 == 0
    assert variants(source) == slips


def test_the_course_has_slips_of_every_kind_that_it_can_have():
    """A kind in the order that no solution and no test above shows is one that no rule makes."""
    shown = {slip.name for param in SOLUTIONS for slip in slips_of(param.values[0])}
    shown |= {kind for kind, *_ in [*SLIPS, *LOOPS, *RANKS]}
    assert set(LIKELY) <= shown


def test_a_slip_of_a_region_holds_the_rest_of_the_cell():
    source = next(param.values[0] for param in SOLUTIONS if param.id == "12-forward-two")
    assert all("return 1 / (1 + np.exp(-z))" in slip.source for slip in variants(source))
    assert split(source).text
