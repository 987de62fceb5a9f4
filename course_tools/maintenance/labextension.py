"""Build `labextension/`, which colours kernels in JupyterLab: needs npm and the network; the result is committed.

    python -m course_tools.maintenance.labextension

`built/sources.sha256` says which sources the build is of.
"""

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "labextension"
NAME = "course-kernels"
OF = "sources.sha256"  # in the built folder


def sources(folder=FOLDER):
    """The files that decide what is built."""
    return [folder / "package.json", folder / "tsconfig.json", *sorted(folder.glob("src/*.ts"))]


def digest(folder=FOLDER):
    """One hash over the names and texts of the sources."""
    total = hashlib.sha256()
    for path in sources(folder):
        total.update(f"{path.name}\n{path.read_text(encoding='utf-8')}".encode())
    return total.hexdigest()


def core_packages():
    """JupyterLab's list of packages that extensions share with it."""
    import jupyterlab  # type: ignore[import-untyped]

    return Path(jupyterlab.__file__).parent / "staging" / "package.json"


def pack(folder):
    """From the TypeScript in `folder` to its `built/`, with JupyterLab's own builder."""
    npm = ["npm", "install", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts"]
    subprocess.run(npm, cwd=folder, check=True)
    subprocess.run([str(folder / "node_modules" / ".bin" / "tsc")], cwd=folder, check=True)
    builder = str(Path(sys.executable).with_name("jupyter-builder"))
    core = f"--core-package-file={core_packages()}"
    subprocess.run([builder, "build", core, "."], cwd=folder, check=True)


def build():
    """Build in a folder outside of the clone, where npm may leave its thousands of files."""
    said = {"packageManager": "python", "packageName": "course-lib"}  # `labextension list` shows it
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / NAME
        shutil.copytree(FOLDER, folder)
        pack(folder)
        shutil.rmtree(FOLDER / "built", ignore_errors=True)
        shutil.copytree(folder / "built", FOLDER / "built")
    for name, text in (("install.json", json.dumps(said)), (OF, digest())):
        (FOLDER / "built" / name).write_text(text + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    build()
