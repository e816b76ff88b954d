"""The profile: search, table, note, and what it says where there is no picture."""

from __future__ import annotations

import pytest

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.profile.profile import Profile
from dask_diag_lab.views.profile.words import ACTIVITY, LATE_S
from tests.kernel.views.elsewhere import Elsewhere
from tests.kernel.views.profiles import (
    ProfilePage,
    Situation,
    activity,
    answer,
    box,
    mixed_tree,
    node,
    timeline_title,
)
from tests.kernel.views.situations import batch


@pytest.fixture
def situation() -> Situation:
    return Situation()


def test_a_search_tells_the_share_and_dims_the_rest(situation: Situation) -> None:
    page = situation.page()
    before = box(page, "load")["fill"]
    page.view._search_for("SVD")
    assert page.view.toolbar is not None
    assert page.view.toolbar.matches.text == "1 function, 50 % of the time"
    assert box(page, "load")["fill"] != before
    assert box(page, "svd")["fill"] == box(situation.page(), "svd")["fill"]


def test_a_search_without_a_match_says_so(situation: Situation) -> None:
    page = situation.page()
    page.view._search_for("pandas")
    assert page.view.toolbar is not None
    assert page.view.toolbar.matches.text == "No match"


def _listed(page: ProfilePage) -> list[str]:
    assert page.view.listing is not None
    return list(page.view.listing.source.data["function"])


def test_a_search_shows_the_same_in_the_table(situation: Situation) -> None:
    page = situation.page()
    page.view._tabulate(True)
    page.view._search_for("home/me")
    assert page.view.toolbar is not None
    assert sorted(_listed(page)) == ["helper", "inc", "load"]
    assert page.view.toolbar.matches.text == "3 functions, 100 % of the time"
    page.view._search_for("helper")
    assert _listed(page) == ["helper"]
    assert page.view.toolbar.matches.text == "1 function, 20 % of the time"
    page.view._search_for("")
    assert len(_listed(page)) == 4
    assert not page.view.toolbar.matches.visible


def test_a_search_counts_what_may_match_apart(situation: Situation) -> None:
    kids = node("svd", 0), node("load", 10, node("read", 0))
    situation.cluster.profiles["inc"] = answer(node("root", 50, node("inc", 50, *kids)))
    page = situation.page(prefix="inc")
    assert page.view.toolbar is not None
    page.view._search_for("load")
    assert page.view.toolbar.matches.text == "2 functions, 20 % to 100 % of the time"
    page.view._search_for("svd")
    assert page.view.toolbar.matches.text == "1 function, 0 % to 80 % of the time"


def test_a_narrow_pane_tells_the_share_alone(situation: Situation) -> None:
    page = situation.page(width=320, height=220)
    assert page.view.toolbar is not None
    assert page.view.toolbar.refresh.visible
    page.view._search_for("svd")
    assert page.view.toolbar.matches.text == "50 %"
    assert not page.view.toolbar.refresh.visible


def test_exports_have_all_whatever_is_searched_for(situation: Situation) -> None:
    page = situation.page()
    page.view._search_for("svd")
    assert len(page.view.table().columns["function"]) == 4


def test_the_table_takes_the_place_of_the_flame_graph(situation: Situation) -> None:
    page = situation.page()
    page.view._tabulate(True)
    assert page.view.flames is not None
    assert page.view.listing is not None
    assert not page.view.flames.figure.visible
    assert list(page.view.listing.source.data["function"]) == ["svd", "helper", "load", "inc"]


def test_table_counts_recursion_once() -> None:
    situation = Situation()
    inner = node("f", 6)
    situation.cluster.profiles[""] = answer(node("root", 10, node("f", 10, node("g", 8, inner))))
    view = situation.page().view
    columns = view.table().columns
    at = list(columns["function"]).index("f")
    assert columns["total_s"][at] == pytest.approx(0.10)
    assert columns["own_s"][at] == pytest.approx(0.08)
    assert columns["samples"][at] == 10


