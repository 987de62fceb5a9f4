"""The web book: `python -m course_lib book` turns the built notebooks, docs and docstrings into a site, offline.

command.py     the command: arguments, progress, and the swap of a finished book into its place
stage.py       the tree of pages that Sphinx reads
facts.py       how long a page takes, what it needs, what to read before
links.py       links that lead out of the book become words
references.py  the works that the chapters cite
conf.py        Sphinx's settings
answers.py     everything after a prediction is folded away until the reader asks for it
callouts.py    questions, predictions, checks and what to take away, as admonitions
terms.py       words of the glossary, each with its meaning where a page first says it
drawn.py       which pictures are diagrams, and turn round in a dark theme
mathml.py      mathematics as MathML: no script, nothing to load
docstrings.py  docstrings, which are plain text, for autodoc
written/       the pages that only the book has, Jinja2 templates (.myst, not .md: their links hold in the book alone)
static/        its style and its script; templates/ the page of the search
"""
