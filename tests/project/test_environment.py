"""The ways to install agree: pyproject.toml (ranges), the pinned files, conda's files, dev container, Binder."""

import json
import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import version
from itertools import product
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name as canonical

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PINNED = ("requirements-setup.txt", "requirements.txt", "requirements-test.txt")
SYSTEMS = {
    "linux": {"sys_platform": "linux", "os_name": "posix", "platform_system": "Linux"},
    "macos": {"sys_platform": "darwin", "os_name": "posix", "platform_system": "Darwin"},
    "windows": {"sys_platform": "win32", "os_name": "nt", "platform_system": "Windows"},
}
PYTHONS = ("3.11.2", "3.12.0", "3.13.0")
# pyproject -> conda-forge, where the names differ: conda's mpi4py brings the platform's MPI library with it
CONDA_BRINGS = {"mpich", "impi-rt"}


def ranges(*extras):
    wanted = [Requirement(text) for text in PROJECT["project"]["dependencies"]]
    for extra in extras:
        wanted += [Requirement(text) for text in PROJECT["project"]["optional-dependencies"][extra]]
    return wanted


def pins(name):
    """[(Requirement with ==, number of hashes)] of a pinned file."""
    text = (ROOT / name).read_text(encoding="utf-8").replace("\\\n", " ")
    entries = [line.split("--hash=sha256:") for line in text.splitlines() if line.strip()]
    return [(Requirement(first), len(hashes)) for first, *hashes in entries]


def environments():
    for system, python in product(SYSTEMS, PYTHONS):
        yield {
            **SYSTEMS[system],
            "python_version": python.rpartition(".")[0],
            "python_full_version": python,
            "implementation_name": "cpython",
            "platform_python_implementation": "CPython",
            "platform_machine": "arm64" if system == "macos" else "x86_64",
            "extra": "",
        }


def applies(requirement, environment):
    return requirement.marker is None or requirement.marker.evaluate(environment)


@pytest.mark.parametrize("name", PINNED)
def test_pinned_files_hold_hashes_and_no_address(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    assert "://" not in text and "index" not in text and "#" not in text
    for requirement, hashes in pins(name):
        assert re.fullmatch(r"==[^*,]+", str(requirement.specifier)), f"{requirement} is not pinned"
        assert hashes > 0 and not requirement.url, f"{requirement} has no hash"


@pytest.mark.parametrize(
    "name, extras", [("requirements.txt", ()), ("requirements-test.txt", ("test",))]
)
def test_pins_satisfy_pyproject(name, extras):
    for environment in environments():
        chosen = {canonical(pin.name): pin for pin, _ in pins(name) if applies(pin, environment)}
        for wanted in ranges(*extras):
            if applies(wanted, environment):
                pin = chosen.get(canonical(wanted.name))
                where = (
                    f"{environment['sys_platform']}, Python {environment['python_full_version']}"
                )
                assert pin, (
                    f"{name} has no {wanted.name} for {where}: run course_tools/maintenance/lock.py"
                )
                number = str(pin.specifier).removeprefix("==")
                assert wanted.specifier.contains(number), (
                    f"{name}: {pin.name} {number} is not {wanted} ({where})"
                )


def test_each_pin_is_one_version_on_each_machine():
    for environment in environments():
        names = [
            canonical(pin.name)
            for pin, _ in pins("requirements-test.txt")
            if applies(pin, environment)
        ]
        assert len(names) == len(set(names))


def test_test_pins_contain_lab_pins_contain_setup_pins():
    setup, lab, test = ({str(pin) for pin, _ in pins(name)} for name in PINNED)
    assert setup < lab < test
    assert {canonical(pin.name) for pin, _ in pins("requirements-setup.txt")} == {
        "uv",
        "hatchling",
        "packaging",
        "pathspec",
        "pluggy",
        "tomlkit",
        "trove-classifiers",
    }
    extra = {
        canonical(Requirement(text).name)
        for text in PROJECT["project"]["optional-dependencies"]["test"]
    }
    assert {"playwright", "ruff", "mypy"} <= extra


def test_python_range_is_the_same_everywhere():
    allowed = SpecifierSet(PROJECT["project"]["requires-python"])
    good = [f"3.{minor}" for minor in range(8, 18) if allowed.contains(f"3.{minor}")]
    assert good == ["3.11", "3.12", "3.13"]
    assert "(3, 11) <= sys.version_info[:2] <= (3, 13)" in (ROOT / "start.py").read_text()
    assert (ROOT / ".binder/runtime.txt").read_text().strip().removeprefix("python-") in good
    assert f"python{PROJECT['project']['requires-python']}" in conda("environment.yml")


def conda(name):
    """The packages that a conda file names, those that pip then installs among them: a wheel is the same in both."""
    listed = yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))["dependencies"]
    return [
        one for entry in listed for one in (entry["pip"] if isinstance(entry, dict) else [entry])
    ]


