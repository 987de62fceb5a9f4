"""JupyterLab for a browser that is driven by a program: an empty home, no news, a theme, and nothing left behind."""

import json
import os
import secrets
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = {
    "@jupyterlab/apputils-extension/notification.jupyterlab-settings": {
        "fetchNews": "false",
        "checkForUpdates": False,
    },
    "@jupyterlab/notebook-extension/tracker.jupyterlab-settings": {"windowingMode": "none"},
}


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
        "JUPYTER_CONFIG_PATH": str(
            ROOT / ".jupyter"
        ),  # the course's own defaults, as with start.py
        "JUPYTER_PREFER_ENV_PATH": "1",
        "IPYTHONDIR": str(home / "ipython"),
    }


@contextmanager
def jupyterlab(folder, home, theme, *more):
    """Start JupyterLab on `folder` with an empty home; yield path -> address with token; stop it and its kernels.

    more: further options of its command line.
    """
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
    command = [sys.executable, "-m", "course_tools.notebooks.lab", *options, *more]
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
