"""Every lecture and every exercise opened in a real JupyterLab: no error, no broken picture, nothing cut off.

Lectures in light, exercises in dark. Nothing is run: chapter 01 stands for that in test_browser.py. JupyterLab
starts once for each theme, as half of the time was its start: a notebook is opened in it as its file browser does.
"""

import json

import lab_browser as lb
import pytest
from lab_pages import PANEL, THEMES

EXPOSED = "--LabApp.expose_app_in_browser=True"  # as `jupyterapp`, for the commands of its menus
OPEN = "async path => { window.opened = await jupyterapp.commands.execute('docmanager:open', { path }); }"
CLOSE = "() => window.opened.close()"
CLOSED = "Disposed"  # all that JupyterLab says of a notebook that is closed before its kernel has answered
ROOMS = {"notebooks": "light", "exercises": "dark"}
# What is there, and what is wrong: pictures without a size, code and tables that a reader must scroll sideways.
LOOK = """panel => {
    panel.querySelectorAll('mjx-assistive-mml').forEach(it => it.remove());  // for screen readers, seen by nobody
    const shown = it => it.getClientRects().length > 0;
    const images = [...panel.querySelectorAll('img')].filter(shown);
    const wide = [...panel.querySelectorAll('.jp-RenderedMarkdown, .jp-OutputArea-output, .cm-scroller')]
        .filter(it => shown(it) && it.scrollWidth > it.clientWidth + 1);
    return {
        cells: panel.querySelectorAll('.jp-Cell').length,
        loading: images.filter(it => !it.complete).length,
        broken: images.filter(it => it.complete && !it.naturalWidth).map(it => it.alt),
        wide: wide.map(it => it.textContent.slice(0, 80)),
        page: document.documentElement.scrollWidth - window.innerWidth,
        formulas: panel.querySelectorAll('mjx-merror').length,
    };
}"""

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture(params=ROOMS)
def lab(request, tmp_path):
    """(page, path -> address, paths of the notebooks)"""
    folder, home = lb.student_copy(tmp_path / "course"), tmp_path / "home"
    home.mkdir()
    theme = THEMES[ROOMS[request.param]]
    with lb.chromium() as browser, lb.jupyterlab(folder, home, theme, EXPOSED) as address:
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(60_000)
        page.goto(address(""))
        page.wait_for_selector("#jp-main-statusbar")
        yield page, address, sorted((folder / request.param).glob("*.ipynb"))


def test_every_notebook_opens_whole(lab):
    """Over 20 s of processor: JupyterLab, a browser, and sixteen notebooks."""
    page, address, paths = lab
    said = []
    page.on(
        "console",
        lambda line: line.type == "error" and line.text != CLOSED and said.append(line.text),
    )
    page.on("pageerror", lambda error: str(error) != CLOSED and said.append(str(error)))
    wrong = {}
    for path in paths:
        found = looked_at(page, address, path)
        if any(found.values()) or said:
            wrong[path.name] = (found, said.copy())
        said.clear()
    assert len(paths) == 16 and wrong == {}


def looked_at(page, address, path):
    """What is wrong with a notebook, all of it unfolded: {} if nothing is."""
    notebook = unfold(path)
    page.evaluate(OPEN, f"{path.parent.name}/{path.name}")
    page.wait_for_selector(f"{PANEL} .jp-Notebook .jp-Cell")
    panel, cells = page.locator(PANEL), len(notebook["cells"])

    def whole():
        seen = panel.evaluate(LOOK)
        return seen if seen.pop("cells") == cells and not seen.pop("loading") else None

    found = lb.wait_until(whole, 120, f"all of {path.name} to be shown")
    leave(page, address)
    return found


def unfold(path):
    """What a notebook opens with folded away could be too wide as well: unfold it in the student's copy."""
    notebook = lb.read_notebook(path)
    for cell in notebook["cells"]:
        for name in ("jupyter", "jp-MarkdownHeadingCollapsed"):
            cell["metadata"].pop(name, None)
    path.write_text(json.dumps(notebook), encoding="utf-8")
    return notebook


def leave(page, address):
    """Leave the notebook, and end its kernel."""
    page.evaluate(CLOSE)
    server, _, token = address("").partition("/lab/tree/?")
    for session in page.request.get(f"{server}/api/sessions?{token}").json():
        page.request.delete(f"{server}/api/sessions/{session['id']}?{token}")
