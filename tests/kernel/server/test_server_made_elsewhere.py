"""What is made in other threads is drawn by the page that had it made, as soon as it is there."""

from __future__ import annotations

from typing import Any

import pytest
from bokeh.models import ColumnDataSource

from dask_diag_lab.server import pace, tables
from dask_diag_lab.views.stream.frames import AT_ONCE
from dask_diag_lab.workshop import Workshop
from tests.kernel.server.browser import BrowserPage
from tests.kernel.server.sample_views import Counting, Making, MakingOnClick, sample_plot
from tests.kernel.serving import Served, run, serving, until
from tests.kernel.store.batches import BatchMaker
from tests.kernel.views.elsewhere import Elsewhere


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> None:
    """No round of updates follows the first one by itself."""
    monkeypatch.setattr(pace, "SHARE", 1e-9)
    monkeypatch.setattr(pace, "BUSY_SHARE", 1e-9)
    monkeypatch.setattr(pace, "LONGEST_S", 3600.0)


def _finish(served: Served, elsewhere: Elsewhere) -> None:
    """Do the one thing that is under way, and say so."""
    (working,) = elsewhere.open
    elsewhere.finish()
    served.server.worked_out(working)


@pytest.mark.usefixtures("held")
def test_it_is_drawn_at_once_and_nothing_else() -> None:
    async def story() -> None:
        plots = (sample_plot("made", Making), sample_plot("count", Counting))
        async with serving(plots) as served:
            elsewhere = Elsewhere(served.store)
            made, other = [await BrowserPage.open(served, name) for name in ("made", "count")]
            await other.quiet()
            before = other.control.note
            assert made.control.note == "made in update None"
            _finish(served, elsewhere)
            await until(lambda: "None" not in made.control.note, "what was made is not drawn")
            await other.quiet()
            assert other.control.note == before
            await made.close()
            await other.close()

    run(story())


@pytest.mark.usefixtures("held")
def test_what_a_click_began_is_drawn_at_once() -> None:
    async def story() -> None:
        async with serving((sample_plot("made", MakingOnClick),)) as served:
            elsewhere = Elsewhere(served.store)
            page = await BrowserPage.open(served, "made")
            await page.tap()
            await until(lambda: elsewhere.open, "nothing is made")
            await page.quiet()
            assert page.control.note == "made None"
            _finish(served, elsewhere)
            await until(lambda: page.control.note == "made 7", "what was made is not drawn")
            await page.close()

    run(story())


def _last_end(page: BrowserPage) -> float:
    """Return where the last block of a task stream ends."""
    sources: Any = page.document.select({"type": ColumnDataSource})
    blocks = [source.data["right"] for source in sources if "height" in source.data]
    return max(float(end) for ends in blocks for end in ends)


def test_a_long_task_stream_follows() -> None:
    async def story() -> None:
        async with serving() as served:
            maker = BatchMaker(epoch="long")
            workshop = Workshop(served.store, served.server.worked_out)
            for index in range(AT_ONCE + 100):
                maker.action(index * 1e-3, index * 1e-3 + 9e-4)
            served.feed(maker.batch())
            page = await BrowserPage.open(served, "task-stream")
            served.feed(maker.action(3.5, 4.0).batch())
            await until(lambda: _last_end(page) == 4, "no block ends at 4 s")
            await page.close()
            await workshop.close()

    run(story())


@pytest.mark.parametrize("waits", [True, False])
def test_a_table_waits_for_it_where_it_lacks_it(
    waits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "WAIT_S", 0.2)
    monkeypatch.setattr(Making, "table_waits", waits)

    async def story() -> None:
        async with serving((sample_plot("made", Making),)) as served:
            Elsewhere(served.store)  # where nothing is ever done
            note = (await served.json("/plots/made.json"))["note"]
            assert (tables.LATE % 0.2 in note) == waits

    run(story())
