"""A headless Chromium, and JupyterLab for it: what tests/browser/test_browser.py and test_book.py need and no more."""

import json
import os
import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

from course_tools.browser import BROWSERS, FLAGS, find_browser
from course_tools.maintenance.lab_server import jupyterlab, server_environment, wait_until

ROOT = Path(__file__).resolve().parents[2]
SHOTS = ROOT / ".screenshots"
__all__ = ["jupyterlab", "server_environment", "wait_until"]  # for the tests, with what follows


@contextmanager
def chromium():
    """A headless Chromium; without one the test is skipped, but fails in CI."""
    path = find_browser()
    if path is None and os.environ.get("CI"):
        pytest.fail("CI installs Chromium, but none was found")
    if path is None:
        pytest.skip(f"no browser: none of {', '.join(BROWSERS)} is installed")
    sync_api = pytest.importorskip(
        "playwright.sync_api", reason="the Python package playwright is not installed"
    )
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, headless=True, args=FLAGS)
        yield browser
        browser.close()


def student_copy(folder):
    """A student's own copy of the built notebooks, so that the clone is never changed by the test."""
    for room in ("notebooks", "exercises", "solutions"):
        shutil.copytree(ROOT / room, folder / room)
    shutil.copy(ROOT / "progress.ipynb", folder)
    return folder


def read_notebook(path):
    """The notebook as it is on disk ({} while JupyterLab is writing it)."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, FileNotFoundError):
        return {}


def cell_by_id(notebook, cell_id):
    """The cell with that id."""
    return next(cell for cell in notebook["cells"] if cell["id"] == cell_id)


def source(cell):
    """A cell's text (JSON keeps it as a list of lines)."""
    return "".join(cell["source"])
