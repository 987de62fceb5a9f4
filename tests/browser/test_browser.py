"""A lecture in a real JupyterLab, run from the top, in the dark; `test_way_browser` does so in the light too."""

import lab_browser as lb
import pytest
from lab_pages import CHAPTER, THEMES, open_notebook, run_all, screenshot

pytestmark = [pytest.mark.browser, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def chromium():
    with lb.chromium() as browser:
        yield browser


@pytest.fixture(params=["dark"])
def lab(request, chromium, tmp_path):
    """(page, path -> address, the student's folder, "light" or "dark")"""
    folder, home = lb.student_copy(tmp_path / "course"), tmp_path / "home"
    home.mkdir()
    with lb.jupyterlab(folder, home, THEMES[request.param]) as address:
        page = chromium.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(30_000)
        yield page, address, folder, request.param
        page.close()


def test_lecture_runs_from_the_top(lab):
    """Over 20 s of processor: JupyterLab, a browser, and all cells of a lecture."""
    page, address, folder, theme = lab
    open_notebook(page, address(f"notebooks/{CHAPTER}"))
    assert page.evaluate("document.body.dataset.jpThemeLight") == str(theme == "light").lower()
    notebook = run_all(page, folder / "notebooks" / CHAPTER, 180)
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell["id"] for cell in code if cell["execution_count"] is None] == []
    errors = [
        cell["id"] for cell in code for out in cell["outputs"] if out["output_type"] == "error"
    ]
    assert errors == [
        cell["id"] for cell in code if "raises-exception" in cell["metadata"].get("tags", [])
    ]
    figure = page.locator(".jp-Notebook figure img[alt]").first
    figure.scroll_into_view_if_needed()
    assert figure.evaluate("image => image.naturalWidth") > 300
    screenshot(page, f"lecture-{theme}")
    page.locator(".jp-Notebook figure summary").first.click()
    assert page.locator(".jp-Notebook figure table").first.is_visible()
    screenshot(page, f"table-{theme}")
