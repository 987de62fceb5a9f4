"""A notebook in a JupyterLab that a browser shows: opened, run, edited and saved as a student does it."""

import contextlib
import re

import lab_browser as lb

CHAPTER = "01-serial-backprop.ipynb"
THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}
PANEL = ".jp-NotebookPanel:not(.lm-mod-hidden)"
# Marks a prompt once its text changes, such as to [*].
WATCH = """prompt => {
    delete prompt.dataset.run;
    new MutationObserver(() => { prompt.dataset.run = 1; })
        .observe(prompt, { childList: true, characterData: true, subtree: true });
}"""


@contextlib.contextmanager
def student_page(tmp_path, notebook, settings):
    """(page at this notebook, the student's folder, its home) in a JupyterLab of its own with these settings."""
    folder, home = lb.student_copy(tmp_path / "course"), tmp_path / "home"
    home.mkdir()
    with lb.chromium() as browser, lb.jupyterlab(folder, home, settings) as address:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(60_000)
        open_notebook(page, address(notebook))
        yield page, folder, home


def open_notebook(page, url):
    page.goto(url)
    page.wait_for_selector(f"{PANEL} .jp-Notebook .jp-Cell")
    kernel_is_idle(page)


def kernel_is_idle(page):
    """Wait for the kernel of the notebook in front. A cell that is run before it answers is lost without a word."""
    idle = f"{PANEL} .jp-Notebook-ExecutionIndicator[data-status=idle]"
    for place in (idle, "#jp-main-statusbar :text('| Idle')"):
        page.wait_for_selector(place, timeout=60_000)


def run_all(page, path, seconds):
    """Run > Run All Cells in the menu; wait until all has run, or stopped at an error; return the saved notebook."""
    blank = first_number(lb.read_notebook(path)) is None
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    waiting = page.locator(f"{PANEL} .jp-InputPrompt", has_text="*")

    def begun():  # it may be over in a moment, before anybody has seen a cell wait
        return waiting.count() > 0 or (blank and first_number(save(page, path)))

    lb.wait_until(begun, 120, "the first cell to start")
    lb.wait_until(lambda: waiting.count() == 0, seconds, "the last cell to end")
    return save(page, path)


def first_number(notebook):
    """The execution count of the first code cell."""
    return next(
        cell["execution_count"] for cell in notebook["cells"] if cell["cell_type"] == "code"
    )


def save(page, path):
    before = path.stat().st_mtime_ns

    def written():
        """JupyterLab writes nothing while nothing has changed: on a busy machine the run may not have begun."""
        page.keyboard.press("Control+s")
        page.wait_for_timeout(200)
        return path.stat().st_mtime_ns != before and lb.read_notebook(path)

    return lb.wait_until(written, 120, f"{path.name} to be saved")


def cell_at(page, notebook, cell_id):
    number = [cell["id"] for cell in notebook["cells"]].index(cell_id)
    return page.locator(f"{PANEL} .jp-Notebook .jp-Cell").nth(number)


def run_cell(page, cell):
    """Click into the cell, press Ctrl+Enter, wait until its prompt has changed and shows a number.

    The number may be the one that was there: a lecture is opened with those of its last run. A key that JupyterLab
    took for nothing, since it was busy with the notebook, is pressed again.
    """
    prompt = cell.locator(".jp-InputPrompt")

    def begun():
        prompt.evaluate(WATCH)
        cell.locator(".cm-content").click()
        page.keyboard.press("Control+Enter")
        page.wait_for_timeout(3000)
        return prompt.get_attribute("data-run")

    lb.wait_until(begun, 120, "a cell to be run")
    lb.wait_until(lambda: re.search(r"\d", prompt.inner_text()), 180, "a cell to end")


def replace_source(page, cell, text):
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    page.keyboard.insert_text(text)


def screenshot(page, name):
    lb.SHOTS.mkdir(exist_ok=True)
    page.screenshot(path=lb.SHOTS / f"{name}.png")


def follow(page, words, name):
    """Click on a link of the notebook in front; wait until the notebook `name` is in front and can run."""
    page.locator(f"{PANEL} .jp-RenderedMarkdown a", has_text=words).last.click()
    in_front = page.locator("#jp-main-dock-panel .lm-TabBar-tab.jp-mod-current", has_text=name)
    in_front.wait_for()
    page.wait_for_selector(f"{PANEL} .jp-Notebook .jp-Cell")
    kernel_is_idle(page)


def contrast(one, other):
    """The contrast of two colours as WCAG 2.2 defines it, from 1 to 21."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour):
    """The relative luminance of rgb(r, g, b)."""
    parts = [int(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(weight * p for weight, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