def test_own_times_of_the_table_add_up_to_all(situation: Situation) -> None:
    assert sum(situation.page().view.table().columns["own_s"]) == pytest.approx(1.0)


def test_table_works_before_anything_is_drawn(situation: Situation) -> None:
    view = Profile(situation.store)
    assert view.table().columns["function"] == []
    situation.cluster.reply()
    assert len(view.table().columns["function"]) == 4


def test_note_says_how_it_was_measured(situation: Situation) -> None:
    note = situation.page().view.notice.note
    assert note == "10 ms per sample over 2.00 s from 2 workers"


def test_note_says_how_many_frames_were_merged(situation: Situation) -> None:
    kids = [node(f"f{i}", 1) for i in range(40)]
    situation.cluster.profiles[""] = answer(node("root", 100_040, node("big", 100_000), *kids))
    page = situation.page()
    assert "40 frames below 0.3 % merged" in page.view.notice.note
    assert "40 more functions called by all" in page.titles


def test_workers_without_an_answer_are_named(situation: Situation) -> None:
    missing = {"tcp://10.0.0.1:4000": "timed out"}
    situation.cluster.profiles[""] = answer(mixed_tree(), missing=missing)
    note = situation.page().view.notice.note
    assert "from 1 worker" in note
    assert "Nothing from worker 1 (timed out)" in note


def test_activity_without_a_sample_says_why_and_then_shows_them(situation: Situation) -> None:
    situation.cluster.activity = activity({"inc": [0, 0]})
    page = situation.page()
    assert timeline_title(page) == f"{ACTIVITY}: no samples yet, they come while tasks run"
    situation.cluster.activity = activity()
    page.view.sampling.refresh()
    situation.cluster.reply()
    page.view.update()
    assert timeline_title(page) == ACTIVITY


def test_activity_that_is_waited_for_has_its_place(situation: Situation) -> None:
    situation.cluster.activity = None
    page = situation.page()
    assert timeline_title(page) == f"{ACTIVITY}: waiting for the cluster's answer"


def test_an_empty_profile_has_no_empty_activity_above_it(situation: Situation) -> None:
    situation.cluster.profiles[""] = answer(node("root", 0))
    situation.cluster.activity = activity({"inc": [0, 0]})
    page = situation.page()
    assert not timeline_title(page)
    assert page.view.notice.empty


def test_tasks_that_run_unsampled_are_told_from_no_tasks(situation: Situation) -> None:
    situation.cluster.profiles[""] = answer(node("root", 0))
    strings = ["tcp://10.0.0.0:4000", "inc"]
    running = [("inc-1", 1, 2, 1000.0)]
    situation.store.apply(batch(running=running, strings_from=1, strings=strings))
    words = situation.page().view.notice.empty
    assert words.startswith("No samples yet of the tasks that run")


def test_waiting_is_told_in_words(situation: Situation) -> None:
    page = ProfilePage(Profile(situation.store))
    assert page.view.notice.empty == "Waiting for the cluster's answer."


def test_a_failure_says_why_and_what_to_do(situation: Situation) -> None:
    page = ProfilePage(Profile(situation.store))
    for inquiry in situation.cluster.asked:
        situation.store.fail(inquiry, "The scheduler did not answer within 10 s.")
    page.view.update()
    assert "did not answer within 10 s. Press Refresh" in page.view.notice.empty


def test_a_closed_cluster_is_not_to_be_asked_again(situation: Situation) -> None:
    page = ProfilePage(Profile(situation.store))
    situation.store.set_feed_state("closed", "", 1.0)
    for inquiry in situation.cluster.asked:
        situation.store.fail(inquiry, "The client was closed.")
    page.view.update()
    assert page.view.notice.empty == "No profile: The client was closed."


