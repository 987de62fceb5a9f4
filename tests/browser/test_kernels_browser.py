"""Kernels in colour in a real JupyterLab, light and dark: in a lecture, in an exercise, and while they are typed."""

import json

import cuda_cases
import lab_browser as lb
import nbformat
import pytest
from lab_pages import contrast

THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}
SHOTS = lb.ROOT / ".screenshots"
LECTURE, EXERCISE = "notebooks/05-gpu-first-kernels.ipynb", "exercises/05-gpu-first-kernels.ipynb"
LONG = 's = """\n__global__ void f(float *x) {}\n' + "// more of it\n" * 8000 + '"""\n'
TYPED = 's = r"""\n// y = 2 x\n__global__ void twice(const float *x, float *y)'
# [text, colour, background of the cell] of each piece of a cell's text
PIECES = """cell => {
    const walk = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    const back = getComputedStyle(cell.closest('.jp-InputArea-editor')).backgroundColor;
    const pieces = [];
    while (walk.nextNode()) {
        const { data, parentElement } = walk.currentNode;
        pieces.push([data, getComputedStyle(parentElement).color, back]);
    }
    return pieces;
}"""

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(900)]


def write_cells(path, texts):
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)"}}
    cells = [nbformat.v4.new_code_cell(text) for text in texts]
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), path)


@pytest.fixture(scope="module")
def chromium():
    with lb.chromium() as browser:
        yield browser


@pytest.fixture(scope="module", params=THEMES)
def lab(request, chromium, tmp_path_factory):
    """(page, path -> address, "light" or "dark")"""
    folder, home = tmp_path_factory.mktemp("course"), tmp_path_factory.mktemp("home")
    lb.student_copy(folder)
    write_cells(folder / "cases.ipynb", [text for text, _ in cuda_cases.CASES.values()])
    write_cells(folder / "typed.ipynb", [""])
    write_cells(folder / "long.ipynb", [LONG, 's = """// CUDA\nfloat x;"""'])
    with lb.jupyterlab(folder, home, THEMES[request.param]) as address:
        page = new_page(chromium)
        yield page, address, request.param
        page.close()


def new_page(chromium):
    page = chromium.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(60_000)
    return page


def open_cells(page, address, path):
    """The code cells of a notebook, in a workspace where no other one is open."""
    name = path.replace("/", "-").removesuffix(".ipynb")
    page.goto(address(path).replace("/lab/", f"/lab/workspaces/{name}/"))
    page.wait_for_selector(".jp-Notebook .jp-CodeCell .cm-line")
    return page.locator(".jp-Notebook .jp-CodeCell .cm-content")


def coloured(cell):
    """The pieces of a cell once its kernel is in colour."""
    cell.scroll_into_view_if_needed()
    cell.locator(".course-kernel").first.wait_for()
    return cell.evaluate(PIECES)


def colour_of(pieces, text):
    """The colour of the first piece that is the text; if there is none, that holds it."""
    same = [colour for piece, colour, _ in pieces if piece.strip() == text]
    return (same + [colour for piece, colour, _ in pieces if text in piece])[0]


@pytest.mark.parametrize("path", [LECTURE, EXERCISE])
def test_a_kernel_has_colours(lab, path):
    """Over 20 s of processor: JupyterLab, a browser, and a chapter's notebook."""
    page, address, theme = lab
    cells = open_cells(page, address, path)
    pieces = coloured(cells.filter(has_text="__global__").first)
    string = colour_of(pieces, '"""')
    comment, keyword, kind = (colour_of(pieces, text) for text in ("//", "__global__", "float"))
    assert len({string, comment, keyword}) == 3 and kind == keyword
    SHOTS.mkdir(exist_ok=True)
    page.screenshot(path=SHOTS / f"kernel-{path.split('/')[0]}-{theme}.png")
    for text, colour, back in pieces:
        assert not text.strip() or contrast(colour, back) >= 4.5, (text, colour, back)


