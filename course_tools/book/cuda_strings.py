"""A lexer of notebooks' Python that reads CUDA C in a string as CUDA C, so that kernels have their colours too."""

import re

from IPython.lib.lexers import IPython3Lexer
from pygments.lexers import CudaLexer
from pygments.token import String

CUDA = re.compile(r"__(?:global|device|shared)__|^\s*// CUDA")
LONG = re.compile(r'[a-zA-Z]*("""|\'\'\')(.*)\1', re.DOTALL)
NAMES = ("ipython3", "ipython")  # of the lexers that notebooks ask for


class PythonWithCuda(IPython3Lexer):
    """As IPython3Lexer; the inside of a triple-quoted string with a kernel is lexed by Pygments's CUDA lexer."""

    name = "IPython with CUDA C in strings"
    aliases = ["ipython-cuda"]  # noqa: RUF012 - as Pygments has it

    def get_tokens_unprocessed(self, text, *args):
        """(index, type, text) of each token."""
        held: list = []
        for token in super().get_tokens_unprocessed(text, *args):
            if token[1] in String:
                held.append(token)
                continue
            yield from _strings(held)
            held = []
            yield token
        yield from _strings(held)


def _strings(tokens):
    """The tokens of a string, or those of the kernel in it."""
    text = "".join(part for _, _, part in tokens)
    found = LONG.fullmatch(text)
    if not found or not CUDA.search(found[2]):
        yield from tokens
        return
    begin = tokens[0][0]
    start, end = found.span(2)
    yield begin, String, text[:start]
    for index, kind, part in CudaLexer().get_tokens_unprocessed(found[2]):
        yield begin + start + index, kind, part
    yield begin + end, String, text[end:]


def setup(app):
    """Sphinx takes it wherever a notebook's code is shown."""
    for name in NAMES:
        app.add_lexer(name, PythonWithCuda)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
