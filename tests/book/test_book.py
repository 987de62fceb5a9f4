"""The web book: it builds without a warning, leads nowhere that is not there, and can be read by everybody.

One book with solutions and one without are built here, from the notebooks as they stand, and looked at in a browser.
"""

import functools
import html
import http.server
import os
import re
import shutil
import subprocess
import sys
import threading
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin
from urllib.request import urlopen

import chapter_sources
import lab_browser as lb
import pytest

from course_lib.errors import BadInput
from course_tools.__main__ import main
from course_tools.build import source

for package in ("sphinx", "myst_nb", "furo", "math_core", "ziamath"):
    if not find_spec(package):
        reason = f"the extra `book` is not installed: no {package}"
        pytest.skip(reason, allow_module_level=True)
axe = pytest.importorskip(
    "axe_playwright_python.sync_playwright", reason="axe-core is not installed"
)

from course_tools.book import command, docstrings, facts, links, pdf, stage  # noqa: E402 (needs the extra)

ROOT = Path(__file__).resolve().parents[2]
GRAVE = ("serious", "critical")  # axe-core's own degrees
PHONE, DESK = {"width": 390, "height": 844}, {"width": 1440, "height": 900}
WIDTHS = (1440, 1024, 390)
LOOKED_AT = (
    "index.html",
    "notebooks/01-serial-backprop.html",
    "exercises/04-leapfrogging.html",
    "library/mpi.html",
    "solutions/05-gpu-first-kernels.html",
    "search.html?q=leapfrogging",
    "docs/bench-threads.html",
    "notation.html",
)

pytestmark = pytest.mark.timeout(900)


def build(out, *options, root=ROOT):
    """Run the command as a user would; return the finished process."""
    line = [
        sys.executable,
        "-m",
        "course_lib",
        "book",
        "--out",
        str(out),
        "--root",
        str(root),
        *options,
    ]
    env = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    }
    return subprocess.run(line, capture_output=True, text=True, env=env, timeout=800)


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """The folder of the whole book."""
    out = tmp_path_factory.mktemp("book") / "whole"
    done = build(out)
    assert done.returncode == 0, done.stdout + done.stderr
    return out


@pytest.fixture(scope="module")
def browser():
    with lb.chromium() as chromium:
        yield chromium


@pytest.fixture(scope="module")
def address(book):
    """The book's address on a server of this machine."""
    with serving(book) as root:
        yield root


class serving:
    """Serve a folder on a free port: `with serving(folder) as address`."""

    def __init__(self, folder):
        self.server = http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), functools.partial(Silent, directory=folder)
        )

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self.server.server_port}/"

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


