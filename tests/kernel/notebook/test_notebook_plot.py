"""A plot in a cell: Lab gets a name to draw, everybody else gets words, nobody gets a token."""

from __future__ import annotations

import json

import pytest
from distributed import Client

import dask_diag_lab
from dask_diag_lab.notebook.plot import MIME
from dask_diag_lab.views.registry import built_in_plots
from tests.kernel.dashboards import address_of

PLOTS = built_in_plots()


def test_lab_gets_dashboard_plot_and_height(client: Client) -> None:
    shown = dask_diag_lab.plot("task-stream", client, height=300)._repr_mimebundle_()
    assert shown[MIME] == {
        "dashboard": dask_diag_lab.attach(client).id,
        "plot": "task-stream",
        "height": 300,
    }
    assert shown["text/plain"] == repr(dask_diag_lab.plot("task-stream", client))


def test_the_fallback_says_how_to_see_it_and_holds_no_secret(client: Client) -> None:
    shown = dask_diag_lab.plot("progress")._repr_mimebundle_()
    assert "dask_diag_lab.attach().url" in str(shown["text/html"])
    assert address_of(dask_diag_lab.attach(client)).token not in json.dumps(shown)
    assert "127.0.0.1" not in json.dumps(shown)


def test_an_unknown_plot_names_the_known_ones(client: Client) -> None:
    with pytest.raises(ValueError, match="task-stream"):
        dask_diag_lab.plot("nope", client)


def test_heights_out_of_bounds_are_refused(client: Client) -> None:
    for height in (-1, 79, 4001):
        with pytest.raises(ValueError, match="80 to 4000 pixels"):
            dask_diag_lab.plot("cpu", client, height=height)


def test_the_catalogue_is_the_registry_in_words() -> None:
    listed = dask_diag_lab.plots()
    assert tuple(listed) == PLOTS
    for plot in PLOTS:
        assert plot.name in repr(listed)