def test_a_failed_renewal_keeps_the_picture_and_says_so(situation: Situation) -> None:
    page = situation.page()
    page.view.sampling.refresh()
    for inquiry in situation.cluster.asked:
        situation.store.fail(inquiry, "The scheduler is gone.")
    page.view.update()
    assert "svd" in page.titles
    note = page.view.notice.note
    assert note.startswith(f"as of {fmt.clock(1000.0)} · 10 ms per sample")
    assert "Not renewed: The scheduler is gone." in note


def test_an_old_answer_is_called_so_once_the_new_one_is_late(situation: Situation) -> None:
    page = situation.page()
    page.view.sampling.refresh()
    page.view.update()
    situation.now += LATE_S - 0.5
    page.view.update()
    assert "as of" not in page.view.notice.note
    situation.now += 1.0
    page.view.update()
    assert "as of" in page.view.notice.note
    assert "asked again 2.50 s ago, no answer yet" in page.view.notice.note
    situation.cluster.reply()
    page.view.update()
    assert "as of" not in page.view.notice.note


def test_a_picture_of_long_ago_is_called_so_from_the_first_moment_on(
    situation: Situation,
) -> None:
    situation.page()
    situation.now += 420
    page = ProfilePage(Profile(situation.store))
    assert "svd" in page.titles
    assert page.view.notice.note.startswith(f"as of {fmt.clock(1000.0)}, reading … · ")
    situation.cluster.reply()
    page.view.update()
    assert page.view.notice.note == "10 ms per sample over 2.00 s from 2 workers"


def test_a_pane_that_was_hidden_for_long_says_so_of_its_picture(situation: Situation) -> None:
    page = situation.page()
    situation.now += 420
    page.view.update()
    assert f"as of {fmt.clock(1000.0)}, reading …" in page.view.notice.note
    situation.cluster.reply()
    page.view.update()
    assert "as of" not in page.view.notice.note


def test_a_new_picture_that_is_being_made_leaves_the_old_one_marked(
    situation: Situation,
) -> None:
    situation.page()
    situation.now += 420
    page = ProfilePage(Profile(situation.store))
    elsewhere = Elsewhere(situation.store)
    situation.cluster.reply()
    page.view.update()
    assert "as of" in page.view.notice.note
    while elsewhere.open:
        elsewhere.finish()
        page.view.update()
    assert "as of" not in page.view.notice.note


def test_a_period_that_is_over_is_as_it_was(situation: Situation) -> None:
    page = situation.page()
    page.view._select(1000.5, 1001.5)
    situation.cluster.reply()
    situation.now += 420
    page.view.update()
    assert "as of" not in page.view.notice.note


def test_a_task_that_the_scheduler_does_not_know_is_called_so(situation: Situation) -> None:
    situation.cluster.profiles["gone"] = answer(node("root", 0))
    assert "knows no task of that name" in situation.page(prefix="gone").view.notice.empty


def test_stripes_are_explained_only_where_there_are_some(situation: Situation) -> None:
    kids = node("svd", 0), node("load", 100_000 - 1, node("read", 0))
    situation.cluster.profiles["inc"] = answer(node("root", 100_000, node("inc", 100_000, *kids)))
    page = situation.page(prefix="inc")
    assert "striped" not in page.view.notice.note
    situation.cluster.profiles["inc"] = answer(
        node("root", 100, node("inc", 100, *kids[:1], node("f", 0)))
    )
    page.view.sampling.refresh()
    situation.cluster.reply()
    page.view.update()
    assert "striped: one of several functions" in page.view.notice.note


def test_no_samples_of_a_task_are_explained(situation: Situation) -> None:
    situation.cluster.profiles["load"] = answer(node("root", 0))
    assert "No samples of load" in situation.page(prefix="load").view.notice.empty


def test_an_idle_cluster_says_what_to_do(situation: Situation) -> None:
    situation.cluster.profiles[""] = answer(node("root", 0))
    assert "No samples yet" in situation.page().view.notice.empty
