"""Kernels in colour, JupyterLab's part: the committed build is of the committed sources, small, and is installed."""

import json
import re
import shutil
from pathlib import Path

import pytest
from jupyter_core.paths import jupyter_path

from course_tools.maintenance import labextension

FOLDER = labextension.FOLDER
BUILT = FOLDER / "built"
MOST_BYTES = 40_000  # of all that is built
PACKAGE = json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))


def test_build_is_of_these_sources():
    said = (BUILT / labextension.OF).read_text(encoding="utf-8").strip()
    assert said == labextension.digest(), "run python -m course_tools.maintenance.labextension"
    assert len(labextension.sources()) >= 6


@pytest.mark.parametrize("name", ["package.json", "tsconfig.json", "src/kernels.ts"])
def test_hash_changes_with_each_source(tmp_path, name):
    for path in labextension.sources():
        copy = tmp_path / path.relative_to(FOLDER)
        copy.parent.mkdir(exist_ok=True)
        shutil.copy(path, copy)
    assert labextension.digest(tmp_path) == labextension.digest()
    (tmp_path / name).write_text("changed", encoding="utf-8")
    assert labextension.digest(tmp_path) != labextension.digest()


def test_built_files_are_few_and_small():
    files = [path for path in BUILT.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < MOST_BYTES
    assert [path for path in files if path.suffix not in (".js", ".json", ".sha256")] == []
    assert not any(b"sourceMappingURL" in path.read_bytes() for path in files)
    built = json.loads((BUILT / "package.json").read_text(encoding="utf-8"))
    assert built["name"] == labextension.NAME and built["version"] == PACKAGE["version"]
    assert (BUILT / built["jupyterlab"]["_build"]["load"]).is_file()


def test_versions_are_pinned_and_no_address_is_kept():
    assert PACKAGE["dependencies"] == {}, "all that it needs is JupyterLab's own"
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", pin) for pin in PACKAGE["devDependencies"].values())
    locks = ("package-lock.json", "yarn.lock", "npm-shrinkwrap.json", ".yarnrc.yml")
    assert not [name for name in locks if (FOLDER / name).exists()]
    assert not re.search("https?://", "".join(path.read_text() for path in labextension.sources()))


def test_jupyterlab_finds_it():
    """Installed with the course, editable or not: as files, not as links."""
    places = [Path(place) / labextension.NAME for place in jupyter_path("labextensions")]
    found = [place for place in places if (place / "package.json").is_file()]
    assert found, "the course is not installed in this environment: python3 start.py lab"
    installed = (found[0] / labextension.OF).read_text(encoding="utf-8")
    assert installed == (BUILT / labextension.OF).read_text(encoding="utf-8"), "an older one"
