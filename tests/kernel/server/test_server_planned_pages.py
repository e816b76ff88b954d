"""Pages of several plots, with the stock dashboard's names: what stands where."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from urllib.parse import quote

import pytest
from distributed.dashboard.scheduler import applications

from dask_diag_lab.server.page_plans import IN_BAR, MOVED, PLANS, plans_for
from dask_diag_lab.views.registry import PLOTS, Plot
from tests.kernel.server.sample_views import Counting, sample_plot
from tests.kernel.serving import run, serving

NAMES = tuple(dict.fromkeys(name for plan in PLANS for cell in plan.cells for name in cell.plots))
EVERY = tuple(sample_plot(name, Counting) for name in (*NAMES, "worker", "task"))


class Elements(HTMLParser):
    """The elements of a page: tag and attributes, in their order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.all: list[tuple[str, dict[str, str]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.all.append((tag, {name: value or "" for name, value in attrs}))

    def role(self, role: str) -> list[dict[str, str]]:
        return [attributes for _, attributes in self.all if attributes.get("role") == role]

    @property
    def plots(self) -> list[str]:
        return [attributes["data-plot"] for _, attributes in self.all if "data-plot" in attributes]

    @property
    def links(self) -> list[str]:
        return [
            attributes["href"]
            for tag, attributes in self.all
            if tag == "a" and attributes.get("href")
        ]


async def page_of(path: str, plots: tuple[Plot, ...] = EVERY) -> Elements:
    async with serving(plots) as served:
        reply = await served.ask(path)
        assert reply.code == 200, reply.body
        return Elements(reply.body.decode())


def test_the_status_page_has_the_five_panes_in_the_order_of_a_narrow_window() -> None:
    page = run(page_of("/status"))
    assert page.plots == [
        *("cluster-memory", "workers-memory"),
        *("nprocessing", "cpu", "occupancy", "workers-transfer-bytes"),
        *("task-stream", "progress"),
    ]


def test_tabs_can_be_used_without_eyes_and_without_a_mouse() -> None:
    page = run(page_of("/status"))
    tabs, panels = page.role("tab"), page.role("tabpanel")
    assert page.role("tablist")[0]["aria-label"]
    assert [tab["aria-controls"] for tab in tabs] == [panel["id"] for panel in panels]
    assert [panel["aria-labelledby"] for panel in panels] == [tab["id"] for tab in tabs]
    assert [tab["aria-selected"] for tab in tabs] == ["true", "false", "false", "false"]
    assert [tab["tabindex"] for tab in tabs] == ["0", "-1", "-1", "-1"]
    assert ["hidden" in panel for panel in panels] == [False, True, True, True]


def test_each_of_several_plots_says_its_name_once() -> None:
    async def names_on(path: str) -> list[str]:
        async with serving(PLOTS) as served:
            reply = await served.ask(path)
            return re.findall(r'<h2 class="name">(.+?)</h2>', reply.body.decode())

    # Those in tabs have it there, and that of a page of its own is the page's.
    named = ["Cluster Memory", "Workers Memory", "Task Stream", "Progress"]
    assert run(names_on("/status")) == named
    assert run(names_on("/plots/cluster-memory")) == []
    assert run(names_on("/profile")) == []


def test_every_page_of_the_stock_scheduler_is_here() -> None:
    # Those of /individual-… are plots; /sitemap.json and the like are not Bokeh applications.
    stock = {path.strip("/") for path in applications if not path.startswith("/individual-")}
    assert stock <= {plan.name for plan in PLANS} | set(MOVED)


@pytest.mark.parametrize("name", [plan.name for plan in PLANS])
def test_each_page_draws_its_plots_and_can_be_reached_from_every_other(name: str) -> None:
    page = run(page_of(f"/{name}"))
    plan = next(plan for plan in PLANS if plan.name == name)
    assert page.plots == [plot for cell in plan.cells for plot in cell.plots]
    assert {f"./{plan.name}" for plan in PLANS} <= set(page.links)
    here = [link["href"] for tag, link in page.all if "aria-current" in link]
    assert here == [f"./{name}"]


def test_a_plot_that_is_not_in_the_catalogue_is_left_out_and_so_is_a_page_without_plots() -> None:
    few = tuple(plot for plot in EVERY if plot.name in ("task-stream", "cpu"))
    page = run(page_of("/status", few))
    assert page.plots == ["cpu", "task-stream"]
    assert not page.role("tab")
    assert set(plans_for({"task-stream", "cpu"})) == {"status", "tasks", "workers"}

    async def story() -> None:
        async with serving(few) as served:
            reply = await served.ask("/gpu")
            assert reply.code == 404
            assert b"plots/cpu" in reply.body

    run(story())


def test_the_bar_is_on_a_plots_own_page_too_and_not_on_a_bare_one() -> None:
    page = run(page_of("/plots/cpu"))
    assert {f"../{name}" for name in IN_BAR} <= set(page.links)
    bare = run(page_of("/plots/cpu?bare=1&worker=x"))
    assert bare.plots == ["cpu"]
    assert not bare.links


@pytest.mark.parametrize(
    ("path", "location"),
    [
        ("/", "status"),
        ("/info/main/workers.html", "../../info"),
        ("/info/main/logs.html", "../../info"),
        ("/info/main/exceptions.html", "../../exceptions"),
        ("/individual-task-stream", "plots/task-stream"),
        ("/individual-worker?worker=a%26b", "plots/worker?worker=a%26b"),
        (f"/info/worker/{quote('tcp://1.2.3.4:5', safe='')}.html", "WORKER"),
        (f"/info/logs/{quote('tcp://1.2.3.4:5', safe='')}.html", "WORKER&show=logs"),
        (f"/info/call-stacks/{quote('tcp://1.2.3.4:5', safe='')}.html", "WORKER&show=call-stacks"),
        (
            f"/info/task/{quote(chr(40) + chr(39) + 'x-1' + chr(39) + ', 0)', safe='')}.html",
            "../../plots/task?key=%28%27x-1%27%2C+0%29",
        ),
    ],
)
def test_other_paths_of_the_stock_dashboard_lead_to_ours_behind_any_prefix(
    path: str, location: str
) -> None:
    async def story() -> None:
        async with serving(EVERY) as served:
            reply = await served.ask(path)
            wanted = location.replace("WORKER", "../../plots/worker?worker=tcp%3A%2F%2F1.2.3.4%3A5")
            assert (reply.code, reply.headers["Location"]) == (302, wanted)

    run(story())


def test_plans_name_each_plot_once_a_page_and_each_page_once() -> None:
    assert len({plan.name for plan in PLANS}) == len(PLANS)
    for plan in PLANS:
        plots = [name for cell in plan.cells for name in cell.plots]
        assert len(set(plots)) == len(plots)
        assert all(re.fullmatch(r"[a-z-]+", name) for name in plots)


def test_the_bar_leads_to_no_plot_of_which_no_worker_has_anything_to_show() -> None:
    links = run(page_of("/status", PLOTS)).links
    assert {"./plots/cpu", "./shuffle"} <= set(links)
    assert not {"./plots/gpu-memory", "./gpu"} & set(links)


def test_pages_of_the_catalogue_as_it_is_have_no_plot_that_is_not_in_it() -> None:
    known = {plot.name for plot in PLOTS}
    for plan in plans_for(known).values():
        assert all(name in known for cell in plan.cells for name in cell.plots)
