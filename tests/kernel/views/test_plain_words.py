"""What plots say is plain text to whoever shows it: no markup of documentation is left in it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import dask_diag_lab
from dask_diag_lab.store import Store
from dask_diag_lab.views.plot import Plot
from dask_diag_lab.views.registry import PLOTS
from tests.kernel.views.situations import store_of, worker

VIEWS = Path(dask_diag_lab.__file__).parent / "views"
HELP = VIEWS / "catalogue"
"""Help is Markdown, and shown as such."""


@pytest.mark.parametrize("plot", PLOTS, ids=lambda plot: plot.name)
@pytest.mark.parametrize("store", [Store(), store_of(nthreads=0), store_of(workers=[worker(1)])])
def test_notice_of_an_empty_plot_has_no_backticks(plot: Plot, store: Store) -> None:
    view = plot.load()(store)
    view.build()
    view.update()
    assert "`" not in view.notice.empty + view.notice.note
    view.close()


def test_no_words_of_a_view_have_backticks() -> None:
    found = {
        f"{path.name}: {words}"
        for path in VIEWS.rglob("*.py")
        if HELP not in path.parents
        for words in words_in(ast.parse(path.read_text(encoding="utf-8")))
        if "`" in words
    }
    assert found == set()


def words_in(tree: ast.AST) -> list[str]:
    """Return the texts in a module that are not documentation."""
    documentation = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    helps = {
        keyword.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        for keyword in node.keywords
        if keyword.arg == "help"
    }
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and node not in documentation | helps
    ]
