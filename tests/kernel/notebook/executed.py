"""Notebooks that are executed without a browser, as nbconvert and papermill do it."""

from __future__ import annotations

from typing import Any

import nbformat
from nbclient import NotebookClient

LIMIT_S = 120


def executed(*cells: str) -> list[list[dict[str, Any]]]:
    """Return the outputs of each cell, as they are saved."""
    return [cell["outputs"] for cell in executed_notebook(*cells)["cells"]]


def executed_notebook(*cells: str) -> dict[str, Any]:
    """Return the notebook, as it is saved."""
    # Neither package has types.
    make: Any = nbformat.v4
    notebook = make.new_notebook(cells=[make.new_code_cell(cell) for cell in cells])
    NotebookClient(notebook, timeout=LIMIT_S, kernel_name="python3").execute()
    return dict(notebook)
