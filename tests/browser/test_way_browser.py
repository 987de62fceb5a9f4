"""A student's way in a real JupyterLab, light and dark: from the first page over a lecture to a task that is right.

Chapter 00 is the page that `start.py lab` opens. From there it is links, the keyboard and the menu alone.
"""

import re
import subprocess
import sys

import chapter_sources
import lab_browser as lb
import lab_pages as pages
import pytest
from lab_pages import CHAPTER, THEMES

FIRST = "notebooks/00-start-here.ipynb"
TASK, GUESS, ANSWER, STEPPER = "neuron", "neuron-guess", "neuron-by-loop", "backprop-steps"

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture(params=THEMES)
def lab(request, tmp_path):
    """(page at chapter 00, the student's folder, its home, "light" or "dark")"""
    with pages.student_page(tmp_path, FIRST, THEMES[request.param]) as opened:
        yield *opened, request.param


def test_from_the_first_page_to_a_task_that_is_right(lab):
    """Over 20 s of processor: JupyterLab, a browser, a lecture, an exercise and the page of progress."""
    page, folder, home, theme = lab
    lecture = lb.read_notebook(folder / "notebooks" / CHAPTER)
    pages.follow(page, "01 One neuron to one network", CHAPTER)
    a_prediction_is_answered(page, lecture)
    if theme == "light":  # all cells are run for it; test_stepper_browser.py walks another in both
        a_stepper_is_walked(page, folder, lecture, theme)
    pages.follow(page, "the exercise of this chapter", CHAPTER)
    a_task_turns_green(page, folder, theme)
    pages.follow(page, "your progress", "progress.ipynb")
    progress_shows(page, folder, home, theme)


def a_prediction_is_answered(page, lecture):
    """The output is folded away until its cell is run, and then names the guess."""
    setup, guess, answer = (pages.cell_at(page, lecture, name) for name in ("setup", GUESS, ANSWER))
    assert not answer.locator(".jp-OutputArea-output").is_visible(), "the answer is to be seen"
    pages.run_cell(page, setup)
    pages.replace_source(page, guess, "my_guess = 0.5")
    pages.run_cell(page, guess)
    pages.run_cell(page, answer)
    says(answer, "you said 0.5")


def a_stepper_is_walked(page, folder, lecture, theme):
    """Run all, then from the first frame to the last by the arrow key; the keyboard alone."""
    pages.run_all(page, folder / "notebooks" / CHAPTER, 300)
    figure = pages.cell_at(page, lecture, STEPPER).locator("figure.course-stepper[data-live]")
    figure.scroll_into_view_if_needed()
    figure.get_by_role("slider").focus()
    shown = [figure.locator(".says").inner_text()]
    for _ in range(int(figure.get_by_role("slider").get_attribute("max"))):
        page.keyboard.press("ArrowRight")
        shown.append(figure.locator(".says").inner_text())
    assert len(shown) > 3 and len(set(shown)) == len(shown), shown
    pages.screenshot(page, f"way-stepper-{theme}")


def a_task_turns_green(page, folder, theme):
    """Its check says that nothing is written, then what is wrong, then that it is right."""
    path = folder / "exercises" / CHAPTER
    exercise = lb.read_notebook(path)
    pages.run_all(page, path, 180)  # stops at the first check: nothing is written yet
    task, check = (pages.cell_at(page, exercise, name) for name in (TASK, f"{TASK}-check"))
    says(check, "not written yet")
    cause, wrong, right = answers()
    answer(page, task, check, wrong)
    says(check, cause)
    assert is_red(check.locator(".jp-RenderedText", has_text="✘"))
    pages.screenshot(page, f"way-red-{theme}")
    answer(page, task, check, right)
    assert re.search(r"seed \d+", says(check, "✔"))
    assert check.locator(".ansi-green-fg", has_text="✔").count(), "the line is not green"
    assert not is_red(check.locator(".jp-RenderedText", has_text="✔"))
    pages.screenshot(page, f"way-green-{theme}")
    saved = pages.save(page, path)
    assert lb.source(lb.cell_by_id(saved, TASK)) == right
    assert [cell["id"] for cell in saved["cells"]] == [cell["id"] for cell in exercise["cells"]]


def progress_shows(page, folder, home, theme):
    """One task is right, some predictions were made, and where to go on is another task of this chapter."""
    saved = pages.run_all(page, folder / "progress.ipynb", 120)
    (output,) = [out for cell in saved["cells"] for out in cell.get("outputs", [])]
    pages.screenshot(page, f"way-progress-{theme}")
    line = [sys.executable, "-m", "course_tools", "progress", "--root", str(folder)]
    env = lb.server_environment(home)
    done = subprocess.run(line, capture_output=True, text=True, env=env, cwd=lb.ROOT, check=True)
    for shown in ("".join(output["data"]["text/plain"]), done.stdout):
        rows = [row for row in shown.splitlines() if "✔" in row]
        assert [row[:2] for row in rows] == ["01"] and rows[0].count("✔") == 1
        assert re.search(r" 1 of \d+ predicted", rows[0])
        assert f"in exercises/{CHAPTER}." in shown


def answers():
    """(cause, wrong, right): a planted answer to the task with what its check says of it, and the solution."""
    solution = lb.read_notebook(lb.ROOT / "solutions" / CHAPTER)
    right = lb.source(lb.cell_by_id(solution, TASK))
    cells = chapter_sources.read(CHAPTER.removesuffix(".ipynb"), "exercise").cells
    mutants = next(cell for cell in cells if cell.name == TASK).task.mutants
    planted = next(one for one in mutants if one.says and right.count(one.replace) == 1)
    return planted.says, planted.apply(right), right


def answer(page, task, check, source):
    """Write it into the task's cell, run that, and the check."""
    pages.replace_source(page, task, source)
    pages.run_cell(page, task)
    pages.run_cell(page, check)


def says(cell, words):
    """Wait until the cell's output holds the words; the output."""
    shown = cell.locator(".jp-OutputArea")

    def whole():
        text = " ".join(shown.inner_text().split())
        return text if words in text else ""

    return lb.wait_until(whole, 120, f"{words!r} below a cell")


def is_red(output):
    """Does the output stand on red?"""
    back = output.evaluate("it => getComputedStyle(it).backgroundColor")
    red, green, blue, *opaque = map(float, re.findall(r"[\d.]+", back))
    return opaque != [0] and red > max(green, blue) + 20
