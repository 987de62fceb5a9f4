"""`python -m course_tools.build.prose [NN ...]`: what of the chapters is longer than a reader can take.

The limits: a core path (what is not folded) of CORE words and MINUTES minutes, of chapter 00 of FIRST minutes;
paragraphs of PARAGRAPH words and sentences of SENTENCE, folded ones too; one aside a section (a parenthesis of more
than ASIDE words); and nothing that is not folded uses a name which only folded code defines. Code of lectures and
exercises has lines of at most COLUMNS characters: wider ones are cut off beside the navigation of a page.
All core paths together have at most PATHS words, and the text cells of all lectures and exercises TEXT.
"""

import argparse
import ast
import re
import sys

from course_lib.errors import BadInput
from course_tools.build import minutes, source
from course_tools.build.files import clone

CORE, MINUTES, FIRST = 3300, 60, 25
PARAGRAPH, SENTENCE, ASIDE = 110, 35, 8
COLUMNS = 88
PATHS, TEXT = 46_000, 90_000
PIECES = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )")  # paragraphs, and items of lists
END = re.compile(r"(?<=[.!?])[\"'*_)]*\s+(?=[\"'*_(]*[A-Z0-9`$\[])")
SHORT = re.compile(r"\b(et al|e\.g|i\.e|cf|vs|Fig|Eq|No|pp)\.")
PARENTHESIS = re.compile(r"(?<!\])\(([^()]*(?:\([^()]*\)[^()]*)*)\)")


def breaches(read):
    """What is too long in a lecture, a text each, with the line or the section where it is."""
    yield from _whole(read)
    yield from _borrowed(read)
    for cell in read.cells:
        if cell.kind == "markdown":
            yield from _pieces(cell)
    yield from _asides(read)
    yield from too_wide(read)


def too_wide(read):
    """Lines of code wider than COLUMNS, a text each: of all that learners see, and of solutions."""
    for cell in read.cells:
        if cell.kind == "code":
            for row in cell.source.split("\n"):
                if len(row) > COLUMNS:
                    yield f"{cell.name} (line {cell.line}): a line of {len(row)} columns: {row.strip()[:60]}..."


def core_words(read):
    """The words of a lecture that are not folded; the list under "Go further" is not counted."""
    return sum(
        minutes.words(text)
        for title, cell, text in minutes.parts(read)
        if cell.kind == "markdown" and not cell.deep and title != minutes.NOT_READ
    )


def together(lectures, exercises):
    """What is too long in all of them, a text each."""
    paths = sum(map(core_words, lectures))
    if paths > PATHS:
        yield f"all core paths have {paths} words; at most {PATHS}"
    texts = [
        cell.source
        for read in (*lectures, *exercises)
        for cell in read.cells
        if cell.kind == "markdown"
    ]
    if (words := sum(map(minutes.words, texts))) > TEXT:
        yield f"all lectures and exercises have {words} words; at most {TEXT}"


def _whole(read):
    words, time = core_words(read), minutes.core(read)
    most = FIRST if read.chapter.startswith("00") else MINUTES
    if words > CORE:
        yield f"the core path has {words} words; at most {CORE}"
    if time > most:
        yield f"the core path takes {time} minutes; at most {most}"


def _borrowed(read):
    """Names that core code uses and only folded code defines: who leaves the fold alone has no such name."""
    folded: dict = {}
    known: set = set()
    for cell in read.cells:
        tree = _tree(cell)
        if tree is None:
            continue
        stored = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and _stores(n)}
        stored |= {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.ClassDef)}
        if cell.deep:
            folded.update(dict.fromkeys(stored - known, cell.name))
            continue
        known |= stored
        used = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
        for name in sorted((used & folded.keys()) - known):
            yield f"{cell.name} (line {cell.line}) uses {name}, which only the folded {folded[name]} defines"


def _tree(cell):
    try:
        return ast.parse(cell.source) if cell.kind == "code" else None
    except SyntaxError:  # IPython's own syntax
        return None


def _stores(name):
    return isinstance(name.ctx, ast.Store)


def _pieces(cell):
    for piece in PIECES.split(_plain(cell.source)):
        where = f"{cell.name or 'a text'} (line {cell.line})"
        if (count := minutes.words(piece)) > PARAGRAPH:
            yield f"{where}: a paragraph of {count} words: {piece.strip()[:60]}..."
        for sentence in END.split(SHORT.sub(r"\1", piece)):
            if (count := minutes.words(sentence)) > SENTENCE:
                yield f"{where}: a sentence of {count} words: {sentence.strip()[:60]}..."


def _plain(text):
    """Without blocks of code, tables, formulas of their own and images; a formula and a link's target are a word."""
    text = re.sub(r"^(```|~~~).*?^\1.*?$", "\n", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"\$\$.*?\$\$", "\n\n", text, flags=re.DOTALL)
    text = re.sub(r"^(\||#|:::).*$", "\n", text, flags=re.MULTILINE)
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", " ", text)
    return re.sub(r"\$[^$]+\$", " x ", text)


def _asides(read):
    found: dict = {}
    for title, cell, text in minutes.parts(read):
        if cell.kind == "markdown":
            asides = [p for p in PARENTHESIS.findall(_plain(text)) if minutes.words(p) > ASIDE]
            found.setdefault(title, []).extend(asides)
    for title, asides in found.items():
        if len(asides) > 1 and title != minutes.NOT_READ:
            shown = "; ".join(f"({aside[:40]}...)" for aside in asides)
            yield f"section {title!r} has {len(asides)} asides; at most one: {shown}"


def _told(read):
    """What a chapter's file breaks; a lecture is introduced by its size."""
    if read.kind == "lecture":
        print(f"{read.chapter}: core {core_words(read)} words, {minutes.core(read)} minutes")
        yield from breaches(read)
    else:
        yield from (f"exercise: {text}" for text in too_wide(read))


def main(argv=None):
    """Print what is too long; return 1 if anything is."""
    words = __doc__.split("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m course_tools.build.prose", description=words)
    parser.add_argument("chapters", nargs="*", metavar="NN", help="chapters; all without it")
    arguments = parser.parse_args(argv)
    try:
        found = 0
        for path in source.find(clone()):
            if arguments.chapters and path.parent.name[:2] not in arguments.chapters:
                continue
            texts = list(_told(source.read(path)))
            for text in texts:
                print(f"  {text}")
            found += len(texts)
    except BadInput as error:
        print(error, file=sys.stderr)
        return 2
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
