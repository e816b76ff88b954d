"""The dashboards answer: the fixtures that the browser's side reads are what this side means."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dask_diag_lab.proxy.fields import WireError
from dask_diag_lab.proxy.health import condition_of
from dask_diag_lab.proxy.wire import check_dashboard, check_dashboards, parse_health

FIXTURES = Path(__file__).parent / "fixtures" / "dashboards"
ANSWERS = FIXTURES.parent / "http"


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.json")), ids=lambda path: str(path.name))
def test_answer_keeps_the_contract(path: Path) -> None:
    value = json.loads(path.read_text())
    assert len(check_dashboards(value)["dashboards"]) == len(value["dashboards"])


@pytest.mark.parametrize(
    "path", sorted(FIXTURES.glob("invalid/*.json")), ids=lambda path: str(path.name)
)
def test_answer_that_breaks_the_contract_is_refused(path: Path) -> None:
    with pytest.raises(WireError):
        check_dashboards(json.loads(path.read_text()))


def test_added_dashboard_keeps_the_contract() -> None:
    assert check_dashboard(json.loads((FIXTURES / "added" / "stock.json").read_text()))


def test_a_closed_cluster_is_what_its_health_becomes() -> None:
    (wanted,) = json.loads((FIXTURES / "closed.json").read_text())["dashboards"]
    health = parse_health(json.loads((ANSWERS / "health_closed.json").read_text()))
    found = condition_of(wanted["name"], health)
    said = ("state", "reason", "summary", "closed_at")
    assert [getattr(found, name) for name in said] == [wanted[name] for name in said]
