"""The cheat sheets as PDF: their page of the book, printed by an installed Chromium."""

import subprocess
import tempfile

from course_lib.errors import BadInput
from course_tools.browser import BROWSERS, FLAGS, find_browser

PAGE = "docs/cheat-sheets"
SECONDS = 120
LINK = '</h1>\n<p class="pdf"><a href="cheat-sheets.pdf">These pages as PDF</a></p>'


def refuse_no_browser():
    """BadInput where there is nothing that prints."""
    if find_browser() is None:
        found = f"none of {', '.join(BROWSERS)} was found"
        raise BadInput(f"--pdf needs Chromium or Chrome, and {found}: install one or leave it out")


def print_sheets(book):
    """Write the PDF beside the page in a finished book, and link it from there."""
    page, pdf = book / f"{PAGE}.html", book / f"{PAGE}.pdf"
    with tempfile.TemporaryDirectory() as profile:
        line = [find_browser(), "--headless", *FLAGS, f"--user-data-dir={profile}"]
        line += ["--no-pdf-header-footer", f"--print-to-pdf={pdf}", page.resolve().as_uri()]
        done = subprocess.run(line, capture_output=True, text=True, timeout=SECONDS)
    if not pdf.is_file():
        last = "\n".join(done.stderr.splitlines()[-5:])
        raise BadInput(f"the browser printed no {pdf.name}; leave --pdf out. It said:\n{last}")
    text = page.read_text(encoding="utf-8")
    page.write_text(text.replace("</h1>", LINK, 1), encoding="utf-8")
