"""Lines over time: what is sent as they grow, the window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Final

import numpy as np
import pytest
from bokeh.document import Document
from bokeh.protocol import Protocol

from dask_diag_lab.store import LiveSession
from dask_diag_lab.views.series import LIVE_S, Line, Points, SeriesPlot
from tests.kernel.views.drawn import Drawn, SentBytes

T0: Final = 1_795_000_000.0


def points(n: int, first: int = 0) -> Points:
    """Return ``n`` points of 50, one a second."""
    mean = np.full(n, 50.0)
    return Points(T0 + first + np.arange(n, dtype=np.float64), mean, mean - 10, mean + 20)


class Cpu(SeriesPlot):
    """One line, of the points that a test gives."""

    title = "CPU"
    lines: ClassVar[Sequence[Line]] = (Line("cpu", "CPU", "load_normal"),)
    unit = "percent"
    given: Points

    def points(self, name: str) -> Points:
        return self.given

    def state(self) -> object:
        return super().state(), id(self.given)

    def show_points(self, given: Points) -> None:
        self.given = given
        self.update()

    @property
    def shown(self) -> tuple[Any, Any]:
        times: Any = self.figure.x_range  # of kinds without common attributes
        return times.start, times.end


def drawn(n: int, **arguments: str) -> Drawn[Cpu]:
    view = Cpu(LiveSession(), arguments=arguments)
    view.given = points(n)
    return Drawn(view)


def test_young_run_stands_still_and_an_old_one_shows_the_last_minutes_or_all() -> None:
    view = drawn(3).view
    assert view.shown == (0, 10)
    view.show_points(points(9))
    assert view.shown == (0, 10)
    for verb, expected in (("live", (1999 - LIVE_S, 1999)), ("fit", (0, 1999))):
        view.command(verb)
        view.show_points(points(2000))
        assert view.shown == expected


def test_a_picture_that_the_reader_moved_stays_and_tells_how_far_it_is_behind() -> None:
    view = drawn(1000).view
    view.figure.x_range.update(start=100, end=200)
    view.show_points(points(1001))
    assert (view.shown, view.caption.behind_s) == ((100, 200), 800)
    view.command("live")
    view.update()
    assert view.caption.behind_s == 0


@pytest.mark.parametrize(
    ("given", "window"),
    [
        ({"start": 900, "stop": 950}, (900, 950)),
        ({"start": 900}, (900, 999)),
        ({"stop": 9}, (0, 9)),
    ],
)
def test_picture_and_table_begin_and_end_where_asked_until_the_reader_moves_on(
    given: dict[str, int], window: tuple[int, int]
) -> None:
    view = drawn(1000, **{name: str(T0 + at) for name, at in given.items()}).view
    assert view.shown == window
    shown = range(given.get("start", 0), given.get("stop", 1000))
    assert view.table().columns["time"] == [T0 + at for at in shown]
    view.figure.x_range.update(start=100, end=200)
    view.show_points(points(1001))
    assert view.shown == (100, 200)
    view.command("live")
    view.show_points(points(1001))
    assert view.shown == (700, 1000)


def test_long_history_is_drawn_whole_and_has_gaps_where_nothing_is_known() -> None:
    view, long = drawn(20).view, points(7000)
    long.high[1234] = 99.0
    for column in (long.mean, long.low, long.high):
        column[-100:] = np.nan
    view.command("fit")
    view.show_points(long)
    data = view.source.model.data
    assert len(data["x"]) == 7000
    assert np.nanmax(data["high0"]) == 99.0
    assert (data["mean0"][0], np.isnan(data["mean0"][-1])) == (50, True)


def test_of_a_line_that_moves_on_a_page_gets_only_its_ends() -> None:
    shown = drawn(1000)
    page = Document.from_json(shown.document.to_json())
    events: list[Any] = []  # of documents, of several types
    shown.document.on_change(events.append)
    sent = SentBytes(shown.view.source.model)
    longer = points(1003)
    longer.mean[999] = 60.0
    longer.mean[1001] = np.nan
    shown.view.show_points(longer)
    Protocol().create("PATCH-DOC", events).apply_to_document(page)
    there: Any = page.get_model_by_id(shown.view.source.model.id)
    assert 0 < sent.total < 2000
    assert (there.data["x"][0], there.data["x"][-1]) == (1002 - LIVE_S - 1, 1002)
    assert len(there.data["x"]) == len(shown.view.source.model.data["x"])
    assert there.data["mean0"][-4] == 60.0
    for name, column in shown.view.source.model.data.items():
        np.testing.assert_array_equal(there.data[name], column)


class Two(Cpu):
    """Two lines of different times."""

    lines = (Line("a", "A", "incoming"), Line("b", "B", "outgoing"))

    def points(self, name: str) -> Points:
        return points(3) if name == "a" else points(3, first=2)


def test_lines_of_different_times_share_one_axis() -> None:
    view = Two(LiveSession())
    view.given = points(0)
    data = Drawn(view).view.source.model.data
    assert list(data["x"]) == [0, 1, 2, 3, 4]
    assert np.isnan(data["mean0"][3:]).all()
    assert np.isnan(data["mean1"][:2]).all()