class Silent(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Page(HTMLParser):
    """What a page links to, what it loads, its ids, and its text."""

    def __init__(self, path):
        super().__init__()
        self.links, self.loads, self.ids, self.words = [], [], set(), []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.ids |= {given[key] for key in ("id", "name") if given.get(key)}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        elif tag in ("script", "img", "iframe", "source", "video") and given.get("src"):
            self.loads.append(given["src"])
        elif tag == "link" and given.get("rel") in (
            "stylesheet",
            "preload",
            "icon",
            "preconnect",
            "dns-prefetch",
        ):
            self.loads.append(given["href"])

    def handle_data(self, data):
        self.words.append(data)


def test_the_book_is_served_to_this_machine(tmp_path, monkeypatch, capsys):
    (tmp_path / "index.html").write_text("the book")
    seen: list = []

    def once(server):
        address = f"http://127.0.0.1:{server.server_port}/"
        reader = threading.Thread(target=lambda: seen.append(urlopen(address, timeout=60).read()))
        reader.start()
        server.handle_request()
        reader.join()
        with pytest.raises(BadInput, match="cannot be used"):
            command.serve(tmp_path, server.server_port)
        raise KeyboardInterrupt

    monkeypatch.setattr(http.server.ThreadingHTTPServer, "serve_forever", once)
    command.serve(tmp_path, 0)
    assert seen == [b"the book"] and "http://127.0.0.1:" in capsys.readouterr().out


@pytest.fixture(scope="module")
def pages(book):
    """{path in the book: what it holds}"""
    return {path.relative_to(book).as_posix(): Page(path) for path in book.rglob("*.html")}


# On disk ----------------------------------------------------------------------------------------------------------


def test_every_chapter_and_document_has_its_page(pages):
    """Over 20 s of processor: the whole book is built for it, once for all of this file."""
    wanted = {
        f"{folder}/{one.chapter}.html"
        for one in chapter_sources.lectures()
        for folder in ("notebooks", "exercises", "solutions")
    }
    wanted |= {f"docs/{path.stem}.html" for path in (ROOT / "docs").glob("*.md")}
    wanted |= {f"library/{room}.html" for room in stage.LIBRARY}
    wanted |= {
        "index.html",
        "search.html",
        "genindex.html",
        "notation.html",
        "glossary.html",
        "references.html",
    }
    assert wanted <= set(pages)


def test_every_page_says_how_long_it_takes_what_it_needs_and_what_to_read_before(book):
    for path in book.rglob("*.html"):
        if path.name not in ("search.html", "genindex.html", "library.html"):
            text = path.read_text(encoding="utf-8")
            assert all(
                f"<strong>{word}:</strong>" in text for word in ("Time", "Needs", "Read before")
            ), path


def test_every_link_leads_to_a_page_and_a_place_on_it(pages, book):
    dead = []
    for name, page in pages.items():
        for link in page.links:
            target, anchor = urldefrag(urljoin(f"file:///{name}", link))
            if not target.startswith("file:"):
                continue
            path = unquote(target.removeprefix("file:///"))
            there = pages.get(path)
            place = not anchor or there is None or unquote(anchor) in there.ids
            if not (book / path).is_file() or not place:
                dead.append((name, link))
    assert dead == []


def test_nothing_is_loaded_from_elsewhere(pages, book):
    for name, page in pages.items():
        assert [
            load for load in page.loads if "//" in load and not load.startswith("data:")
        ] == [], name
    for path in book.rglob("*.css"):
        assert not re.search(
            r"(url\(\s*[\"']?|@import\s+[\"']?)(https?:)?//", path.read_text("utf-8")
        ), path


def test_figures_have_alt_text_and_their_data(pages, book):
    text = "".join(path.read_text("utf-8") for path in book.glob("notebooks/*.html"))
    figures = re.findall(r"<figure.*?</figure>", text, re.DOTALL)
    assert len(figures) > 50
    for figure in figures:
        data = "<ol>" if 'class="course-stepper"' in figure else "<table>"
        assert re.search(r'<img[^>]*\balt="[^"]{20,}', figure) and data in figure


@pytest.mark.parametrize("solutions", [False, True])
def test_no_solution_stands_in_a_book_for_a_class(tmp_path, solutions):
    """In what Sphinx is given, which is all that it knows; the whole book has every line, or this would see nothing."""
    stage.stage(ROOT, tmp_path, *stage.contents(ROOT, solutions))
    assert (tmp_path / "solutions").exists() == solutions
    text = "\n".join(map(staged_text, tmp_path.rglob("*")))
    plain = squeezed(html.unescape(text))
    there = [line for line in solution_lines() if line in plain]
    assert there == (list(solution_lines()) if solutions else [])
    assert ("](../solutions/" in text) == solutions, "a link to a page that is not there"


def staged_text(path):
    """All that a staged page says: of a notebook, its cells and what they print."""
    if path.suffix == ".md":
        return path.read_text("utf-8")
    if path.suffix != ".ipynb":
        return ""
    cells = lb.read_notebook(path)["cells"]
    shown = [out for cell in cells for out in cell.get("outputs", [])]
    texts = [cell["source"] for cell in cells] + [out.get("text", "") for out in shown]
    texts += [text for out in shown for text in out.get("data", {}).values()]
    return "\n".join("".join(text) for text in texts if isinstance(text, str | list))


def printed(lecture):
    """What the cells of a lecture print: among other things, kernels of the library."""
    cells = lb.read_notebook(ROOT / f"notebooks/{lecture.chapter}.ipynb")["cells"]
    return "\n".join(
        "".join(out.get("text", [])) for cell in cells for out in cell.get("outputs", [])
    )


@functools.cache
def solution_lines():
    """Lines of 20 characters or more that only solutions have: no lecture shows them, and no exercise elsewhere."""
    public, lines = "".join(map(printed, chapter_sources.lectures())), []
    for one in chapter_sources.lectures() + chapter_sources.exercises():
        for cell in one.cells:
            region = source.split(cell.source) if cell.task else None
            public += f"{region.before}\n{region.after}\n" if region else f"{cell.source}\n"
            public += "\n".join(cell.task.hints) if cell.task else ""
            lines += map(squeezed, region.text.split("\n")) if region else []
    public = squeezed(public)
    kept = [line for line in lines if len(line) >= 20 and line not in public]
    assert len(kept) > 100
    return kept


def squeezed(text):
    return re.sub(r"\s+", "", text)


def test_the_whole_book_has_the_solutions(book):
    """The search for leaks above finds what there is to find."""
    text = "".join(path.read_text("utf-8") for path in book.glob("solutions/*.html"))
    plain = squeezed(html.unescape(re.sub(r"<[^>]+>", "", text)))
    assert [line for line in solution_lines() if line not in plain] == []


# In a browser -----------------------------------------------------------------------------------------------------


def opened(browser, size, theme="light"):
    """A new page of that size and theme, and the list of what goes wrong on it."""
    page, wrong = browser.new_page(viewport=size), []
    page.add_init_script(
        f"localStorage.getItem('theme') || localStorage.setItem('theme', '{theme}')"
    )
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("requestfailed", lambda request: wrong.append(f"not loaded: {request.url}"))
    here = ("http://127.0.0.1:", "data:")
    page.on("request", lambda request: request.url.startswith(here) or wrong.append(request.url))
    return page, wrong


@pytest.mark.browser
def test_every_page_opens_and_fits_a_phone(browser, address, pages):
    page, wrong = opened(browser, PHONE)
    for name in sorted(pages):
        reply = page.goto(address + name)
        page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true; })")
        wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert reply.status == 200 and wrong == [] and wide <= 0, (name, wrong, wide)
    page.close()


