"""What those who adopt the course need: a citation, changes by version, forms, workflows, a wheel."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))


def read(path):
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


def test_citation_has_what_its_format_demands():
    cited = read("CITATION.cff")
    assert {"cff-version", "title", "message", "authors"} <= set(cited)
    assert cited["version"] == VERSION


def test_changes_end_with_this_version():
    versions = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert versions[:2] == ["Unreleased", VERSION]


@pytest.mark.parametrize("path", [p for p in FORMS if p.stem != "config"], ids=lambda p: p.stem)
def test_form_asks_for_what_is_needed(path):
    form = read(path)
    assert form["name"] and form["description"]
    asked = [field for field in form["body"] if field["type"] != "markdown"]
    assert len({field["id"] for field in asked}) == len(asked)
    assert all(field["attributes"]["label"] for field in asked)
    assert any(field.get("validations", {}).get("required") for field in asked)


def test_the_form_on_checks_asks_for_the_command_that_fills_it():
    from course_tools.__main__ import COMMANDS

    fields = {field.get("id"): field["attributes"] for field in read(FORMS[0])["body"]}
    assert FORMS[0].stem == "check" and "report" in COMMANDS
    assert "`course report`" in fields["report"]["label"] and "public" in fields[None]["value"]
    assert any("accepted" in option for option in fields["kind"]["options"])


def test_a_workflow_publishes_the_book_by_the_projects_own_commands():
    (job,) = read(".github/workflows/book.yml")["jobs"].values()
    runs = [step["run"].split("#")[0].strip() for step in job["steps"] if "run" in step]
    assert runs == ["python3 start.py test --version", ".venv/bin/course book --pdf --out site"]
    (upload,) = (step for step in job["steps"] if "upload-pages" in step.get("uses", ""))
    assert upload["with"]["path"] == "site"


def test_workflows_call_the_one_script():
    (job,) = read(".github/workflows/ci.yml")["jobs"].values()
    assert job["steps"][-1]["run"] == "bash .ci/run"
    assert read(".gitlab-ci.yml")["tests"]["script"] == ["bash .ci/run"]


def test_hooks_before_a_commit_are_commands_of_the_environment():
    (repo,) = read(".pre-commit-config.yaml")["repos"]
    commands = [hook["entry"].split()[0] for hook in repo["hooks"]]
    assert set(commands) == {".venv/bin/ruff", ".venv/bin/course"}


@pytest.mark.slow
def test_wheel_works_in_an_empty_folder(tmp_path):
    """The built file installed elsewhere: the library, data, checks with their planted answers, two commands."""
    run = [sys.executable, "-m"]
    built = [*run, "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(built, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    place = tmp_path / "elsewhere"
    install = ["pip", "install", "--no-deps", "--no-index", "--target", str(place), str(wheel)]
    subprocess.run([*run, *install], check=True, capture_output=True)
    assert (place / "share/jupyter/labextensions/course-kernels/package.json").is_file()
    code = f"""
import sys
sys.path.insert(0, {str(place)!r})
import course_lib, course_lib.data
from course_lib.checks.kit.known import planted
from course_tools.__main__ import main
assert course_lib.__file__.startswith({str(place)!r}), course_lib.__file__
assert course_lib.data.load_mnist().x_train.shape == (50000, 784)
assert planted.task_named("ch01", "neuron").planted
open("k.cu", "w").write("__global__ void one(int n, float *x) {{ if (threadIdx.x < n) x[threadIdx.x] = 1; }}")
assert main(["doctor"]) == 0
assert main(["trace", "k.cu", "--arg", "int32=5", "--arg", "float32[5]"]) in (0, 2)  # 2: no compiler
"""
    done = subprocess.run([sys.executable, "-I", "-c", code], cwd=tmp_path, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
