"""What a stranger does: clone, then `python3 start.py lab`, as an ordinary user with an empty home folder.

    python3 .ci/fresh_clone.py [--root] [--python PYTHON]

Clones this checkout (its last commit) into a new folder, starts the course there twice, asks JupyterLab for chapter 00
over HTTP, adds what the tests need while it runs, and fails if anything goes wrong or takes too long.
"""

import argparse
import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
USER = "course-student"
FIRST_LIMIT, SECOND_LIMIT, TEST_LIMIT = 240, 20, 120  # seconds, on two cores
PAGE = "notebooks/00-start-here.ipynb"


def ordinary_user():
    """The keywords that make subprocess run as an ordinary user (made if missing); nothing if we are one already."""
    if os.geteuid() != 0:
        return {}
    import pwd

    with contextlib.suppress(KeyError):
        pwd.getpwnam(USER)
        return {"user": USER, "group": USER, "extra_groups": []}
    subprocess.run(["useradd", "--user-group", "--no-create-home", USER], check=True)
    return {"user": USER, "group": USER, "extra_groups": []}


def a_python(who):
    """A Python in the course's range that this user can run and that can make environments."""
    for path in (
        sys.executable,
        *(f"/usr/bin/python3.{minor}" for minor in (13, 12, 11)),
        "/usr/local/bin/python3",
    ):
        probe = (
            "import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))"
        )
        with contextlib.suppress(OSError):
            if (
                subprocess.run([path, "-c", probe], stderr=subprocess.DEVNULL, **who).returncode
                == 0
            ):
                return path
    sys.exit(
        "no Python 3.11 to 3.13 with venv that an ordinary user can run: apt-get install python3-venv"
    )


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Lab:
    """A running `start.py lab --no-browser`; `seconds` is the time until JupyterLab served chapter 00."""

    def __init__(self, python, folder, limit, **options):
        self.log = folder.parent / f"lab-{time.time_ns()}.log"
        self.port = free_port()
        command = [
            python,
            "start.py",
            "lab",
            "--no-browser",
            f"--port={self.port}",
            "--ServerApp.port_retries=0",
        ]
        began = time.monotonic()
        with self.log.open("w") as out:
            self.process = subprocess.Popen(
                command,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
                **options,
            )
        while not self.answers():
            self.seconds = time.monotonic() - began
            if self.process.poll() is not None or self.seconds > limit:
                self.stop()
                sys.exit(
                    f"JupyterLab did not answer within {limit} s:\n{self.log.read_text()[-3000:]}"
                )
            time.sleep(0.2)
        self.seconds = time.monotonic() - began

    def answers(self):
        """True once the printed address opens JupyterLab and chapter 00 can be read through it."""
        found = re.search(
            rf"http://localhost:{self.port}/lab/tree/{PAGE}\?token=(\w+)", self.log.read_text()
        )
        if not found:
            return False
        try:
            with urllib.request.urlopen(found[0], timeout=5) as page:
                good = b"jupyter-config-data" in page.read()
            with urllib.request.urlopen(
                f"http://localhost:{self.port}/api/contents/{PAGE}?token={found[1]}"
            ) as reply:
                return good and b'"nbformat"' in reply.read()
        except OSError as error:
            if getattr(error, "code", 0) == 404:
                sys.exit(f"JupyterLab runs, but {PAGE} is not there")
            return False

    def stop(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGTERM)
        self.process.wait(timeout=30)


def check(work, python, who):
    clone, home = work / "a clone", work / "home"  # the space in the name is on purpose
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", str(ROOT), str(clone)], check=True)
    home.mkdir()
    if who:
        subprocess.run(["chown", "-R", f"{USER}:{USER}", str(work)], check=True)
    env = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("XDG_", "JUPYTER", "VIRTUAL_"))
    }
    options = {"env": env | {"HOME": str(home)}, **who}
    lab = Lab(python, clone, FIRST_LIMIT, **options)
    print(
        f"first start: chapter 00 answers after {lab.seconds:.1f} s (limit {FIRST_LIMIT} s)",
        flush=True,
    )
    began = time.monotonic()
    test = [python, "start.py", "test", "--version"]
    subprocess.run(
        test, cwd=clone, check=True, timeout=TEST_LIMIT, stdin=subprocess.DEVNULL, **options
    )
    print(
        f"what the tests need was added in {time.monotonic() - began:.1f} s while JupyterLab ran",
        flush=True,
    )
    still = lab.answers()
    lab.stop()
    lab = Lab(python, clone, SECOND_LIMIT, **options)
    print(f"second start: {lab.seconds:.1f} s (limit {SECOND_LIMIT} s)", flush=True)
    lab.stop()
    return still


def main():
    parser = argparse.ArgumentParser(
        description="start the course from a fresh clone, as a stranger does"
    )
    parser.add_argument(
        "--root", action="store_true", help="stay root instead of becoming an ordinary user"
    )
    parser.add_argument("--python", help="the Python to start with")
    wanted = parser.parse_args()
    who = {} if wanted.root else ordinary_user()
    python = wanted.python or a_python(who)
    print(f"a fresh clone, started with {python} as {who.get('user', 'this user')}", flush=True)
    work = Path(tempfile.mkdtemp(prefix="fresh-clone-"))
    work.chmod(0o755)
    try:
        if not check(work, python, who):
            sys.exit("JupyterLab stopped answering while `start.py test` added its packages")
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
