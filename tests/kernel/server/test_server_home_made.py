"""Plots that are registered while the server runs, replaced, or broken; and those of packages."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Mapping
from importlib.metadata import EntryPoint
from typing import Any

import pytest
from bokeh.models import ColumnDataSource
from bokeh.plotting import figure

from dask_diag_lab import Column, FigureView, register_plot
from dask_diag_lab.server.handlers import OWN
from dask_diag_lab.views.models import SteadyRenderer
from dask_diag_lab.views.registry import REGISTRY, Plot, Registry, all_plots, is_built_in
from dask_diag_lab.views.view import View
from tests.kernel.server.browser import BrowserPage
from tests.kernel.server.sample_views import Counting, Unbuildable
from tests.kernel.serving import Served, make_batch, run, serving, until


class Memory(FigureView):
    """The least that makes a plot."""

    name = "mine"
    title = "Mine"
    description = "What I look at."
    columns = (Column("worker"), Column("memory", unit="bytes"))

    def rows(self) -> Mapping[str, Any]:
        workers = self.store.workers
        return {"worker": list(workers.name), "memory": workers.memory}

    def make_figure(self, source: ColumnDataSource) -> figure:
        picture = self.new_figure(y_range=[], hover=("@worker",), name="picture")
        bars: Any = {"y": "worker", "right": "memory", "source": source, "name": "bars"}
        picture.hbar(color=self.look.accent, **bars)
        return picture

    def adjust(self, picture: figure, rows: Mapping[str, Any]) -> None:
        picture.y_range.update(factors=rows["worker"])


class Late(Memory):
    """Draws nothing before its memory has grown."""

    def make_figure(self, source: ColumnDataSource) -> figure:
        return self.new_figure(name="picture")

    def adjust(self, picture: figure, rows: Mapping[str, Any]) -> None:
        if rows["memory"][0] > 10_000_000:
            picture.line("memory", "memory", source=self._source.model, name="line")


@pytest.fixture(autouse=True)
def nothing_stays() -> Iterator[None]:
    Counting.made.clear()
    yield
    Counting.made.clear()
    for plot in REGISTRY.plots():
        if not is_built_in(plot):
            REGISTRY.remove(plot.name)


def named(view: type[View], **attributes: Any) -> Plot:
    """Return a view as a plot called "mine", or with these attributes."""
    words = {"name": "mine", "title": "Mine", "description": "What I look at."}
    return type(view.__name__, (view,), {**words, **attributes, "__module__": __name__})


async def listed(served: Served, name: str) -> dict[str, Any] | None:
    plots = (await served.json("/plots.json"))["plots"]
    found: list[dict[str, Any]] = [plot for plot in plots if plot["name"] == name]
    return found[0] if found else None


def test_a_plot_registered_in_another_thread_is_at_once_in_a_running_server() -> None:
    async def story() -> None:
        async with serving() as served:
            version = (await served.json("/health"))["plots_version"]
            assert (await served.ask("/plots/mine")).code == 404
            thread = threading.Thread(target=register_plot, args=(Memory,))
            thread.start()
            thread.join()
            plot = await listed(served, "mine")
            assert plot is not None
            assert (plot["title"], plot["group"]) == ("Mine", "Yours")
            assert (await served.json("/health"))["plots_version"] != version
            assert (await served.ask("/plots/mine")).code == 200
            page = await BrowserPage.open(served, "mine")
            assert page.control.state == "live"
            served.feed(make_batch(2))
            source = page.document.select_one({"name": "bars"}).data_source  # type: ignore[union-attr]  # Bokeh's models have no common type
            await until(lambda: list(source.data["memory"]) == [20_000_000] * 2, "not updated")
            await page.close()

    run(story())


def test_a_page_has_what_paints_glyphs_that_come_later() -> None:
    register_plot(Late)

    async def story() -> None:
        async with serving() as served:
            session = await served.json("/plots/mine/session", method="POST", body="{}")
            page = await BrowserPage.open(served, "mine", session=session)
            served.feed(make_batch(2))
            await until(lambda: page.document.select_one({"name": "line"}), "no line came")
            assert isinstance(page.document.select_one({"name": "line"}), SteadyRenderer)
            assert OWN in session["scripts"]
            await page.close()

    run(story())


def test_a_plot_registered_before_the_server_starts_is_there_and_has_a_table() -> None:
    register_plot(Memory)

    async def story() -> None:
        async with serving() as served:
            table = await served.json("/plots/mine.json")
            assert table["columns"] == {"worker": ["0", "1"], "memory": [10_000_000] * 2}
            assert table["units"] == {"memory": "B"}

    run(story())


def test_a_replaced_plot_is_drawn_by_the_new_class_in_the_next_session() -> None:
    register_plot(named(Counting))

    async def story() -> None:
        async with serving() as served:
            old = await BrowserPage.open(served, "mine")
            register_plot(named(Memory, title="Mine, better"))
            new = await BrowserPage.open(served, "mine")
            assert new.document.title == "Mine, better"
            assert old.document.title == "Mine"
            served.feed(make_batch(2))
            await until(
                lambda: old.control.note == f"version {served.store.version}", "the old one stopped"
            )
            await old.close()
            await new.close()

    run(story())


def test_a_broken_plot_says_so_and_the_others_go_on(caplog: pytest.LogCaptureFixture) -> None:
    register_plot(named(Unbuildable, name="broken"))
    REGISTRY.discover([point("nowhere", "no_such_package.plots:View")])

    async def story() -> None:
        async with serving() as served:
            for name, words in (("broken", "on purpose"), ("nowhere", "no_such_package")):
                page = await BrowserPage.open(served, name)
                assert page.control.state == "error"
                assert words in page.control.message
                await page.close()
            good = await BrowserPage.open(served, "cpu")
            assert good.control.state == "live"
            await good.close()

    with caplog.at_level(logging.CRITICAL):
        run(story())


def test_a_plot_of_ones_own_is_restyled_with_the_page() -> None:
    register_plot(Memory)

    async def story() -> None:
        async with serving() as served:
            page = await BrowserPage.open(served, "mine")
            await page.set(look='{"name": "dark", "background": "#010203", "accent": "#abcdef"}')

            def shown(name: str) -> Any:  # Bokeh's models have no common type
                return page.document.select_one({"name": name})

            await until(
                lambda: shown("picture").background_fill_color == "#010203", "the old background"
            )
            assert shown("bars").glyph.fill_color.value == "#abcdef"
            await page.close()

    run(story())


def test_nothing_is_sent_while_the_columns_are_the_same() -> None:
    register_plot(Memory)

    async def story() -> None:
        async with serving() as served:
            page = await BrowserPage.open(served, "mine")
            frames = page.frames
            served.store.set_feed_state("live", "", 5.0)
            served.server.tick()
            served.feed(make_batch(1))
            other = await BrowserPage.open(served, "cpu")
            assert page.frames == frames
            await page.close()
            await other.close()

    run(story())


def test_a_server_that_has_stopped_does_not_listen_any_more() -> None:
    async def story() -> None:
        async with serving():
            pass
        register_plot(Memory)

    run(story())


@pytest.mark.parametrize("name", ["cpu", "Mine", "my plot", "", "../x", "x" * 65])
def test_a_name_that_is_none_or_taken_is_refused_with_what_to_do(name: str) -> None:
    with pytest.raises(ValueError, match="such as"):
        register_plot(named(Memory, name=name))
    assert all(map(is_built_in, all_plots()))


@pytest.mark.parametrize("view", [3, Memory(None), dict, FigureView])  # type: ignore[arg-type]  # wrong on purpose
def test_what_cannot_draw_is_refused(view: Any) -> None:
    with pytest.raises(TypeError):
        register_plot(view)


@pytest.mark.parametrize("words", [{"title": ""}, {"description": "a\nb"}, {"title": "x" * 300}])
def test_words_that_do_not_fit_are_refused(words: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"line|people see"):
        register_plot(named(Memory, **words))


def point(name: str, value: str) -> EntryPoint:
    return EntryPoint(name, value, "dask_diag_lab.plots")


class Packaged(Memory):
    """A view that a package has."""

    name = "packaged"
    title = "Of a package"


def test_entry_points_are_plots_and_one_that_fails_is_one_that_says_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    own = Registry()
    own.add(next(plot for plot in all_plots() if plot.name == "cpu"))
    found = [
        point("packaged", f"{__name__}:Packaged"),
        point("absent", "no_such_package:View"),
        point("none", f"{__name__}:point"),
    ]
    with caplog.at_level(logging.CRITICAL):
        own.discover(found)
        own.discover(found)
    _, packaged, absent, none = own.plots()
    assert packaged is Packaged
    assert (absent.name, absent.title) == ("absent", "Absent")
    assert "could not be loaded" in absent.description
    assert "could not be loaded" in none.description


def test_a_plot_registered_by_hand_wins_over_an_entry_point() -> None:
    own = Registry()
    own.add(Memory)
    own.discover([point("mine", f"{__name__}:Late")])
    assert own.plots() == (Memory,)
