"""The runtime record and the kernel's answers, read by the Jupyter server's side."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dask_diag_lab.proxy.fields import WireError
from dask_diag_lab.proxy.stock import parse_index
from dask_diag_lab.proxy.wire import parse_health, parse_plots, parse_record

FIXTURES = Path(__file__).parent / "fixtures"


@pytest.mark.parametrize(
    "path", sorted(FIXTURES.glob("runtime_record/valid*.json")), ids=lambda path: str(path.name)
)
def test_valid_record_is_accepted(path: Path) -> None:
    value = json.loads(path.read_text())
    record = parse_record(value)
    assert (record.id, record.pid, record.token) == (value["id"], value["pid"], value["token"])
    assert record.address.origin == value["url"]
    assert record.kernel_id == value["kernel_id"]
    assert record.token not in repr(record)


@pytest.mark.parametrize(
    "path", sorted(FIXTURES.glob("runtime_record/bad*.json")), ids=lambda path: str(path.name)
)
def test_bad_record_is_refused_without_its_content(path: Path) -> None:
    with pytest.raises((WireError, ValueError)) as error:
        parse_record(json.loads(path.read_text()))
    assert "Zm9v" not in str(error.value)


def test_every_field_of_a_record_but_its_unknown_ones_is_needed() -> None:
    value = json.loads((FIXTURES / "runtime_record" / "valid.json").read_text())
    for field in value:
        with pytest.raises(WireError):
            parse_record({name: value[name] for name in value if name != field})


@pytest.mark.parametrize("name", ["health.json", "health_lost.json", "health_closed.json"])
def test_health_is_accepted(name: str) -> None:
    value = json.loads((FIXTURES / "http" / name).read_text())
    health = parse_health(value)
    assert health.state == value["state"]
    assert health.summary["tasks"] == value["tasks"]
    assert health.since == value["since"]


def test_health_of_a_version_that_does_not_tell_since_when_is_accepted() -> None:
    value = json.loads((FIXTURES / "http" / "health.json").read_text())
    del value["since"]
    assert parse_health(value).since is None


def test_plots_are_accepted_with_their_keywords() -> None:
    value = json.loads((FIXTURES / "http" / "plots.json").read_text())
    assert [plot["name"] for plot in parse_plots(value)] == [p["name"] for p in value["plots"]]
    assert all("keywords" in plot for plot in parse_plots(value))


def test_stock_index_becomes_plots_with_our_names() -> None:
    content = (FIXTURES / "http" / "individual-plots.json").read_bytes()
    assert {plot["name"]: plot["route"] for plot in parse_index(content)} == {
        "task-stream": "individual-task-stream",
        "progress": "individual-progress",
        "workers-memory": "individual-workers-memory",
    }
