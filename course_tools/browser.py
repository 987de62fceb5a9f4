"""The browser that commands and tests use where there is one: an installed Chromium or Chrome, without a window."""

import shutil

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = [
    "--no-sandbox",  # as root, Chromium starts in no other way; it opens pages of this machine alone
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def find_browser():
    """The path of an installed Chromium or Chrome, or None."""
    return next((path for path in map(shutil.which, BROWSERS) if path), None)