def test_rule(lab):
    """tests/book/test_cuda_strings.py asks the book's lexer the same."""
    page, address, _ = lab
    cells = open_cells(page, address, "cases.ipynb")
    cells.last.scroll_into_view_if_needed()
    page.locator(".course-kernel").first.wait_for()
    for number, (name, (source, is_kernel)) in enumerate(cuda_cases.CASES.items()):
        cell = cells.nth(number)
        if is_kernel:
            cell.locator(".course-kernel").first.wait_for()
        pieces = cell.evaluate(PIECES)
        opening = '"""' if '"""' in source else "'''" if "'''" in source else '"'
        same = colour_of(pieces, "float") == colour_of(pieces, opening)
        assert same != is_kernel, name
        assert "".join(text for text, _, _ in pieces) == source.replace("\n", ""), name


def test_fields_of_an_f_string_stay_python(lab):
    page, address, _ = lab
    cells = open_cells(page, address, "cases.ipynb")
    cell = cells.nth(list(cuda_cases.CASES).index("f-string"))
    coloured(cell)
    inside = cell.locator(".course-kernel").all_inner_texts()
    assert "[" in "".join(inside) and "n:" not in "".join(inside)


def test_colours_come_while_typing(lab):
    page, address, theme = lab
    cell = open_cells(page, address, "typed.ipynb").first
    cell.click()
    page.keyboard.type(TYPED)
    pieces = coloured(cell)  # the string has no end yet
    string = colour_of(pieces, '"""')
    assert string not in (colour_of(pieces, "__global__"), colour_of(pieces, "float"))
    page.keyboard.type('\n{ y[threadIdx.x] = 2 * x[0]; }\n"""\nt = "float"')
    pieces = coloured(cell)
    assert colour_of(pieces, "threadIdx") != string == colour_of(pieces, '"float"')
    page.screenshot(path=SHOTS / f"kernel-typed-{theme}.png")
    page.keyboard.press("Control+Home")
    page.keyboard.press("ArrowDown")
    page.keyboard.type("int first; ")  # in front of the kernel's first comment
    lb.wait_until(
        lambda: colour_of(cell.evaluate(PIECES), "int") == colour_of(pieces, "__global__"),
        30,
        "a word in the middle of a kernel to be coloured",
    )
    assert cell.inner_text().replace("\n", "").endswith('t = "float"')


def test_a_very_long_string_stays_a_string(lab):
    page, address, _ = lab
    cells = open_cells(page, address, "long.ipynb")
    coloured(cells.nth(1))
    assert cells.nth(0).locator(".course-kernel").count() == 0
    cells.nth(0).click()
    page.keyboard.press("Control+Home")
    page.keyboard.type("x = 1\n")
    assert cells.nth(0).inner_text().startswith("x = 1\n")


def test_without_the_extension_it_is_a_string(chromium, tmp_path):
    """JupyterLab works without it, and the colours are its work."""
    folder, home = tmp_path / "course", tmp_path / "home"
    folder.mkdir()
    (home / "config" / "labconfig").mkdir(parents=True)
    off = {"disabledExtensions": {"course-kernels": True}}
    (home / "config" / "labconfig" / "page_config.json").write_text(json.dumps(off))
    write_cells(folder / "plain.ipynb", ['x = None\ns = """__global__ void f(float *x) {}"""'])
    with lb.jupyterlab(folder, home, THEMES["light"]) as address:
        page = new_page(chromium)
        cell = open_cells(page, address, "plain.ipynb").first
        lb.wait_until(
            lambda: len({colour for _, colour, _ in cell.evaluate(PIECES)}) >= 3,
            120,
            "the colours of Python",
        )
        pieces = cell.evaluate(PIECES)
        assert page.locator(".course-kernel").count() == 0
        assert colour_of(pieces, "float") == colour_of(pieces, '"""')
        page.close()
