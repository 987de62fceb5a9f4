"""A lexer of notebooks' Python that reads CUDA C in a string as CUDA C, so that kernels have their colours too."""

import re
from itertools import groupby

from IPython.lib.lexers import IPython3Lexer
from pygments.lexers import CudaLexer
from pygments.token import String

# JupyterLab follows the same rule: labextension/src/kernels.ts (a test compares the two).
CUDA = re.compile(r"__(?:global|device|shared)__|^\s*// CUDA")
LONG = re.compile(r'[a-zA-Z]*("""|\'\'\')(.*?)(?:\1)?', re.DOTALL)
NAMES = ("ipython3", "ipython")  # of the lexers that notebooks ask for


class PythonWithCuda(IPython3Lexer):
    """As IPython3Lexer; the inside of a triple-quoted string with a kernel is lexed by Pygments's CUDA lexer."""

    name = "IPython with CUDA C in strings"
    aliases = ["ipython-cuda"]  # noqa: RUF012 - as Pygments has it

    def get_tokens_unprocessed(self, text, *args):
        """(index, type, text) of each token."""
        held: list = []  # a string's tokens
        fields = 0  # how many {} of an f-string are open
        for token in super().get_tokens_unprocessed(text, *args):
            _, kind, part = token
            if not fields and kind not in String:
                yield from _string(held)
                held = []
                yield token
                continue
            opens = kind is String.Interpol and part == "{"
            closes = fields > 0 and kind is String.Interpol and part.endswith("}")
            held.append((token, opens or fields > 0))
            fields += opens - closes
        yield from _string(held)


def _string(held):
    """The tokens of a string, or those of the kernel in it; held: (token, whether it is of an f-string's field)."""
    # x in place of each character of a field: {n} is read as a name
    text = "".join("x" * len(part) if field else part for (_, _, part), field in held)
    found = LONG.fullmatch(text)
    if not found or not CUDA.search(found[2]):
        yield from (token for token, _ in held)
        return
    kinds = [(kind, field) for (_, kind, part), field in held for _ in part]  # one a character
    for index, kind, part in CudaLexer().get_tokens_unprocessed(found[2]):
        for place in range(found.start(2) + index, found.start(2) + index + len(part)):
            kinds[place] = kinds[place] if kinds[place][1] else (kind, False)
    written = "".join(part for (_, _, part), _ in held)
    at, (begin, _, _) = 0, held[0][0]
    for (kind, _), run in groupby(kinds):
        length = len(list(run))
        yield begin + at, kind, written[at : at + length]
        at += length


def setup(app):
    """Sphinx takes it wherever a notebook's code is shown."""
    for name in NAMES:
        app.add_lexer(name, PythonWithCuda)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
