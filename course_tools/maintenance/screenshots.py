"""Take the pictures of JupyterLab that README.md and docs/ show: needs Chromium and the packages of the tests.

python -m course_tools.maintenance.screenshots
"""

import json
import shutil
import tempfile
from pathlib import Path

from course_tools.browser import FLAGS, find_browser
from course_tools.maintenance.lab_server import jupyterlab

ROOT = Path(__file__).resolve().parents[2]
PICTURES = {  # the picture: the notebook, and the cell that stands at the top of it
    "docs/chapter01.png": ("notebooks/01-serial-backprop.ipynb", "forward-intro"),
    "docs/chapter13.png": ("notebooks/13-pipelines-and-shards.ipynb", "bubble-intro"),
}


def number(notebook, cell_id):
    """The place of a cell in its notebook."""
    cells = json.loads((ROOT / notebook).read_text(encoding="utf-8"))["cells"]
    return [cell["id"] for cell in cells].index(cell_id)


def take(page, address, picture, notebook, cell_id):
    """Open the notebook with its stored outputs, run nothing, and write the picture."""
    alone = f"/lab/workspaces/{Path(picture).stem}/"  # no tabs of the pictures before
    page.goto(address(notebook).replace("/lab/", alone))
    page.wait_for_selector("#jp-main-statusbar :text('| Idle')")
    page.keyboard.press("Control+s")  # or the tab says that something is not saved
    cell = page.locator(".jp-Notebook .jp-Cell").nth(number(notebook, cell_id))
    for _ in range(3):  # figures and formulas above it may still be growing
        cell.evaluate("cell => cell.scrollIntoView()")
        page.wait_for_timeout(2000)
    page.screenshot(path=ROOT / picture)


def main():
    """Take all of them, of a copy of the lectures."""
    from playwright.sync_api import sync_playwright

    if not (path := find_browser()):
        raise SystemExit("needs Chromium or Chrome")
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        folder, home = Path(place, "course"), Path(place, "home")
        shutil.copytree(ROOT / "notebooks", folder / "notebooks")
        home.mkdir()
        with jupyterlab(folder, home, "JupyterLab Light") as address:
            browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
            for picture, (notebook, cell_id) in PICTURES.items():
                page = browser.new_page(viewport={"width": 1280, "height": 800})
                page.set_default_timeout(180_000)  # the machine may be busy
                take(page, address, picture, notebook, cell_id)
            browser.close()


if __name__ == "__main__":
    main()