@pytest.mark.browser
@pytest.mark.parametrize("width", WIDTHS)
def test_no_code_and_no_output_is_cut_off(browser, address, pages, width):
    """Text wraps; a printed table scrolls, and its rows stay whole."""
    page, _ = opened(browser, {"width": width, "height": 900})
    for name in sorted(name for name in pages if name.startswith("notebooks/")):
        page.goto(address + name)
        page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true; })")
        cut = page.evaluate(
            "[...document.querySelectorAll('.cell_input pre, .cell_output pre:not(.columns)')]"
            ".filter(pre => pre.scrollWidth > pre.clientWidth + 1).map(pre => pre.textContent.slice(0, 60))"
        )
        assert cut == [], (name, width)
        torn = page.evaluate(
            "[...document.querySelectorAll('pre > .line.row')]"
            ".filter(row => row.textContent.trim() && row.getClientRects()[0].height > 30).map(row => row.textContent)"
        )
        assert torn == [], (name, width)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, (name, width)
    page.close()


@pytest.mark.browser
def test_figures_can_be_read_on_a_phone(browser, address):
    """They keep a width at which their labels can be read, and scroll in their own place."""
    page, _ = opened(browser, PHONE)
    page.goto(address + "notebooks/03-thread-data-parallelism.html")
    page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true; })")
    wide = page.locator(".cell_output figure[tabindex] > img")
    wide.first.wait_for()
    assert all(img.evaluate("it => it.width >= 500") for img in wide.all())
    code = page.locator(".cell_input pre").all_text_contents()
    assert any("\n    " in text for text in code), "the lines are still those of the source"
    page.close()


@pytest.mark.browser
def test_the_search_finds_a_word_and_leads_to_it(browser, address):
    page, _ = opened(browser, DESK)
    page.goto(address + "index.html")
    page.locator(".sidebar-search").fill("oversubscription")
    page.keyboard.press("Enter")
    page.locator("#search-results .context").first.wait_for()
    assert "Read before:" not in page.locator("#search-results").inner_text(), (
        "an excerpt is of the text"
    )
    found = page.locator("#search-results li a", has_text="03. Data parallelism with threads").first
    found.click()
    page.wait_for_url("**/notebooks/03-thread-data-parallelism.html**")
    assert "versubscription" in page.locator("article").inner_text()
    page.close()


@pytest.mark.browser
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_callouts_terms_and_cards(browser, address, theme, width):
    """Each at three widths and in both themes: what they look like, and that a term says what it means."""
    page, wrong = opened(browser, {"width": width, "height": 900}, theme)
    page.goto(address + "index.html")
    cards = page.locator(".card")
    assert cards.count() == 16
    wide = page.evaluate(
        "[...document.querySelectorAll('.card')].map(it => it.scrollWidth - it.clientWidth)"
    )
    assert max(wide) <= 0
    cards.nth(8).scroll_into_view_if_needed()
    shot(page, f"book-cards-{theme}-{width}")
    cards.nth(5).click(position={"x": 20, "y": 5})  # anywhere on it
    page.wait_for_url("**/notebooks/05-gpu-first-kernels.html")
    for kind in ("question", "predict", "check", "take-away"):
        assert page.locator(f".admonition.callout.{kind}").count() >= 1, kind
    term_is_explained(page)
    shot(page, f"book-term-{theme}-{width}")
    figure = page.locator(".cell_output figure > img").first
    assert (figure.evaluate("it => getComputedStyle(it).filter") == "none") == (theme == "light")
    assert page.evaluate("document.documentElement.scrollWidth") <= width and wrong == []
    page.close()


