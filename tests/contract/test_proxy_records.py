"""The runtime record and the kernel's answers, read by the Jupyter server's side."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dask_diag_lab.proxy.messages import Health, MessageError, PlotList, check, check_record
from dask_diag_lab.proxy.stock import plots_of_index

FIXTURES = Path(__file__).parent / "fixtures"


@pytest.mark.parametrize(
    "path", sorted(FIXTURES.glob("runtime_record/valid*.json")), ids=lambda path: str(path.name)
)
def test_valid_record_is_accepted(path: Path) -> None:
    value = json.loads(path.read_text())
    record = check_record(value)
    fields = ("id", "pid", "kernel_id", "url", "token", "started")
    assert [dict(record)[field] for field in fields] == [value[field] for field in fields]


@pytest.mark.parametrize(
    "path", sorted(FIXTURES.glob("runtime_record/bad*.json")), ids=lambda path: str(path.name)
)
def test_bad_record_is_refused_without_its_content(path: Path) -> None:
    with pytest.raises((MessageError, ValueError)) as error:
        check_record(json.loads(path.read_text()))
    assert "Zm9v" not in str(error.value)


def test_every_field_of_a_record_is_needed() -> None:
    value = json.loads((FIXTURES / "runtime_record" / "valid.json").read_text())
    for field in value:
        with pytest.raises(MessageError, match=field):
            check_record({name: value[name] for name in value if name != field})


@pytest.mark.parametrize("name", ["health.json", "health_lost.json", "health_closed.json"])
def test_health_is_accepted(name: str) -> None:
    value = json.loads((FIXTURES / "http" / name).read_text())
    health = check(value, Health)
    assert (health["state"], health["tasks"]) == (value["state"], value["tasks"])
    assert health["since"] == value["since"]


def test_plots_are_accepted_with_their_keywords_and_without_their_help() -> None:
    value = json.loads((FIXTURES / "http" / "plots.json").read_text())
    plots = check(value, PlotList)["plots"]
    assert [plot["name"] for plot in plots] == [plot["name"] for plot in value["plots"]]
    assert all("keywords" in plot and "help" not in plot for plot in plots)


def test_stock_index_becomes_plots_with_our_words_the_usual_first() -> None:
    index = json.loads((FIXTURES / "http" / "individual-plots.json").read_text())
    plots = plots_of_index({**index, "Individual New Thing": "/individual-new-thing"})
    assert [(plot["title"], plot["group"], plot["route"]) for plot in plots] == [
        ("Task Stream", "Tasks", "individual-task-stream"),
        ("Progress", "Tasks", "individual-progress"),
        ("Workers Memory", "Workers", "individual-workers-memory"),
        ("New Thing", "Scheduler", "individual-new-thing"),
    ]
    assert [bool(plot["description"]) for plot in plots] == [True, True, True, False]
