"""An answer as tokens that renaming and reformatting leave as they are."""

import io
import keyword
import re
import tokenize
from dataclasses import dataclass

NAME, NUMBER, TEXT = "name", "number", "text"
LONG = 80  # characters from which a string is taken for code, such as a kernel in CUDA C
LAYOUT = (
    tokenize.NEWLINE,
    tokenize.NL,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.COMMENT,
    tokenize.ENDMARKER,
    tokenize.ENCODING,
)
# a comment that nobody ends goes to the end: else each of its beginnings would be looked for anew
ANY = re.compile(
    r"//[^\n]*|/\*.*?(?:\*/|\Z)|(?P<name>[^\W\d]\w*)|(?P<number>\d[\w.]*)|[^\w\s]", re.DOTALL
)
WORDS = """if else for while do return break continue switch case struct sizeof const void int float double char
bool unsigned long short auto __global__ __device__ __shared__ __syncthreads threadIdx blockIdx blockDim gridDim
atomicAdd extern static"""
C_WORDS = frozenset(WORDS.split())


@dataclass(frozen=True)
class Token:
    """One token. kind: what is compared; line: of the text, from 0."""

    kind: str
    line: int


def of(text):
    """The `Token`s of an answer: names, numbers and short texts are each alike; comments, layout and docstrings gone.

    What stands after a point keeps its name, as do Python's own words: nobody can rename them. A long text is code of
    another language. What is no Python is read as the same kind of words.
    """
    try:
        found = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError, ValueError):
        return words(text)
    found = [one for one in found if one.type not in LAYOUT or one.type == tokenize.NEWLINE]
    made: list[Token] = []
    for number, one in enumerate(found):
        before = found[number - 1] if number else None
        after = found[number + 1] if number + 1 < len(found) else None
        made += _tokens(one, before, after)
    return made


def _tokens(one, before, after):
    line, starts = one.start[0] - 1, before is None or before.type == tokenize.NEWLINE
    if one.type == tokenize.NEWLINE or one.string == ";":
        return []
    if one.type == tokenize.STRING:
        ends = after is None or after.type == tokenize.NEWLINE
        if (starts or before.string == ":") and ends:  # a docstring
            return []
        return words(one.string, line) if len(one.string) >= LONG else [Token(TEXT, line)]
    if one.type == tokenize.NUMBER:
        return [Token(NUMBER, line)]
    if one.type == tokenize.NAME:
        kept = keyword.iskeyword(one.string) or (before is not None and before.string == ".")
        return [Token(one.string if kept else NAME, line)]
    trailing = one.string == "," and after is not None and after.string in ")]}"
    return [] if trailing else [Token(one.string, line)]


def words(text, line=0):
    """The tokens of code in any language: names but C's own are alike; comments are gone."""
    made, end = [], 0
    for match in ANY.finditer(text):
        line += text.count("\n", end, match.start())
        end = match.start()
        if match["name"]:
            known = match["name"] in C_WORDS or keyword.iskeyword(match["name"])
            made.append(Token(match["name"] if known else NAME, line))
        elif match["number"]:
            made.append(Token(NUMBER, line))
        elif not match[0].startswith(("//", "/*")):
            made.append(Token(match[0], line))
    return made
