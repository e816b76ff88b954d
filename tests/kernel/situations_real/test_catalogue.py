"""All plots without tasks and without workers, names of odd keys, and Hardware."""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterator
from functools import partial

import pytest
from bokeh.model import Model
from bokeh.models import ColumnDataSource
from dask.utils import key_split
from distributed import wait, worker

from dask_diag_lab.views.names import shown_name
from dask_diag_lab.views.registry import Plot, built_in_plots
from tests.kernel.situations_real.clusters import Cluster, cluster

PLOTS = built_in_plots()
KEYS: tuple[Hashable, ...] = (
    *(1, 2.5, ("x", 1), "a b", "<b>x</b>", "<module.>", " ", "\u200b", "a\nb", "\u202eabc"),
    *("ae05086432ca935f6eba409a8ecd4896", "abcdef12", "()", "$$x$$"),
)
"""Nobody would write them, but somebody does."""


def why_empty(found: Cluster, plot: Plot) -> str:
    """Return why a plot is empty, or ''."""
    caption = found.caption(plot.name)
    # The one plot that is empty until its button is pressed, which it shows, says so beside it.
    return caption.empty or (caption.note if plot.name == "hardware" else "")


def is_filled(found: Cluster, plot: Plot) -> bool:
    """Return whether a plot has rows or facts."""
    rows = found.table(plot.name).values()
    return any(map(len, rows)) or bool(found.caption(plot.name).facts)


@pytest.fixture(scope="module", params=[2, 0], ids=["idle", "deserted"])
def still(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """Two workers that have nothing to do, or a scheduler without a worker."""
    with cluster(n_workers=request.param, threads_per_worker=1) as found:
        found.becomes(lambda: len(found.table("workers-memory")["worker"]), request.param)
        yield found


@pytest.mark.parametrize("plot", PLOTS, ids=lambda plot: plot.name)
def test_without_tasks_or_workers_a_plot_shows_something_or_why_it_is_empty(
    still: Cluster, plot: Plot
) -> None:
    def is_explained(reason: str) -> bool:
        if not reason:
            return is_filled(still, plot)
        if still.addresses:
            return reason.endswith(".") and "Waiting" not in reason
        return reason.endswith(".") and (plot.group != "Workers" or "worker" in reason.lower())

    still.until(lambda: why_empty(still, plot), is_explained)


def texts(_: object, picture: Model) -> set[str]:
    """Return all texts of a picture's data."""
    sources = [m for m in picture.references() if isinstance(m, ColumnDataSource)]
    columns = [column for source in sources for column in source.data.values()]
    found = {text for column in columns for text in column if isinstance(text, str)}
    return found | {text.removeprefix("prefix ") for text in found}


def test_an_odd_prefix_has_one_visible_name_in_every_plot() -> None:
    with cluster(n_workers=1, threads_per_worker=2) as found:
        # Long enough for a block of its own.
        found.held = [found.client.submit(time.sleep, 0.1, key=key) for key in KEYS]
        wait(found.held)
        shown = {shown_name(key_split(key)) for key in KEYS}
        for plot in ("progress", "groups", "task-stream"):  # bars name their rows in the browser
            found.until(partial(found.drawn, plot, texts), shown.issubset)
        legend = [item.label for item in found.caption("task-stream").legend]
        assert set(legend) >= shown - {""}
        assert all(label == shown_name(label) for label in legend)


def test_hardware_measures_once_its_button_is_pressed_and_never_unasked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("benchmark_disk", "benchmark_memory", "benchmark_network"):
        measure = partial(getattr(worker, name), duration="10 ms")  # in place of a second a size
        monkeypatch.setattr(worker, name, measure)
    with cluster(n_workers=2, threads_per_worker=1) as found:
        assert found.rows("hardware") == []
        assert "Nothing was measured yet" in found.caption("hardware").empty
        found.drawn("hardware", lambda view, _: view.set_control("measure", ""))
        rows = found.until(lambda: found.rows("hardware"), bool)
        rates = {(row["kind"], row["size"]): row["rate"] for row in rows}
        assert {kind for kind, _ in rates} == {"memory", "disk", "network"}
        assert all(rate > 0 for rate in rates.values())
        assert rates["memory", 1 << 20] > 2**20  # bytes a second
        assert found.caption("hardware").note.startswith("Means of all workers at ")
