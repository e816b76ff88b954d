"""The messages of the Jupyter server's side: what it reads of a kernel, what browsers read."""

from __future__ import annotations

from typing import Any

import pytest

from dask_diag_lab.proxy.messages import (
    DashboardChanges,
    DashboardInfo,
    DashboardList,
    Health,
    MessageError,
    PlotList,
    check,
    check_record,
)
from dask_diag_lab.proxy.stock import plots_of_index
from tests.contract.shapes import FIXTURES, fixture


def names_in(folder: str, pattern: str) -> list[str]:
    return sorted(f"{folder}/{path.name}" for path in (FIXTURES / folder).glob(pattern))


@pytest.mark.parametrize("name", names_in("runtime_record", "valid*.json"))
def test_valid_record_is_accepted(name: str) -> None:
    value = fixture(name)
    record: dict[str, Any] = {**check_record(value)}
    fields = ("id", "pid", "kernel_id", "url", "token", "started")
    assert [record[field] for field in fields] == [value[field] for field in fields]


def test_every_field_of_a_record_is_needed() -> None:
    value = fixture("runtime_record/valid.json")
    for field in value:
        with pytest.raises(MessageError, match=field):
            check_record({name: value[name] for name in value if name != field})


@pytest.mark.parametrize("name", names_in("http", "health*.json"))
def test_health_is_accepted(name: str) -> None:
    value = fixture(name)
    health: dict[str, Any] = {**check(value, Health)}
    fields = ("state", "tasks", "since")
    assert [health[field] for field in fields] == [value[field] for field in fields]


def test_plots_are_accepted_with_their_keywords_and_without_their_help() -> None:
    value = fixture("http/plots.json")
    plots = check(value, PlotList)["plots"]
    assert [plot["name"] for plot in plots] == [plot["name"] for plot in value["plots"]]
    assert all("keywords" in plot and "help" not in plot for plot in plots)


def test_stock_index_becomes_plots_with_our_words_the_usual_first() -> None:
    index = fixture("http/individual-plots.json")
    plots = plots_of_index({**index, "Individual New Thing": "/individual-new-thing"})
    assert [(plot["title"], plot["group"], plot["route"]) for plot in plots] == [
        ("Task Stream", "Tasks", "individual-task-stream"),
        ("Progress", "Tasks", "individual-progress"),
        ("Workers Memory", "Workers", "individual-workers-memory"),
        ("New Thing", "Scheduler", "individual-new-thing"),
    ]
    assert [bool(plot["description"]) for plot in plots] == [True, True, True, False]


def test_what_browsers_read_keeps_the_contract() -> None:
    for name in names_in("dashboards", "*.json"):
        value = fixture(name)
        assert len(check(value, DashboardList)["dashboards"]) == len(value["dashboards"])
    assert check(fixture("dashboards/added/stock.json"), DashboardInfo)
    assert len(check(fixture("dashboards/changes/two.json"), DashboardChanges)["changed"]) == 2
