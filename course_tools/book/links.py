"""Links of a page: those that lead to a page or picture of the book stay; of the others the words stay."""

import posixpath
import re

from course_tools.build.around import slug

CODE = re.compile(
    r"(^(?:```+|~~~+)[^\n]*\n.*?^(?:```+|~~~+)[ \t]*$|`[^`\n]+`)", re.MULTILINE | re.DOTALL
)
LINK = re.compile(r"(?<!\!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
PICTURE = re.compile(r"!\[[^\]]*\]\(([^()\s]+)\)")
AWAY = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)


def kept(text, page, pages):
    """The text of `page` with only those relative links whose target is in `pages`; code is left alone."""

    def one(found):
        words, target = found.groups()
        file = target.partition("#")[0]
        inside = not file or AWAY.match(target) or beside(page, file) in pages
        return found[0] if inside else words

    parts = CODE.split(text)  # every second part is code
    parts[::2] = [LINK.sub(one, part) for part in parts[::2]]
    return "".join(parts)


def placed(text):
    """The text of a notebook with the places that its links lead to named as the book names them."""
    page = r"(\]\([^()\s#]+\.(?:ipynb|md)#)([^()\s]+)\)"
    return re.sub(page, lambda found: f"{found[1]}{slug(found[2])})", text)


def pictures(text, page):
    """The files of the pictures that a page shows, as paths in the clone."""
    targets = PICTURE.findall("".join(CODE.split(text)[::2]))
    return [beside(page, target) for target in targets if not AWAY.match(target)]


def beside(page, file):
    """The path in the clone of what `page` calls `file`."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), file))
