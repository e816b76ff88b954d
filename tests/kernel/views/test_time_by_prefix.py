"""Compute time per key and aggregate time per action: sums, shares, nothing hidden."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from dask_diag_lab.records import ExtraChange, Kind
from dask_diag_lab.store import Store
from dask_diag_lab.views.catalogue.tasks import PLOTS
from dask_diag_lab.views.look import DARK, LIGHT, Look
from dask_diag_lab.views.palette import data_colors, prefix_color
from dask_diag_lab.views.tasks.time_by_prefix import AggregateTimePerAction, ComputeTimePerKey
from tests.kernel.transport.live_cluster import cluster, feeding, until
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


class SlowData(dict[Any, Any]):  # results of any type by keys of the engine
    """A worker's store that takes as many ms to find or keep a result as the result says."""

    def __getitem__(self, key: Any) -> Any:  # as in a dict
        time.sleep(super().__getitem__(key) * 1e-3)
        return super().__getitem__(key)

    def __setitem__(self, key: Any, value: Any) -> None:  # as in a dict
        time.sleep(value * 1e-3)
        super().__setitem__(key, value)


def same(x: float) -> float:
    return x


async def disk_seconds() -> dict[Kind, list[float]]:
    """Return for reading and writing how long a worker's store took where it was called disk."""
    async with (
        cluster(worker={"data": SlowData}) as (s, _, c),
        feeding(s.address) as (_, seen),
    ):
        for ms in (4.0, 4.5, 5.5):  # the last one surely counts
            first = c.submit(same, ms, key=f"first-{ms}")
            await c.submit(same, first, key=f"second-{ms}")
        await until(lambda: len(seen.of("second-5.5")) == 3)
        return {
            kind: [row["stop"] - row["start"] for row in seen.rows if row["kind"] is kind]
            for kind in (Kind.DISK_READ, Kind.DISK_WRITE)
        }


def test_help_says_from_when_on_the_engine_calls_it_disk() -> None:
    for seconds in asyncio.run(disk_seconds()).values():
        assert seconds
        assert all(took > 0.005 - 1e-6 for took in seconds)  # times are rounded on their way
    helps = {plot.name: plot.help for plot in PLOTS}
    for name in ("task-stream", "aggregate-time-per-action"):
        assert "more than 5 ms" in helps[name]