def as_requirements(lines):
    return {canonical(r.name): r.specifier for r in map(Requirement, lines)}


@pytest.mark.parametrize(
    "name, extras", [("environment.yml", ("gpu",)), ("environment-no-cuda.yml", ())]
)
def test_conda_equals_pyproject(name, extras):
    wanted = {
        canonical(r.name): r.specifier
        for r in ranges(*extras)
        if canonical(r.name) not in CONDA_BRINGS
    }
    wanted |= as_requirements(PROJECT["build-system"]["requires"])
    listed = as_requirements(conda(name))
    assert listed.pop("python") == SpecifierSet(PROJECT["project"]["requires-python"])
    assert listed.pop("pip") == SpecifierSet()
    assert listed == wanted


def test_conda_names_what_the_course_promises():
    promised = {
        "jupyterlab",
        "numpy",
        "numba",
        "pycuda",
        "mpi4py",
        "ipyparallel",
        "matplotlib",
        "nbval",
    }
    assert promised <= as_requirements(conda("environment.yml")).keys()


@pytest.mark.parametrize("name", ["environment.yml", "environment-no-cuda.yml"])
def test_conda_takes_one_channel(name):
    assert yaml.safe_load((ROOT / name).read_text())["channels"] == ["conda-forge", "nodefaults"]


def test_dev_container():
    container = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text())
    assert re.fullmatch(r"python:3\.1[123]-\w+", container["image"])
    for command in (container["postCreateCommand"], container["postAttachCommand"]):
        assert command.startswith("python3 start.py lab")


def test_jupyterlab_asks_no_question_about_news():
    """The defaults in .jupyter/ name settings that the installed JupyterLab has."""
    defaults = json.loads((ROOT / ".jupyter/labconfig/default_setting_overrides.json").read_text())
    for plugin, settings in defaults.items():
        package, _, name = plugin.partition(":")
        schema = Path(sys.prefix, "share/jupyter/lab/schemas", package, f"{name}.json")
        assert (
            settings.keys() <= json.loads(schema.read_text(encoding="utf-8"))["properties"].keys()
        )


def test_binder():
    asked = (ROOT / ".binder/requirements.txt").read_text().split()
    assert asked[0] == "-r" and (ROOT / ".binder" / asked[1]).resolve() == ROOT / "requirements.txt"
    assert os.access(ROOT / ".binder/postBuild", os.X_OK)


@pytest.mark.parametrize("script", [".binder/postBuild", ".ci/run"])
def test_shell_scripts_parse(script):
    subprocess.run(["bash", "-n", script], cwd=ROOT, check=True)


def test_installed_packages_are_the_pinned_ones():
    if not (Path(sys.prefix) / "course-setup.json").exists():
        pytest.skip("these tests do not run in the environment that start.py made")
    chosen = [
        pin
        for pin, _ in pins("requirements-test.txt")
        if pin.marker is None or pin.marker.evaluate()
    ]
    wrong = {
        pin.name: version(pin.name)
        for pin in chosen
        if not pin.specifier.contains(version(pin.name))
    }
    assert not wrong


def test_no_registry_address_in_the_files_that_install():
    names = [
        *PINNED,
        "pyproject.toml",
        "start.py",
        "course_tools/maintenance/lock.py",
        "environment.yml",
        "environment-no-cuda.yml",
    ]
    names += [".ci/run", ".ci/fresh_clone.py", ".binder/requirements.txt", ".binder/postBuild"]
    names += [".devcontainer/devcontainer.json"]
    for name in names:
        found = re.findall(
            r"https?://(?!127\.0\.0\.1|localhost)\S+", (ROOT / name).read_text(encoding="utf-8")
        )
        assert not found, f"{name}: {found}"
