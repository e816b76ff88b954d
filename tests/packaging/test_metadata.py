"""Facts that stand in several files agree."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_python_and_npm_packages_have_one_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    package = json.loads((ROOT / "package.json").read_text())
    assert package["version"] == project["version"]
    assert f"## {project['version']}" in (ROOT / "CHANGELOG.md").read_text()


def test_python_and_npm_packages_have_one_licence() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    package = json.loads((ROOT / "package.json").read_text())
    assert package["license"] == project["license"] == "BSD-3-Clause"


@pytest.mark.parametrize("name", ["yarn.lock", "ui-tests/yarn.lock"])
def test_lock_files_name_no_registry(name: str) -> None:
    assert "://" not in (ROOT / name).read_text()


def test_demo_notebook_is_valid_and_was_saved_without_outputs() -> None:
    notebook = nbformat.read(ROOT / "examples" / "demo.ipynb", as_version=4)
    nbformat.validate(notebook)
    ids = [cell["id"] for cell in notebook.cells]
    assert len(set(ids)) == len(ids)
    code = [cell for cell in notebook.cells if cell["cell_type"] == "code"]
    assert [cell["outputs"] for cell in code] == [[]] * len(code)
    assert code[0]["source"].rstrip().endswith("client = Client()")
