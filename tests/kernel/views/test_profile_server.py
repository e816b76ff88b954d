"""The profile of event loops: whose loops, and what it says of how they are sampled."""

from __future__ import annotations

from dask_diag_lab.store import Store
from dask_diag_lab.views.look import LIGHT
from dask_diag_lab.views.profile.profile_server import ProfileServer
from tests.kernel.views.profiles import Cluster, ProfilePage, answer, box, click, node
from tests.kernel.views.situations import batch, worker


def _page(count: int, **arguments: str) -> tuple[ProfilePage, Cluster]:
    store = Store()
    store.apply(batch(workers=[worker(0), worker(1)]))
    cluster = Cluster(store, activity={"times": [], "counts": [], "prefixes": {}, "missing": {}})
    kids = [node("handle_comm", count)] if count else []
    cluster.profiles[""] = answer(node("root", count, *kids)) | {"interval_s": 1.0}
    page = ProfilePage(ProfileServer(store, LIGHT, arguments))
    cluster.reply()
    page.view.update()
    return page, cluster


def test_workers_loops_are_shown_first() -> None:
    page, cluster = _page(30)
    assert {inquiry.arguments["source"] for inquiry in cluster.asked} == {"worker-loops"}
    assert page.titles == ["all", "handle_comm"]


def test_the_schedulers_loop_can_be_chosen() -> None:
    page, cluster = _page(30)
    assert page.view.toolbar is not None
    page.view.toolbar.choice.value = "scheduler-loop"
    assert cluster.of("profile")[-1].arguments["source"] == "scheduler-loop"
    assert page.view.arguments["source"] == "scheduler-loop"


def test_arguments_choose_the_loops_and_an_unknown_choice_is_the_usual_one() -> None:
    assert _page(1, source="scheduler-loop")[0].view.sampling.source == "scheduler-loop"
    assert _page(1, source="no-such")[0].view.sampling.source == "worker-loops"


def test_the_schedulers_loop_is_of_no_worker() -> None:
    page, _ = _page(1, source="scheduler-loop", worker="tcp://10.0.0.1:4000")
    assert page.view.sampling.worker == ""


def test_it_says_that_loops_are_sampled_rarely() -> None:
    page, _ = _page(30)
    assert "1 s per sample" in page.view.notice.note
    assert "about once a second only" in page.view.notice.note


def test_it_says_why_there_may_be_no_samples() -> None:
    page, _ = _page(0)
    assert "Python 3.11" in page.view.notice.empty
    assert "distributed.worker.profile.enabled" in page.view.notice.empty


def _deep(loop: int, other: int) -> ProfilePage:
    """Return the page of a loop below six rows of callers."""
    whole = node("run_once", loop, node("read", loop // 2), node("write", loop // 2))
    for name in ("run_forever", "run_until", "runner", "start", "thread", "boot"):
        whole = node(name, loop, whole)
    page, cluster = _page(1)
    tree = node("root", loop + other, whole, *([node("other", other)] if other else []))
    cluster.profiles[""] = answer(tree) | {"interval_s": 1.0}
    page.view.sampling.refresh()
    cluster.reply()
    page.view.update()
    return page


def test_it_begins_where_the_loop_does_different_things() -> None:
    page = _deep(loop=100, other=0)
    assert box(page, "run_once")["top"] == box(page, "run_forever")["bottom"]
    assert page.view.toolbar is not None
    assert not page.view.toolbar.reset.visible
    assert "elsewhere" not in page.view.notice.note


def test_what_its_beginning_leaves_out_is_told_and_a_click_away() -> None:
    page = _deep(loop=100, other=4)
    assert "3.8 % of it elsewhere: click “all”" in page.view.notice.note
    assert "other" not in page.titles
    click(page, "all")
    assert "other" in page.titles
    assert page.view.toolbar is not None
    assert page.view.toolbar.reset.visible
    page.view.command("fit")
    assert "other" not in page.titles


def test_a_loop_with_several_ways_in_begins_with_all() -> None:
    assert "other" in _deep(loop=100, other=30).titles


def test_without_samples_over_time_there_is_no_timeline() -> None:
    page, _ = _page(30)
    assert page.view.timeline is not None
    assert not page.view.timeline.figure.visible
