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
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[2]
COLUMNS = {
    "bokeh": "Bokeh",
    "distributed": "distributed",
    "jupyter-server": "Jupyter Server",
    "jupyterlab": "JupyterLab",
    "numpy": "NumPy",
    "tornado": "tornado",
}
"""Of what is required, in the table of what was tried."""
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


def test_what_pip_may_choose_was_tried() -> None:
    """The oldest of all that is in the table of versions, and of Bokeh the newest minor version."""
    page = (ROOT / "docs" / "compatibility.md").read_text()
    lines = [line for line in page.splitlines() if line.startswith("|")]
    head, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert rows[0][0] == "oldest"
    for requirement in map(Requirement, PROJECT["dependencies"]):
        name = COLUMNS.get(requirement.name)
        if name is None:
            continue
        tried = [Version(row[head.index(name)]) for row in rows]
        (oldest,) = [Version(one.version) for one in requirement.specifier if one.operator == ">="]
        assert tried[0] == oldest
        assert all(one in requirement.specifier for one in tried)
        if requirement.name == "bokeh":
            next_minor = f"{max(tried).major}.{max(tried).minor + 1}"
            assert f"<{next_minor}" in str(requirement.specifier).split(",")


def test_demo_notebook_is_valid_and_was_saved_without_outputs() -> None:
    notebook = nbformat.read(ROOT / "examples" / "demo.ipynb", as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell["cell_type"] == "code"]
    assert [cell["outputs"] for cell in code] == [[]] * len(code)
    assert code[0]["source"].rstrip().endswith("client = Client()")