def term_is_explained(page):
    """By the mouse and by the keyboard; Escape puts it away; it stays beside the text, and nothing covers it."""
    term, box = (
        page.locator("a.term", has_text=re.compile("^warps?$")).first,
        page.locator("#term-says"),
    )
    term.scroll_into_view_if_needed()
    term.hover()
    box.wait_for(state="visible")
    assert box.inner_text().startswith("32 threads of a block")
    page.keyboard.press("Escape")
    box.wait_for(state="hidden")
    term.focus()
    box.wait_for(state="visible")
    place, text = box.bounding_box(), page.locator("article").bounding_box()
    right = place["x"] + place["width"]
    assert place["x"] >= text["x"] - 1 and right <= text["x"] + text["width"] + 1
    seen = f"document.elementFromPoint({right - 5}, {place['y'] + 5}).id"
    assert page.evaluate(seen) == "term-says"
    assert term.get_attribute("aria-describedby") == box.get_attribute("id")


def shot(page, name):
    lb.SHOTS.mkdir(exist_ok=True)
    page.screenshot(path=lb.SHOTS / f"{name}.png")


@pytest.mark.browser
def test_the_search_says_why_it_has_no_excerpts_from_disk(browser, address, book):
    page = browser.new_page(viewport=DESK)
    for where, told in ((book.as_uri() + "/", 1), (address, 0)):
        page.goto(f"{where}search.html?q=leapfrogging")
        page.locator("#search-results li a").first.wait_for()
        assert page.locator(".from-disk", has_text="Results without excerpts").count() == told
    page.close()


def test_callouts_are_those_of_the_source(book):
    for one in chapter_sources.lectures():
        asked = "\n\n".join(cell.source for cell in one.cells if cell.kind == "markdown")
        text = (book / f"notebooks/{one.chapter}.html").read_text("utf-8")
        for words, kind in (("Question", "question"), ("Take away", "take-away")):
            said = len(re.findall(rf"^\*\*{words}\b", asked, re.MULTILINE))
            shown = text.count(f'<div class="callout {kind} admonition')
            summed_up = kind == "take-away" and shown == said + 1  # the list at the end
            assert shown == said or summed_up, (one.chapter, kind, said, shown)


@pytest.mark.browser
def test_the_theme_can_be_switched_and_stays(browser, address):
    page, _ = opened(browser, DESK)
    page.goto(address + "index.html")
    colour = "getComputedStyle(document.body).backgroundColor"
    seen = {page.evaluate(colour)}
    for _ in range(3):  # light, dark, as the system has it
        page.locator(".theme-toggle:visible").click()
        seen.add(page.evaluate(colour))
        if page.evaluate("document.body.dataset.theme") == "dark":
            break
    page.goto(address + "glossary.html")
    assert len(seen) == 2 and page.evaluate("document.body.dataset.theme") == "dark"
    page.close()


@pytest.mark.browser
@pytest.mark.parametrize(
    "theme, size, names",
    [("light", DESK, LOOKED_AT), ("dark", PHONE, LOOKED_AT[:4])],
    ids=["light-desk", "dark-phone"],
)
def test_axe_finds_nothing_serious(browser, address, theme, size, names):
    """The dark pages have the same elements as the light ones: one of each kind."""
    page, _ = opened(browser, size, theme)
    for name in names:
        page.goto(address + name)
        page.wait_for_selector("h1")
        page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true; })")
        page.wait_for_timeout(200)  # observers of sizes answer after the next frame
        found = axe.Axe().run(page).response["violations"]
        serious = [
            (one["id"], one["nodes"][0]["html"][:200]) for one in found if one["impact"] in GRAVE
        ]
        assert serious == [], (name, serious)
    page.close()


