"""A headless Chromium, and JupyterLab for it: what tests/browser/test_browser.py and test_book.py need and no more."""

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM_FLAGS = [
    "--no-sandbox",  # as root, Chromium starts in no other way; it opens pages of this machine alone
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SETTINGS = {
    "@jupyterlab/apputils-extension/notification.jupyterlab-settings": {
        "fetchNews": "false",
        "checkForUpdates": False,
    },
    "@jupyterlab/notebook-extension/tracker.jupyterlab-settings": {"windowingMode": "none"},
}


def find_browser():
    """The path of an installed Chromium or Chrome, or None."""
    return next((path for path in map(shutil.which, BROWSERS) if path), None)


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
        browser = playwright.chromium.launch(
            executable_path=path, headless=True, args=CHROMIUM_FLAGS
        )
        yield browser
        browser.close()


def student_copy(folder):
    """A student's own copy of the built notebooks, so that the clone is never changed by the test."""
    for room in ("notebooks", "exercises", "solutions"):
        shutil.copytree(ROOT / room, folder / room)
    shutil.copy(ROOT / "progress.ipynb", folder)
    return folder


def free_port():
    """A TCP port that nothing listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def write_settings(folder, theme):
    """JupyterLab's settings files for a first start without news banners, in the given theme."""
    themes = {"@jupyterlab/apputils-extension/themes.jupyterlab-settings": {"theme": theme}}
    for name, values in (SETTINGS | themes).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values), encoding="utf-8")


def server_environment(home):
    """The environment of a student whose home folder is empty, and who is no test."""
    others = ("PYTEST_CURRENT_TEST", "XDG_DATA_HOME")
    mine = {name: value for name, value in os.environ.items() if name not in others}
    return mine | {
        "HOME": str(home),
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_PREFER_ENV_PATH": "1",
        "IPYTHONDIR": str(home / "ipython"),
    }


@contextmanager
def jupyterlab(folder, home, theme):
    """Start JupyterLab on `folder` with an empty home; yield path -> address with token; stop it and its kernels."""
    write_settings(home / "settings", theme)
    token, port = secrets.token_hex(8), free_port()
    options = [
        f"--port={port}",
        "--ServerApp.port_retries=0",
        f"--IdentityProvider.token={token}",
        "--no-browser",
    ]
    options += [f"--ServerApp.root_dir={folder}", "--ServerApp.ip=127.0.0.1"]
    options += ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    command = [sys.executable, "-m", "course_tools.notebooks.lab", *options]
    with (home / "lab.log").open("w") as log:
        server = subprocess.Popen(
            command, env=server_environment(home), cwd=folder, stdout=log, stderr=log
        )
        try:
            wait_until(
                lambda: answers(f"http://127.0.0.1:{port}/api?token={token}"),
                60,
                "JupyterLab to answer",
            )
            yield lambda path: f"http://127.0.0.1:{port}/lab/tree/{path}?token={token}"
        finally:
            _stop(server)


def _stop(server):
    """It ends its kernels first, and waits for one that is just starting. Left alone, kernels end by themselves."""
    server.terminate()
    try:
        server.wait(60)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


def answers(url):
    """True when the address replies with 200."""
    try:
        with urllib.request.urlopen(url, timeout=2) as reply:
            return reply.status == 200
    except OSError:
        return False


def wait_until(condition, seconds, what):
    """Poll until `condition()` is true and return its value; AssertionError with `what` after `seconds`."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, f"waited {seconds} s for {what}"
        time.sleep(0.25)
    return value


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
