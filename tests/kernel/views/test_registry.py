"""The catalogue of plots."""

from __future__ import annotations

import pytest
from distributed.dashboard.scheduler import applications

from dask_diag_lab.views.registry import Plot, built_in_plots, catalogue, entry, get_plot

PLOTS = built_in_plots()


def test_names_are_unique() -> None:
    names = [plot.name for plot in PLOTS]
    assert len(set(names)) == len(names)


def test_what_is_listed_before_bokeh_is_loaded_is_what_the_classes_say() -> None:
    assert catalogue() == [entry(plot) for plot in PLOTS]


def test_every_plot_of_the_stock_dashboard_is_here() -> None:
    stock = {r.removeprefix("/individual-") for r in applications if r.startswith("/individual-")}
    assert stock <= {plot.name for plot in PLOTS}


@pytest.mark.parametrize("plot", PLOTS, ids=lambda plot: plot.name)
def test_every_plot_says_what_it_shows_in_one_sentence_and_how_to_read_it(plot: Plot) -> None:
    assert plot.description.endswith(".")
    assert len(plot.description) <= 90
    assert "ealthy" in plot.help or "Healthy" in plot.help
    assert "!" not in plot.help + plot.description


def test_an_unknown_plot_is_an_error_that_names_those_there_are() -> None:
    with pytest.raises(KeyError, match=r"no plot 'no-such'.*task-stream"):
        get_plot("no-such")
    with pytest.raises(KeyError, match="did you mean 'task-stream'"):
        get_plot("task-straem")
