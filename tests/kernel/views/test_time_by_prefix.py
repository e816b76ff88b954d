"""Compute time per key and aggregate time per action: sums, shares, nothing hidden."""

from __future__ import annotations

import inspect

import pytest
from distributed import worker, worker_state_machine

from dask_diag_lab.records import ExtraChange
from dask_diag_lab.store import Store
from dask_diag_lab.views.catalogue.tasks import PLOTS
from dask_diag_lab.views.look import DARK, LIGHT, Look
from dask_diag_lab.views.palette import data_colors, prefix_color
from dask_diag_lab.views.tasks.time_by_prefix import AggregateTimePerAction, ComputeTimePerKey
from tests.kernel.views.situations import Page, batch, prefix, store_of

ROWS = (
    ("load", "compute", 30.0),
    ("load", "disk-write", 2.0),
    ("sum", "compute", 10.0),
    ("sum", "transfer", 6.0),
    ("idle", "compute", 0.0),
)


def durations(*rows: tuple[str, str, float]) -> dict[str, ExtraChange]:
    """Return the extra table of these rows."""
    columns = {name: [row[i] for row in rows] for i, name in enumerate(("prefix", "action"))}
    return {"durations": ExtraChange({**columns, "seconds": [row[2] for row in rows]})}


def timed(*rows: tuple[str, str, float]) -> Store:
    """Return a store that knows these durations."""
    known = [prefix("load", 0.5, memory=60), prefix("sum", 1.0, released=10)]
    return store_of(prefixes=known, extras=durations(*rows))


def test_compute_time_leaves_out_what_was_not_computing() -> None:
    view = ComputeTimePerKey(timed(*ROWS))
    page = Page(view)
    data = view.bars.model.data
    assert data["hover0"] == ["load", "sum"]
    assert list(data["size"]) == [30, 10]
    assert data["value"] == ["30.0 s · 75 %", "10.0 s · 25 %"]
    assert data["hover2"] == ["500 ms a task on average", "1.00 s a task on average"]
    assert data["hover3"] == ["60 tasks done", "10 tasks done"]
    assert page.title == "Compute time per key: 40.0 s of thread time"


def test_small_ones_are_not_hidden() -> None:
    view = ComputeTimePerKey(timed(("a", "compute", 1000.0), ("b", "compute", 0.001)))
    Page(view)
    assert view.bars.model.data["value"][1] == "1.00 ms · <0.1 %"


def test_many_prefixes_share_one_bar_with_their_sum() -> None:
    view = ComputeTimePerKey(timed(*((f"p{i}", "compute", 1.0) for i in range(500))))
    Page(view, 500, 300)
    assert sum(view.bars.model.data["size"]) == pytest.approx(500)
    assert view.bars.model.data["hover0"][-1].endswith("other prefixes")


def test_actions_are_summed_over_prefixes() -> None:
    view = AggregateTimePerAction(timed(*ROWS))
    page = Page(view)
    data = view.bars.model.data
    assert data["hover0"] == ["compute", "transfer", "disk-write"]
    assert list(data["size"]) == [40, 6, 2]
    assert data["hover2"][0] == "most for load 30.0 s, sum 10.0 s"
    assert page.title == "Aggregate time per action: 48.0 s in all"


@pytest.mark.parametrize("look", [LIGHT, DARK, Look(palette="okabe-ito")])
def test_colours_are_those_of_the_task_stream(look: Look) -> None:
    store = timed(*ROWS)
    actions, keys = AggregateTimePerAction(store, look), ComputeTimePerKey(store, look)
    Page(actions)
    Page(keys)
    colors = data_colors(look)
    assert actions.bars.model.data["color"][1:] == [colors.transfer, colors.disk]
    expected = [prefix_color(store.palette.index(name), look) for name in ("load", "sum")]
    assert keys.bars.model.data["color"] == expected


@pytest.mark.parametrize("kind", [ComputeTimePerKey, AggregateTimePerAction])
def test_waiting_is_told_from_nothing(
    kind: type[ComputeTimePerKey | AggregateTimePerAction],
) -> None:
    store = store_of()
    page = Page(kind(store))
    assert page.view.notice.empty.startswith("Waiting")
    store.apply(batch(extras=durations()))
    page.sent()
    assert page.view.notice.empty.startswith("No task has ended")
    store.apply(batch(extras=durations(("a", "compute", 1.0))))
    page.sent()
    assert page.view.notice.empty == ""


def test_nothing_is_sent_for_equal_durations() -> None:
    store = timed(*ROWS)
    page = Page(ComputeTimePerKey(store))
    store.apply(batch(extras=durations(*ROWS)))
    assert page.sent() == []


def test_tables_have_all_rows() -> None:
    store = timed(*ROWS)
    assert ComputeTimePerKey(store).table().columns["prefix"] == ["load", "sum"]
    assert len(AggregateTimePerAction(store).table().columns["seconds"]) == len(ROWS)


@pytest.mark.parametrize("name", ["task-stream", "aggregate-time-per-action"])
def test_help_says_from_when_on_the_engine_calls_it_disk(name: str) -> None:
    for part in (worker, worker_state_machine):
        assert "if stop - start > 0.005:" in inspect.getsource(part)
    plot = next(plot for plot in PLOTS if plot.name == name)
    assert "more than 5 ms" in plot.help
    assert "disk at all" not in plot.help
