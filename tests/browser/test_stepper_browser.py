"""A stepper in a real JupyterLab: a picture before the notebook is trusted, and walked by keyboard once it has run."""

import lab_browser as lb
import nbformat
import pytest

from course_lib import plots, threads

CODE = """from course_lib import plots, threads
plots.step(threads.simulate(threads.leapfrog_schedule(4, 2), 1, 1), unit="units")"""
THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}
SHOTS = lb.ROOT / ".screenshots"

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(600)]


def stepper():
    """The same as the cell makes."""
    return plots.step(threads.simulate(threads.leapfrog_schedule(4, 2), 1, 1), unit="units")


def notebook_with_output(folder):
    """A notebook that somebody else has run: JupyterLab does not trust its scripts."""
    shown = nbformat.v4.new_output(
        "execute_result", stepper()._repr_mimebundle_(), execution_count=1
    )
    cell = nbformat.v4.new_code_cell(CODE, outputs=[shown], execution_count=1)
    folder.mkdir()
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)"}}
    made = nbformat.v4.new_notebook(cells=[cell], metadata=kernel)
    nbformat.write(made, folder / "walk.ipynb")


@pytest.fixture(params=THEMES)
def lab(request, tmp_path):
    """(page at the notebook, "light" or "dark")"""
    home, folder = tmp_path / "home", tmp_path / "course"
    home.mkdir()
    notebook_with_output(folder)
    with lb.chromium() as browser, lb.jupyterlab(folder, home, THEMES[request.param]) as address:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(60_000)
        page.goto(address("walk.ipynb"))
        page.wait_for_selector("#jp-main-statusbar :text('| Idle')")
        yield page, request.param


def test_a_stepper_is_walked_by_keyboard(lab):
    """Over 20 s of processor: JupyterLab and a browser."""
    page, theme = lab
    frames = stepper().frames
    picture = page.locator(".jp-OutputArea img[alt]")
    picture.wait_for()
    assert picture.evaluate("image => image.naturalWidth") > 300, "the picture without a script"
    assert frames[-1].says in picture.get_attribute("alt")
    words = page.locator("figure.course-stepper summary")
    assert "run the cell above" in words.inner_text()

    page.locator(".jp-Cell .cm-content").click()
    page.keyboard.press("Control+Enter")
    figure = page.locator("figure.course-stepper[data-live]")
    figure.wait_for()
    says = figure.locator(".says")
    assert figure.locator("summary").inner_text() == f"{len(frames)} steps in words"
    assert says.inner_text() == frames[0].says and says.get_attribute("aria-live") == "polite"
    figure.get_by_role("slider").focus()
    for frame in frames[1:]:
        page.keyboard.press("ArrowRight")
        assert says.inner_text() == frame.says
    page.keyboard.press("Home")
    assert says.inner_text() == frames[0].says
    figure.get_by_role("button", name="Step on").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowRight")
    assert says.inner_text() == frames[2].says, "arrow keys also beside the slider"
    buttons_say_what_they_do(figure)
    assert figure.evaluate("it => it.hasAttribute('data-dark')") == (theme == "dark")
    SHOTS.mkdir(exist_ok=True)
    page.screenshot(path=SHOTS / f"stepper-{theme}.png")


def buttons_say_what_they_do(figure):
    """A name for those who hear it, a tooltip for those who point at it, and the keys in words."""
    for name, key in (("Step back", "←"), ("Step on", "→")):
        assert f"(key {key})" in figure.get_by_role("button", name=name).get_attribute("title")
    play = figure.get_by_role("button", name="Play")
    before = play.get_attribute("title")
    play.click()
    assert figure.get_by_role("button", name="Pause").get_attribute("title") not in ("", before)
    figure.get_by_role("button", name="Pause").click()
    assert play.get_attribute("title") == before
    assert figure.get_by_role("slider", name="Step").get_attribute("title")
    assert "← →" in figure.locator(".keys").inner_text()
