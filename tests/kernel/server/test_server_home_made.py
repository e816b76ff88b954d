"""Plots that are registered while the server runs, replaced, or broken; and those of packages."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from importlib.metadata import EntryPoint
from typing import Any

import pytest
from bokeh.models import ColumnDataSource
from bokeh.plotting import figure

from dask_diag_lab import Column, FigureView, register_plot
from dask_diag_lab.views.registry import REGISTRY, Plot, PlotRegistry, all_plots, is_built_in
from dask_diag_lab.views.view import View
from tests.kernel.server.browser import BrowserPage
from tests.kernel.server.sample_views import Counting
from tests.kernel.serving import make_batch, serving, until


class Memory(FigureView):
    """The least that makes a plot."""

    name = "mine"
    title = "Mine"
    description = "What I look at."
    columns = (Column("worker"), Column("memory", unit="bytes"))

    def rows(self) -> Mapping[str, Any]:
        workers = self.live.history.workers
        return {"worker": list(workers.name), "memory": workers.memory}

    def make_figure(self, source: ColumnDataSource) -> figure:
        picture = self.new_figure(y_range=[], hover=("@worker",), name="picture")
        bars: Any = {"y": "worker", "right": "memory", "source": source, "name": "bars"}
        picture.hbar(color=self.look.accent, **bars)
        return picture

    def adjust(self, picture: figure, rows: Mapping[str, Any]) -> None:
        picture.y_range.update(factors=rows["worker"])


@pytest.fixture(autouse=True)
def nothing_stays() -> Iterator[None]:
    yield
    for plot in REGISTRY.plots():
        if not is_built_in(plot):
            REGISTRY.remove(plot.name)


def named(view: type[View], **attributes: Any) -> Plot:
    """Return a view as a plot called "mine", or with these attributes."""
    words = {"name": "mine", "title": "Mine", "description": "What I look at."}
    return type(view.__name__, (view,), {**words, **attributes, "__module__": __name__})


def model(page: BrowserPage, name: str) -> Any:  # Bokeh's models have no common type
    return page.document.select_one({"name": name})


async def test_a_plot_registered_in_another_thread_is_at_once_in_a_running_server() -> None:
    async with serving() as served:
        version = (await served.json("/health"))["plots_version"]
        assert (await served.ask("/plots/mine")).code == 404
        thread = threading.Thread(target=register_plot, args=(Memory,))
        thread.start()
        thread.join()
        (plot,) = [
            plot for plot in (await served.json("/plots.json"))["plots"] if plot["name"] == "mine"
        ]
        assert (plot["title"], plot["group"]) == ("Mine", "Yours")
        assert (await served.json("/health"))["plots_version"] != version
        assert (await served.ask("/plots/mine")).code == 200
        table = await served.json("/plots/mine.json")
        assert table["columns"] == {"worker": ["0", "1"], "memory": [10_000_000] * 2}
        assert table["units"] == {"memory": "B"}


async def test_a_plot_of_ones_own_follows_the_store_and_the_look_and_sends_nothing_else() -> None:
    register_plot(Memory)
    async with serving() as served:
        page = await BrowserPage.open(served, "mine")
        assert page.control.state == "live"
        served.live.apply(make_batch(2))
        source = model(page, "bars").data_source
        await until(lambda: list(source.data["memory"]) == [20_000_000] * 2, "not updated")
        await page.set(look='{"name": "dark", "background": "#010203", "accent": "#abcdef"}')
        await until(
            lambda: model(page, "picture").background_fill_color == "#010203", "the old background"
        )
        assert model(page, "bars").glyph.fill_color.value == "#abcdef"
        frames = await page.quiet()
        served.live.set_feed_state("live", "", 5.0)
        served.live.apply(make_batch(2))
        assert await page.quiet() == frames
        await page.close()


async def test_a_replaced_plot_is_drawn_by_the_new_class_when_it_is_opened_again() -> None:
    register_plot(named(Counting))
    async with serving() as served:
        old = await BrowserPage.open(served, "mine")
        register_plot(named(Memory, title="Mine, better"))
        new = await BrowserPage.open(served, "mine")
        assert (old.document.title, new.document.title) == ("Mine", "Mine, better")
        served.live.apply(make_batch(2))
        note = f"version {served.live.version}"
        await until(lambda: old.control.note == note, "the old one stopped")
        await old.close()
        await new.close()


@pytest.mark.parametrize("name", ["cpu", "Mine", "", "../x", "x" * 65])
def test_a_name_that_is_none_or_taken_is_refused_with_what_to_do(name: str) -> None:
    with pytest.raises(ValueError, match="such as"):
        register_plot(named(Memory, name=name))
    assert all(map(is_built_in, all_plots()))


@pytest.mark.parametrize("view", [3, dict, FigureView])
def test_what_cannot_draw_is_refused(view: Any) -> None:
    with pytest.raises(TypeError):
        register_plot(view)


@pytest.mark.parametrize("words", [{"title": ""}, {"description": "a\nb"}, {"title": "x" * 300}])
def test_words_that_do_not_fit_are_refused(words: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"line|people see"):
        register_plot(named(Memory, **words))


def point(name: str, value: str) -> EntryPoint:
    return EntryPoint(name, value, "dask_diag_lab.plots")


def test_entry_points_are_plots_and_one_that_fails_is_logged_and_what_is_known_stays(
    caplog: pytest.LogCaptureFixture,
) -> None:
    own, by_hand = PlotRegistry(), named(Memory, name="by-hand")
    own.add(by_hand)
    found = {"mine": "Memory", "by-hand": "Memory", "none": "point"}
    points = [point(name, f"{__name__}:{value}") for name, value in found.items()]
    for _ in range(2):
        own.discover([*points, point("absent", "no_such_package:View")])
    plots = {plot.name: plot for plot in own.plots()}
    assert (plots["mine"], plots["by-hand"]) == (Memory, by_hand)
    for name in ("none", "absent"):
        assert name not in plots
        assert f"Plot {name} of" in caplog.text
