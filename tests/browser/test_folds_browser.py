"""Folded outputs in a real JupyterLab: the first line, often the answer, is not shown until the cell is run.

Before that the notebook is as it was: JupyterLab does not call it changed. Its lines can be read.
"""

import lab_browser as lb
import pytest
from lab_pages import CHAPTER, PANEL, THEMES, cell_at, open_notebook, run_cell

WIDEST = """panel => Math.max(...[...panel.querySelectorAll('.jp-RenderedMarkdown p')].map(
    it => it.getBoundingClientRect().width / parseFloat(getComputedStyle(it).fontSize)))"""

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(600)]


def test_a_folded_output_says_nothing_before_its_cell_is_run(tmp_path):
    """Over 20 s of processor: JupyterLab, a browser, and a chapter's notebook."""
    folder, home = lb.student_copy(tmp_path / "course"), tmp_path / "home"
    home.mkdir()
    with lb.chromium() as browser, lb.jupyterlab(folder, home, THEMES["light"]) as address:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(60_000)
        open_notebook(page, address(f"notebooks/{CHAPTER}"))
        folded = page.locator(f"{PANEL} .jp-OutputPlaceholder:visible")
        folded.first.wait_for()
        assert folded.count() > 10 and set(folded.all_inner_texts()) == {""}
        words = "it => getComputedStyle(it, '::before').content"
        place = folded.first.locator(".jp-Placeholder-contentContainer")
        assert place.evaluate(words) == '"folded until you run this cell"'
        notebook = lb.read_notebook(folder / "notebooks" / CHAPTER)
        silent = next(cell["id"] for cell in notebook["cells"] if is_silent(cell))
        hidden = cell_at(page, notebook, silent).locator(".jp-OutputPlaceholder")
        assert not hidden.is_visible(), "nothing is folded where a cell prints nothing"
        assert 30 < page.locator(PANEL).evaluate(WIDEST) < 43, "in em: about 80 characters"
        page.wait_for_timeout(2000)  # the kernel has told its version, which JupyterLab notes
        changed = page.locator(".lm-TabBar-tab.jp-mod-current.jp-mod-dirty")
        assert changed.count() == 0, "a notebook that was only opened is called changed"
        for name in ("setup", "neuron-guess", "neuron-by-loop"):
            run_cell(page, cell_at(page, notebook, name))
        assert changed.count() == 1
        shown = cell_at(page, notebook, "neuron-by-loop").locator(".jp-OutputArea-output")
        assert "a = 0.4378" in shown.inner_text()


def is_silent(cell):
    """Is its output folded, though there is none?"""
    return cell["metadata"].get("collapsed") and not cell["outputs"]
