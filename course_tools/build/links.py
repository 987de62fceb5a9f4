""" "chapter 07, section 5" in a text becomes a link to that section of that notebook."""

import re

from course_tools.build.papers import outside

NUMBERS = r"\d\d(?:(?:, | and | to | or )\d\d)*"
ONE = re.compile(r"\b[Cc]hapter (?P<chapter>\d\d),? section (?P<section>\d+)(?![\d.]\d)")
OF = re.compile(r"\b[Ss]ection (?P<section>\d+) of (?:chapter (?P<chapter>\d\d)|the lecture)\b")
SEVERAL = re.compile(
    r"\b[Cc]hapter (?P<chapter>\d\d), sections (?P<list>\d+(?:, \d+)*(?: and| to) \d+)"
)
CHAPTER = re.compile(rf"\b(?P<word>[Cc]hapters?) (?P<list>{NUMBERS})\b(?!, section)")


class Links:
    """Links from the notebook of the chapter `own`, of the kind lecture, exercise or solution, to those `around`."""

    def __init__(self, around, own, kind):
        self.around, self.own, self.kind = around, own, kind

    def linked(self, text):
        """The text of a cell with its links; a chapter or section that does not exist stays plain text."""
        for pattern, change in (
            (OF, self._section),
            (ONE, self._section),
            (SEVERAL, self._sections),
            (CHAPTER, self._chapters),
        ):
            text = outside(text, lambda part, p=pattern, c=change: p.sub(c, part))
        return text

    def _section(self, found):
        return self.link(found[0], found["chapter"] or self.own, found["section"])

    def _sections(self, found):
        chapter = found["chapter"]
        return _each(found, r"\d+", lambda number: self.link(number, chapter, number))

    def _chapters(self, found):
        if len(found["list"]) == 2:
            return self.link(found[0], found["list"])
        return _each(found, r"\d\d", lambda number: self.link(number, number))

    def link(self, words, number, section=None):
        """The words as a link to a chapter's lecture, or to a section of it; none to the page itself."""
        there = self.around.get(number)
        here = number == self.own and self.kind == "lecture" and not section
        if there is None or here or (section and section not in there.sections):
            return words
        return f"[{words}]({there.page('lecture', self.kind, section)})"


def _each(found, pattern, change):
    """The words of a match, each number of its list changed."""
    listed = re.sub(pattern, lambda number: change(number[0]), found["list"])
    start, end = found.start("list") - found.start(), found.end("list") - found.start()
    return found[0][:start] + listed + found[0][end:]
