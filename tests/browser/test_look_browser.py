"""How a lecture looks in a real JupyterLab, light and dark: callouts, figures, names of files, the way on at hand."""

import re

import lab_browser as lb
import lab_pages as pages
import pytest
from lab_pages import CHAPTER, PANEL, THEMES, contrast

KINDS = ("question", "predict", "check", "take-away")
# [colour, ground, text] of each word in bold, link, code and paragraph of a callout; ground: the first that is opaque
COLOURS = """box => {
    const ground = it => {
        const back = getComputedStyle(it).backgroundColor;
        return back === 'rgba(0, 0, 0, 0)' ? ground(it.parentElement) : back;
    };
    return [box, ...box.querySelectorAll('strong, a, code')].map(
        it => [getComputedStyle(it).color, ground(it), it.textContent.slice(0, 60)]);
}"""
# Names that the list of files cuts off
CUT = """[...document.querySelectorAll('.jp-DirListing-itemText')]
    .filter(it => it.scrollWidth > it.clientWidth).map(it => it.textContent)"""

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture(params=THEMES)
def lab(request, tmp_path):
    """(page at chapter 01, the lecture, "light" or "dark")"""
    with pages.student_page(tmp_path, f"notebooks/{CHAPTER}", THEMES[request.param]) as opened:
        page, folder, _ = opened
        yield page, lb.read_notebook(folder / "notebooks" / CHAPTER), request.param


def test_a_lecture_has_its_look(lab):
    """Over 20 s of processor: JupyterLab, a browser, and two chapters' notebooks."""
    page, lecture, theme = lab
    callouts_are_marked(page, lecture)
    callouts_can_be_read(page)
    figures_fit_the_theme(page, theme)
    pages.screenshot(page, f"look-callouts-{theme}")
    names_are_whole(page)
    the_way_on_is_at_hand(page, theme)


def callouts_are_marked(page, lecture):
    """As many of each kind as the texts have."""
    texts = [
        "".join(cell["source"]) for cell in lecture["cells"] if cell["cell_type"] == "markdown"
    ]
    for words, kind in (("Question", "question"), ("Check", "check"), ("Take away", "take-away")):
        asked = sum(len(re.findall(rf"^\*\*{words}\b", text, re.MULTILINE)) for text in texts)
        marked = page.locator(f"{PANEL} p.course-{kind}")
        lb.wait_until(lambda m=marked, a=asked: m.count() == a, 60, f"{asked} times {kind}")
    parts = [part for text in texts for part in text.split("\n\n")]
    predictions = sum(bool(re.search(r"\*\*predict\b", part, re.I)) for part in parts)
    assert page.locator(f"{PANEL} p.course-predict").count() == predictions > 5
    assert page.locator(f"{PANEL} h1 + ul.course-callout").count() == 1, "what it needs"
    assert page.locator(f"{PANEL} h2 + ul.course-take-away").count() == 1, "what you now know"


def callouts_can_be_read(page):
    for kind in KINDS:
        boxes = page.locator(f"{PANEL} .course-{kind}").all()
        grounds = {box.evaluate(COLOURS)[0][1] for box in boxes[:3]}
        assert len(grounds) == 1 or not boxes
        for box in boxes[:3]:
            for colour, ground, words in box.evaluate(COLOURS):
                assert contrast(over(colour, ground), ground) >= 4.5, (kind, colour, ground, words)


def over(colour, ground):
    """The colour as it is seen: JupyterLab's text is black or white that lets some of its ground through."""
    parts = [float(part) for part in re.findall(r"[\d.]+", colour)]
    share = parts[3] if len(parts) > 3 else 1
    under = [float(part) for part in re.findall(r"[\d.]+", ground)]
    mixed = [round(share * one + (1 - share) * two) for one, two in zip(parts, under, strict=False)]
    return f"rgb({', '.join(map(str, mixed[:3]))})"


def figures_fit_the_theme(page, theme):
    """Drawn on white: in the dark theme light and dark change places."""
    figure = page.locator(f"{PANEL} .jp-OutputArea-output figure > img").first
    figure.scroll_into_view_if_needed()
    shown = figure.evaluate("image => getComputedStyle(image).filter")
    assert (shown == "none") == (theme == "light")


def names_are_whole(page):
    """The longest of them, too, in the list of files of a window that is 1280 px wide."""
    shown = page.locator(".jp-DirListing-itemText")
    lb.wait_until(lambda: shown.count() == 16, 60, "the list of files")
    assert page.evaluate(CUT) == []
    panel = page.locator("#jp-main-dock-panel").bounding_box()
    assert panel["width"] > 850, "the notebook keeps its room"


def the_way_on_is_at_hand(page, theme):
    """To the next lecture and to its exercise, from wherever the reader is, by keyboard as well."""
    way = page.locator(f"{PANEL} nav.course-way")
    assert way.get_attribute("aria-label")
    steps = way.get_by_role("button").all_inner_texts()
    assert steps[0] == "← 00 Start here" and steps[-1] == "02 Mini-batches and BLAS →"
    for step in way.get_by_role("button").all():
        colour, ground, words = step.evaluate(COLOURS)[0]
        assert contrast(over(colour, ground), ground) >= 4.5, words
    arrives(page, way.get_by_role("button", name="02 Mini-batches").click, "02-minibatch")
    exercise = page.locator(f"{PANEL} nav.course-way button", has_text="exercise")
    exercise.focus()
    arrives(page, lambda: page.keyboard.press("Enter"), "02-minibatch", "exercises")
    assert "progress" in page.locator(f"{PANEL} nav.course-way").inner_text()
    pages.screenshot(page, f"look-way-{theme}")


def arrives(page, go, name, folder="notebooks"):
    """Go; wait until the notebook is in front."""
    go()
    tab = page.locator("#jp-main-dock-panel .lm-TabBar-tab.jp-mod-current", has_text=name)
    tab.wait_for()
    lb.wait_until(lambda: f"{folder}/{name}" in tab.get_attribute("title"), 60, f"{folder}/{name}")
    page.wait_for_selector(f"{PANEL} nav.course-way")
