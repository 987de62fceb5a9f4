"""A student's first hour in a real JupyterLab: open chapter 01, run it, solve a task, see the check turn green."""

import re

import lab_browser as lb
import pytest

CHAPTER = "01-serial-backprop.ipynb"
SHOTS = lb.ROOT / ".screenshots"
THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}
PANEL = ".jp-NotebookPanel:not(.lm-mod-hidden)"

pytestmark = [pytest.mark.browser, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def chromium():
    with lb.chromium() as browser:
        yield browser


@pytest.fixture(params=THEMES)
def lab(request, chromium, tmp_path):
    """(page, path -> address, the student's folder, "light" or "dark")"""
    folder, home = lb.student_copy(tmp_path / "course"), tmp_path / "home"
    home.mkdir()
    with lb.jupyterlab(folder, home, THEMES[request.param]) as address:
        page = chromium.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(30_000)
        yield page, address, folder, request.param
        page.close()


def open_notebook(page, url):
    page.goto(url)
    page.wait_for_selector(f"{PANEL} .jp-Notebook .jp-Cell")
    # A cell that is run before the kernel answers is lost without a word: wait for the status bar to say it is there.
    page.wait_for_selector("#jp-main-statusbar :text('| Idle')", timeout=60_000)


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
    """Click into the cell, press Ctrl+Enter, wait until its prompt shows a new number."""
    prompt = cell.locator(".jp-InputPrompt")
    before = prompt.inner_text()
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
    lb.wait_until(
        lambda: prompt.inner_text() != before and re.search(r"\d", prompt.inner_text()),
        180,
        "a cell to run",
    )


def replace_source(page, cell, text):
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    page.keyboard.insert_text(text)


def screenshot(page, name):
    SHOTS.mkdir(exist_ok=True)
    page.screenshot(path=SHOTS / f"{name}.png")


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


def test_a_task_turns_green(lab):
    """Over 20 s of processor: JupyterLab, a browser, an exercise and the page of progress."""
    page, address, folder, theme = lab
    path = folder / "exercises" / CHAPTER
    exercise, solution = lb.read_notebook(path), lb.read_notebook(folder / "solutions" / CHAPTER)
    task_id, check_id = first_task(exercise)
    open_notebook(page, address(f"exercises/{CHAPTER}"))
    run_all(page, path, 180)  # stops at the first check: nothing is written yet
    check = cell_at(page, exercise, check_id)
    verdict = check.locator(".jp-OutputArea")
    lb.wait_until(
        lambda: "not written yet" in verdict.inner_text(),
        120,
        "the check to say that nothing is written yet",
    )
    check.scroll_into_view_if_needed()
    screenshot(page, f"task-blank-{theme}")

    task = cell_at(page, exercise, task_id)
    replace_source(page, task, lb.source(lb.cell_by_id(solution, task_id)))
    run_cell(page, task)
    run_cell(page, check)
    lb.wait_until(lambda: "✔" in verdict.inner_text(), 120, "the check to turn green")
    assert re.search(r"seed \d+", verdict.inner_text())
    assert verdict.locator(".ansi-green-fg").count() >= 1, "the line is not green"
    screenshot(page, f"task-green-{theme}")
    saved = save(page, path)
    assert lb.source(lb.cell_by_id(saved, task_id)) == lb.source(lb.cell_by_id(solution, task_id))
    assert [cell["id"] for cell in saved["cells"]] == [cell["id"] for cell in exercise["cells"]]
    progress_shows(page, address, folder)


def progress_shows(page, address, folder):
    """One task is right, and where to go on is another one of this chapter.

    In a workspace of its own: else the exercise is opened again too, and its kernel is the one that says "Idle".
    """
    open_notebook(page, address("progress.ipynb").replace("/lab/", "/lab/workspaces/progress/"))
    saved = run_all(page, folder / "progress.ipynb", 120)
    (output,) = [out for cell in saved["cells"] for out in cell.get("outputs", [])]
    shown = "".join(output["data"]["text/plain"])
    rows = [row for row in shown.splitlines() if "✔" in row]
    assert [row[:2] for row in rows] == ["01"] and rows[0].count("✔") == 1
    assert f"in exercises/{CHAPTER}." in shown


def first_task(notebook):
    """(id of the first task, id of its check)"""
    tags = [(cell["id"], cell["metadata"].get("tags", [])) for cell in notebook["cells"]]
    task = next(number for number, (_, names) in enumerate(tags) if "task" in names)
    return tags[task][0], next(cell_id for cell_id, names in tags[task:] if "check" in names)