@pytest.mark.browser
def test_the_keyboard_reaches_the_text_and_the_side_bar(browser, address):
    page, _ = opened(browser, PHONE)
    page.goto(address + "notebooks/00-start-here.html")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className").startswith("skip-to-content")
    drawer = page.get_by_role("button", name="Pages of the book")
    drawer.focus()
    page.keyboard.press("Enter")
    page.wait_for_function(
        "document.querySelector('.sidebar-drawer').getBoundingClientRect().left >= 0"
    )
    assert drawer.get_attribute("aria-expanded") == "true"
    page.keyboard.press("Escape")
    assert drawer.get_attribute("aria-expanded") == "false"
    page.close()


@pytest.mark.browser
def test_code_is_copied(browser, address):
    page, wrong = opened(browser, DESK)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(address + "notebooks/01-serial-backprop.html")
    code = page.locator(".cell_input .highlight").nth(1)
    button, seen = code.locator("button"), "it => getComputedStyle(it).opacity"
    assert button.evaluate(seen) == "0"
    code.hover()
    assert button.evaluate(seen) == "1"
    button.click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == code.locator("pre").text_content().rstrip() and len(copied) > 10
    assert button.inner_text() == "Copied" and wrong == []
    page.close()


@pytest.mark.browser
def test_an_answer_is_shown_on_a_click(browser, address):
    page, _ = opened(browser, DESK)
    page.goto(address + "notebooks/01-serial-backprop.html")
    answers = page.locator("details.answer")
    first = answers.first
    output = first.locator(".cell_output").first
    assert not output.is_visible()
    first.locator("summary").first.click()
    assert output.is_visible()
    page.get_by_role("button", name=re.compile("Show all .* answers")).click()
    page.reload()
    assert page.evaluate(
        "[...document.querySelectorAll('details.answer')].every(fold => fold.open)"
    )
    page.close()


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize(
    "theme, size", [("light", DESK), ("dark", PHONE)], ids=["light-desk", "dark-phone"]
)
def test_a_stepper_is_walked_by_keyboard(browser, address, theme, size):
    """Over 20 s of processor where it is the first to need the book, which is built for it."""
    page, wrong = opened(browser, size, theme)
    page.goto(address + "notebooks/10-mpi-collectives.html")
    page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true; })")
    assert page.locator("figure.course-stepper").count() >= 2
    assert page.locator("figure.course-stepper:not([data-live])").count() == 0
    for figure in page.locator("figure.course-stepper").all():
        sentences = figure.locator("li").all_inner_texts()
        figure.get_by_role("button", name="Step on").focus()
        for sentence in sentences[1:]:
            page.keyboard.press("ArrowRight")
            assert figure.locator(".says").inner_text() == sentence
        assert figure.evaluate("it => it.hasAttribute('data-dark')") == (theme == "dark")
        assert figure.evaluate("it => it.scrollWidth <= it.clientWidth")
    found = axe.Axe().run(page).response["violations"]
    assert not [one["id"] for one in found if one["impact"] in GRAVE] and wrong == []
    page.close()


def test_the_first_page_has_the_picture_and_no_page_asks_for_a_run(book):
    assert re.search(r"<img[^>]*chapter01\.png", (book / "index.html").read_text("utf-8"))
    for path in book.glob("notebooks/*.html"):
        assert "No guess yet" not in path.read_text("utf-8"), path


@pytest.mark.parametrize("chapter", chapter_sources.CHAPTERS)
def test_each_prediction_folds_its_answer(chapter, book):
    """As many folds as paragraphs that ask; none is empty."""
    one = chapter_sources.read(chapter, "lecture")
    texts = [cell.source for cell in one.cells if cell.kind == "markdown"]
    asked = sum(
        bool(re.search(r"\*\*predict\b", part, re.I))
        for text in texts
        for part in text.split("\n\n")
    )
    text = (book / f"notebooks/{one.chapter}.html").read_text("utf-8")
    assert text.count('<details class="answer">') == asked
    assert not re.search(
        r'<details class="answer"><summary>The answer</summary>\s*</details>', text
    )


# Right and wrong calls --------------------------------------------------------------------------------------------


@pytest.fixture
def small_clone(tmp_path):
    """A clone with chapter 00 and one document."""
    root = tmp_path / "clone"
    shutil.copytree(ROOT / "chapters/00-start-here", root / "chapters/00-start-here")
    for folder in ("notebooks", "exercises", "solutions"):
        (root / folder).mkdir()
        shutil.copy(ROOT / folder / "00-start-here.ipynb", root / folder)
    (root / "docs").mkdir()
    shutil.copy(ROOT / "README.md", root)
    shutil.copy(ROOT / "docs/chapter01.png", root / "docs")
    # without chapter 01 the links at the end are others; code and outputs are those of the clone
    assert main(["build", "--root", str(root)]) == 0
    return root


