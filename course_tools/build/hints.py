"""How a hint is laid out: what is code in it stands in a fenced block, each statement on a line where that can be.

Authors write a hint as one line of YAML: prose with `code` in it, or statements with "; " between them. Where
indents matter it has several lines, and an empty one between prose and code.
"""

import ast
import re

SPAN = re.compile(r"`([^`\n]+)`")
STATEMENT = re.compile(r"(^|[^=!<>])[-+*/^]?=[^=]|^(return|for|while|if|with|def) |;")
COMPOUND = ("for ", "while ", "if ", "with ", "def ")
LONG = 20  # characters of a span that is no statement and still deserves a block
SHORT = 14  # of a statement that stays in its sentence: `z = b`
ENDS = re.compile(r"$|[.,;:]| (and|at|on|with)\b")  # what follows a span that ends its clause
JOINTS = ("", "then", "and", "and then", "and in it")  # between two blocks: they become one


def laid_out(hint):
    """The hint as Markdown."""
    if "\n" in hint:
        return "\n\n".join(map(_paragraph, hint.strip().split("\n\n")))
    if "`" in hint:
        return _with_spans(hint)
    if hint.endswith((";", "}")) or "__syncthreads()" in hint:
        return _block("\n".join(_pieces(hint, keep=";")), "text")
    return _of_statements(hint)


def _paragraph(text):
    """A paragraph of a hint of several: code of Python or of CUDA C, or prose."""
    if is_code(text):
        return _block(text)
    return _block(text, "text") if text.endswith((";", "}")) else text


def is_code(text):
    """Is this Python: a statement, or an expression that computes something?"""
    for whole in (text, f"{text} pass"):
        try:
            body = ast.parse(whole).body
        except (SyntaxError, ValueError):
            continue
        return bool(body) and all(_says_something(node) for node in body)
    return False


def _says_something(node):
    """A lone name or number is a word of prose, and so is "this is that"."""
    if not isinstance(node, ast.Expr):
        return not isinstance(node, ast.AnnAssign)
    kinds = (ast.BinOp, ast.Call, ast.IfExp, ast.Subscript)
    return any(isinstance(part, kinds) for part in ast.walk(node))


def _block(code, language="python"):
    return f"```{language}\n{code}\n```"


def _with_spans(hint):
    """A code span that ends a clause becomes a block; one within a sentence stays there."""
    parts: list = []  # prose, or a list of lines of code
    at = 0
    for span in SPAN.finditer(hint):
        if not ENDS.match(hint[span.end() :]) or not _deserves(span[1]):
            continue
        prose = _prose(hint[at : span.start()])
        if prose in JOINTS and parts:
            parts[-1].append(span[1])
        else:
            parts += [prose, [span[1]]]
        at = span.end()
    parts.append(_prose(hint[at:]))
    return "\n\n".join(_span_block(p) if isinstance(p, list) else p for p in parts if p)


def _span_block(lines):
    language = "python" if all(is_code(line) for line in lines) else "text"
    return _block("\n".join(lines), language)


def _deserves(code):
    least = SHORT if STATEMENT.search(code) else LONG
    return len(code) >= least or code.startswith("return ")


def _prose(text):
    """What stands between two blocks, without the comma or full stop that a block makes needless."""
    return re.sub(r"^[\s.,;:]+", "", text).rstrip()


def _of_statements(hint):
    """Statements in a row make one block, what is no statement a paragraph."""
    parts: list = []  # prose, or a list of statements
    for piece in _pieces(hint):
        prose, code = _parted(piece)
        if prose:
            parts.append(prose)
        if code and parts and isinstance(parts[-1], list):
            parts[-1].append(code)
        elif code:
            parts.append([code])
    return "\n\n".join(_block(_lines(p)) if isinstance(p, list) else p for p in parts)


def _parted(piece):
    """(prose, code) of a piece, one of them perhaps empty: "after it: return best" has both."""
    if is_code(piece):
        return "", piece
    for colon in re.finditer(": ", piece):
        before, after = piece[: colon.end()].rstrip(), piece[colon.end() :]
        if is_code(after) and not before.startswith(COMPOUND):
            return before, after
    return piece, ""


def _lines(statements):
    """A statement a line; what follows a `for x in y: do this` on its line stays there: it may be in the loop."""
    lines = [statements[0]]
    for statement in statements[1:]:
        inside = lines[-1].startswith(COMPOUND) and not statement.startswith((*COMPOUND, "return "))
        if inside and not lines[-1].startswith("if "):
            lines[-1] += f"; {statement}"
        else:
            lines.append(statement)
    return "\n".join(lines)


def _pieces(text, keep=""):
    """The text cut at each semicolon outside of brackets and quotes. keep: what each piece ends with."""
    pieces, depth, start, quote = [], 0, 0, ""
    for at, char in enumerate(text):
        if quote or char in "\"'":
            quote = "" if char == quote else quote or (char if _opens(text, at) else "")
        depth += (char in "([{") - (char in ")]}")
        if char == ";" and depth == 0 and not quote:
            pieces.append(text[start:at].strip() + keep)
            start = at + 1
    return [*pieces, text[start:].strip()] if text[start:].strip() else pieces


def _opens(text, at):
    """A quotation mark, and not the apostrophe of a word."""
    return at == 0 or not text[at - 1].isalnum()
