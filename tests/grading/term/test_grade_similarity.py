"""Similar answers: found after renaming and reformatting, not found where everybody has the same."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from course_tools.__main__ import main
from course_tools.grading.similarity import command, pairs, tokens, winnowing

ROOT = Path(__file__).resolve().parents[3]
ONE = '''def mean_of_rows(X, weights):
    """The weighted mean of each row."""
    total = np.zeros(len(X))
    for i in range(len(X)):
        for j in range(X.shape[1]):
            total[i] += X[i, j] * weights[j]  # one at a time
        total[i] = total[i] / sum(weights)
    return total
'''
RENAMED = """def mean_of_rows(A, w):
    out = np.zeros( len(A) )


    for row in range(len( A )):
        # go over the columns
        for col in range(A.shape[1]):
            out[row] += A[row, col,] * w[col];
        out[row] = (
            out[row] / sum(w)
        )
    return out
"""
OTHER = '''def mean_of_rows(X, weights):
    """The weighted mean of each row."""
    return (X * weights).sum(axis=1) / weights.sum()
'''
KERNEL = '''SOURCE = r"""
__global__ void scale(float *x, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = a * x[i]; // one each
}
"""
'''


def kinds(text):
    return [token.kind for token in tokens.of(text)]


def found(texts, known=frozenset(), **more):
    made = pairs.answers({(who, "t"): text for who, text in texts.items()}, {"t": set(known)})
    return [(pair.one, pair.other) for pair in pairs.find(made, **more)]


# Tokens and fingerprints ---------------------------------------------------------------------------------------------


def test_renaming_and_reformatting_change_no_token_but_brackets():
    apart = [kind for kind in kinds(RENAMED) if kind not in "()"]
    assert apart == [kind for kind in kinds(ONE) if kind not in "()"]


def test_what_cannot_be_renamed_keeps_its_name():
    assert kinds("y = np.matmul(a, 2.5) if b else 'x'") == [
        "name", "=", "name", ".", "matmul", "(", "name", ",", "number", ")", "if", "name", "else", "text",
    ]  # fmt: skip


def test_a_kernel_in_a_text_is_code():
    other = KERNEL.replace("scale", "s").replace("x[i]", "v[k]").replace("*x", "*v")
    other = other.replace("int i ", "int k ").replace("(i <", "(k <").replace(" // one each", "")
    assert kinds(other) == kinds(KERNEL) and "blockIdx" in kinds(KERNEL)


@pytest.mark.parametrize("text", ["def f(:\n  (", "'''", "x = $", "\0", "", "(" * 50_000])
def test_what_is_no_python_has_tokens_too(text):
    assert isinstance(winnowing.fingerprints(tokens.of(text)), dict)


def test_what_winnowing_promises():
    """Two texts that share gram + window - 1 tokens share a fingerprint (the paper's property 1)."""
    shared = [tokens.Token(f"s{i}", 0) for i in range(winnowing.GRAM + winnowing.WINDOW - 1)]
    for before in range(12):
        one = [tokens.Token(f"a{i}", 0) for i in range(before)] + shared
        two = shared + [tokens.Token(f"b{i}", 0) for i in range(12 - before)]
        assert set(winnowing.fingerprints(one)) & set(winnowing.fingerprints(two)), before
    apart = [tokens.Token(f"c{i}", 0) for i in range(40)]
    assert not set(winnowing.fingerprints(apart)) & set(winnowing.fingerprints(shared))


# Pairs ---------------------------------------------------------------------------------------------------------------


def test_a_renamed_copy_is_found_and_another_way_is_not():
    assert found({"ada": ONE, "bob": RENAMED, "cyd": OTHER}) == [("ada", "bob")]


def test_what_is_known_is_no_sign():
    assert found({"ada": ONE, "bob": RENAMED}, winnowing.every(tokens.of(ONE))) == []


def test_what_many_have_is_no_sign():
    texts = {f"student {i}": ONE for i in range(6)}
    assert len(found(texts)) == 15 and found(texts, common=5) == []


def test_shared_lines_are_marked():
    made = pairs.answers({("a", "t"): ONE + "\n", ("b", "t"): "y = 1\n" + RENAMED}, {"t": set()})
    lines = pairs.marked(made["b", "t"], made["a", "t"])
    assert (
        lines[0] == ("y = 1", False)
        and ("            out[row] += A[row, col,] * w[col];", True) in lines
    )


# The command ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def thirty(tmp_path_factory):
    """The thirty submissions and a release."""
    made = tmp_path_factory.mktemp("similar") / "thirty"
    script = ROOT / "examples" / "make_thirty.py"
    subprocess.run([sys.executable, script, made], check=True, cwd=ROOT, capture_output=True)
    assert main(["release", "00", "--quick", "--root", str(ROOT), "--out", str(made / "r")]) == 0
    return made


def test_of_the_thirty_the_two_pairs_are_found(thirty, capsys):
    """Fifteen have the solution, many a planted answer that differs from it in a word: no sign. Three are hostile."""
    page = thirty / "similar.html"
    words = ["--release", thirty / "r", "--root", ROOT, "--out", page]
    assert main(["class", "similar", str(thirty / "submissions"), *map(str, words)]) == 0
    assert "2 pairs among 28 students" in capsys.readouterr().out
    text = page.read_text(encoding="utf-8")
    rows = re.findall(r'<tr><th scope="row">(.*?)</th>', text)
    names = [re.sub("<.*?>", "", row) for row in rows]
    assert names == ["chenwei and ivanovaольга", "larsenmette and müllermax"]
    assert "<mark>    Z = np.matmul(X, W)</mark>" in text
    assert "<script" not in text and "src=" not in text


def test_what_students_wrote_is_text_on_the_page():
    bad = "<script>alert(1)</script>\n" + ONE
    made = pairs.answers({("<b>", "t"): bad, ("c", "t"): bad}, {"t": set()})
    chapter = type("Chapter", (), {"name": "00"})
    text = command.page([(chapter, [command._shown(one, made) for one in pairs.find(made)], 2)])
    assert "<script>" not in text and "<b>" not in text and "&lt;script&gt;" in text
