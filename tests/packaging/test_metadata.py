"""Facts that stand in several files agree."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path

import nbformat
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_python_and_npm_packages_have_one_version_and_licence() -> None:
    package = json.loads((ROOT / "package.json").read_text())
    assert package["version"] == PROJECT["version"]
    assert f"## {PROJECT['version']}" in (ROOT / "CHANGELOG.md").read_text()
    assert package["license"] == PROJECT["license"] == "BSD-3-Clause"


def test_what_is_imported_is_required() -> None:
    required: set[str] = {
        canonicalize_name(Requirement(one).name) for one in PROJECT["dependencies"]
    }
    # Looked for where it may be missing, or brought by what a public interface is made of.
    required |= {"dask-diag-lab", "ipython", "pandas", "traitlets"}
    for file in (ROOT / "dask_diag_lab").rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        found = set(re.findall(r"^ *(?:import|from) (\w+).*", text, re.MULTILINE))
        missing = {canonicalize_name(name) for name in found - sys.stdlib_module_names} - required
        assert not missing, file


@pytest.mark.parametrize("name", ["yarn.lock", "ui-tests/yarn.lock"])
def test_lock_files_name_no_registry(name: str) -> None:
    assert "://" not in (ROOT / name).read_text()


def test_the_suite_of_the_oldest_versions_takes_the_oldest_that_are_allowed() -> None:
    tried = dict(re.findall(r'"([a-z]+)==([\d.]+)\.\*"', (ROOT / "Makefile").read_text()))
    assert tried.keys() >= {"bokeh", "jupyterlab", "dask"}
    for requirement in map(Requirement, PROJECT["dependencies"]):
        if requirement.name in tried:
            (oldest,) = [one.version for one in requirement.specifier if one.operator == ">="]
            assert oldest.startswith(tried[requirement.name])


def test_what_is_used_in_private_is_limited_to_what_was_tried() -> None:
    allowed = {one.name: one.specifier for one in map(Requirement, PROJECT["dependencies"])}
    assert not allowed["bokeh"].contains("3.8.1")  # 3.8.2 is the oldest that was tried
    assert not allowed["bokeh"].contains("3.11.0")
    assert not allowed["tornado"].contains("6.5.10")
    assert not allowed["psutil"].contains("5.9.8")
    assert not allowed["jupyterlab"].contains("5.0.0")


def test_demo_notebook_is_valid_and_was_saved_without_outputs() -> None:
    notebook = nbformat.read(ROOT / "examples" / "demo.ipynb", as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell["cell_type"] == "code"]
    assert [cell["outputs"] for cell in code] == [[]] * len(code)
    assert code[0]["source"].rstrip().endswith("client = Client()")
