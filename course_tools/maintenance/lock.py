"""Pin the packages again: `python course_tools/maintenance/lock.py [--upgrade] [--check]`.

uv resolves pyproject.toml once for Python 3.11 to 3.13 on Linux, macOS and Windows. Its lock file (uv.lock) holds
download addresses and stays out of git; what is committed are three files of names, versions, markers and hashes:

    requirements-setup.txt   uv and the build backend: pip installs these first
    requirements.txt         what `python3 start.py lab` needs
    requirements-test.txt    the same and what `python3 start.py test` needs besides, the extra `book` too
"""

import argparse
import itertools
import subprocess
import sys
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# name -> what `uv export` selects; --no-header because uv's header repeats its own command line
PINNED = {
    "requirements-setup.txt": ["--only-group", "setup"],
    "requirements.txt": ["--group", "setup"],
    "requirements-test.txt": ["--group", "setup", "--extra", "test", "--extra", "book"],
}
# python-platform names of uv; every pinned package must have a wheel for each of them
PLATFORMS = ["x86_64-manylinux_2_28", "aarch64-manylinux_2_28"]
PLATFORMS += ["aarch64-apple-darwin", "x86_64-pc-windows-msvc"]
PYTHONS = ["3.11", "3.12", "3.13"]


def run_uv(*args: str) -> "subprocess.CompletedProcess[str]":
    """A finished run of uv, in the clone."""
    command = [sys.executable, "-m", "uv", "--quiet", *args]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def uv(*args: str) -> str:
    """What uv prints; on failure show its words and leave with status 1."""
    done = run_uv(*args)
    if done.returncode:
        sys.exit(f"uv --quiet {' '.join(args)} failed:\n{done.stderr}")
    return done.stdout


def export(selection: list[str]) -> str:
    """The text of one pinned file: hashes and markers, no address."""
    text = uv("export", "--frozen", "--no-emit-project", "--no-header", "--no-annotate", *selection)
    for line in text.splitlines():
        if "://" in line or line.startswith("-"):
            forbidden = "an address or an option, which must not be committed"
            sys.exit(f"the export holds {forbidden}: {line}")
    return text


def missing_wheels(name: str) -> list[str]:
    """The combinations of platform and Python for which some pinned package has no wheel."""
    missing = []
    resolve = ["pip", "compile", name, "--no-deps", "--no-header", "--only-binary", ":all:"]
    for platform, python in itertools.product(PLATFORMS, PYTHONS):
        done = run_uv(*resolve, "--python-platform", platform, "--python-version", python)
        if done.returncode:
            missing.append(f"{name} on {platform}, Python {python}:\n{done.stderr.strip()}")
    return missing


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="pin the packages again from pyproject.toml")
    add = partial(parser.add_argument, action="store_true")
    add("--upgrade", help="take the newest versions that the ranges allow")
    add("--check", help="write nothing: fail if a pinned file is out of date")
    options = parser.parse_args(argv)
    uv("lock", *(["--upgrade"] if options.upgrade else []))
    texts = {ROOT / name: export(selection) for name, selection in PINNED.items()}
    if options.check:
        stale = [file.name for file in texts if file.read_text(encoding="utf-8") != texts[file]]
        print("out of date: " + ", ".join(stale) if stale else "the pinned files are up to date")
        return 1 if stale else 0
    for file, text in texts.items():
        file.write_text(text, encoding="utf-8", newline="\n")
        print(f"{file.name}: {sum('==' in line for line in text.splitlines())} packages")
    problems = missing_wheels("requirements-test.txt")
    everywhere = f"{', '.join(PLATFORMS)} on Python {', '.join(PYTHONS)}"
    print("\n".join(problems) or f"wheels for {everywhere}: all there")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
