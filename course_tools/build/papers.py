"""The five texts by name: sources say [000] to [004], readers meet "Kamra 2016", linked to docs/references.md."""

import re

NAMES = {
    "000": "Kamra 2016",
    "001": "Goyal 2016",
    "002": "Saraiya 2018",
    "003": "Darve 2019",
    "004": "Singh 2018",
}
SEVERAL = ("Kamra", "Goyal")  # with co-authors: "et al." where a page names them first
PAGE = "docs/references.md"

ID = r"\[(00[0-4])\]"
PLACE = re.compile(r",? (?=(?:sections?|sec\.|eq\.|equations?|algorithms?|figures?)[ ~]\d)")
MENTION = re.compile(  # of these years: others have published under these names as well
    r"\b(Kamra(?=.{0,7} 2016)|Goyal(?=.{0,7} 2016)|Saraiya(?= 2018)|Darve(?= 2019)|Singh(?= 2018))"
    r"( et al\.)? (20\d\d)\b"
)


def named(text):
    """Ids become names: "Darve [003] section 4.1" becomes "Darve 2019, section 4.1", "[003] 4.1" "Darve 2019 §4.1"."""
    text = re.sub(
        rf"{ID} (?=(?:Kamra|Goyal|Saraiya|Darve|Singh),)", "", text
    )  # its full name follows
    text = re.sub(rf"\b(slides?|paper|project) {ID}", lambda m: f"{m[1]} ({NAMES[m[2]]})", text)
    text = re.sub(rf"\b(Kamra|Goyal|Saraiya|Darve|Singh)'s {ID}", _possessive, text)
    own = rf"\b(?:(?:Kamra|Goyal)(?: et al\.)?|Saraiya|Darve|Singh) {ID}"
    text = re.sub(own, lambda m: _whole(m[0], m[1]), text)
    text = re.sub(rf"{ID} (?=\d+(?:\.\d+)*[^\d:])", lambda m: f"{NAMES[m[1]]} §", text)
    text = re.sub(ID, lambda m: NAMES[m[1]], text)
    years = "|".join(NAMES.values()).replace(" ", r"(?: et al\.)? ")
    return re.sub(rf"({years}){PLACE.pattern}", r"\1, ", text)


def _possessive(found):
    return f"{found[1]}'s ({NAMES[found[2]].split()[1]})"


def _whole(text, number):
    """Kamra et al. [000]: keeps its et al.; the year takes the id's place."""
    return text.replace(f"[{number}]", NAMES[number].split()[1])


class Mentions:
    """Names in the texts of one notebook: the first of each in full, and in every cell the first one is a link."""

    def __init__(self, up="../"):
        self.up, self.met = up, set()

    def linked(self, text):
        """The text of a cell; what stands in code, formulas, links, headings or HTML is left as it is."""
        here: set = set()
        return outside(text, lambda part: MENTION.sub(lambda m: self._one(m, here), part))

    def _one(self, found, here):
        author, year = found[1], found[3]
        full = " et al." if author in SEVERAL and author not in self.met else ""
        words = f"{author}{full} {year}"
        self.met.add(author)
        if author in here:
            return words
        here.add(author)
        return f"[{words}]({self.up}{PAGE}#{anchor(author, year)})"


def anchor(author, year):
    """The heading of a text in docs/references.md as an anchor, the one of GitHub and of the book."""
    return "-".join([author.lower(), *(["et-al"] if author in SEVERAL else []), year])


# What is no prose: fenced code, code, formulas, links and pictures, headings, tags of HTML and a summary.
CODE = r"^(?:```+|~~~+)[^\n]*\n.*?^(?:```+|~~~+)[ \t]*$|`[^`\n]+`"
MATHS = r"\$\$.*?\$\$|\$[^$\n]+\$"
LINK = r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\([^()\s]+\)"
HTML = r"<summary>.*?</summary>|<[a-z/!][^>\n]*>"
LEFT = re.compile(rf"({CODE}|{MATHS}|{LINK}|{HTML}|^#+ [^\n]*$)", re.MULTILINE | re.DOTALL)


def outside(text, change):
    """The text with `change` done to its prose alone."""
    parts = LEFT.split(text)
    parts[::2] = [change(part) for part in parts[::2]]
    return "".join(parts)
