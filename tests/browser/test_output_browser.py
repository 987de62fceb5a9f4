"""A parallel cell that prints without end, in a real JupyterLab: it is cut, says so, and ends; the page answers."""

import lab_browser as lb
import nbformat
import pytest

SECONDS = 8
CELLS = (
    f"from course_lib import mpi\nranks = mpi.cluster(2, timeout={SECONDS}, progress=False)\nprint('ready')",
    "%%px\nwhile True:\n    print('x' * 79)",
    "%%px\nprint('next', 6 * 7)",
)

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture
def page(tmp_path):
    """A page at the notebook with these cells."""
    pytest.importorskip("mpi4py")
    home, folder = tmp_path / "home", tmp_path / "course"
    home.mkdir()
    folder.mkdir()
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)"}}
    cells = [nbformat.v4.new_code_cell(text) for text in CELLS]
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), folder / "talk.ipynb")
    with lb.chromium() as browser, lb.jupyterlab(folder, home, "JupyterLab Light") as address:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(60_000)
        page.goto(address("talk.ipynb"))
        page.wait_for_selector("#jp-main-statusbar :text('| Idle')")
        yield page


def run(page, number, words):
    """Run the cell of this number, and wait until its output holds the words."""
    cell = page.locator(".jp-Notebook .jp-CodeCell").nth(number)
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
    shown = cell.locator(".jp-Cell-outputWrapper")
    return lb.wait_until(
        lambda: all(word in shown.text_content() for word in words) and shown.text_content(),
        180,
        f"{words} in the output of cell {number}",
    )


def test_endless_output_is_cut_and_the_next_cell_runs(page):
    """Over 20 s of processor: JupyterLab, a browser, and two ranks that print until their deadline."""
    run(page, 0, ["ready"])
    said = [
        f"had not finished after {SECONDS} s",
        "this rank printed more than 1,000,000 characters",
    ]
    text = run(page, 1, said)
    assert len(text) < 3_000_000
    run(page, 2, ["[rank 0] next 42", "[rank 1] next 42"])
