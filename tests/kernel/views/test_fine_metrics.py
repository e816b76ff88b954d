"""Fine performance metrics: a bar for each function, of the unit and span that are chosen."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dask_diag_lab.views.scheduler.fine_metrics import OWN, FineMetrics, class_of
from dask_diag_lab.views.view import PlotLink
from tests.kernel.views.drawn import Drawn
from tests.kernel.views.situations import FINE, change, session_of


@pytest.mark.parametrize(
    ("activity", "expected"),
    [("missing", "Failed or cancelled"), ("busy", "Failed or cancelled"), ("my own", OWN)],
)
def test_only_what_distributed_does_not_have_is_the_users_own(activity: str, expected: str) -> None:
    assert class_of(activity) == expected


def fine() -> Drawn[FineMetrics]:
    return Drawn(FineMetrics(session_of(extras=change("fine", FINE))))


def test_fine_metrics_has_a_bar_for_each_function_and_for_fetching() -> None:
    shown = fine()
    assert shown.data["function"] == ["inc", "gather-dep", "load"]
    assert shown.data["total"] == [7, 3, 2]
    assert shown.data["Computing"] == [6, 0, 0]
    assert shown.data["most"][0] == "thread-cpu 6.00 s (86 %), thread-noncpu 1.00 s (14 %)"
    assert shown.view.caption.headline == "12.0 s over 3 functions"
    labels = [item.label for item in shown.view.caption.legend]
    assert labels == ["Computing", "Waiting in tasks", "Network", "(De)serialization"]
    assert shown.view.table().columns["value"] == [row[-1] for row in FINE]


def test_unit_and_span_can_be_chosen() -> None:
    shown = fine()
    unit, *_ = shown.view.caption.controls
    assert [value for value, _ in unit.options] == ["seconds", "bytes", "pages"]
    assert "of this name" not in shown.view.caption.note
    shown.view.set_control("unit", "bytes")
    shown.view.set_control("span", "default")
    shown.view.update()
    assert shown.view.caption.empty.startswith("Nothing was reported")
    assert shown.view.caption.controls[:1] == [replace(unit, value="bytes")]
    shown.view.set_control("span", "part")
    shown.view.update()
    assert (shown.data["function"], shown.data["total"]) == (["load"], [5000])
    assert shown.view.caption.headline == "4.88 KiB over 1 function"
    assert "all spans of this name together" in shown.view.caption.note


@pytest.mark.parametrize(
    ("name", "plot_link"),
    [
        ("inc", PlotLink("profile", {"prefix": "inc"})),
        ("gather-dep", None),
    ],
)
def test_a_click_on_a_function_opens_its_profile(name: str, plot_link: PlotLink | None) -> None:
    view = fine().view
    view.open_row(name)
    assert view.plot_link == plot_link