def test_a_warning_is_an_error(small_clone, tmp_path):
    (small_clone / "docs/note.md").write_text(
        "# A note\n\nSee {ref}`nowhere`, and $\\frac{1$.\n", encoding="utf-8"
    )
    done = build(tmp_path / "out", root=small_clone)
    assert done.returncode == 1 and not (tmp_path / "out").exists()
    assert "nowhere" in done.stderr and "not understood" in done.stderr


def test_a_notebook_that_is_not_its_source_is_refused(small_clone, tmp_path, capsys):
    path = small_clone / "chapters/00-start-here/lecture.md"
    path.write_text(path.read_text("utf-8") + "\nOne more sentence.\n", encoding="utf-8")
    assert main(["book", "--root", str(small_clone), "--out", str(tmp_path / "out")]) == 1
    assert "notebooks/00-start-here.ipynb: its source has changed" in capsys.readouterr().err


def test_a_folder_with_something_else_is_left_alone(small_clone, tmp_path, capsys):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.txt").write_text("dear")
    assert main(["book", "--root", str(small_clone), "--out", str(tmp_path / "mine")]) == 2
    assert (
        "is not a book of ours" in capsys.readouterr().err
        and (tmp_path / "mine/thesis.txt").exists()
    )


def test_the_cheat_sheets_are_printed_a_page_each(book, tmp_path):
    """Over 20 s of processor where it is the first to need the book."""
    if pdf.find_browser() is None:
        pytest.skip("no browser: nothing prints")
    shutil.copytree(book, tmp_path / "book")
    pdf.print_sheets(tmp_path / "book")
    made = (tmp_path / f"book/{pdf.PAGE}.pdf").read_bytes()
    assert made.startswith(b"%PDF-") and len(re.findall(rb"/Type\s*/Page\b", made)) == 5
    assert 'href="cheat-sheets.pdf"' in (tmp_path / f"book/{pdf.PAGE}.html").read_text("utf-8")


def test_a_pdf_without_a_browser_is_refused_before_the_book_is_built(
    small_clone, tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr(pdf, "find_browser", lambda: None)
    line = ["book", "--pdf", "--root", str(small_clone), "--out", str(tmp_path / "out")]
    assert main(line) == 2 and not (tmp_path / "out").exists()
    assert "--pdf needs Chromium or Chrome" in capsys.readouterr().err


def test_a_missing_extra_is_named(small_clone, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(command.NEEDED, "no_such_module", "the-package")
    assert main(["book", "--root", str(small_clone), "--out", str(tmp_path / "out")]) == 2
    assert 'the-package: pip install -e ".[book]"' in capsys.readouterr().err


# Parts ------------------------------------------------------------------------------------------------------------


def test_what_to_read_before():
    assert facts.before("00-start-here") == []
    assert facts.before("02-minibatch-and-blas") == ["01-serial-backprop"]
    assert (
        facts.before("05-gpu-first-kernels")
        == facts.before("10-mpi-collectives")
        == ["02-minibatch-and-blas"]
    )
    assert facts.before("08-gemm-register-tiled") == ["07-gemm-shared-memory"]
    assert len(facts.before("14-capstone")) == 14
    assert facts.before("15-half-precision") == ["09-gpu-backprop"]


def test_links_out_of_the_book_become_words():
    text = "[a](b.md), [c](../x/d.py#e), [f](https://example.org), `[g](h.md)`, [i](#j)"
    assert links.kept(text, "docs/a.md", {"docs/b.md"}) == text.replace("[c](../x/d.py#e)", "c")


def test_a_formula_keeps_its_mark(book):
    """A browser would break the line between the two."""
    text = (book / "notebooks/01-serial-backprop.html").read_text("utf-8")
    assert not re.search(r"</math>[.,;:?]", re.sub(r"with-its-mark.*?</span>", "", text))


def test_docstrings_keep_the_lines_that_name_something():
    """Over 20 s of processor: it reads every page of the book."""
    text = "One line.\n\nx: (B, n) *float32*\n  in rows.\ny: `int64`.\nRaises BadInput."
    assert docstrings.rest(text) == (
        "| One line.\n\n| x: (B, n) \\*float32\\* in rows.\n| y: ``int64``.\n| Raises BadInput.\n"
    )
    assert docstrings.rest("a.py    and this\nb.py    and that").startswith(
        ".. code-block:: text\n\n    a.py    and"
    )
