"""Plots of bars: what is sent to the browser, when, and what the reader can set."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from dask_diag_lab.views.bars import BarPlot, Level, Part
from dask_diag_lab.views.data import Column, Rows
from dask_diag_lab.views.look import data_colors
from dask_diag_lab.views.view import PlotLink
from tests.kernel.views.drawn import Drawn
from tests.kernel.views.situations import batch, session_of, worker


class Memory(BarPlot):
    """A bar for each worker."""

    reads = ("workers",)
    columns = (
        Column("name", "Worker", shown=False),
        Column("memory", "Memory", "bytes", share_of="limit"),
        Column("limit", "Limit", "bytes", in_table=False),
        Column("cpu", "CPU", "percent"),
    )
    parts = (Part("memory", "in use"),)
    levels = (Level("memory_ok"), Level("memory_over", "‼"))
    limit = "limit"
    noun = "worker"
    empty = "Nobody is here."

    def rows(self) -> Rows:
        workers = self.live.history.workers
        return {
            "name": list(workers.name),
            "memory": workers.memory,
            "limit": workers.memory_limit,
            "cpu": np.where(workers.cpu > 0, workers.cpu, np.nan),
            "host": list(workers.host),
            "level_index": (workers.memory > 1000).astype(np.uint8),
        }

    def headline(self) -> str:
        return f"{len(self.history.workers)} workers"

    def open_row(self, key: str) -> None:
        self.open("worker", worker=key)


def drawn(n: int = 2, **given: Any) -> Drawn[Memory]:
    return Drawn(Memory(session_of(workers=[worker(i, **given) for i in range(n)])))


def chart_of(view: BarPlot) -> Any:  # Bokeh's properties are not typed as their values
    return view.chart


def data(view: BarPlot) -> dict[str, list[Any]]:
    return {name: list(column) for name, column in chart_of(view).source.data.items()}


def test_rows_are_sent_as_columns_and_shown_in_caption_and_table() -> None:
    view = drawn(memory=2000, memory_limit=4000, cpu=0.0).view
    assert data(view)["memory"] == [2000, 2000]
    assert data(view)["level_index"] == [1, 1]
    assert view.caption.headline == "2 workers"
    red = data_colors(view.look).memory_over
    assert [(item.label, item.color) for item in view.caption.legend] == [("in use", red)]
    table = view.table()
    assert table.columns == {"name": ["0", "1"], "memory": [2000, 2000], "cpu": [None, None]}
    assert table.units == {"memory": "B", "cpu": "%"}


def test_the_browser_gets_what_columns_mean() -> None:
    spec = json.loads(chart_of(drawn().view).spec)
    assert [column["name"] for column in spec["columns"]] == ["memory", "limit", "cpu"]
    assert (spec["unit"], spec["limit"], spec["noun"]) == ("bytes", "limit", "worker")
    assert [level["sign"] for level in spec["levels"]] == ["", "‼"]
    assert (spec["nouns"], spec["opens"]) == ("workers", True)


def test_only_columns_that_differ_are_sent_and_nothing_while_nothing_changes() -> None:
    shown = drawn()
    shown.view.update()
    assert shown.sent() == []
    live = shown.view.live
    live.apply(batch(workers=[worker(0, memory=5), worker(1, executing=1)]))
    shown.view.update()
    assert shown.sent() == ["memory"]
    live.apply(batch(workers=[worker(2)]))
    shown.view.update()
    assert shown.sent() == ["data"]


def test_no_rows_say_why() -> None:
    shown = drawn()
    gone = [worker(i)["address"] for i in range(2)]
    shown.view.live.apply(batch(workers=[], removed_workers=gone))
    shown.view.update()
    assert shown.view.caption.empty == "Nobody is here."
    assert data(shown.view)["memory"] == []


@pytest.mark.parametrize(
    ("hosts", "n", "ways"),
    [(1, 2, []), (1, 20, ["auto", "each"]), (2, 4, ["auto", "each", "host"])],
)
def test_rows_can_be_put_together_where_that_makes_sense(
    hosts: int, n: int, ways: list[str]
) -> None:
    rows = [worker(i, host=f"h{i % hosts}") for i in range(n)]
    shown = Drawn(Memory(session_of(workers=rows)))
    assert [way for c in shown.view.caption.controls for way, _ in c.options] == ways
    if "each" in ways:
        shown.view.set_control("rows", "each")
        assert shown.sent() == ["spec"]
        assert shown.view.caption.controls[0].value == "each"


def test_a_click_opens_what_the_row_stands_for() -> None:
    view = drawn().view
    chart_of(view).clicked = ["1", "1"]
    assert view.plot_link == PlotLink("worker", {"worker": "1"})
