"""The dashboards answer: the fixtures that the browser's side reads are what this side means."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dask_diag_lab.proxy.messages import DashboardChanges, DashboardInfo, DashboardList, check

FIXTURES = Path(__file__).parent / "fixtures" / "dashboards"


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.json")), ids=lambda path: str(path.name))
def test_list_keeps_the_contract(path: Path) -> None:
    value = json.loads(path.read_text())
    assert len(check(value, DashboardList)["dashboards"]) == len(value["dashboards"])


def test_added_dashboard_and_changes_keep_the_contract() -> None:
    assert check(json.loads((FIXTURES / "added" / "stock.json").read_text()), DashboardInfo)
    changes = json.loads((FIXTURES / "changes" / "two.json").read_text())
    assert len(check(changes, DashboardChanges)["changed"]) == 2
